/*
 * test_server_url.c - server addresses, good and bad.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "kube/config/server_url.h"

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

static void test_good(void **state)
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

#define PORT "must have a port of 1 to 65535 after the host's ':' (an IPv6 address needs brackets)"

static const struct {
    const char *url;
    const char *error;
} bad[] = {
    {"", "must begin with https:// or http://"},
    {"example.test:6443", "must begin with https:// or http://"},
    {"ftp://example.test", "must begin with https:// or http://"},
    {"https:/example.test", "must begin with https:// or http://"},
    {"https://", "has no host name"},
    {"https://:6443", "has no host name"},
    {"https:///path", "has no host name"},
    {"https://me:secret@host",
     "must have no user name or password; credentials belong to the user entry"},
    {"https://host?x=1", "must have no query (?) and no fragment (#)"},
    {"https://host/p#f", "must have no query (?) and no fragment (#)"},
    {"https://ho st", "has a host name with other characters than a-z 0-9 - . _"},
    {"https://h\xC3\xA9", "has a host name with other characters than a-z 0-9 - . _"},
    {"https://host\r\nX: y", "has a host name with other characters than a-z 0-9 - . _"},
    {"https://host:", PORT},
    {"https://host:0", PORT},
    {"https://host:65536", PORT},
    {"https://host:4294967739", PORT},
    {"https://host:-1", PORT},
    {"https://host:44 3", PORT},
    {"https://2001:db8::1", PORT},
    {"https://[::1", "the '[' of its IPv6 address has no ']'"},
    {"https://[]", "has no IPv6 address between '[' and ']'"},
    {"https://[10.0.0.1]", "has no IPv6 address between '[' and ']'"},
    {"https://[fe80::1%25eth0]", "has no IPv6 address between '[' and ']'"},
    {"https://[::1]x", "must go on with ':' or '/' after the host"},
    {"https://host/a b", "has a character in its path that must be escaped (%xx)"},
    {"https://host/a\r\nX: y", "has a character in its path that must be escaped (%xx)"},
    {"https://"
     "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
     "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
     "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890",
     "has a host name of more than 253 characters"},
};

static void test_bad(void **state)
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
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests_name("server_url", tests, NULL, NULL);
}
