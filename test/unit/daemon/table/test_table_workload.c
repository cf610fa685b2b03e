/*
 * test_table_workload.c - the cells of Deployments, ReplicaSets, StatefulSets, DaemonSets,
 * ReplicationControllers, PodDisruptionBudgets and HorizontalPodAutoscalers; selectors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "table_rows.h"

#define TEMPLATE \
    "'template':{'spec':{'containers':[{'name':'a','image':'i:1'},{'name':'b','image':'j'}]}}"

static void shows_deployments(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{'replicas':3,'selector':{'matchLabels':{'app':'web'}}," TEMPLATE "},"
         "'status':{'readyReplicas':1,'updatedReplicas':2,'availableReplicas':1}",
         "'x','1/3',2,1,'60m','a,b','i:1,j','app=web'"},
        {"'spec':{}", "'x','0/0',0,0,'60m','','',''"},
    };
    (void)state;
    expect_cases("apps", "deployments", cases, ARRAY_LEN(cases));
}

static void shows_replica_sets_and_controllers(void **state)
{
    static const struct table_case sets[] = {
        {"'spec':{'replicas':3,'selector':{'matchLabels':{'app':'web'}}," TEMPLATE "},"
         "'status':{'replicas':2,'readyReplicas':1}",
         "'x',3,2,1,'60m','a,b','i:1,j','app=web'"},
        {"'spec':{'selector':{}}", "'x',0,0,0,'60m','','','<none>'"},
    };
    static const struct table_case controllers[] = {
        {"'spec':{'replicas':3,'selector':{'b':'2','a':'1'}," TEMPLATE "},'status':{'replicas':2}",
         "'x',3,2,0,'60m','a,b','i:1,j','a=1,b=2'"},
    };
    (void)state;
    expect_cases("apps", "replicasets", sets, ARRAY_LEN(sets));
    expect_cases("", "replicationcontrollers", controllers, ARRAY_LEN(controllers));
}

static void shows_stateful_sets(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{'replicas':3," TEMPLATE "},'status':{'replicas':3,'readyReplicas':2}",
         "'x','2/3','60m','a,b','i:1,j'"},
    };
    (void)state;
    expect_cases("apps", "statefulsets", cases, ARRAY_LEN(cases));
}

static void shows_daemon_sets(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{'selector':{'matchLabels':{'k':'v'}},'template':{'spec':{'containers':["
         "{'name':'a','image':'i'}],'nodeSelector':{'disk':'ssd'}}}},'status':{"
         "'desiredNumberScheduled':5,'currentNumberScheduled':4,'numberReady':3,"
         "'updatedNumberScheduled':2,'numberAvailable':1}",
         "'x',5,4,3,2,1,'disk=ssd','60m','a','i','k=v'"},
        {"'spec':{}", "'x',0,0,0,0,0,'<none>','60m','','','<none>'"},
    };
    (void)state;
    expect_cases("apps", "daemonsets", cases, ARRAY_LEN(cases));
}

/* Labels are sorted as key=value, selectors by key. */
static void sorts_labels_and_selectors(void **state)
{
    static const struct table_case controllers[] = {
        {"'spec':{'selector':{'a':'1','a-b':'2','a_b':'3','a.b':'4'}}",
         "'x',0,0,0,'60m','','','a-b=2,a.b=4,a=1,a_b=3'"},
    };
    static const struct table_case policies[] = {
        {"'spec':{'podSelector':{'matchLabels':{'c':'1','a':'','a-b':'2'},'matchExpressions':["
         "{'key':'b','operator':'In','values':['z','y']},"
         "{'key':'d','operator':'NotIn','values':['v']},"
         "{'key':'e','operator':'Exists'},{'key':'0','operator':'DoesNotExist'},"
         "{'key':'c','operator':'In','values':['1']}]}}",
         "'x','!0,a=,a-b=2,b in (y,z),c=1,c in (1),d notin (v),e','60m'"},
        {"'spec':{'podSelector':{}}", "'x','<none>','60m'"},
    };
    (void)state;
    expect_cases("", "replicationcontrollers", controllers, ARRAY_LEN(controllers));
    expect_cases("networking.k8s.io", "networkpolicies", policies, ARRAY_LEN(policies));
}

