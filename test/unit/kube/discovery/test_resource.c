/*
 * test_resource.c - valid names, and the exact paths and queries of requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "informer/informer.h"

#include "base/alloc.h"
#include "base/base.h"
#include "kube/discovery/resource_name.h"

#define LABEL_63 "a23456789012345678901234567890123456789012345678901234567890123"

static void public_and_internal_name_checks_agree(void **state)
{
    struct inf_error err = {0};
    (void)state;
    assert_int_equal(inf_resource_check("pods", NULL), 0);
    assert_int_equal(inf_resource_check("deployments.apps/v1", &err), 0);
    assert_int_equal(inf_resource_check("Po", &err), 0);
    assert_int_equal(inf_resource_check("pods/log", &err), -INF_EINVAL);
    assert_non_null(strstr(err.text, "use a form such as 'pods'"));
}

static void a_namespace_is_one_label(void **state)
{
    static const char *const wrong[] = {"",    "Shop", "a.b", "a/b", "..",         "-a",   "a-",
                                        "a b", "a?",   "a\n", "%",   LABEL_63 "4", "a\xff"};
    struct inf_error err;
    (void)state;
    assert_int_equal(resource_check_namespace("shop", &err), 0);
    assert_int_equal(resource_check_namespace("0-9", &err), 0);
    assert_int_equal(resource_check_namespace(LABEL_63, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_int_equal(resource_check_namespace(wrong[i], &err), -INF_EINVAL);
        assert_non_null(strstr(err.text, "use lower case letters, digits and '-', at most 63"));
    }
}

static void assert_scoped(const char *resource, const char *prefix,
                          const struct resource_scope *scope, const struct source_request *request,
                          const char *expected)
{
    struct resource_name name;
    struct resource r;
    struct buf out = {0};
    assert_int_equal(resource_name_parse(resource, &name, NULL), 0);
    assert_true(resource_name_is_complete(&name, &r));
    resource_target(&out, prefix, &r, scope, request);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, expected);
    buf_free(&out);
    resource_free(&r);
    resource_name_free(&name);
}

static void assert_target(const char *resource, const char *prefix, const char *ns,
                          const struct source_request *request, const char *expected)
{
    assert_scoped(resource, prefix, &(struct resource_scope){.ns = ns}, request, expected);
}

#define FIRST(t) \
    (&(struct source_request){.want = SOURCE_WATCH_LIST, .resource_version = "", .timeout_s = (t)})
#define AGAIN(v) \
    (&(struct source_request){.want = SOURCE_WATCH_LIST, .resource_version = (v), .timeout_s = 300})
#define AFTER(v) \
    (&(struct source_request){.want = SOURCE_WATCH, .resource_version = (v), .timeout_s = 300})

#define WATCH "?watch=true&allowWatchBookmarks=true&timeoutSeconds="

static void a_watch_list_requests_the_initial_objects(void **state)
{
    (void)state;
    assert_target("pods", "", NULL, FIRST(417),
                  "/api/v1/pods" WATCH "417"
                  "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    assert_target("pods", "", "shop", AGAIN("582"),
                  "/api/v1/namespaces/shop/pods" WATCH "300"
                  "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                  "&resourceVersion=582");
    assert_target("widgets.example.com/v1", "/k8s/clusters/c-1", "shop", FIRST(300),
                  "/k8s/clusters/c-1/apis/example.com/v1/namespaces/shop/widgets" WATCH "300"
                  "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
}

/* resourceVersionMatch is forbidden here: the server answers 422 (recorded). */
static void a_watch_requests_changes_after_a_version(void **state)
{
    (void)state;
    assert_target("pods", "", NULL, AFTER("582"), "/api/v1/pods" WATCH "300&resourceVersion=582");
    assert_target("deployments.apps/v1", "", "shop", AFTER("7"),
                  "/apis/apps/v1/namespaces/shop/deployments" WATCH "300&resourceVersion=7");
}

static void escapes_a_version_in_the_query(void **state)
{
    (void)state;
    assert_target("pods", "", NULL, AFTER("a&limit=1#x y%/?=+\"\r\n\x7f\xc3\xa9"),
                  "/api/v1/pods" WATCH "300&resourceVersion="
                  "a%26limit%3D1%23x%20y%25%2F%3F%3D%2B%22%0D%0A%7F%C3%A9");
    assert_target("pods", "", NULL, AFTER("aZ09-._~"),
                  "/api/v1/pods" WATCH "300&resourceVersion=aZ09-._~");
}

/* Each page and the following watch contain the selectors. */
static void every_request_contains_the_selectors(void **state)
{
    static const struct resource_scope scope = {.ns = "shop",
                                                .label_selector = "app in (web,api),!old",
                                                .field_selector = "spec.nodeName="};
    static const struct resource_scope by_name = {.field_selector = "metadata.name=a"};
    static const struct resource_scope nothing = {.label_selector = "", .field_selector = ""};
#define SELECTED "labelSelector=app%20in%20%28web%2Capi%29%2C%21old&fieldSelector=spec.nodeName%3D"
    (void)state;
    assert_scoped("pods", "", &scope, AFTER("7"),
                  "/api/v1/namespaces/shop/pods" WATCH "300&resourceVersion=7&" SELECTED);
    assert_scoped("pods", "", &scope,
                  &(struct source_request){.want = SOURCE_LIST, .continue_token = "t", .limit = 5},
                  "/api/v1/namespaces/shop/pods?limit=5&continue=t&" SELECTED);
    assert_scoped("pods", "", &scope,
                  &(struct source_request){.want = SOURCE_LIST, .resource_version = ""},
                  "/api/v1/namespaces/shop/pods?" SELECTED);
    assert_scoped("pods", "", &by_name,
                  &(struct source_request){.want = SOURCE_LIST, .resource_version = ""},
                  "/api/v1/pods?fieldSelector=metadata.name%3Da");
    assert_scoped("pods", "", &nothing,
                  &(struct source_request){.want = SOURCE_LIST, .resource_version = ""},
                  "/api/v1/pods");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_and_internal_name_checks_agree),
        cmocka_unit_test(a_namespace_is_one_label),
        cmocka_unit_test(a_watch_list_requests_the_initial_objects),
        cmocka_unit_test(a_watch_requests_changes_after_a_version),
        cmocka_unit_test(escapes_a_version_in_the_query),
        cmocka_unit_test(every_request_contains_the_selectors),
    };
    return cmocka_run_group_tests_name("resource", tests, NULL, NULL);
}
