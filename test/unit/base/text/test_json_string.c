/*
 * test_json_string.c - any bytes become a valid JSON string without terminal control sequences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yyjson.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/rng.h"
#include "base/text/json_string.h"

#define BAD "\\ufffd" /* one for each byte that is not part of a character */

struct row {
    const char *text, *json; /* the latter without its quotes */
};

/* A copy that ends where the text ends, so that ASan detects accesses beyond it. */
static void put_exactly(struct buf *out, const char *bytes, size_t len)
{
    char *copy = xmalloc(len ? len : 1);
    memcpy(copy, bytes, len);
    json_put_string(out, (struct str){copy, len});
    free(copy);
}

static void assert_becomes(const char *bytes, size_t len, const char *json)
{
    struct buf out = {0};
    put_exactly(&out, bytes, len);
    buf_putc(&out, '\0');
    assert_int_equal(out.bytes[0], '"');
    assert_int_equal(out.bytes[out.len - 2], '"');
    out.bytes[out.len - 2] = '\0';
    assert_string_equal(out.bytes + 1, json);
    buf_free(&out);
}

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_becomes(rows[i].text, strlen(rows[i].text), rows[i].json);
}

static void keeps_valid_text(void **state)
{
    static const struct row rows[] = {
        {"", ""},
        {"kube-system/web-0", "kube-system/web-0"},
        {"a/b 'c' <d> &", "a/b 'c' <d> &"},
        {"\xc2\xa0\xc3\xbc\xdf\xbf", "\xc2\xa0\xc3\xbc\xdf\xbf"}, /* U+00A0, ü, U+07FF */
        {"\xe0\xa0\x80\xe2\x82\xac", "\xe0\xa0\x80\xe2\x82\xac"}, /* U+0800, the euro */
        {"\xed\x9f\xbf\xee\x80\x80",
         "\xed\x9f\xbf\xee\x80\x80"}, /* before and after the surrogates */
        {"\xef\xbf\xbd\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbf"}, /* U+FFFD itself, U+FFFF */
        {"\xf0\x90\x80\x80", "\xf0\x90\x80\x80"},                 /* U+10000 */
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},                 /* U+10FFFF */
    };
    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

static void escapes_quotes_and_backslashes(void **state)
{
    static const struct row rows[] = {
        {"say \"hi\"", "say \\\"hi\\\""},    {"C:\\x", "C:\\\\x"},      {"a\nb\tc", "a\\nb\\tc"},
        {"\r\b\f", "\\u000d\\u0008\\u000c"}, {"\x1b[2J", "\\u001b[2J"}, {"a\x7f", "a\\u007f"},
    };
    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
    assert_becomes("a\0b", 3, "a\\u0000b");
}

