/*
 * test_http_host.c - which hosts a request may be addressed to.
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
#include "wire/http/http_host.h"

static char metrics[] = "metrics.example.com", single[] = "informerd";
static char *const names[] = {metrics, single};

static const struct {
    const char *target, *host; /* NULL: no such header */
    bool allowed;
} rows[] = {
    {"/", "127.0.0.1", true},
    {"/", "10.1.2.3:9470", true},
    {"/", "[::1]", true},
    {"/", "[fd00::1]:9470", true},
    {"/", "[::ffff:10.0.0.1]:9470", true},
    {"/", "localhost", true},
    {"/", "LocalHost:1", true},
    {"/", "localhost.:9470", true},
    {"/", "metrics.example.com", true},
    {"/", "Metrics.Example.COM:9470", true},
    {"/", "metrics.example.com.", true},
    {"/", "informerd", true},
    {"/", NULL, true},
    {"/", "", true},
    {"/", "evil.example", false},
    {"/", "evil.example:9470", false},
    {"/", "example.com", false},
    {"/", "x.metrics.example.com", false},
    {"/", "metrics.example.com.evil.example", false},
    {"/", "localhost.evil.example", false},
    {"/", "127.0.0.1.evil.example", false},
    {"/", "127.0.0.1@evil.example", false},
    {"/", "evil.example@127.0.0.1", false},
    {"/", "127.0.0.1:80:80", false},
    {"/", "127.0.0.1:x", false},
    {"/", "127.0.0.1, evil.example", false},
    {"/", "[::1", false},
    {"/", "[::1]x", false},
    {"/", "[::1]:", true},
    {"/", "[127.0.0.1]", false},
    {"/", "[evil.example]", false},
    {"/", "[]", false},
    {"/", "::1", false},
    {"/", "127.1", false},
    {"/", "0x7f.0.0.1", false},
    {"/", ".", false},
    {"/", ":80", false},
    /* both are checked */
    {"http://127.0.0.1:9470/metrics", "127.0.0.1", true},
    {"HTTP://metrics.example.com/metrics", "127.0.0.1", true},
    {"http://evil.example/metrics", "127.0.0.1", false},
    {"http://127.0.0.1/metrics", "evil.example", false},
    {"http://evil.example/metrics", NULL, false},
    {"https://evil.example?a", "127.0.0.1", false},
    {"/?http://evil.example/", "127.0.0.1", true},
};

static void allows_addresses_and_configured_names_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct http_header host = {"host", rows[i].host};
        struct http_server_request request = {
            .target = rows[i].target, .headers = &host, .n_headers = rows[i].host ? 1 : 0};
        if (http_host_is_allowed(&request, names, ARRAY_LEN(names)) != rows[i].allowed)
            fail_msg("%s at %s", rows[i].target, rows[i].host);
    }
}

static void refuses_long_names(void **state)
{
    char *host = xmalloc(1001);
    struct http_header header = {"Host", host};
    struct http_server_request request = {.target = "/", .headers = &header, .n_headers = 1};
    (void)state;
    for (size_t len = 1; len <= 1000; len++) {
        memset(host, 'a', len);
        host[len] = '\0';
        assert_false(http_host_is_allowed(&request, names, ARRAY_LEN(names)));
    }
    free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allows_addresses_and_configured_names_only),
        cmocka_unit_test(refuses_long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
