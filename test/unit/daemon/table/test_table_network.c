/*
 * test_table_network.c - the cells of Services, Endpoints, EndpointSlices and Ingresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "table_rows.h"

static void shows_services(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{'type':'ClusterIP','clusterIP':'10.0.0.1','clusterIPs':['10.0.0.1'],'ports':["
         "{'port':80,'protocol':'TCP'},{'port':53,'protocol':'UDP'}],'selector':{'app':'web'}}",
         "'x','ClusterIP','10.0.0.1','<none>','80/TCP,53/UDP','60m','app=web'"},
        {"'spec':{'type':'NodePort','clusterIPs':['10.0.0.1'],'externalIPs':['1.1.1.1','2.2.2.2'],"
         "'ports':[{'port':80,'nodePort':30080,'protocol':'TCP'}]}",
         "'x','NodePort','10.0.0.1','1.1.1.1,2.2.2.2','80:30080/TCP','60m','<none>'"},
        {"'spec':{'type':'ExternalName','externalName':'example.org'}",
         "'x','ExternalName','<none>','example.org','<none>','60m','<none>'"},
        {"'spec':{'type':'ClusterIP','clusterIPs':['None']}",
         "'x','ClusterIP','None','<none>','<none>','60m','<none>'"},
        {"'spec':{'type':'Strange'}", "'x','Strange','<none>','<unknown>','<none>','60m','<none>'"},
    };
    (void)state;
    expect_cases("", "services", cases, ARRAY_LEN(cases));
}

#define BALANCER(external, ingress) \
    "'spec':{'type':'LoadBalancer'" external "},'status':{'loadBalancer':{'ingress':[" ingress "]}}"
#define ADDRESS(address) "'x','LoadBalancer','<none>','" address "','<none>','60m','<none>'"

static void shows_the_addresses_of_load_balancers(void **state)
{
    static const struct table_case cases[] = {
        {BALANCER("", ""), ADDRESS("<pending>")},
        {BALANCER("", "{'ip':'9.9.9.9'},{'ip':'1.1.1.1'},{'hostname':'a-very-long-name.example'},"
                      "{'ip':'1.1.1.1'},{}"),
         ADDRESS("1.1.1.1,9.9.9.9,a-very-long-name.example")},
        {BALANCER(",'externalIPs':['3.3.3.3']", "{'ip':'9.9.9.9'}"), ADDRESS("9.9.9.9,3.3.3.3")},
        {BALANCER(",'externalIPs':['3.3.3.3']", ""), ADDRESS("3.3.3.3")},
    };
    (void)state;
    expect_cases("", "services", cases, ARRAY_LEN(cases));
}

#define IPS "'addresses':[{'ip':'10.0.0.1'},{'ip':'10.0.0.2'}]"

static void shows_endpoints(void **state)
{
    static const struct table_case cases[] = {
        {"", "'x','<none>','60m'"},
        {"'subsets':[{'notReadyAddresses':[{'ip':'10.0.0.1'}],'ports':[{'port':80}]}]",
         "'x','','60m'"},
        {"'subsets':[{" IPS ",'ports':[{'port':80}]}]", "'x','10.0.0.1:80,10.0.0.2:80','60m'"},
        {"'subsets':[{" IPS "}]", "'x','10.0.0.1,10.0.0.2','60m'"},
        {"'subsets':[{" IPS ",'ports':[{'port':80},{'port':81}]},{" IPS ",'ports':[{'port':9}]}]",
         "'x','10.0.0.1:80,10.0.0.2:80,10.0.0.1:81 + 3 more...','60m'"},
        {"'subsets':[{'addresses':[{'ip':'fd00::1'}],'ports':[{'port':80}]}]",
         "'x','[fd00::1]:80','60m'"},
    };
    (void)state;
    expect_cases("", "endpoints", cases, ARRAY_LEN(cases));
}

static void shows_endpoint_slices(void **state)
{
    static const struct table_case cases[] = {
        {"'addressType':'IPv4','endpoints':[{'addresses':['10.0.0.1']},{'addresses':['10.0.0.2',"
         "'10.0.0.3']},{'addresses':['10.0.0.4']}],'ports':[{'port':80},{'name':'web'},{}]",
         "'x','IPv4','80,web,*','10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...','60m'"},
        {"'addressType':'IPv6','ports':[{'port':1},{'port':2},{'port':3},{'port':4},{'port':5}]",
         "'x','IPv6','1,2,3 + 2 more...','<unset>','60m'"},
    };
    (void)state;
    expect_cases("discovery.k8s.io", "endpointslices", cases, ARRAY_LEN(cases));
}

static void shows_ingresses(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{}", "'x','<none>','*','','80','60m'"},
        {"'spec':{'ingressClassName':'nginx','tls':[{}],'rules':[{'host':'a'},{},{'host':'b'}]},"
         "'status':{'loadBalancer':{'ingress':[{'ip':'9.9.9.9'},{'hostname':'lb'}]}}",
         "'x','nginx','a,b','9.9.9.9,lb','80, 443','60m'"},
        {"'spec':{'rules':[{'host':'a'},{'host':'b'},{'host':'c'},{'host':'d'},{}]}",
         "'x','<none>','a,b,c + 2 more...','','80','60m'"},
        {"'spec':{'rules':[{'host':'a'},{'host':'b'},{'host':'c'}]}",
         "'x','<none>','a,b,c','','80','60m'"},
    };
    (void)state;
    expect_cases("networking.k8s.io", "ingresses", cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_services),  cmocka_unit_test(shows_the_addresses_of_load_balancers),
        cmocka_unit_test(shows_endpoints), cmocka_unit_test(shows_endpoint_slices),
        cmocka_unit_test(shows_ingresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
