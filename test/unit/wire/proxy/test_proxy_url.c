/*
 * test_proxy_url.c - which proxy is used, and for which servers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "wire/proxy/proxy_url.h"

/* ---- the URL ---- */

static const struct {
    const char *url;
    enum proxy_kind kind;
    const char *host;
    uint16_t port;
    const char *user, *password;
} good[] = {
    {"http://p", PROXY_HTTP, "p", 80, NULL, NULL},
    {"HTTP://p:3128/", PROXY_HTTP, "p", 3128, NULL, NULL},
    {"https://p.example.com", PROXY_HTTPS, "p.example.com", 443, NULL, NULL},
    {"socks5://10.0.0.1", PROXY_SOCKS5, "10.0.0.1", 1080, NULL, NULL},
    {"socks5h://p", PROXY_SOCKS5, "p", 1080, NULL, NULL},
    {"http://[fd00::1]:8080", PROXY_HTTP, "fd00::1", 8080, NULL, NULL},
    {"http://me:secret@p:1", PROXY_HTTP, "p", 1, "me", "secret"},
    {"socks5://me@p:1", PROXY_SOCKS5, "p", 1, "me", ""},
    {"http://me:a:b@p:1", PROXY_HTTP, "p", 1, "me", "a:b"},
    {"http://m%65:%2F%3a%40@p:1", PROXY_HTTP, "p", 1, "me", "/:@"},
    {"http://me:a@b@p:1", PROXY_HTTP, "p", 1, "me", "a@b"},
};

static void parses_valid_proxy_urls(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct proxy p;
        struct inf_error err = {0};
        assert_int_equal(proxy_url_parse(good[i].url, &p, &err), 0);
        assert_int_equal(p.kind, good[i].kind);
        assert_string_equal(p.host, good[i].host);
        assert_int_equal(p.port, good[i].port);
        assert_string_equal(p.user ? p.user : "-", good[i].user ? good[i].user : "-");
        assert_string_equal(p.password ? p.password : "-",
                            good[i].password ? good[i].password : "-");
        proxy_free(&p);
    }
}

static void refuses_invalid_urls_without_showing_them(void **state)
{
    static const char *const bad[] = {
        "",
        "p:3128",
        "ftp://p",
        "socks4://p",
        "http://",
        "http://:80",
        "http://p:0",
        "http://p:x",
        "http://p:65536",
        "http://p/path",
        "http://p?q",
        "http://secret:",
        "socks5://@p",
        "http://:secret@p",
        "http://%:secret@p",
        "http://[::",
        "http://a%3Ab:secret@p",
        "http://m:%secret@p",
        "http://m:secret%0a@p",
        "http://m:secret%00@p",
        "http://m:secret%4",
        "http://m:secret@p q",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct proxy p = {.port = 7};
        struct inf_error err = {0};
        assert_int_equal(proxy_url_parse(bad[i], &p, &err), -INF_ECONF);
        assert_null(strstr(err.text, "secret"));
        assert_int_equal(p.port, 7);
    }
}

static void limits_the_length_of_a_login(void **state)
{
    char url[400] = "http://";
    struct proxy p;
    (void)state;
    memset(url + 7, 'u', PROXY_LOGIN_MAX);
    strcpy(url + 7 + PROXY_LOGIN_MAX, ":x@p");
    assert_int_equal(proxy_url_parse(url, &p, NULL), 0);
    proxy_free(&p);
    memset(url + 7, 'u', PROXY_LOGIN_MAX + 1);
    strcpy(url + 7 + PROXY_LOGIN_MAX + 1, ":x@p");
    assert_int_equal(proxy_url_parse(url, &p, NULL), -INF_ECONF);
}