static void shows_disruption_budgets(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{'minAvailable':2},'status':{'disruptionsAllowed':1}", "'x','2','N/A',1,'60m'"},
        {"'spec':{'maxUnavailable':'30%'}", "'x','N/A','30%',0,'60m'"},
    };
    (void)state;
    expect_cases("policy", "poddisruptionbudgets", cases, ARRAY_LEN(cases));
}

#define TARGET         "'scaleTargetRef':{'kind':'Deployment','name':'web'},"
#define CELLS(metrics) "'x','Deployment/web','" metrics "','<unset>',9,4,'60m'"
#define METRIC(spec, status)                                   \
    "'spec':{" TARGET "'maxReplicas':9,'metrics':[" spec "]}," \
    "'status':{'currentReplicas':4,'currentMetrics':[" status "]}"
#define CPU "{'type':'Resource','resource':{'name':'cpu','target':{'averageUtilization':80}}}"

static void shows_the_metrics_of_autoscalers(void **state)
{
    static const struct table_case cases[] = {
        {METRIC("", ""), CELLS("<none>")},
        {METRIC(CPU, ""), CELLS("cpu: <unknown>/80%")},
        {METRIC(CPU, "{'type':'Resource','resource':{'name':'cpu','current':{"
                     "'averageUtilization':33,'averageValue':'10m'}}}"),
         CELLS("cpu: 33%/80%")},
        {METRIC("{'type':'Resource','resource':{'name':'memory','target':{'averageValue':'1Gi'}}}",
                "{'type':'Resource','resource':{'current':{'averageValue':'2Mi'}}}"),
         CELLS("memory: 2Mi/1Gi")},
        {METRIC("{'type':'Resource','resource':{'name':'memory','target':{}}}", ""),
         CELLS("memory: <unknown>/<auto>")},
        {METRIC("{'type':'ContainerResource','containerResource':{'name':'cpu','container':'c',"
                "'target':{'averageUtilization':5}}}",
                "{'type':'ContainerResource','containerResource':{'current':{"
                "'averageUtilization':6}}}"),
         CELLS("cpu: 6%/5%")},
        {METRIC("{'type':'Pods','pods':{'metric':{'name':'q'},'target':{'averageValue':'100m'}}}",
                "{'type':'Pods','pods':{'current':{'averageValue':'50m'}}}"),
         CELLS("50m/100m")},
        {METRIC("{'type':'Object','object':{'target':{'value':'10k'}}}",
                "{'type':'Object','object':{'current':{'value':'2k'}}}"),
         CELLS("2k/10k")},
        {METRIC("{'type':'Object','object':{'target':{'averageValue':'10'}}}",
                "{'type':'Object','object':{'current':{'value':'0'}}}"),
         CELLS("<unknown>/10 (avg)")},
        {METRIC("{'type':'External','external':{'target':{'averageValue':'10'}}}",
                "{'type':'External','external':{'current':{'averageValue':'7'}}}"),
         CELLS("7/10 (avg)")},
        {METRIC("{'type':'External','external':{'target':{'value':'30'}}}",
                "{'type':'External','external':{'current':{}}}"),
         CELLS("<nil>/30")},
        {METRIC("{'type':'Other'}", ""), CELLS("<unknown type>")},
        {METRIC(CPU "," CPU "," CPU "," CPU, ""),
         CELLS("cpu: <unknown>/80%, cpu: <unknown>/80% + 2 more...")},
        {"'spec':{" TARGET "'minReplicas':2,'maxReplicas':5,'targetCPUUtilizationPercentage':50},"
         "'status':{'currentReplicas':3,'currentCPUUtilizationPercentage':7}",
         "'x','Deployment/web','cpu: 7%/50%','2',5,3,'60m'"},
    };
    (void)state;
    expect_cases("autoscaling", "horizontalpodautoscalers", cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_deployments),
        cmocka_unit_test(shows_replica_sets_and_controllers),
        cmocka_unit_test(shows_stateful_sets),
        cmocka_unit_test(shows_daemon_sets),
        cmocka_unit_test(sorts_labels_and_selectors),
        cmocka_unit_test(shows_disruption_budgets),
        cmocka_unit_test(shows_the_metrics_of_autoscalers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
