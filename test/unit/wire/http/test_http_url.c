/*
 * test_http_url.c - URLs of requests, Retry-After and signatures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "wire/http/http_retry_after.h"
#include "wire/http/http_url.h"
#include "wire/tls/tls_digest.h"

static void reads_urls(void **state)
{
    static const struct {
        const char *text, *host, *header, *target;
        uint16_t port;
        bool https, local;
    } rows[] = {
        {"https://example.com", "example.com", "example.com", "/", 443, true, false},
        {"http://example.com/a/b/?q=1&r=%20", "example.com", "example.com", "/a/b/?q=1&r=%20", 80,
         false, false},
        {"http://localhost:8080?x", "localhost", "localhost:8080", "/?x", 8080, false, true},
        {"https://[::1]:9/", "::1", "[::1]:9", "/", 9, true, true},
        {"http://127.0.0.9/", "127.0.0.9", "127.0.0.9", "/", 80, false, true},
        {"http://127.example.com/", "127.example.com", "127.example.com", "/", 80, false, false},
        {"HTTPS://h:443/@x", "h", "h", "/@x", 443, true, false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct http_url url;
        struct inf_error err;
        if (http_url_parse(rows[i].text, &url, &err) < 0)
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_string_equal(url.host, rows[i].host);
        assert_string_equal(url.host_header, rows[i].header);
        assert_string_equal(url.target, rows[i].target);
        assert_int_equal(url.port, rows[i].port);
        assert_int_equal(url.https, rows[i].https);
        assert_int_equal(http_url_is_local(&url), rows[i].local);
        http_url_free(&url);
    }
}

static void refuses_urls_without_repeating_them(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"example.com/hook", "must begin with https:// or http://"},
        {"ftp://example.com", "must begin with https:// or http://"},
        {"https://", "host name is missing"},
        {"https:///secret", "host name is missing"},
        {"https://a:secret@example.com/", "user name or password"},
        {"https://example.com/secret#x", "fragment"},
        {"https://example.com/secret hook", "must be escaped"},
        {"https://example.com/secret\n", "must be escaped"},
        {"https://example.com:0/secret", "port"},
    };
    char *longest = xcalloc(1, HTTP_URL_MAX + 2);
    struct http_url url;
    struct inf_error err;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(http_url_parse(rows[i].text, &url, &err), -INF_ECONF);
        if (!strstr(err.text, rows[i].why) || strstr(err.text, "secret"))
            fail_msg("%s: %s", rows[i].text, err.text);
    }
    memset(longest, 'a', HTTP_URL_MAX + 1);
    memcpy(longest, "http://h/", strlen("http://h/"));
    assert_int_equal(http_url_parse(longest, &url, &err), -INF_ECONF);
    longest[HTTP_URL_MAX] = '\0';
    assert_int_equal(http_url_parse(longest, &url, &err), 0);
    http_url_free(&url);
    free(longest);
}

static void reads_retry_after(void **state)
{
    const int64_t now_us = 1700000000LL * 1000 * 1000; /* 2023-11-14 22:13:20 */
    (void)state;
    assert_int_equal(http_retry_after_s("120", now_us), 120);
    assert_int_equal(http_retry_after_s("0", now_us), 0);
    assert_int_equal(http_retry_after_s("-5", now_us), 0);
    assert_int_equal(http_retry_after_s("soon", now_us), 0);
    assert_int_equal(http_retry_after_s("", now_us), 0);
    assert_int_equal(http_retry_after_s("99999999999999999999", now_us), 0);
    assert_int_equal(http_retry_after_s("Tue, 14 Nov 2023 22:13:50 GMT", now_us), 30);
    assert_int_equal(http_retry_after_s("Tue, 14 Nov 2023 22:13:10 GMT", now_us), 0);
}

/* RFC 4231, test case 2. */
static void signs_as_hmac_sha256(void **state)
{
    static const char expected[] =
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    unsigned char digest[TLS_DIGEST_BYTES];
    char hex[2 * TLS_DIGEST_BYTES + 1];
    (void)state;
    tls_digest_sign(STR("Jefe"), STR("what do ya want for nothing?"), digest);
    for (size_t i = 0; i < TLS_DIGEST_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_urls),
        cmocka_unit_test(refuses_urls_without_repeating_them),
        cmocka_unit_test(reads_retry_after),
        cmocka_unit_test(signs_as_hmac_sha256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