static void compares_proxies_with_their_logins(void **state)
{
    static const char *const all[] = {"http://p",     "https://p:80", "http://q",
                                      "http://p:81",  "socks5://a@p", "http://a:b@p",
                                      "http://a:c@p", "http://b:b@p"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        for (size_t j = 0; j < ARRAY_LEN(all); j++) {
            struct proxy a, b;
            assert_int_equal(proxy_url_parse(all[i], &a, NULL), 0);
            assert_int_equal(proxy_url_parse(all[j], &b, NULL), 0);
            assert_int_equal(proxy_equal(&a, &b), i == j);
            proxy_free(&a);
            proxy_free(&b);
        }
}

/* ---- NO_PROXY ---- */

static const struct {
    const char *list, *host;
    uint16_t port;
    bool excluded;
} exclusions[] = {
    {"", "k.example.com", 6443, false},
    {"*", "k.example.com", 6443, true},
    {"a, *", "10.0.0.1", 6443, true},
    {"example.com", "example.com", 1, true},
    {"example.com", "k.example.com", 1, true},
    {"example.com", "notexample.com", 1, false},
    {"EXAMPLE.com", "k.Example.COM", 1, true},
    {".example.com", "k.example.com", 1, true},
    {".example.com", "example.com", 1, false},
    {"*.example.com", "k.example.com", 1, true},
    {"*.example.com", "example.com", 1, false},
    {"k.example.com", "example.com", 1, false},
    {"a,, b ,example.com", "example.com", 1, true},
    {"a b\texample.com", "example.com", 1, false}, /* only commas are separators */
    {"a,\texample.com\n", "example.com", 1, true},
    {"example.com:6443", "k.example.com", 6443, true},
    {"example.com:6443", "k.example.com", 443, false},
    {"example.com:", "k.example.com", 443, true}, /* without a port all ports match */
    {"example.com:06443", "k.example.com", 6443, false},
    {"example.com:6443x", "k.example.com", 6443, false},
    {"example.com:+6443", "k.example.com", 6443, false},
    {":6443", "k.example.com", 6443, false},
    {"10.0.0.1", "10.0.0.1", 1, true},
    {"10.0.0.1", "10.0.0.10", 1, false},
    {"10.0.0.1:6443", "10.0.0.1", 6443, true},
    {"10.0.0.1:6443", "10.0.0.1", 6444, false},
    {"0.0.1", "10.0.0.1", 1, false}, /* addresses are not compared by suffix */
    {".1", "10.0.0.1", 1, false},
    {"*.0.0.1", "10.0.0.1", 1, false},
    {"0.1", "10.0.1", 1, true}, /* that counts as a name */
    {"10.0.0.0/8", "10.1.2.3", 1, true},
    {"10.0.0.0/8", "11.1.2.3", 1, false},
    {"10.0.0.0/8", "k10.example.com", 1, false},
    {"10.128.0.0/9", "10.127.0.1", 1, false},
    {"10.128.0.0/9", "10.129.0.1", 1, true},
    {"10.0.0.4/30", "10.0.0.7", 1, true},
    {"10.0.0.4/30", "10.0.0.8", 1, false},
    {"0.0.0.0/0", "10.0.0.8", 1, true},
    {"0.0.0.0/0", "fd00::1", 1, false},
    {"10.0.0.8/32", "10.0.0.8", 1, true},
    {"10.0.0.8/33", "10.0.0.8", 1, false},
    {"10.0.0.8/", "10.0.0.8", 1, false},
    {"10.0.0.8/x", "10.0.0.8", 1, false},
    {"10.0.0.8/+8", "10.0.0.8", 1, false},
    {"10.0.0.8/-0", "10.0.0.8", 1, false},
    {"example.com/8", "example.com", 1, false},
    {"fd00::/8", "fd12::7", 1, true},
    {"fd00::/8", "fe12::7", 1, false},
    {"fd00::1", "fd00:0:0::1", 1, true},
    {"[fd00::1]", "fd00::1", 1, false}, /* brackets require a port */
    {"[fd00::1]:", "fd00::1", 1, true},
    {"::ffff:10.0.0.0/104", "10.1.2.3", 1, true},
    {"::ffff:10.0.0.0/104", "11.1.2.3", 1, false},
    {"::ffff:0:0/95", "10.0.0.1", 1, false},
    {"b\xc3\xbc"
     "cher.example",
     "k.xn--bcher-kva.example", 1, true},
    {"[fd00::1]:6443", "fd00::1", 6443, true},
    {"[fd00::1]:6443", "fd00::1", 6444, false},
    {"::ffff:10.0.0.1", "10.0.0.1", 1, true},
    {"[", "k", 1, false},
    {"[]", "k", 1, false},
    {".", "k", 1, false},
    {".", "k.", 1, true},
    {"*.", "k", 1, false},
};

static void no_proxy_excludes_hosts_and_networks(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(exclusions); i++)
        if (proxy_is_excluded(exclusions[i].list, exclusions[i].host, exclusions[i].port) !=
            exclusions[i].excluded)
            fail_msg("'%s' and %s:%u", exclusions[i].list, exclusions[i].host, exclusions[i].port);
}