/* Each control character as a numeric escape: C0, DEL, and C1, which has two bytes in UTF-8. */
static void escapes_every_control_character(void **state)
{
    char json[8];
    (void)state;
    for (unsigned c = 1; c < 0x20; c++) {
        snprintf(json, sizeof(json), c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\u%04x", c);
        assert_becomes((char[]){(char)c}, 1, json);
    }
    for (unsigned c = 0x80; c < 0xa0; c++) {
        snprintf(json, sizeof(json), "\\u%04x", c);
        assert_becomes((char[]){(char)0xc2, (char)c}, 2, json);
    }
}

/* An override reverses "exe.txt" for a reader; a separator ends a line in JavaScript. */
static void escapes_misleading_characters(void **state)
{
    static const struct row rows[] = {
        {"a\xe2\x80\xae"
         "b",
         "a\\u202eb"},
        {"\xe2\x81\xa6", "\\u2066"},
        {"\xe2\x80\xa8", "\\u2028"},
        {"\xd8\x9c", "\\u061c"},
    };
    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

/* Valid JSON stays valid and has the same value. */
static void makes_json_safe_and_keeps_its_value(void **state)
{
    static const char json[] = "{\"a\\n\":[1e2,\"\x7f\xc2\x9b\xe2\x80\xae\xc3\xbc\\\"\"]}";
    struct buf out = {0};
    (void)state;
    json_put_json(&out, (struct str){json, sizeof(json) - 1});
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, "{\"a\\n\":[1e2,\"\\u007f\\u009b\\u202e\xc3\xbc\\\"\"]}");
    buf_free(&out);
}

static void replaces_bytes_that_are_not_utf8(void **state)
{
    static const struct row rows[] = {
        {"a\x80z", "a" BAD "z"},               /* a continuation byte without a start */
        {"\xbf\xbf", BAD BAD},                 /* the same, twice */
        {"\xc0\xaf", BAD BAD},                 /* '/' in two bytes: overlong */
        {"\xc1\xbf", BAD BAD},                 /* DEL in two bytes: overlong */
        {"\xe0\x80\xaf", BAD BAD BAD},         /* '/' in three */
        {"\xe0\x9f\xbf", BAD BAD BAD},         /* U+07FF in three */
        {"\xf0\x80\x80\xaf", BAD BAD BAD BAD}, /* '/' in four */
        {"\xf0\x8f\xbf\xbf", BAD BAD BAD BAD}, /* U+FFFF in four */
        {"\xed\xa0\x80", BAD BAD BAD},         /* the first surrogate */
        {"\xed\xbf\xbf", BAD BAD BAD},         /* the last one */
        {"\xed\xa0\xbd\xed\xb0\xb3", BAD BAD BAD BAD BAD BAD}, /* a pair of them (CESU-8) */
        {"\xf4\x90\x80\x80", BAD BAD BAD BAD},                 /* U+110000 */
        {"\xf5\x80\x80\x80", BAD BAD BAD BAD},                 /* far above the maximum */
        {"\xf8\x88\x80\x80\x80", BAD BAD BAD BAD BAD},         /* five bytes */
        {"\xfe\xff", BAD BAD},                                 /* not UTF-8 */
        {"\xc3(", BAD "("}, /* followed by a byte that is not a continuation */
        {"\xe2\x82(", BAD BAD "("},
        {"\xe2(\xac", BAD "(" BAD},
        {"\xf0\x9f\x90(", BAD BAD BAD "("},
        {"\xc3\xc3\xbc", BAD "\xc3\xbc"}, /* the next character is valid again */
        {"\xe2\x82\"", BAD BAD "\\\""},   /* a quote after it is still escaped */
        {"\xc2\"", BAD "\\\""},
    };
    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

/* A text that was truncated by bytes may end within a character, after each of its bytes. */
static void replaces_a_truncated_character(void **state)
{
    (void)state;
    assert_becomes("ok\xc3", 3, "ok" BAD);
    assert_becomes("ok\xe2\x82", 4, "ok" BAD BAD);
    assert_becomes("ok\xe2", 3, "ok" BAD);
    assert_becomes("ok\xf0\x9f\x90", 5, "ok" BAD BAD BAD);
    assert_becomes("ok\xf0\x9f", 4, "ok" BAD BAD);
    assert_becomes("ok\xf0", 3, "ok" BAD);
    assert_becomes("\xc2", 1, BAD); /* the next byte in memory would make it a C1 character */
}

static void assert_valid_json(const char *bytes, size_t len)
{
    struct buf out = {0};
    yyjson_doc *doc;
    put_exactly(&out, bytes, len);
    doc = yyjson_read(out.bytes, out.len, 0);
    assert_non_null(doc);
    assert_true(yyjson_is_str(yyjson_doc_get_root(doc)));
    for (size_t i = 0; i < out.len; i++)
        assert_true((unsigned char)out.bytes[i] >= 0x20 && out.bytes[i] != 0x7f);
    yyjson_doc_free(doc);
    buf_free(&out);
}

/* A strict parser that shares no code with ours accepts every string, made of bytes that often
 * occur in UTF-8. */
static void random_bytes_become_valid_json(void **state)
{
    static const unsigned char likely[] = {0x00, 0x1b, '"',  '\\', 'a',  0x7f, 0x80, 0x8f,
                                           0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0,
                                           0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff};
    struct rng rng = {1};
    char text[12];
    (void)state;
    for (int i = 0; i < 20000; i++) {
        size_t len = (size_t)rng_below(&rng, sizeof(text) + 1);
        for (size_t k = 0; k < len; k++)
            text[k] = (char)likely[rng_below(&rng, sizeof(likely))];
        assert_valid_json(text, len);
    }
}

/* Eight bytes are checked at a time: the result for a byte must not depend on its position among
 * plain ones. */
static void escapes_a_byte_alike_at_every_position(void **state)
{
    static const char plain[] = " !#[]~^a";
    (void)state;
    for (int byte = 0; byte < 256; byte++)
        for (size_t at = 0; at < 16; at++)
            for (size_t k = 0; plain[k]; k++) {
                struct buf alone = {0}, all = {0};
                char text[24];
                memset(text, plain[k], sizeof(text));
                text[at] = (char)byte;
                json_put_string(&alone, (struct str){text + at, 1});
                put_exactly(&all, text, sizeof(text));
                assert_int_equal(all.len, alone.len + sizeof(text) - 1);
                assert_memory_equal(all.bytes + 1 + at, alone.bytes + 1, alone.len - 2);
                buf_free(&alone);
                buf_free(&all);
            }
}

/* It appends to the buffer. */
static void appends_to_the_buffer(void **state)
{
    struct buf out = {0};
    (void)state;
    buf_puts(&out, "{\"name\":");
    json_put_string(&out, STR("web"));
    buf_putc(&out, '}');
    assert_int_equal(out.len, strlen("{\"name\":\"web\"}"));
    assert_memory_equal(out.bytes, "{\"name\":\"web\"}", out.len);
    json_put_string(&out, (struct str){NULL, 0});
    assert_memory_equal(out.bytes + out.len - 3, "}\"\"", 3);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_valid_text),
        cmocka_unit_test(escapes_quotes_and_backslashes),
        cmocka_unit_test(escapes_every_control_character),
        cmocka_unit_test(escapes_misleading_characters),
        cmocka_unit_test(makes_json_safe_and_keeps_its_value),
        cmocka_unit_test(replaces_bytes_that_are_not_utf8),
        cmocka_unit_test(replaces_a_truncated_character),
        cmocka_unit_test(random_bytes_become_valid_json),
        cmocka_unit_test(escapes_a_byte_alike_at_every_position),
        cmocka_unit_test(appends_to_the_buffer),
    };
    return cmocka_run_group_tests_name("json_string", tests, NULL, NULL);
}
