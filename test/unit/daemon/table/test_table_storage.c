/*
 * test_table_storage.c - the cells of PersistentVolumes, PersistentVolumeClaims and StorageClasses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "table_rows.h"

#define META(more) "'metadata':{'name':'x','creationTimestamp':'2026-11-18T11:00:00Z'," more "},"
#define DELETED    META("'deletionTimestamp':'2026-11-18T12:00:00Z'")
#define BETA_CLASS META("'annotations':{'volume.beta.kubernetes.io/storage-class':'old'}")

static void shows_volumes(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{'capacity':{'storage':'5Gi'},'accessModes':['ReadWriteMany','ReadOnlyMany',"
         "'ReadWriteOnce','ReadWriteOnce','ReadWriteOncePod'],"
         "'persistentVolumeReclaimPolicy':'Retain','storageClassName':'ssd',"
         "'claimRef':{'namespace':'shop','name':'data'},'volumeMode':'Block',"
         "'volumeAttributesClassName':'gold'},'status':{'phase':'Bound','reason':'r'}",
         "'x','5Gi','RWO,ROX,RWX,RWOP','Retain','Bound','shop/data','ssd','gold','r','60m',"
         "'Block'"},
        {DELETED "'spec':{},'status':{'phase':'Released'}",
         "'x','0','','','Terminating','','','<unset>','','60m','<unset>'"},
        {BETA_CLASS "'spec':{'storageClassName':'new'}",
         "'x','0','','','','','old','<unset>','','60m','<unset>'"},
    };
    (void)state;
    expect_cases("", "persistentvolumes", cases, ARRAY_LEN(cases));
}

static void shows_claims(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{'accessModes':['ReadWriteOnce'],'storageClassName':'ssd',"
         "'resources':{'requests':{'storage':'1Gi'}},'volumeMode':'Filesystem'},"
         "'status':{'phase':'Pending'}",
         "'x','Pending','','','','ssd','<unset>','60m','Filesystem'"},
        {"'spec':{'volumeName':'pv-1'},'status':{'phase':'Bound','accessModes':['ReadWriteOnce'],"
         "'capacity':{'storage':'2Gi'}}",
         "'x','Bound','pv-1','2Gi','RWO','','<unset>','60m','<unset>'"},
        {DELETED "'spec':{'volumeName':'pv-1'},'status':{'phase':'Bound'}",
         "'x','Terminating','pv-1','0','','','<unset>','60m','<unset>'"},
        {BETA_CLASS "'spec':{'storageClassName':'new'}",
         "'x','','','','','old','<unset>','60m','<unset>'"},
    };
    (void)state;
    expect_cases("", "persistentvolumeclaims", cases, ARRAY_LEN(cases));
}

static void shows_storage_classes(void **state)
{
    static const struct table_case cases[] = {
        {"'provisioner':'p'", "'x','p','Delete','Immediate',false,'60m'"},
        {META(
             "'annotations':{'storageclass.kubernetes.io/is-default-class':'true'}") "'provisioner':'p','reclaimPolicy':'Retain','volumeBindingMode':'WaitForFirstConsumer',"
                                                                                     "'allowVolumeExpansion':true",
         "'x (default)','p','Retain','WaitForFirstConsumer',true,'60m'"},
        {META(
             "'annotations':{'storageclass.beta.kubernetes.io/is-default-class':'true'}") "'provisioner':'p'",
         "'x (default)','p','Delete','Immediate',false,'60m'"},
        {META(
             "'annotations':{'storageclass.kubernetes.io/is-default-class':'false'}") "'provisioner':'p'",
         "'x','p','Delete','Immediate',false,'60m'"},
    };
    (void)state;
    expect_cases("storage.k8s.io", "storageclasses", cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_volumes),
        cmocka_unit_test(shows_claims),
        cmocka_unit_test(shows_storage_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
