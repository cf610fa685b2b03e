/*
 * test_utf8.c - decoding characters, unsafe characters, and truncation between characters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/text/utf8.h"

static void decodes_characters(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        uint32_t c;
    } rows[] = {
        {"a", 1, 'a'},
        {"\x7f", 1, 0x7f},
        {"\xc2\x80", 2, 0x80},
        {"\xdf\xbf", 2, 0x7ff},
        {"\xe0\xa0\x80", 3, 0x800},
        {"\xe2\x80\xae", 3, 0x202e},
        {"\xef\xbf\xbf", 3, 0xffff},
        {"\xf0\x90\x80\x80", 4, 0x10000},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
        {"\xc0\x80", 0, 0},         /* overlong */
        {"\xe0\x9f\xbf", 0, 0},     /* overlong */
        {"\xf0\x8f\xbf\xbf", 0, 0}, /* overlong */
        {"\xed\xa0\x80", 0, 0},     /* a surrogate */
        {"\xf4\x90\x80\x80", 0, 0}, /* too large */
        {"\xe2\x80", 0, 0},         /* truncated */
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t c = 0;
        assert_int_equal(utf8_next(str_of(rows[i].bytes), &c), rows[i].len);
        assert_int_equal(c, rows[i].c);
    }
}

static void misleading_characters_are_unsafe(void **state)
{
    static const uint32_t unsafe[] = {0,      '\n',   0x1b,   0x7f,   0x80,   0x9f,
                                      0x61c,  0x200e, 0x200f, 0x2028, 0x202a, 0x202e,
                                      0x2066, 0x2069, 0x200b, 0x2060, 0x2064, 0xfeff};
    static const uint32_t safe[] = {' ', '~', 0xa0, 0xfc, 0x200c, 0x2027, 0x202f, 0x206a, 0x1f600};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(unsafe); i++)
        assert_true(utf8_is_unsafe(unsafe[i]));
    for (size_t i = 0; i < ARRAY_LEN(safe); i++)
        assert_false(utf8_is_unsafe(safe[i]));
}

static void truncates_between_characters(void **state)
{
    const struct str text = STR("a\xc3\xbc\xe2\x82\xac"); /* aü€ */
    static const size_t lengths[] = {0, 1, 1, 3, 3, 3, 6, 6};
    (void)state;
    for (size_t max = 0; max < ARRAY_LEN(lengths); max++)
        assert_int_equal(utf8_cut(text, max).len, lengths[max]);
}

static void escapes_what_is_not_printable(void **state)
{
    static const char text[] = "ok \xc3\xbc\n\x1b[2J\xc2\x85\xe2\x80\xaex\xff.";
    struct buf out = {0};
    (void)state;
    utf8_put_visible(&out, (struct str){text, sizeof(text) - 1});
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, "ok \xc3\xbc\\n\\u001b[2J\\u0085\\u202ex\xef\xbf\xbd.");
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_characters),
        cmocka_unit_test(misleading_characters_are_unsafe),
        cmocka_unit_test(truncates_between_characters),
        cmocka_unit_test(escapes_what_is_not_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
