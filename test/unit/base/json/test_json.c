/*
 * test_json.c - walking JSON in place: members and items in their original spelling, and invalid
 * text.
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
#include "base/json/json.h"
#include "recording.h"

/* "key=value;" for each member, then "." if the walk ended at the end of the object, else "!". The
 * caller frees it. */
static char *walked(struct str text)
{
    struct json_walk walk;
    struct json_member member;
    struct buf out = {0};
    json_walk_start(&walk, text);
    while (json_walk_next(&walk, &member)) {
        buf_put(&out, member.key.at, member.key.len);
        buf_putc(&out, '=');
        buf_put(&out, member.value.at, member.value.len);
        buf_putc(&out, ';');
    }
    buf_puts(&out, json_walk_complete(&walk) ? "." : "!");
    buf_putc(&out, '\0');
    return out.bytes;
}

static const struct {
    const char *text;
    const char *walked;
} objects[] = {
    {"{}", "."},
    {" \r\n\t{ } ", "."},
    {"{\"a\":1}", "a=1;."},
    {"{\"a\":1,\"b\":\"two\",\"c\":null}", "a=1;b=\"two\";c=null;."},
    {"{\n  \"a\" : 1 ,\n  \"b\" : [ 1, 2 ]\n}\n", "a=1;b=[ 1, 2 ];."},
    {"{\"a\":{\"b\":{\"c\":[{}]}},\"d\":{}}", "a={\"b\":{\"c\":[{}]}};d={};."},
    /* braces, quotes and commas inside strings are part of the string */
    {"{\"a\":\"}\",\"b\":\"\\\"},\\\\\",\"c\":[\"]\"]}", "a=\"}\";b=\"\\\"},\\\\\";c=[\"]\"];."},
    {"{\"}\":1,\"\\\"\":2,\"\":3}", "}=1;\\\"=2;=3;."},
    /* numbers as they are spelled; the same key twice is two members */
    {"{\"n\":1e2,\"n\":12345678901234567890123,\"f\":-0.50}",
     "n=1e2;n=12345678901234567890123;f=-0.50;."},
};

static void returns_members_in_order_and_unchanged(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        char *got = walked(str_of(objects[i].text));
        assert_string_equal(got, objects[i].walked);
        free(got);
    }
}

/* "item;" for each item, or "!" if it is not an array. The caller frees it. */
static char *items_of(struct str text)
{
    struct json_walk walk;
    struct str item;
    struct buf out = {0};
    if (!json_items_start(&walk, text))
        buf_puts(&out, "!");
    while (json_items_next(&walk, &item)) {
        buf_put(&out, item.at, item.len);
        buf_putc(&out, ';');
    }
    buf_putc(&out, '\0');
    return out.bytes;
}

static const struct {
    const char *text;
    const char *items;
} arrays[] = {
    {"[]", ""},
    {" [ ] ", ""},
    {"[1]", "1;"},
    {"[1,\"two\",[3,[4]],{\"five\":[5,6]},null]", "1;\"two\";[3,[4]];{\"five\":[5,6]};null;"},
    {"\n[ 1 ,\t2\n, \"],\" ]", "1;2;\"],\";"},
    {"", "!"},
    {"{}", "!"},
    {"1", "!"},
    {"[", ""},
    {"[1", "1;"},
    {"[\"open", "\"open;"},
    {"[}", ""},
};

static void returns_items_in_order_and_unchanged(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(arrays); i++) {
        char *got = items_of(str_of(arrays[i].text));
        assert_string_equal(got, arrays[i].items);
        free(got);
    }
}

/* A quote ends a string unless the number of backslashes before it is odd. */
static void counts_backslashes_before_a_quote(void **state)
{
    char spelled[64], expected[64];
    (void)state;
    for (int n = 0; n <= 9; n++) {
        char *got;
        snprintf(spelled, sizeof(spelled), "{\"a\":\"%.*s\",\"b\":1}", n, "\\\\\\\\\\\\\\\\\\");
        snprintf(expected, sizeof(expected), "a=\"%.*s\";b=1;.", n, "\\\\\\\\\\\\\\\\\\");
        got = walked(str_of(spelled));
        if ((strcmp(got, expected) == 0) != (n % 2 == 0))
            fail_msg("%s -> %s", spelled, got);
        free(got);
    }
}

