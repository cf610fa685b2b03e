/*
 * test_table_pod.c - the cells of Pods: each rule of the status, readiness, restarts and wide columns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "table_rows.h"

#define CONTAINERS(statuses)                             \
    "'spec':{'containers':[{'name':'a'},{'name':'b'}]}," \
    "'status':{'phase':'Running','containerStatuses':[" statuses "]}"
#define RUNNING_A "{'name':'a','ready':true,'restartCount':0,'state':{'running':{}}}"
#define INIT(status, statuses)                                                           \
    "'spec':{'containers':[{'name':'a'}],'initContainers':[{'name':'i'},{'name':'j'}]}," \
    "'status':{'phase':'Pending'" status ",'initContainerStatuses':[" statuses "]}"
#define SIDECAR(statuses)                                                                          \
    "'spec':{'containers':[{'name':'a'}],'initContainers':[{'name':'s','restartPolicy':'Always'}," \
    "{'name':'i'}]},"                                                                              \
    "'status':{'phase':'Running','initContainerStatuses':[" statuses "],"                          \
    "'containerStatuses':[{'name':'a','ready':true,'restartCount':1,'state':{'running':{}}}]}"
#define DELETED                                                          \
    "'metadata':{'name':'x','creationTimestamp':'2026-11-18T11:00:00Z'," \
    "'deletionTimestamp':'2026-11-18T12:00:00Z'},"
#define WIDE ",'60m','<none>','<none>','<none>','<none>'"

static void expect_pods(const struct table_case *cases, size_t count)
{
    expect_cases("", "pods", cases, count);
}

static void shows_the_phase_or_the_reason(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{'containers':[{},{}]},'status':{'phase':'Pending'}",
         "'x','0/2','Pending','0'" WIDE},
        {"'status':{'phase':'Failed','reason':'Evicted'}", "'x','0/0','Evicted','0'" WIDE},
        {"'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False',"
         "'reason':'SchedulingGated'}]}",
         "'x','0/0','SchedulingGated','0'" WIDE},
        {"'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False',"
         "'reason':'Unschedulable'}]}",
         "'x','0/0','Pending','0'" WIDE},
        {"'spec':{}", "'x','0/0','','0'" WIDE},
    };
    (void)state;
    expect_pods(cases, ARRAY_LEN(cases));
}

static void shows_the_first_container_that_does_not_run(void **state)
{
    static const struct table_case cases[] = {
        {CONTAINERS(RUNNING_A ",{'name':'b','ready':true,'state':{'running':{}}}"),
         "'x','2/2','Running','0'" WIDE},
        {CONTAINERS(RUNNING_A ",{'name':'b','ready':false,'state':{'running':{}}}"),
         "'x','1/2','Running','0'" WIDE},
        {CONTAINERS(RUNNING_A ",{'name':'b','ready':false,'restartCount':3,"
                              "'state':{'waiting':{'reason':'CrashLoopBackOff'}},"
                              "'lastState':{'terminated':{'exitCode':1,"
                              "'finishedAt':'2026-11-18T11:57:30Z'}}}"),
         "'x','1/2','CrashLoopBackOff','3 (2m30s ago)'" WIDE},
        {CONTAINERS("{'name':'a','state':{'waiting':{'reason':'ErrImagePull'}}},"
                    "{'name':'b','state':{'waiting':{'reason':'CreateContainerConfigError'}}}"),
         "'x','0/2','ErrImagePull','0'" WIDE},
        {CONTAINERS("{'name':'a','state':{'waiting':{}}}"), "'x','0/2','Running','0'" WIDE},
        {CONTAINERS("{'name':'a','state':{'terminated':{'exitCode':137,'reason':'OOMKilled'}}}"),
         "'x','0/2','OOMKilled','0'" WIDE},
        {CONTAINERS("{'name':'a','state':{'terminated':{'exitCode':137,'signal':9}}}"),
         "'x','0/2','Signal:9','0'" WIDE},
        {CONTAINERS("{'name':'a','state':{'terminated':{'exitCode':3}}}"),
         "'x','0/2','ExitCode:3','0'" WIDE},
    };
    (void)state;
    expect_pods(cases, ARRAY_LEN(cases));
}

#define COMPLETED "{'name':'b','state':{'terminated':{'exitCode':0,'reason':'Completed'}}}"

static void a_completed_container_hides_no_other(void **state)
{
    static const struct table_case cases[] = {
        {CONTAINERS(COMPLETED), "'x','0/2','Completed','0'" WIDE},
        {CONTAINERS(COMPLETED "," RUNNING_A), "'x','1/2','NotReady','0'" WIDE},
        {"'spec':{'containers':[{}]},'status':{'phase':'Running',"
         "'conditions':[{'type':'Ready','status':'True'}],'containerStatuses':[" COMPLETED
         "," RUNNING_A "]}",
         "'x','1/1','Running','0'" WIDE},
        {CONTAINERS(COMPLETED ",{'name':'c','state':{'terminated':{'exitCode':1,"
                              "'reason':'Error'}}}," RUNNING_A),
         "'x','1/2','Error','0'" WIDE},
    };
    (void)state;
    expect_pods(cases, ARRAY_LEN(cases));
}

#define DONE "{'name':'i','restartCount':1,'state':{'terminated':{'exitCode':0}}}"

static void shows_the_pending_init_container(void **state)
{
    static const struct table_case cases[] = {
        {INIT("", "{'name':'i','state':{'running':{}}}"), "'x','0/1','Init:0/2','0'" WIDE},
        {INIT("", DONE ",{'name':'j','state':{'waiting':{'reason':'PodInitializing'}}}"),
         "'x','0/1','Init:1/2','1'" WIDE},
        {INIT("",
              DONE ",{'name':'j','restartCount':2,'state':{'waiting':{'reason':'ErrImagePull'}},"
                   "'lastState':{'terminated':{'finishedAt':'2026-11-18T11:59:00Z'}}}"),
         "'x','0/1','Init:ErrImagePull','3 (60s ago)'" WIDE},
        {INIT("", "{'name':'i','state':{'terminated':{'exitCode':1,'reason':'Error'}}}"),
         "'x','0/1','Init:Error','0'" WIDE},
        {INIT("", "{'name':'i','state':{'terminated':{'exitCode':1,'signal':6}}}"),
         "'x','0/1','Init:Signal:6','0'" WIDE},
        {INIT("", "{'name':'i','state':{'terminated':{'exitCode':1}}}"),
         "'x','0/1','Init:ExitCode:1','0'" WIDE},
        {INIT(",'conditions':[{'type':'Initialized','status':'True'}],'containerStatuses':["
              "{'name':'a','restartCount':2,'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]",
              "{'name':'i','restartCount':5,'state':{'running':{}}}"),
         "'x','0/1','CrashLoopBackOff','2'" WIDE},
    };
    (void)state;
    expect_pods(cases, ARRAY_LEN(cases));
}

static void sidecars_count_as_containers(void **state)
{
    static const struct table_case cases[] = {
        {SIDECAR("{'name':'s','ready':true,'started':true,'restartCount':2,'state':{'running':{}},"
                 "'lastState':{'terminated':{'finishedAt':'2026-11-18T11:50:00Z'}}},"
                 "{'name':'i','restartCount':7,'state':{'terminated':{'exitCode':0}}}"),
         "'x','2/2','Running','3 (10m ago)'" WIDE},
        {SIDECAR("{'name':'s','ready':false,'started':true,'state':{'running':{}}},"
                 "{'name':'i','state':{'running':{}}}"),
         "'x','0/2','Init:1/2','0'" WIDE},
        {SIDECAR("{'name':'s','ready':false,'started':false,'state':{'running':{}}}"),
         "'x','0/2','Init:0/2','0'" WIDE},
    };
    (void)state;
    expect_pods(cases, ARRAY_LEN(cases));
}

static void a_deleted_pod_is_terminating(void **state)
{
    static const struct table_case cases[] = {
        {DELETED "'status':{'phase':'Running'}", "'x','0/0','Terminating','0'" WIDE},
        {DELETED "'status':{'phase':'Succeeded'}", "'x','0/0','Succeeded','0'" WIDE},
        {DELETED "'status':{'phase':'Failed'}", "'x','0/0','Failed','0'" WIDE},
        {DELETED "'status':{'phase':'Running','reason':'NodeLost'}",
         "'x','0/0','Unknown','0'" WIDE},
    };
    (void)state;
    expect_pods(cases, ARRAY_LEN(cases));
}

static void shows_addresses_nodes_and_gates(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{'nodeName':'n1','readinessGates':[{'conditionType':'g'},{'conditionType':'h'}]},"
         "'status':{'podIP':'10.0.0.9','podIPs':[{'ip':'10.0.0.1'},{'ip':'fd00::1'}],"
         "'nominatedNodeName':'n2','conditions':[{'type':'h','status':'True'},"
         "{'type':'g','status':'False'}]}",
         "'x','0/0','','0','60m','10.0.0.1','n1','n2','1/2'"},
        {"'status':{'podIP':'10.0.0.9'}",
         "'x','0/0','','0','60m','10.0.0.9','<none>','<none>','<none>'"},
    };
    (void)state;
    expect_pods(cases, ARRAY_LEN(cases));
}

static void a_finished_pod_has_the_condition_completed(void **state)
{
    (void)state;
    expect_row(table_printer_find("", "pods"), "'status':{'phase':'Succeeded'}", TABLE_OBJECT_NONE,
               "{'cells':['x','0/0','Succeeded','0'" WIDE "],'conditions':[{'type':'Completed',"
               "'status':'True','reason':'Succeeded',"
               "'message':'All containers of the pod succeeded.'}],'object':null}");
    expect_row(table_printer_find("", "pods"), "'status':{'phase':'Failed'}", TABLE_OBJECT_NONE,
               "{'cells':['x','0/0','Failed','0'" WIDE "],'conditions':[{'type':'Completed',"
               "'status':'True','reason':'Failed',"
               "'message':'A container of the pod failed.'}],'object':null}");
}

static void values_of_a_wrong_type_keep_the_row_valid(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{'containers':{'a':1},'nodeName':{'b':'c'},'readinessGates':3},"
         "'status':{'phase':['p'],'containerStatuses':[7,'s',{'state':[]}],'podIPs':[[]]}",
         "'x','0/1','','0'" WIDE},
        {"'spec':[],'status':'gone'", "'x','0/0','','0'" WIDE},
    };
    (void)state;
    expect_pods(cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_the_phase_or_the_reason),
        cmocka_unit_test(shows_the_first_container_that_does_not_run),
        cmocka_unit_test(a_completed_container_hides_no_other),
        cmocka_unit_test(shows_the_pending_init_container),
        cmocka_unit_test(sidecars_count_as_containers),
        cmocka_unit_test(a_deleted_pod_is_terminating),
        cmocka_unit_test(shows_addresses_nodes_and_gates),
        cmocka_unit_test(a_finished_pod_has_the_condition_completed),
        cmocka_unit_test(values_of_a_wrong_type_keep_the_row_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
