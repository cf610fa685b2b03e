/*
 * test_base32.c - the test vectors of RFC 4648 without padding, and invalid input.
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
#include "base/text/base32.h"

static void decodes_and_encodes_the_test_vectors(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"f", "MY"},
        {"fo", "MZXQ"},
        {"foo", "MZXW6"},
        {"foob", "MZXW6YQ"},
        {"fooba", "MZXW6YTB"},
        {"foobar", "MZXW6YTBOI"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        unsigned char bytes[8];
        struct buf text = {0};
        int len = base32_decode(str_of(rows[i][1]), bytes, sizeof(bytes));
        assert_int_equal(len, strlen(rows[i][0]));
        assert_memory_equal(bytes, rows[i][0], strlen(rows[i][0]));
        base32_put(&text, (const unsigned char *)rows[i][0], strlen(rows[i][0]));
        buf_putc(&text, '\0');
        assert_string_equal(text.bytes, rows[i][1]);
        buf_free(&text);
    }
}

static void refuses_other_input(void **state)
{
    static const char *const rows[] = {"M", "MZX", "MZXW6Y", "MZ", "my", "M1", "MY======", "M Y"};
    unsigned char bytes[8];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(base32_decode(str_of(rows[i]), bytes, sizeof(bytes)), -INF_EDECODE);
    assert_int_equal(base32_decode(STR("MZXW6"), bytes, 2), -INF_EDECODE); /* no room */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_and_encodes_the_test_vectors),
        cmocka_unit_test(refuses_other_input),
    };
    return cmocka_run_group_tests_name("base32", tests, NULL, NULL);
}
