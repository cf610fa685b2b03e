/*
 * test_idna.c - host names of many scripts as DNS has them. The long ones are samples of RFC 3492.
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
#include "base/text/idna.h"

static const struct {
    const char *name, *ascii; /* NULL: refused */
} rows[] = {
    {"", ""},
    {"example.com", "example.com"},
    {"EXAMPLE.com.", "example.com."},
    {"bücher.example", "xn--bcher-kva.example"},
    {"BÜCHER.example", "xn--bcher-kva.example"},
    {".bücher.example", ".xn--bcher-kva.example"},
    {"ü", "xn--tda"},
    {"straße.de", "xn--strae-oqa.de"},
    {"пример.рф", "xn--e1afmkfd.xn--p1ai"},
    {"ПРИМЕР.РФ", "xn--e1afmkfd.xn--p1ai"},
    {"ΔΟΚΙΜΉ", "xn--jxalpdlp"},
    {"Ářvíztűrő", "xn--vztr-4na7et2b0b2m"},
    {"中国", "xn--fiqs8s"},
    {"例え。テスト", "xn--r8jz45g.xn--zckzah"},
    {"ليهمابتكلموشعربي؟", "xn--egbpdaj6bu4bxfgehfvwxn"},
    {"他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"},
    {"почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"},
    {"3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"},
    {"xn--bcher-kva.ü", "xn--bcher-kva.xn--tda"},
    {"\xf0\x9f\x98\x80", "xn--e28h"},
    {"a_b.ü", NULL},
    {"a b.ü", NULL},
    {"-a.ü", NULL},
    {"a-.ü", NULL},
    {"-ü", NULL},
    {"aa--b.ü", NULL},
    {"a\xff.ü", NULL},
    {"\xed\xa0\x80", NULL}, /* half a surrogate pair */
};

static void names_are_written_in_ascii(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out = {0};
        int rc = idna_to_ascii(&out, str_of(rows[i].name));
        buf_putc(&out, '\0');
        assert_int_equal(rc, rows[i].ascii ? 0 : -INF_EINVAL);
        if (rows[i].ascii)
            assert_string_equal(out.bytes, rows[i].ascii);
        buf_free(&out);
    }
}

static void a_name_has_a_limit(void **state)
{
    char text[2 * IDNA_NAME_MAX + 2];
    struct buf out = {0};
    (void)state;
    for (size_t i = 0; i <= IDNA_NAME_MAX; i++)
        memcpy(text + 2 * i, "\xd1\x8f", 2);
    assert_int_equal(idna_to_ascii(&out, (struct str){text, 2 * IDNA_NAME_MAX}), 0);
    assert_int_equal(idna_to_ascii(&out, (struct str){text, 2 * IDNA_NAME_MAX + 2}), -INF_EINVAL);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_written_in_ascii),
        cmocka_unit_test(a_name_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
