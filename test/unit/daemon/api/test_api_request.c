/*
 * test_api_request.c - requests to the local API: what is read from path, query and headers, and what is
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "daemon/api/api_request.h"
#include "daemon/api/api_selector.h"

static const char *const pages[] = {
    [API_DOCUMENT] = "document",   [API_CORE] = "core",   [API_GROUPS] = "groups",
    [API_GROUP] = "group",         [API_GET] = "get",     [API_LIST] = "list",
    [API_RESOURCES] = "resources", [API_WATCH] = "watch", [API_UNKNOWN] = "unknown",
};

static int read_request(const char *path, const char *query, const char *accept,
                        struct api_request *r, struct api_fault *fault)
{
    struct http_header header = {"Accept", accept};
    struct http_server_request http = {.method = "GET",
                                       .path = path,
                                       .query = query,
                                       .headers = &header,
                                       .n_headers = accept ? 1 : 0};
    return api_request_read(r, &http, fault);
}

/* "page cluster group version ns resource name", "-" for what is not given. */
static void assert_path(const char *path, const char *expected)
{
    struct api_request r;
    struct api_fault fault;
    struct buf out = {0};
    const char *parts[6];
    assert_int_equal(read_request(path, "", NULL, &r, &fault), 0);
    parts[0] = r.cluster, parts[1] = r.group, parts[2] = r.version;
    parts[3] = r.ns, parts[4] = r.resource, parts[5] = r.name;
    buf_puts(&out, pages[r.page]);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        buf_printf(&out, " %s", parts[i] ? parts[i] : "-");
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, expected);
    buf_free(&out);
    api_request_free(&r);
}

static void assert_refused(const char *path, const char *query, const char *accept, int code)
{
    struct api_request r;
    struct api_fault fault;
    assert_int_equal(read_request(path, query, accept, &r, &fault), -1);
    assert_int_equal(fault.code, code);
    assert_true(*fault.message);
    api_request_free(&r);
}

static struct api_request read_query(const char *query, const char *accept)
{
    struct api_request r;
    struct api_fault fault;
    assert_int_equal(read_request("/api/v1/pods", query, accept, &r, &fault), 0);
    return r;
}

static void assert_document(const char *path, const char *expected)
{
    struct api_request r;
    struct api_fault fault;
    assert_int_equal(read_request(path, "hash=A1", "application/json", &r, &fault), 0);
    assert_string_equal(r.document ? r.document : "none", expected);
    if (r.document)
        assert_string_equal(r.hash, "A1");
    api_request_free(&r);
}

/* ---- tests ---- */

static void documents_have_safe_paths(void **state)
{
    (void)state;
    assert_document("/version", "/version");
    assert_document("/openapi/v3", "/openapi/v3");
    assert_document("//openapi//v3/", "/openapi/v3");
    assert_document("/clusters/a/openapi/v3/apis/apps/v1", "/openapi/v3/apis/apps/v1");
    assert_document("/version/x", "none");
    assert_document("/openapi", "none");
    assert_document("/openapi/v3/../../api/v1/secrets", "none");
    assert_document("/openapi/v3/a?b", "none");
    assert_document("/openapi/v3/a%2fb", "none");
    assert_document("/openapi/v3/a b", "none");
    assert_document("/openapi/v3/1/2/3/4/5/6/7/8/9/10/11", "none");
}

static void paths_select_pages(void **state)
{
    (void)state;
    assert_path("/version", "document - - - - - -");
    assert_path("/clusters/a/openapi/v3/api/v1", "document a - - - - -");
    assert_path("/openapi/v2", "unknown - - - - - -");
    assert_path("/api", "core - - - - - -");
    assert_path("/api/", "core - - - - - -");
    assert_path("/apis", "groups - - - - - -");
    assert_path("/apis/apps", "group - apps - - - -");
    assert_path("/api/v1", "resources -  v1 - - -");
    assert_path("/apis/apps/v1", "resources - apps v1 - - -");
    assert_path("/api/v1/pods", "list -  v1 - pods -");
    assert_path("/api/v1/nodes/n", "get -  v1 - nodes n");
    assert_path("/api/v1/namespaces", "list -  v1 - namespaces -");
    assert_path("/api/v1/namespaces/a", "get -  v1 - namespaces a");
    assert_path("/api/v1/namespaces/a/pods", "list -  v1 a pods -");
    assert_path("/apis/apps/v1/namespaces/a/deployments/d", "get - apps v1 a deployments d");
    assert_path("/clusters/prod/api/v1/pods", "list prod  v1 - pods -");
    assert_path("/clusters/prod", "unknown prod - - - - -");
    assert_path("/openapi/v3", "document - - - - - -");
    assert_path("/a/b/c/d/e/f/g/h/i/j/k/l/m/n", "unknown - - - - - -");
}

static void subresources_are_not_allowed(void **state)
{
    (void)state;
    assert_refused("/api/v1/namespaces/a/pods/p/log", "", NULL, 405);
    assert_refused("/api/v1/namespaces/a/status", "", NULL, 405);
    assert_refused("/apis/apps/v1/namespaces/a/deployments/d/scale", "", NULL, 405);
}