static const char *const not_objects[] = {
    "",         " ",           "null",      "1",           "\"a\"",          "[]",
    "[{}]",     "x{}",         "{",         "{\"",         "{\"a",           "{\"a\"",
    "{\"a\":",  "{\"a\":1",    "{\"a\":1,", "{\"a\":1,}",  "{\"a\"}",        "{\"a\" 1}",
    "{a:1}",    "{\"a\":1]",   "{\"a\":]}", "{\"a\":\"}",  "{\"a\":\"\\",    "{\"a\":{}",
    "{\"a\":[", "{\"a\":1} x", "{}{}",      "{\"a\":1}}",  "{\"a\":[1,2}",   "}",
    "\"",       "\\",          "{\\",       "{\"a\":{\"}", "{\"a\":\"\\\"}",
};

static void a_text_that_is_not_an_object_is_never_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(not_objects); i++) {
        char *got = walked(str_of(not_objects[i]));
        if (got[strlen(got) - 1] != '!')
            fail_msg("taken for an object: %s -> %s", not_objects[i], got);
        free(got);
    }
}

/* Two members, the first with a key of each length, with and without an escape or white space, and every
 * prefix of that text, in memory of its size. */
static void keys_of_every_length_are_found(void **state)
{
    static const struct {
        const char *before, *after;
    } forms[] = {{"", "\":7,\"last\":8}"},
                 {"\\n", "\":7,\"last\":8}"},
                 {"", "\" :7,\"last\":8}"},
                 {"", "\": 7, \"last\":8}"}};
    char key[41] = "";
    (void)state;
    for (size_t n = 0; n < 4 * sizeof(key); n++) {
        char *text, *expected, *found, *copy;
        size_t form = n % 4, len = n / 4;
        memset(key, 'k', len);
        text = xasprintf("{\"%s%s%s", forms[form].before, key, forms[form].after);
        expected = xasprintf("%s%s=7;last=8;.", forms[form].before, key);
        for (size_t cut = 0; cut <= strlen(text); cut++) {
            copy = xmalloc(cut + 1);
            memcpy(copy, text, cut);
            copy = xrealloc(copy, cut ? cut : 1);
            found = walked((struct str){copy, cut});
            assert_int_equal(strcmp(found, expected) == 0, cut == strlen(text));
            free(found);
            free(copy);
        }
        free(text);
        free(expected);
    }
}

/* All functions that read bytes, in memory that ends exactly where the text ends. */
static void call_all_readers(struct str text)
{
    char *block = xmalloc(text.len);
    struct buf out = {0};
    struct json_walk walk;
    struct json_member member;
    memcpy(block, text.at, text.len);
    json_walk_start(&walk, (struct str){block, text.len});
    while (json_walk_next(&walk, &member)) {
        json_key_is(member.key, "metadata");
        json_compact(&out, member.value);
        assert_true(out.len <= text.len);
        buf_clear(&out);
    }
    json_walk_complete(&walk);
    free(items_of((struct str){block, text.len}));
    json_key_is((struct str){block, text.len}, "metadata");
    json_compact(&out, (struct str){block, text.len});
    assert_true(out.len <= text.len);
    buf_free(&out);
    free(block);
}

static void no_prefix_causes_a_read_beyond_the_text(void **state)
{
    static const char nasty[] = "{\"me\\u0074adata\" : {\"a\":[1,{\"b\":\"\\\\\\\"]}\"},\"\\u00\"],"
                                "\"c\\/\":\"\\ud83d\\ude00\"}, \"\\u006detadata\":[[[[}]}]}],\"d\\";
    struct recording r;
    (void)state;
    for (size_t len = 0; len < sizeof(nasty); len++)
        call_all_readers((struct str){nasty, len});
    recording_open(&r, "widgets-watchlist");
    for (size_t len = 0; len <= r.body.len; len++)
        call_all_readers((struct str){r.body.bytes, len});
    recording_close(&r);
}

/* One wrong byte at any position, of each kind that matters in JSON. */
static void no_wrong_byte_causes_a_read_beyond_the_text(void **state)
{
    static const char wrong[] = "\"\\{}[]:, \n\0u";
    struct recording r;
    struct str line;
    char *copy;
    (void)state;
    recording_open(&r, "secrets-watchlist");
    assert_true(recording_next(&r, &line));
    copy = xstrndup(line.at, line.len);
    for (size_t i = 0; i < line.len; i++) {
        for (size_t k = 0; k < sizeof(wrong) - 1; k++) {
            copy[i] = wrong[k];
            call_all_readers((struct str){copy, line.len});
        }
        copy[i] = line.at[i];
    }
    free(copy);
    recording_close(&r);
}