static void a_long_entry_matches_nothing(void **state)
{
    char list[2000];
    (void)state;
    memset(list, 'x', sizeof(list));
    strcpy(list + 1900, ",k");
    assert_true(proxy_is_excluded(list, "k", 1));
    assert_false(proxy_is_excluded(list, "x", 1));
}

/* ---- the environment ---- */

static int clear_env(void **state)
{
    static const char *const names[] = {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY",
                                        "http_proxy",  "NO_PROXY",    "no_proxy"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unsetenv(names[i]);
    return 0;
}

/* The host of the proxy; "" if there is none. Lives until the next call. */
static const char *from_env(bool https, const char *host)
{
    static char got[64];
    struct proxy p;
    assert_int_equal(proxy_from_env(https, host, 6443, &p, NULL), 0);
    strcpy(got, p.host ? p.host : "");
    proxy_free(&p);
    return got;
}

static void the_scheme_selects_the_variable(void **state)
{
    (void)state;
    assert_string_equal(from_env(true, "k"), "");
    setenv("http_proxy", "http://low", 1);
    assert_string_equal(from_env(true, "k"), "");
    assert_string_equal(from_env(false, "k"), "low");
    setenv("HTTP_PROXY", "", 1);
    assert_string_equal(from_env(false, "k"), "low");
    setenv("HTTP_PROXY", "up:8080", 1);
    assert_string_equal(from_env(false, "k"), "up");
    setenv("HTTPS_PROXY", "socks5://secure", 1);
    assert_string_equal(from_env(true, "k"), "secure");
}

static void connects_directly_to_excluded_hosts(void **state)
{
    static const char *const own[] = {"localhost", "127.0.0.1", "127.8.8.8", "::1",
                                      "::ffff:127.0.0.1"};
    (void)state;
    setenv("HTTPS_PROXY", "p", 1);
    setenv("no_proxy", "example.com", 1);
    assert_string_equal(from_env(true, "k.example.com"), "");
    assert_string_equal(from_env(true, "k"), "p");
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        assert_string_equal(from_env(true, own[i]), "");
}

static void names_an_invalid_variable(void **state)
{
    struct inf_error err = {0};
    struct proxy p;
    (void)state;
    setenv("https_proxy", "ftp://me:secret@p", 1);
    assert_int_equal(proxy_from_env(true, "k", 1, &p, &err), -INF_ECONF);
    assert_string_equal(err.text, "$https_proxy: must begin with http://, https:// or socks5://");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_valid_proxy_urls),
        cmocka_unit_test(refuses_invalid_urls_without_showing_them),
        cmocka_unit_test(limits_the_length_of_a_login),
        cmocka_unit_test(compares_proxies_with_their_logins),
        cmocka_unit_test(no_proxy_excludes_hosts_and_networks),
        cmocka_unit_test(a_long_entry_matches_nothing),
        cmocka_unit_test_setup(the_scheme_selects_the_variable, clear_env),
        cmocka_unit_test_setup(connects_directly_to_excluded_hosts, clear_env),
        cmocka_unit_test_setup(names_an_invalid_variable, clear_env),
    };
    return cmocka_run_group_tests(tests, NULL, clear_env);
}
