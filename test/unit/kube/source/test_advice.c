/*
 * test_advice.c - the advice after a refusal, and that no server can put text into a suggested
 * command.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "kube/source/advice.h"

#define SA "User \"system:serviceaccount:mon:informerd\" "

static const struct {
    int code;
    const char *said, *group, *name, *ns, *advice;
} cases[] = {
    {INF_EFORBIDDEN, "pods is forbidden: " SA "cannot list resource \"pods\" in API group \"\"", "",
     "pods", "shop",
     "; to allow it: kubectl -n shop create role watch-pods --verb=list,watch --resource=pods && "
     "kubectl -n shop create rolebinding watch-pods --role=watch-pods "
     "--serviceaccount='mon:informerd'"},
    {INF_EFORBIDDEN, "x: User \"jane doe@example.com\" cannot watch resource \"deployments\"",
     "apps", "deployments", NULL,
     "; to allow it: kubectl create clusterrole watch-deployments.apps --verb=list,watch "
     "--resource=deployments.apps && kubectl create clusterrolebinding watch-deployments.apps "
     "--clusterrole=watch-deployments.apps --user='jane doe@example.com'"},
    {INF_EFORBIDDEN, "pods is forbidden: User \"system:anonymous\" cannot list resource", "",
     "pods", NULL,
     "; the server treats the request as anonymous: credentials are missing or not valid for this "
     "cluster"},
    {INF_EFORBIDDEN, "x: User \"a'; rm -rf ~; '\" cannot list resource", "", "pods", "shop",
     "; this requires the verbs list and watch on pods in namespace shop"},
    {INF_EFORBIDDEN, "x: User \"a\\\" cannot list resource", "", "pods", NULL,
     "; this requires the verbs list and watch on pods in all namespaces"},
    {INF_EFORBIDDEN, "x: User \"\" cannot list resource", "", "pods", NULL,
     "; this requires the verbs list and watch on pods in all namespaces"},
    {INF_EFORBIDDEN, "no, by a webhook", "apps", "deployments", "shop",
     "; this requires the verbs list and watch on deployments.apps in namespace shop"},
    {INF_EFORBIDDEN, "x: User \"jane\" cannot", "", "pods", NULL,
     "; this requires the verbs list and watch on pods in all namespaces"},
    {INF_EFORBIDDEN, "users \"bob\" is forbidden: User \"jane\" cannot impersonate resource", "",
     "pods", NULL, ""},
    {INF_EFORBIDDEN, "forbidden: User \"jane\" cannot get path \"/apis\"", "", "", NULL,
     "; a fully qualified resource such as deployments.apps/v1 needs no lookup"},
    {INF_EUNAUTHORIZED, "Unauthorized", "", "pods", NULL,
     "; no credentials were sent; the kubeconfig needs a user"},
    {INF_ENOTFOUND, "404 page not found", "x.io", "foos", NULL,
     "; check the resource's name, group and version; see kubectl api-resources"},
    {INF_ENOTFOUND, "404 page not found", "x.io", "foos", "shop",
     "; check the resource's name, group and version, and whether it is namespaced; see kubectl "
     "api-resources"},
    {INF_ESERVER, "down", "", "pods", NULL, ""},
};

static void adds_advice_for_each_kind_of_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct resource r = {xstrdup(cases[i].group), xstrdup("v1"), xstrdup(cases[i].name)};
        struct inf_error why;
        err_set(&why, cases[i].code, "%s", cases[i].said);
        advice_add(&why, &(struct advice){&r, cases[i].ns, "", NULL});
        assert_memory_equal(why.text, cases[i].said, strlen(cases[i].said));
        assert_string_equal(why.text + strlen(cases[i].said), cases[i].advice);
        resource_free(&r);
    }
}

static void names_the_credentials_and_the_server(void **state)
{
    struct resource r = {xstrdup(""), xstrdup("v1"), xstrdup("pods")};
    struct advice advice = {&r, NULL, "/k8s", "the token of user 'u'"};
    struct inf_error why;
    (void)state;
    err_set(&why, INF_EUNAUTHORIZED, "no");
    advice_add(&why, &advice);
    assert_string_equal(why.text, "no; the server rejected the token of user 'u'; check that it "
                                  "is valid for this cluster, not expired and not revoked");
    err_set(&why, INF_ENOTFOUND, "no");
    advice_add(&why, &advice);
    assert_string_equal(why.text,
                        "no; check the resource's name, group and version, and the path of the "
                        "server URL (/k8s); see kubectl api-resources");
    resource_free(&r);
}

static void advice_stays_within_the_message_limit(void **state)
{
    struct resource r = {xstrdup(""), xstrdup("v1"), xstrdup("pods")};
    char said[INF_ERROR_TEXT_MAX + 1];
    struct inf_error why;
    (void)state;
    memset(said, 'x', sizeof(said));
    for (size_t len = INF_ERROR_TEXT_MAX - 100; len < sizeof(said); len++) {
        err_set(&why, INF_EFORBIDDEN, "%.*s", (int)len, said);
        advice_add(&why, &(struct advice){&r, "shop", "", NULL});
        assert_true(strlen(why.text) < INF_ERROR_TEXT_MAX);
    }
    resource_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_advice_for_each_kind_of_error),
        cmocka_unit_test(names_the_credentials_and_the_server),
        cmocka_unit_test(advice_stays_within_the_message_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
