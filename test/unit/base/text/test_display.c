/*
 * test_display.c - columns of texts with wide and combining characters.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/display.h"

#define WIDE      "\xe4\xb8\xad"     /* a CJK character: two columns */
#define COMBINING "e\xcc\x81"        /* e with an accent: one column */
#define EMOJI     "\xf0\x9f\x98\x80" /* two columns */

static void counts_columns(void **state)
{
    (void)state;
    assert_int_equal(display_width(STR("")), 0);
    assert_int_equal(display_width(STR("web-0")), 5);
    assert_int_equal(display_width(STR("\xc3\xbc" DISPLAY_ELLIPSIS)), 2);
    assert_int_equal(display_width(STR(WIDE EMOJI)), 4);
    assert_int_equal(display_width(STR(COMBINING COMBINING)), 2);
    assert_int_equal(display_width(STR("\xf3\xb0\x80\x80")), 1); /* private use */
    assert_int_equal(display_width(STR("a\xff\xc3")), 3);        /* not UTF-8 */
}

static void assert_text(struct str text, const char *expected)
{
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.at, expected, text.len);
}

static void a_head_does_not_split_characters(void **state)
{
    (void)state;
    assert_text(display_head(STR("web-0"), 3), "web");
    assert_text(display_head(STR("web-0"), 9), "web-0");
    assert_text(display_head(STR(WIDE WIDE), 3), WIDE);
    assert_text(display_head(STR(WIDE WIDE), 1), "");
    assert_text(display_head(STR(COMBINING "x"), 1), COMBINING);
}

static void a_tail_does_not_split_characters(void **state)
{
    (void)state;
    assert_text(display_tail(STR("web-0"), 2), "-0");
    assert_text(display_tail(STR("web-0"), 9), "web-0");
    assert_text(display_tail(STR(WIDE WIDE), 3), WIDE);
    assert_text(display_tail(STR("x" COMBINING), 1), COMBINING);
    assert_text(display_tail(STR(COMBINING "x"), 1), "x");
    assert_text(display_tail(STR(COMBINING), 0), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_columns),
        cmocka_unit_test(a_head_does_not_split_characters),
        cmocka_unit_test(a_tail_does_not_split_characters),
    };
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 77; /* skipped: the C library has no UTF-8 locale */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