static void accept_selects_the_form(void **state)
{
    static const struct {
        const char *accept;
        const char *query;
        enum api_form form;
    } cases[] = {
        {NULL, "", API_FULL},
        {"", "", API_FULL},
        {"*/*", "", API_FULL},
        {"application/json", "", API_FULL},
        {"application/vnd.kubernetes.protobuf, application/json", "", API_FULL},
        {"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "", API_TABLE_METADATA},
        {"application/json;as=Table;v=v1;g=meta.k8s.io", "includeObject=None", API_TABLE_NONE},
        {"application/json;as=Table;v=v1;g=meta.k8s.io", "includeObject=Object", API_TABLE_OBJECT},
        {"application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", "", API_FULL},
        {"application/json; as=PartialObjectMetadataList; g=meta.k8s.io; v=v1", "", API_METADATA},
        {"application/json", "includeObject=Object", API_FULL},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct api_request r = read_query(cases[i].query, cases[i].accept);
        assert_int_equal(r.form, cases[i].form);
        api_request_free(&r);
    }
    assert_refused("/api/v1/pods", "", "application/vnd.kubernetes.protobuf", 406);
    assert_refused("/api/v1/pods", "", "text/html,application/yaml", 406);
}

static void versions_follow_the_rules_of_the_api_server(void **state)
{
    struct api_request r;
    (void)state;
    r = read_query("resourceVersion=0", NULL);
    assert_true(r.any_version && !r.resource_version);
    api_request_free(&r);
    r = read_query("resourceVersion=5&resourceVersionMatch=Exact&limit=3", NULL);
    assert_string_equal(r.resource_version, "5");
    assert_true(r.match == API_MATCH_EXACT && r.has_limit);
    api_request_free(&r);
    assert_refused("/api/v1/pods", "resourceVersion=x", NULL, 400);
    assert_refused("/api/v1/pods", "resourceVersionMatch=Exact", NULL, 422);
    assert_refused("/api/v1/pods", "resourceVersion=0&resourceVersionMatch=Exact", NULL, 422);
    assert_refused("/api/v1/pods", "resourceVersion=1&resourceVersionMatch=Roughly", NULL, 422);
    assert_refused("/api/v1/pods", "continue=abc", NULL, 410);
}

static void watches_begin_where_they_say(void **state)
{
    struct api_request r = read_query("watch=1", NULL);
    (void)state;
    assert_true(r.page == API_WATCH && r.initial && !r.watch_list);
    api_request_free(&r);
    r = read_query("watch=true&resourceVersion=5&allowWatchBookmarks=true&timeoutSeconds=9", NULL);
    assert_true(!r.initial && r.bookmarks && r.timeout_s == 9);
    api_request_free(&r);
    r = read_query("watch&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                   "&allowWatchBookmarks=1&resourceVersion=5",
                   NULL);
    assert_true(r.initial && r.watch_list);
    api_request_free(&r);
    r = read_query("watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", NULL);
    assert_true(!r.initial && !r.watch_list);
    api_request_free(&r);
    r = read_query("watch=false&timeoutSeconds=99999999999999999999", NULL);
    assert_true(r.page == API_LIST && r.timeout_s == API_TIMEOUT_MAX_S);
    api_request_free(&r);
    assert_refused("/api/v1/pods", "watch=1&resourceVersionMatch=NotOlderThan", NULL, 422);
    assert_refused("/api/v1/pods", "watch=1&sendInitialEvents=true", NULL, 422);
}

static void impersonation_is_forbidden(void **state)
{
    struct http_header header = {"impersonate-group", "system:masters"};
    struct http_server_request http = {
        .method = "GET", .path = "/api", .query = "", .headers = &header, .n_headers = 1};
    struct api_request r;
    struct api_fault fault;
    (void)state;
    assert_int_equal(api_request_read(&r, &http, &fault), -1);
    assert_int_equal(fault.code, 403);
    api_request_free(&r);
}

static bool implies(const char *requested, const char *watched)
{
    struct inf_selector *s = requested ? inf_selector_parse_labels(requested, NULL) : NULL;
    bool implied = api_selector_implies(s, watched, /* by_labels= */ true);
    inf_selector_free(s);
    return implied;
}

static void a_selector_implies_one_with_fewer_requirements(void **state)
{
    (void)state;
    assert_true(implies(NULL, NULL));
    assert_true(implies("a=b", NULL));
    assert_false(implies(NULL, "a=b"));
    assert_true(implies("a=b", "a=b"));
    assert_true(implies("x in (2,1),a=b", "a = b"));
    assert_true(implies("a=b,x in (2, 1)", "x in (1,2)"));
    assert_false(implies("x in (1)", "x in (1,2)"));
    assert_false(implies("a=c", "a=b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_select_pages),
        cmocka_unit_test(documents_have_safe_paths),
        cmocka_unit_test(subresources_are_not_allowed),
        cmocka_unit_test(accept_selects_the_form),
        cmocka_unit_test(versions_follow_the_rules_of_the_api_server),
        cmocka_unit_test(watches_begin_where_they_say),
        cmocka_unit_test(impersonation_is_forbidden),
        cmocka_unit_test(a_selector_implies_one_with_fewer_requirements),
    };
    return cmocka_run_group_tests_name("api_request", tests, NULL, NULL);
}