static void deep_nesting_needs_no_stack(void **state)
{
    enum {
        DEEP = 1024 * 1024
    };
    struct buf text = {0};
    char *got;
    (void)state;
    buf_puts(&text, "{\"a\":");
    memset(buf_room(&text, DEEP), '[', DEEP);
    text.len += DEEP;
    memset(buf_room(&text, DEEP), ']', DEEP);
    text.len += DEEP;
    buf_puts(&text, "}");
    got = walked((struct str){text.bytes, text.len});
    assert_string_equal(got + strlen(got) - 3, "];.");
    free(got);
    buf_free(&text);
}

static const struct {
    const char *spelled;
    const char *name;
    bool same;
} keys[] = {
    {"type", "type", true},
    {"typ", "type", false},
    {"types", "type", false},
    {"Type", "type", false},
    {"", "type", false},
    {"", "", true},
    {"\\u0074ype", "type", true},
    {"\\u0074\\u0079\\u0070\\u0065", "type", true},
    {"typ\\u0065", "type", true},
    {"\\u0074ype\\u0000", "type", false},
    {"t\\u0079p", "type", false},
    {"\\u0074ypes", "type", false},
    {"\\u0054ype", "type", false},
    {"managed\\u0046ields", "managedFields", true},
    {"managed\\u004Aields", "managedJields", true}, /* uppercase and lowercase hex digits */
    {"managed\\u004aields", "managedJields", true},
    {"a\\/b", "a/b", true},
    {"a\\\\b", "a\\b", true},
    {"a\\\"b", "a\"b", true},
    {"a\\nb", "anb", false},
    {"a\\", "a", false},
    {"a\\", "a\\", true},
    {"\\u", "u", false},
    {"\\u007", "7", false},
    {"\\u007Gbject", "object", false}, /* 0x7G is not a number */
    {"\\u0-74", "t", false},
    {"\\u0174ype", "type", false},
    {"\\uFF54ype", "type", false},
};

static void finds_keys_with_escapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_key_is(str_of(keys[i].spelled), keys[i].name) != keys[i].same)
            fail_msg("'%s' %s '%s'", keys[i].spelled, keys[i].same ? "is not" : "is", keys[i].name);
}

static const struct {
    const char *text;
    const char *compact;
} texts[] = {
    {"1", "1"},
    {"", ""},
    {" \n ", ""},
    {"{ \"a b\" :\t[ 1 ,\r\n 2 ] }", "{\"a b\":[1,2]}"},
    {"\" \\\" \"", "\" \\\" \""},
    {"[ \"\\\\\" , \" \" ]", "[\"\\\\\",\" \"]"},
    {"{\"a\":\"\\u003c 1\"}", "{\"a\":\"\\u003c 1\"}"},
    {"\"open ", "\"open "}, /* an invalid text gives any result */
};

static void compact_removes_only_white_space_between_tokens(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct buf out = {0};
        json_compact(&out, str_of(texts[i].text));
        buf_putc(&out, '\0');
        assert_string_equal(out.bytes, texts[i].compact);
        buf_free(&out);
    }
}

static void compact_does_not_change_compact_text(void **state)
{
    struct recording r;
    struct str line;
    (void)state;
    recording_open(&r, "pods-watchlist");
    while (recording_next(&r, &line)) {
        struct buf out = {0};
        json_compact(&out, line);
        assert_int_equal(out.len, line.len);
        assert_memory_equal(out.bytes, line.at, line.len);
        buf_free(&out);
    }
    recording_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returns_members_in_order_and_unchanged),
        cmocka_unit_test(returns_items_in_order_and_unchanged),
        cmocka_unit_test(counts_backslashes_before_a_quote),
        cmocka_unit_test(a_text_that_is_not_an_object_is_never_complete),
        cmocka_unit_test(keys_of_every_length_are_found),
        cmocka_unit_test(no_prefix_causes_a_read_beyond_the_text),
        cmocka_unit_test(no_wrong_byte_causes_a_read_beyond_the_text),
        cmocka_unit_test(deep_nesting_needs_no_stack),
        cmocka_unit_test(finds_keys_with_escapes),
        cmocka_unit_test(compact_removes_only_white_space_between_tokens),
        cmocka_unit_test(compact_does_not_change_compact_text),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
