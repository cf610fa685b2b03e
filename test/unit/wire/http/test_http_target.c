/*
 * test_http_target.c - valid and invalid targets and queries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "informer/error.h"

#include "base/base.h"
#include "wire/http/http_target.h"

static void splits_into(const char *target, const char *path, const char *query)
{
    char *got_path, *got_query;
    assert_int_equal(http_target_split(target, &got_path, &got_query), 0);
    assert_string_equal(got_path, path);
    assert_string_equal(got_query, query);
    free(got_path);
    free(got_query);
}

static void splits_targets_and_decodes_paths(void **state)
{
    (void)state;
    splits_into("/", "/", "");
    splits_into("/metrics", "/metrics", "");
    splits_into("/metrics?", "/metrics", "");
    splits_into("/a?b=c&d=%20?e", "/a", "b=c&d=%20?e");
    splits_into("/a%20b+c%2Fd", "/a b+c/d", "");
    splits_into("/%c3%A4", "/\xc3\xa4", "");
    splits_into("/\xc3\xa4", "/\xc3\xa4", "");
    splits_into("//double", "//double", "");
    splits_into("http://h/x?y", "/x", "y");
    splits_into("HTTPS://h:1/x", "/x", "");
    splits_into("http://h", "/", "");
    splits_into("http://h?y", "/", "y");
}

static void refuses_invalid_targets(void **state)
{
    static const char *const bad[] = {
        "",     "*",     "a",    "metrics", "host:80", "http://",   "http:///x", "ftp://h/x",
        "/%",   "/%4",   "/%4g", "/%g4",    "/%00",    "/a%00b",    "/a#b",      "/a b",
        "/a\n", "/\x7f", "/%0a", "/a%7Fb",  "/a%",     "http://?x", "/x?a#b",    "/x?\t",
    };
    char *path = NULL, *query = NULL;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (http_target_split(bad[i], &path, &query) != -INF_EINVAL)
            fail_msg("'%s' was taken", bad[i]);
    assert_null(path); /* untouched on failure */
    assert_null(query);
}

static void has(const char *query, const char *name, const char *value)
{
    char *got = NULL;
    assert_int_equal(http_query_get(query, name, &got), value ? 1 : 0);
    if (value)
        assert_string_equal(got, value);
    else
        assert_null(got);
    free(got);
}

static void finds_parameters(void **state)
{
    (void)state;
    has("", "a", NULL);
    has("a=1", "a", "1");
    has("a=1", "b", NULL);
    has("aa=1&a=2", "a", "2");
    has("a=1&a=2", "a", "1");
    has("b&a", "a", "");
    has("a=", "a", "");
    has("&&a=1&", "a", "1");
    has("a=b=c", "a", "b=c");
    has("l=app%20in+%28web%2Capi%29", "l", "app in (web,api)");
    has("%61=1", "a", "1");
    has("=1", "", "1");
}

static void refuses_bad_escapes(void **state)
{
    char *got = NULL;
    (void)state;
    assert_int_equal(http_query_get("a=%", "a", &got), -INF_EINVAL);
    assert_int_equal(http_query_get("a%=1&b=2", "b", &got), -INF_EINVAL);
    assert_int_equal(http_query_get("a=%00", "a", &got), -INF_EINVAL);
    assert_null(got);
    has("b=2&a=%", "b", "2"); /* the other one is not needed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_targets_and_decodes_paths),
        cmocka_unit_test(refuses_invalid_targets),
        cmocka_unit_test(finds_parameters),
        cmocka_unit_test(refuses_bad_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
