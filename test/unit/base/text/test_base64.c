/*
 * test_base64.c - the test vectors of RFC 4648, and invalid input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "informer/error.h"

#include "base/base.h"
#include "base/text/base64.h"

static const struct {
    const char *text;
    const char *bytes; /* NULL: refused */
} rows[] = {
    {"", ""},
    {"Zg==", "f"},
    {"Zm8=", "fo"},
    {"Zm9v", "foo"},
    {"Zm9vYg==", "foob"},
    {"Zm9vYmE=", "fooba"},
    {"Zm9vYmFy", "foobar"},
    {"+/+/", "\xFB\xFF\xBF"},
    {"Zm9v\nYmFy\r\n", "foobar"},
    {"Zg=\n=\n", "f"},
    {"\n", ""},
    {"Zm9v YmFy", NULL}, /* a blank */
    {"Zm9vYg", NULL},    /* no padding */
    {"Zm9vYg=", NULL},   /* half of the padding */
    {"Zm9vYg===", NULL}, /* too much padding */
    {"Zm9v====", NULL},  /* padding where none is allowed */
    {"=", NULL},         /* only padding */
    {"====", NULL},      /* only padding */
    {"Z", NULL},         /* six bits are less than a byte */
    {"Zg==Zg==", NULL},  /* data after the end */
    {"Z=g=", NULL},      /* padding in the middle */
    {"Zh==", NULL},      /* bits left over */
    {"Zm9=", NULL},      /* bits left over */
    {"-_-_", NULL},      /* the other alphabet */
    {"Zm9v\xC3\xA9", NULL},
};

static void decodes_valid_input_and_refuses_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *bytes = NULL;
        size_t len = 99;
        int rc = base64_decode(rows[i].text, strlen(rows[i].text), &bytes, &len);
        assert_int_equal(rc, rows[i].bytes ? 0 : -INF_EDECODE);
        if (rows[i].bytes) {
            assert_int_equal(len, strlen(rows[i].bytes));
            assert_string_equal(bytes, rows[i].bytes);
        } else {
            assert_null(bytes);
            assert_int_equal(len, 99);
        }
        free(bytes);
    }
}

static void decodes_all_bytes(void **state)
{
    char *bytes = NULL;
    size_t len = 0;
    (void)state;
    assert_int_equal(base64_decode("AAEA/w==", 8, &bytes, &len), 0);
    assert_int_equal(len, 4);
    assert_memory_equal(bytes, "\0\1\0\xFF", 5);
    free(bytes);
}

static void encodes_the_test_vectors(void **state)
{
    static const char *const pairs[][2] = {
        {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xFB\xFF\xFE", "+//+"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        char *text = base64_encode(pairs[i][0], strlen(pairs[i][0]));
        assert_string_equal(text, pairs[i][1]);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_valid_input_and_refuses_other),
        cmocka_unit_test(decodes_all_bytes),
        cmocka_unit_test(encodes_the_test_vectors),
    };
    return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
