/*
 * test_server_url.c - valid and invalid server URLs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "wire/http/server_url.h"

static const struct {
    const char *url;
    const char *parts; /* scheme host port prefix */
} good[] = {
    {"https://example.test", "https example.test 443 ''"},
    {"http://example.test", "http example.test 80 ''"},
    {"HTTPS://Example.test:6443", "https Example.test 6443 ''"},
    {"https://10.0.0.1:6443/", "https 10.0.0.1 6443 ''"},
    {"https://[2001:db8::1]:6443", "https 2001:db8::1 6443 ''"},
    {"https://[::1]", "https ::1 443 ''"},
    {"https://[::1]/p", "https ::1 443 '/p'"},
    {"https://rancher.test/k8s/clusters/c-1", "https rancher.test 443 '/k8s/clusters/c-1'"},
    {"https://h:1/a%20b/@//", "https h 1 '/a%20b/@'"},
    {"https://my_host.test:65535", "https my_host.test 65535 ''"},
};

static void parses_valid_server_urls(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct server_url u;
        struct inf_error err = {0};
        char *parts;
        if (server_url_parse(good[i].url, &u, &err) < 0)
            fail_msg("%s: %s", good[i].url, err.text);
        parts =
            xasprintf("%s %s %d '%s'", u.https ? "https" : "http", u.host, u.port, u.path_prefix);
        assert_string_equal(parts, good[i].parts);
        free(parts);
        server_url_free(&u);
    }
}

#define PORT "port after ':' must be 1 to 65535 (an IPv6 address needs brackets)"

static const struct {
    const char *url;
    const char *error;
} bad[] = {
    {"", "must begin with https:// or http://"},
    {"example.test:6443", "must begin with https:// or http://"},
    {"ftp://example.test", "must begin with https:// or http://"},
    {"https:/example.test", "must begin with https:// or http://"},
    {"https://", "host name is missing"},
    {"https://:6443", "host name is missing"},
    {"https:///path", "host name is missing"},
    {"https://me:secret@host",
     "must not contain a user name or password; put credentials into the user entry"},
    {"https://host?x=1", "must not contain a query (?) or a fragment (#)"},
    {"https://host/p#f", "must not contain a query (?) or a fragment (#)"},
    {"https://ho st", "host name contains characters other than a-z 0-9 - . _"},
    {"https://h\xC3\xA9", "host name contains characters other than a-z 0-9 - . _"},
    {"https://host\r\nX: y", "host name contains characters other than a-z 0-9 - . _"},
    {"https://host:", PORT},
    {"https://host:0", PORT},
    {"https://host:65536", PORT},
    {"https://host:4294967739", PORT},
    {"https://host:-1", PORT},
    {"https://host:44 3", PORT},
    {"https://2001:db8::1", PORT},
    {"https://[::1", "']' is missing after the IPv6 address"},
    {"https://[]", "needs an IPv6 address between '[' and ']'"},
    {"https://[10.0.0.1]", "needs an IPv6 address between '[' and ']'"},
    {"https://[fe80::1%25eth0]", "needs an IPv6 address between '[' and ']'"},
    {"https://[::1]x", "only ':' or '/' may follow the host"},
    {"https://host/a b", "path contains a character that must be escaped as %xx"},
    {"https://host/a\r\nX: y", "path contains a character that must be escaped as %xx"},
    {"https://"
     "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
     "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
     "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890",
     "host name exceeds 253 characters"},
};

static void refuses_invalid_server_urls(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct server_url u = {0};
        struct inf_error err = {0};
        assert_int_equal(server_url_parse(bad[i].url, &u, &err), -INF_ECONF);
        assert_string_equal(err.text, bad[i].error);
        assert_null(u.host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_valid_server_urls),
        cmocka_unit_test(refuses_invalid_server_urls),
    };
    return cmocka_run_group_tests_name("server_url", tests, NULL, NULL);
}
