/*
 * test_table_cluster.c - the cells of Nodes, Namespaces, ConfigMaps, Secrets, Leases, ResourceQuotas,
 * Events and role bindings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "table_rows.h"

#define NODE(labels) \
    "'metadata':{'name':'x','creationTimestamp':'2026-11-18T11:00:00Z','labels':{" labels "}},"
#define INFO    "'nodeInfo':{'kubeletVersion':'v1.36.0'}"
#define UNKNOWN ",'v1.36.0','<none>','<none>','<unknown>','<unknown>','<unknown>'"

static void shows_nodes(void **state)
{
    static const struct table_case cases[] = {
        {NODE("") "'status':{" INFO "}", "'x','Unknown','<none>','60m'" UNKNOWN},
        {NODE(
             "'node-role.kubernetes.io/worker':'','node-role.kubernetes.io/control-plane':'',"
             "'node-role.kubernetes.io/':'','kubernetes.io/role':'db'") "'spec':{'unschedulable':true},'status':{" INFO
                                                                        ",'conditions':[{'type':'MemoryPressure','status':'False'},"
                                                                        "{'type':'Ready','status':'True'}]}",
         "'x','Ready,SchedulingDisabled','control-plane,db,worker','60m'" UNKNOWN},
        {NODE(
             "'kubernetes.io/role':'db','node-role.kubernetes.io/db':''") "'status':{" INFO
                                                                          ",'conditions':[{'type':'Ready','status':'Unknown'}]}",
         "'x','NotReady','db','60m'" UNKNOWN},
        {"'status':{'addresses':[{'type':'Hostname','address':'h'},"
         "{'type':'ExternalIP','address':'9.9.9.9'},{'type':'InternalIP','address':'10.0.0.1'},"
         "{'type':'InternalIP','address':'fd00::1'}],'nodeInfo':{'kubeletVersion':'v1',"
         "'osImage':'Linux','kernelVersion':'6.1','architecture':'amd64',"
         "'containerRuntimeVersion':'containerd://2'}}",
         "'x','Unknown','<none>','60m','v1','10.0.0.1','9.9.9.9','Linux','6.1 (amd64)',"
         "'containerd://2'"},
    };
    (void)state;
    expect_cases("", "nodes", cases, ARRAY_LEN(cases));
}

static void shows_namespaces(void **state)
{
    static const struct table_case cases[] = {
        {"'status':{'phase':'Active'}", "'x','Active','60m'"},
    };
    (void)state;
    expect_cases("", "namespaces", cases, ARRAY_LEN(cases));
}

static void counts_keys_of_config_maps_and_secrets(void **state)
{
    static const struct table_case maps[] = {
        {"", "'x',0,'60m'"},
        {"'data':{'a':'{}','b':''},'binaryData':{'c':'AA=='}", "'x',3,'60m'"},
    };
    static const struct table_case secrets[] = {
        {"'type':'Opaque','data':{'a':'AA==','b':''}", "'x','Opaque',2,'60m'"},
        {"'type':'kubernetes.io/tls'", "'x','kubernetes.io/tls',0,'60m'"},
    };
    (void)state;
    expect_cases("", "configmaps", maps, ARRAY_LEN(maps));
    expect_cases("", "secrets", secrets, ARRAY_LEN(secrets));
}

static void shows_leases(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{'holderIdentity':'n1'}", "'x','n1','60m'"},
        {"'spec':{}", "'x','','60m'"},
    };
    (void)state;
    expect_cases("coordination.k8s.io", "leases", cases, ARRAY_LEN(cases));
}

static void shows_quotas_in_two_columns(void **state)
{
    static const struct table_case cases[] = {
        {"'status':{'hard':{'pods':'10','limits.cpu':'4','cpu':'2'},"
         "'used':{'cpu':'500m','aaa':'1','pods':'3'}}",
         "'x','cpu: 500m/2, pods: 3/10','limits.cpu: 0/4','60m'"},
        {"", "'x','','','60m'"},
    };
    (void)state;
    expect_cases("", "resourcequotas", cases, ARRAY_LEN(cases));
}

static void shows_role_bindings(void **state)
{
    static const struct table_case cases[] = {
        {"'roleRef':{'kind':'ClusterRole','name':'view'},'subjects':["
         "{'kind':'User','name':'ann'},{'kind':'Group','name':'ops'},{'kind':'User','name':'bob'},"
         "{'kind':'ServiceAccount','namespace':'ci','name':'bot'},{'kind':'Other','name':'o'}]",
         "'x','ClusterRole/view','60m','ann, bob','ops','ci/bot'"},
        {"'roleRef':{'kind':'Role','name':'r'}", "'x','Role/r','60m','','',''"},
    };
    (void)state;
    expect_cases("rbac.authorization.k8s.io", "rolebindings", cases, ARRAY_LEN(cases));
    expect_cases("rbac.authorization.k8s.io", "clusterrolebindings", cases, ARRAY_LEN(cases));
}

static void shows_events(void **state)
{
    static const struct table_case cases[] = {
        {"'involvedObject':{'kind':'Pod','name':'web-0','fieldPath':'spec.containers{a}'},"
         "'type':'Warning','reason':'BackOff','message':'  Back-off \\u003c5m\\n',"
         "'source':{'component':'kubelet','host':'n1'},'count':7,"
         "'firstTimestamp':'2026-11-18T11:50:00Z','lastTimestamp':'2026-11-18T11:59:00Z'",
         "'60s','Warning','BackOff','pod/web-0','spec.containers{a}','kubelet, n1',"
         "'Back-off <5m','10m',7,'x'"},
        {"'involvedObject':{'kind':'Node'},'eventTime':'2026-11-18T11:59:30.123456Z',"
         "'reportingComponent':'sched','firstTimestamp':null",
         "'29s','','','node','','sched','','29s',1,'x'"},
        {"'involvedObject':{'kind':'Node','name':'n'},'eventTime':'2026-11-18T11:59:30.000000Z',"
         "'series':{'count':4,'lastObservedTime':'2026-11-18T11:59:50.000000Z'},'count':9",
         "'10s','','','node/n','','','','30s',4,'x'"},
        {"", "'<unknown>','','','','','','','<unknown>',1,'x'"},
    };
    static const struct table_case new_cases[] = {
        {"'regarding':{'kind':'Pod','name':'web-0'},'type':'Normal','reason':'Pulled',"
         "'note':'done','deprecatedSource':{},'reportingController':'c','reportingInstance':'c-1',"
         "'deprecatedCount':2,'deprecatedFirstTimestamp':'2026-11-18T11:50:00Z',"
         "'deprecatedLastTimestamp':'2026-11-18T11:58:00Z'",
         "'2m','Normal','Pulled','pod/web-0','','c, c-1','done','10m',2,'x'"},
    };
    (void)state;
    expect_cases("", "events", cases, ARRAY_LEN(cases));
    expect_cases("events.k8s.io", "events", new_cases, ARRAY_LEN(new_cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_nodes),
        cmocka_unit_test(shows_namespaces),
        cmocka_unit_test(counts_keys_of_config_maps_and_secrets),
        cmocka_unit_test(shows_leases),
        cmocka_unit_test(shows_quotas_in_two_columns),
        cmocka_unit_test(shows_role_bindings),
        cmocka_unit_test(shows_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
