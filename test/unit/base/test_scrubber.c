/*
 * test_scrubber.c - our credentials in texts of peers: unchanged, escaped, truncated and by
 * chance.
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
#include "base/scrubber.h"

#define TOKEN "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln/+a\"b"

static const struct {
    const char *secret, *text, *cleaned;
} rows[] = {
    /* unchanged */
    {TOKEN, "token " TOKEN " is bad", "token *** is bad"},
    {TOKEN, TOKEN TOKEN, "******"},
    {TOKEN, "x" TOKEN "y", "x***y"},
    {TOKEN, "nothing of ours", "nothing of ours"},
    {TOKEN, "", ""},
    {"s3cr3t", "wrong password s3cr3t!", "wrong password ***!"},
    {"s3cr3t", "s3cr3 s3cr 3cr3t", "s3cr3 s3cr 3cr3t"},
    /* escaped as in JSON and URLs, completely or in part */
    {"a/b\"c\\d", "a\\/b\\\"c\\\\d.", "***."},
    {"a/b\"c\\d", "a/b\"c\\d.", "***."},
    {"secret", "\\u0073\\u0065\\u0063\\u0072\\u0065\\u0074", "***"},
    {"secret", "s\\u0065cre\\u0074s", "***s"},
    {"secret", "%73%65cret", "***"},
    {"p%41ssword", "p%41ssword p%2541ssword pAssword", "*** *** pAssword"},
    {"p\xc3\xa4sswort", "p\\u00E4sswort p%c3%A4sswort", "*** ***"},
    {"\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", "\\u20ac\\u20ac\\u20AC", "***"},
    {"secret", "\\u00 % %7 \\ \\u \\u007", "\\u00 % %7 \\ \\u \\u007"},
    /* truncated */
    {TOKEN, "eyJhbGciOiJSUzI1...", "***..."},
    {TOKEN, "eyJhbGciOiJSUzI1NiJ9.eyJ' (HTTP 302)", "***' (HTTP 302)"},
    {TOKEN, "eyJhbGciOiJSUzI is too little", "eyJhbGciOiJSUzI is too little"},
    {"kubeconfig-u-abcdefgh", "in the kubeconfig", "in the kubeconfig"},
    /* short credentials only match whole words */
    {"pod", "pods are no pod, nor podium", "pods are no ***, nor podium"},
    {"pod", "user:pod@host", "user:***@host"},
    {"a", "a banana", "* banana"},
    {"ab", "ab (ab) abc", "** (**) abc"},
};

static void credentials_are_replaced_in_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct scrubber s = {.next_former = 0};
        char *text = xstrdup(rows[i].text);
        scrubber_add(&s, SCRUBBER_SERVER, rows[i].secret);
        assert_int_equal(scrubber_finds(&s, text), strcmp(rows[i].text, rows[i].cleaned) != 0);
        scrubber_clean_text(&s, text);
        assert_string_equal(text, rows[i].cleaned);
        free(text);
        scrubber_free(&s);
    }
}

static void without_credentials_texts_stay_as_they_are(void **state)
{
    struct scrubber s = {.next_former = 0};
    char text[] = "token x";
    (void)state;
    scrubber_add(&s, SCRUBBER_SERVER, NULL);
    scrubber_add(&s, SCRUBBER_SERVER, "");
    scrubber_clean_text(&s, text);
    scrubber_clean_text(NULL, text);
    assert_string_equal(text, "token x");
    assert_false(scrubber_finds(NULL, text));
    scrubber_free(&s);
}

static void a_login_is_its_base64_and_its_password(void **state)
{
    struct scrubber s = {.next_former = 0};
    char text[] = "Basic amFuZTpodW50ZXI6Mg== is jane:hunter:2";
    (void)state;
    scrubber_add_basic(&s, SCRUBBER_SERVER, "amFuZTpodW50ZXI6Mg==");
    scrubber_clean_text(&s, text);
    assert_string_equal(text, "Basic *** is jane:***");
    scrubber_free(&s);
}

static void credentials_that_were_replaced_are_still_recognised(void **state)
{
    struct scrubber s = {.next_former = 0};
    char text[] = "proxy-password token-1 token-2 token-8 token-9 token- tok";
    (void)state;
    scrubber_add(&s, SCRUBBER_PROXY, "proxy-password");
    for (int i = 0; i <= SCRUBBER_FORMER + 1; i++) {
        char token[16];
        snprintf(token, sizeof(token), "token-%d", i);
        scrubber_retire(&s, SCRUBBER_SERVER);
        scrubber_add(&s, SCRUBBER_SERVER, token);
        scrubber_retire(&s, SCRUBBER_SERVER); /* a repeated one takes no further place */
        scrubber_add(&s, SCRUBBER_SERVER, token);
    }
    scrubber_clean_text(&s, text); /* the last eight are recognised */
    assert_string_equal(text, "*** token-1 *** *** *** token- tok");
    scrubber_free(&s);
}

/* In the same forms as current credentials; a truncated one is replaced up to the end of the word.
 */
static void replaced_ones_are_found_in_every_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct scrubber s = {.next_former = 0};
        char *text = xstrdup(rows[i].text);
        scrubber_add(&s, SCRUBBER_SERVER, rows[i].secret);
        scrubber_retire(&s, SCRUBBER_SERVER);
        for (size_t j = 0; j < SCRUBBER_CURRENT; j++)
            assert_null(s.current[SCRUBBER_SERVER][j]);
        scrubber_clean_text(&s, text);
        if (!strstr(rows[i].text, "..."))
            assert_string_equal(text, rows[i].cleaned);
        else
            assert_string_equal(text, "***");
        free(text);
        scrubber_free(&s);
    }
}

/* The text ends at its length, regardless of the bytes after it. */
static void nothing_is_read_beyond_the_end(void **state)
{
    static const char *const cut[] = {"secre", "\\u007", "%7", "s\\", "secret%"};
    struct scrubber s = {.next_former = 0};
    (void)state;
    scrubber_add(&s, SCRUBBER_SERVER, "secret");
    for (size_t i = 0; i < ARRAY_LEN(cut); i++) {
        size_t len = strlen(cut[i]);
        char *text = xmalloc(len); /* without a NUL: a sanitizer detects accesses beyond it */
        memcpy(text, cut[i], len);
        assert_int_equal(scrubber_clean(&s, text, len), i == 4 ? 4 : len);
        free(text);
    }
    scrubber_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credentials_are_replaced_in_texts),
        cmocka_unit_test(without_credentials_texts_stay_as_they_are),
        cmocka_unit_test(a_login_is_its_base64_and_its_password),
        cmocka_unit_test(credentials_that_were_replaced_are_still_recognised),
        cmocka_unit_test(replaced_ones_are_found_in_every_form),
        cmocka_unit_test(nothing_is_read_beyond_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
