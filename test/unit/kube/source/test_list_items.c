/*
 * test_list_items.c - a list is split into items, and is valid only when it is complete, for all
 * splits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yyjson.h>

#include "base/alloc.h"
#include "base/base.h"
#include "kube/source/list_items.h"
#include "recording.h"
#include "split.h"
#include "tier.h"

/* ---- a list as text ---- */

/* Feeds one piece, from memory of its own so that ASan detects reads beyond it. Adds "<item>" for
 * each item and "<item...: why>" for a lost one, of which it shows 20 bytes. */
static int feed(struct list_items *items, struct str piece, struct buf *out, struct inf_error *err)
{
    char *block = xmalloc(piece.len);
    struct str input = {block, piece.len}, item;
    int rc;
    memcpy(block, piece.at, piece.len);
    while ((rc = list_items_next(items, &input, &item, err)) > 0) {
        if (rc == ITEMS_ONE)
            buf_printf(out, "<%.*s>", STR_FMT(item));
        else
            buf_printf(out, "<%.*s...: %s>", (int)(item.len < 20 ? item.len : 20), item.at,
                       err->text);
    }
    if (rc == 0)
        assert_int_equal(input.len, 0);
    free(block);
    return rc;
}

/* Items, head and end of a list as text. The caller frees it. */
static char *events(struct str input, struct split split)
{
    struct list_items items = {.state = ITEMS_BEFORE};
    struct inf_error err = {0};
    struct buf out = {0};
    struct str piece;
    int rc = 0;
    while (rc == 0 && split_next(&split, &input, &piece))
        rc = feed(&items, piece, &out, &err);
    if (rc == 0)
        rc = list_items_end(&items, &err);
    if (rc < 0)
        buf_printf(&out, " %s: %s", inf_error_name(rc), err.text);
    else
        buf_printf(&out, " %s %s at %s%s%s", items.head.api_version, items.head.kind,
                   items.head.resource_version, items.head.continue_token[0] ? ", then " : "",
                   items.head.continue_token);
    assert_int_equal(rc < 0 ? -err.code : 0, rc);
    list_items_reset(&items);
    buf_putc(&out, '\0');
    return out.bytes;
}

static void play(const void *ctx, struct str input, struct split split)
{
    char *text = events(input, split);
    if (strcmp(text, ctx) != 0)
        fail_msg("cut at %zu (pieces of %zu):\n%s\ninstead of\n%s", split.first, split.piece, text,
                 (const char *)ctx);
    free(text);
}

static void assert_events(const char *list, const char *expected)
{
    split_each(str_of(list), play, expected);
}

/* ---- lists of a real server ---- */

/* The items as yyjson parses them, in the spelling of the server: it keeps numbers as written. */
static char *expected_of(const struct recording *r)
{
    yyjson_doc *doc = yyjson_read(r->body.bytes, r->body.len, YYJSON_READ_NUMBER_AS_RAW);
    yyjson_val *root = yyjson_doc_get_root(doc), *item;
    yyjson_val *metadata = yyjson_obj_get(root, "metadata");
    const char *token = yyjson_get_str(yyjson_obj_get(metadata, "continue"));
    struct buf out = {0};
    size_t i, n;
    assert_non_null(doc);
    yyjson_arr_foreach(yyjson_obj_get(root, "items"), i, n, item)
    {
        char *text = yyjson_val_write(item, 0, NULL);
        buf_printf(&out, "<%s>", text);
        free(text);
    }
    buf_printf(&out, " %s %s at %s%s%s", yyjson_get_str(yyjson_obj_get(root, "apiVersion")),
               yyjson_get_str(yyjson_obj_get(root, "kind")),
               yyjson_get_str(yyjson_obj_get(metadata, "resourceVersion")),
               token && token[0] ? ", then " : "", token ? token : "");
    buf_putc(&out, '\0');
    yyjson_doc_free(doc);
    return out.bytes;
}

static const char *const recorded[] = {"configmaps-list-page1", "configmaps-list-page2",
                                       "pods-list-metadata", "widgets-list"};

static void splits_recorded_lists_however_they_are_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(recorded); i++) {
        struct recording r;
        char *expected;
        recording_open(&r, recorded[i]);
        expected = expected_of(&r);
        split_each(recording_body(&r), play, expected);
        free(expected);
        recording_close(&r);
    }
}

/* Some of the prefixes, or all in the full tier. */
static void assert_cut(struct str list)
{
    struct split whole = {0, 0}, bytes = {1, 1};
    size_t step = tier_is_full() ? 1 : 11;
    for (struct str part = {list.at, 0}; part.len < list.len; part.len += step) {
        char *text = events(part, whole), *same = events(part, bytes);
        assert_non_null(strstr(text, " INF_ECUT: the list ended in the middle ("));
        assert_string_equal(text, same);
        free(text);
        free(same);
    }
}

static void every_prefix_of_a_list_is_incomplete(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(recorded); i++) {
        struct recording r;
        struct str body;
        recording_open(&r, recorded[i]);
        body = recording_body(&r);
        while (body.at[body.len - 1] == '\n') /* it is complete without it, too */
            body.len--;
        assert_cut(body);
        recording_close(&r);
    }
}

/* ---- shapes ---- */

#define HEAD "\"kind\":\"XList\",\"apiVersion\":\"v1\""
#define META "\"metadata\":{\"resourceVersion\":\"7\"}"

static void accepts_members_of_a_list_in_any_order(void **state)
{
    (void)state;
    assert_events("{" HEAD "," META ",\"items\":[{\"a\":1},{}]}", "<{\"a\":1}><{}> v1 XList at 7");
    assert_events("{\"items\":[{\"a\":1}]," META "," HEAD "}", "<{\"a\":1}> v1 XList at 7");
    assert_events("{\"apiVersion\":\"v1\",\"items\":[{}],\"kind\":\"XList\"," META "}",
                  "<{}> v1 XList at 7");
    assert_events("{" HEAD ",\"items\":[],\"metadata\":{\"continue\":\"t\\u0041\","
                  "\"resourceVersion\":\"7\",\"remainingItemCount\":3}}",
                  " v1 XList at 7, then tA");
}

static void accepts_an_empty_list(void **state)
{
    (void)state;
    assert_events("{" HEAD "," META ",\"items\":[]}", " v1 XList at 7");
    assert_events("{" HEAD "," META ",\"items\":[ ]}\n", " v1 XList at 7");
    assert_events("{" HEAD "," META ",\"items\":null}", " v1 XList at 7");
    assert_events("{" HEAD ",\"items\":[]}", " v1 XList at ");
    assert_events("{" HEAD ",\"metadata\":{\"resourceVersion\":null},\"items\":[]}",
                  " v1 XList at ");
}

static void accepts_white_space_anywhere(void **state)
{
    (void)state;
    assert_events(
        "\r\n{\n  \"kind\" : \"XList\" ,\n  \"apiVersion\":\t\"v1\",\n  \"metadata\": {\n"
        "    \"resourceVersion\": \"7\"\n  },\n  \"items\": [\n    {\n      \"a\": [ 1 ]\n"
        "    } ,\n    { }\n  ]\n}\n \n",
        "<{\n      \"a\": [ 1 ]\n    }><{ }> v1 XList at 7");
}

static void returns_only_the_items_of_the_list_itself(void **state)
{
    (void)state;
    assert_events("{\"x\":{\"items\":[1,2]},\"y\":[{\"items\":[]}],\"z\":\"items\"," HEAD
                  ",\"items\":[{\"items\":[{\"items\":[{}]}]}]," META "}",
                  "<{\"items\":[{\"items\":[{}]}]}> v1 XList at 7");
    assert_events("{" HEAD "," META ",\"it\\u0065ms\":[{}]}", "<{}> v1 XList at 7");
}

static void ignores_brackets_and_quotes_in_strings(void **state)
{
    (void)state;
    assert_events("{" HEAD "," META
                  ",\"items\":[{\"a\":\"}]\\\"},{\\\\\"},{\"\\\\\\\"]}\":\"\\\\\"}]}",
                  "<{\"a\":\"}]\\\"},{\\\\\"}><{\"\\\\\\\"]}\":\"\\\\\"}> v1 XList at 7");
    assert_events("{\"\\\"}\":\"{[\\\\\"," HEAD "," META ",\"items\":[{\"a\":\"\\\\\\\\\"}]}",
                  "<{\"a\":\"\\\\\\\\\"}> v1 XList at 7");
}

/* Items that are not objects are returned too: the decoder reports them and can continue. */
static void returns_items_of_any_type(void **state)
{
    (void)state;
    assert_events("{" HEAD "," META ",\"items\":[1,-2.5e3 ,null,\"a,b\",[ ],true\n]}",
                  "<1><-2.5e3><null><\"a,b\"><[ ]><true> v1 XList at 7");
    assert_events(
        "{" HEAD "," META ",\"items\":[{\"a\"},nonsense,{]},{}]}",
        "<{\"a\"}><nonsense><{]> INF_EDECODE: list: expected ',' or ']', not byte 0x7d (3 "
        "items so far)");
}

/* ---- invalid lists ---- */

static void refuses_invalid_json_at_the_first_wrong_byte(void **state)
{
    static const struct {
        const char *list;
        const char *events;
    } wrong[] = {
        {"[]", "'{', not byte 0x5b (0 items so far)"},
        {"<html>", "'{', not byte 0x3c (0 items so far)"},
        {"{,", "a key or '}', not byte 0x2c (0 items so far)"},
        {"{1:2}", "a key or '}', not byte 0x31 (0 items so far)"},
        {"{" HEAD ",}", "a key, not byte 0x7d (0 items so far)"},
        {"{\"a\",", "':', not byte 0x2c (0 items so far)"},
        {"{\"a\":,", "a value, not byte 0x2c (0 items so far)"},
        {"{\"a\":}", "a value, not byte 0x7d (0 items so far)"},
        {"{\"a\":1]", "',' or '}', not byte 0x5d (0 items so far)"},
        {"{\"a\":1 \"b\"", "',' or '}', not byte 0x22 (0 items so far)"},
        {"{\"items\":[,", "an item or ']', not byte 0x2c (1 items so far)"},
        {"{\"items\":[{},]", "<{}>an item, not byte 0x5d (2 items so far)"},
        {"{\"items\":[{}{", "<{}>',' or ']', not byte 0x7b (1 items so far)"},
        {"{\"items\":[{}}", "<{}>',' or ']', not byte 0x7d (1 items so far)"},
        {"{\"items\":[{}]]", "<{}>',' or '}', not byte 0x5d (1 items so far)"},
        {"{" HEAD ",\"items\":[]}x", "nothing more, not byte 0x78 (0 items so far)"},
        {"{" HEAD ",\"items\":[]}{", "nothing more, not byte 0x7b (0 items so far)"},
        {"{" HEAD ",\"items\":[]} ,", "nothing more, not byte 0x2c (0 items so far)"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        const char *items = strncmp(wrong[i].events, "<{}>", 4) == 0 ? "<{}>" : "";
        char *expected =
            xasprintf("%s INF_EDECODE: list: expected %s", items, wrong[i].events + strlen(items));
        assert_events(wrong[i].list, expected);
        free(expected);
    }
}

#define NO " INF_EDECODE: "

static void refuses_other_documents_with_a_reason(void **state)
{
    (void)state;
    assert_events("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\"}",
                  NO "the server sent a Status instead of a list");
    assert_events("{\"apiVersion\":\"meta.k8s.io/v1\",\"kind\":\"Table\",\"rows\":[{}]}",
                  NO "the server sent a Table instead of a list; its rows are not objects");
    assert_events("{}", NO "the response is not a list: kind is missing");
    assert_events("{\"kind\":\"Pod\"}", NO "the response is not a list: items is missing");
    assert_events("{" HEAD ",\"items\":{}}", NO "list: 'items' is not an array");
    assert_events("{" HEAD ",\"items\":0 }", NO "list: 'items' is not an array");
    assert_events("{" HEAD ",\"items\":[],\"items\":[{}]}", NO "list: duplicate items");
    assert_events("{" HEAD ",\"items\":null,\"i\\u0074ems\":[]}", NO "list: duplicate items");
    assert_events("{" HEAD ",\"items\":[],\"kind\":\"YList\"}", NO "list: duplicate kind");
    assert_events("{" META "," META "}", NO "list: duplicate metadata");
    assert_events("{\"kind\":1}", NO "list: 'kind' is not a string");
    assert_events("{\"metadata\":7}", NO "list: 'metadata' is not an object");
    assert_events("{\"metadata\":{\"continue\":true}}", NO "list: 'continue' is not a string");
    assert_events("{\"metadata\":{\"continue\":\"a\\u0000b\"}}",
                  NO "list: 'continue' contains control characters");
    assert_events("{\"x\":nonsense}", NO "list: another member is not JSON");
    assert_events("{\"\\x\":1}", NO "list: a key is not a JSON string");
}

/* ---- limits ---- */

#define LIST_OPEN  "{" HEAD "," META ",\"items\":[{\"a\":1},"
#define LIST_CLOSE ",{\"b\":2}]}"

static void put_times(struct buf *out, const char *text, size_t times)
{
    while (times--)
        buf_puts(out, text);
}

static void put_nested(struct buf *out, size_t depth)
{
    put_times(out, "[", depth);
    put_times(out, "]", depth);
}

static void skips_only_the_item_nested_too_deeply(void **state)
{
    struct buf list = {0}, expected = {0};
    (void)state;
    buf_puts(&list, LIST_OPEN);
    put_nested(&list, JSON_DEPTH_MAX);
    buf_putc(&list, ',');
    put_nested(&list, JSON_DEPTH_MAX + 1);
    buf_puts(&list, LIST_CLOSE);
    buf_puts(&expected, "<{\"a\":1}><");
    put_nested(&expected, JSON_DEPTH_MAX);
    buf_puts(&expected,
             "><[[[[[[[[[[[[[[[[[[[[...: nested deeper than 512 levels><{\"b\":2}> v1 XList at 7");
    buf_putc(&expected, '\0');
    split_each((struct str){list.bytes, list.len}, play, expected.bytes);
    buf_free(&list);
    buf_free(&expected);
}

/* A list with one string of @len bytes, its quotes included, between two small items. */
static char *events_with_large_item(size_t len, struct split split)
{
    struct buf list = {0};
    char *text;
    buf_puts(&list, LIST_OPEN "\"");
    memset(buf_room(&list, len - 2), 'x', len - 2);
    list.len += len - 2;
    buf_puts(&list, "\"" LIST_CLOSE);
    text = events((struct str){list.bytes, list.len}, split);
    buf_free(&list);
    return text;
}

static void limits_an_item_to_item_max_bytes(void **state)
{
    static const struct split splits[] = {{0, 0}, {64 * 1024, 64 * 1024}, {100, 0}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(splits); i++) {
        char *good = events_with_large_item(ITEM_MAX, splits[i]);
        char *bad = events_with_large_item(ITEM_MAX + 1, splits[i]);
        assert_int_equal(strlen(good), ITEM_MAX + strlen("<{\"a\":1}><><{\"b\":2}> v1 XList at 7"));
        assert_string_equal(bad, "<{\"a\":1}><\"xxxxxxxxxxxxxxxxxxx...: exceeds 16777216 bytes>"
                                 "<{\"b\":2}> v1 XList at 7");
        free(good);
        free(bad);
    }
}

static void limits_other_members(void **state)
{
    static const struct split pieces = {1000, 1000};
    struct buf list = {0};
    char *text;
    (void)state;
    buf_puts(&list, "{\"metadata\":{\"x\":\"");
    put_times(&list, "0123456789abcdef", LIST_MEMBER_MAX / 16);
    text = events((struct str){list.bytes, list.len}, pieces);
    assert_string_equal(text, " INF_ETOOBIG: list: metadata: exceeds 65536 bytes");
    free(text);
    list.bytes[2] = '_'; /* members that are ignored have a limit too */
    text = events((struct str){list.bytes, list.len}, pieces);
    assert_string_equal(text, " INF_ETOOBIG: list: another member: exceeds 65536 bytes");
    free(text);
    list.bytes[10] = ' '; /* keys, too: the first one is very long */
    list.bytes[13] = list.bytes[14] = list.bytes[15] = ' ';
    list.bytes[17] = ' ';
    text = events((struct str){list.bytes, list.len}, pieces);
    assert_string_equal(text, " INF_ETOOBIG: list: a key: exceeds 65536 bytes");
    free(text);
    buf_clear(&list);
    buf_puts(&list, "{\"metadata\":");
    put_nested(&list, JSON_DEPTH_MAX + 1);
    text = events((struct str){list.bytes, list.len}, pieces);
    assert_string_equal(text, " INF_EDECODE: list: metadata: nested deeper than 512 levels");
    free(text);
    buf_free(&list);
}

/* ---- memory ---- */

static void an_item_in_one_piece_is_not_copied(void **state)
{
    static const char list[] = "{" HEAD ",\"items\":[{\"a\":1},{}]," META "}";
    struct list_items items = {.state = ITEMS_BEFORE};
    struct str input = STR(list), item;
    (void)state;
    assert_int_equal(list_items_next(&items, &input, &item, NULL), ITEMS_ONE);
    assert_ptr_equal(item.at, strstr(list, "{\"a\""));
    assert_int_equal(list_items_next(&items, &input, &item, NULL), ITEMS_ONE);
    assert_ptr_equal(item.at, strstr(list, "{}"));
    assert_int_equal(list_items_next(&items, &input, &item, NULL), ITEMS_NONE);
    assert_null(items.partial.bytes);
    assert_int_equal(list_items_end(&items, NULL), 0);
    list_items_reset(&items);
}

/* 64 MiB (8 in the quick tier) in pieces that are not aligned with its items. */
static void never_holds_a_large_list(void **state)
{
    enum {
        PIECE = 300,
    };
    const size_t count = tier_is_full() ? 64 * 1024 : 8 * 1024;
    struct list_items items = {.state = ITEMS_BEFORE};
    struct str item, input = STR("{" HEAD "," META ",\"items\":[0");
    struct buf text = {0};
    size_t largest = 0;
    (void)state;
    buf_puts(&text, ",{\"data\":\"");
    put_times(&text, "}", 1024 - 12);
    buf_puts(&text, "\"}");
    assert_int_equal(list_items_next(&items, &input, &item, NULL), ITEMS_NONE);
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < text.len; at += PIECE) {
            input = (struct str){text.bytes + at, text.len - at < PIECE ? text.len - at : PIECE};
            while (list_items_next(&items, &input, &item, NULL) == ITEMS_ONE)
                continue;
            largest = items.partial.cap > largest ? items.partial.cap : largest;
        }
    assert_int_equal(items.count, count + 1);
    assert_in_range(largest, 1, 2048);
    input = STR("]}");
    assert_int_equal(list_items_next(&items, &input, &item, NULL), ITEMS_NONE);
    assert_int_equal(list_items_end(&items, NULL), 0);
    list_items_reset(&items);
    buf_free(&text);
}

static void releases_the_memory_of_a_huge_item(void **state)
{
    struct list_items items = {.state = ITEMS_BEFORE};
    struct str item, input = STR("{\"items\":[\"");
    char *huge = xmalloc(1024 * 1024);
    (void)state;
    memset(huge, 'x', 1024 * 1024);
    list_items_next(&items, &input, &item, NULL);
    input = (struct str){huge, 1024 * 1024};
    assert_int_equal(list_items_next(&items, &input, &item, NULL), ITEMS_NONE);
    assert_true(items.partial.cap >= 1024 * 1024);
    input = STR("\",{}");
    assert_int_equal(list_items_next(&items, &input, &item, NULL), ITEMS_ONE);
    assert_int_equal(item.len, 1024 * 1024 + 2);
    assert_int_equal(list_items_next(&items, &input, &item, NULL), ITEMS_ONE);
    assert_int_equal(items.partial.cap, 0);
    list_items_reset(&items);
    free(huge);
}

/* ---- defaults of items ---- */

static void assert_defaults(const char *head, const char *kind, const char *api_version)
{
    struct list_items items = {.state = ITEMS_BEFORE};
    struct str input = str_of(head), item;
    struct object_defaults defaults;
    assert_int_equal(list_items_next(&items, &input, &item, NULL), ITEMS_ONE);
    defaults = list_head_defaults(&items.head);
    assert_true(str_eq(defaults.kind, str_of(kind)));
    assert_true(str_eq(defaults.api_version, str_of(api_version)));
    list_items_reset(&items);
}

static void derives_the_kind_of_items_from_the_list(void **state)
{
    (void)state;
    assert_defaults("{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[{}", "Pod", "v1");
    assert_defaults("{\"kind\":\"ListList\",\"items\":[{}", "List", "");
    assert_defaults("{\"apiVersion\":\"a/v1\",\"items\":[{}", "", "a/v1");
    assert_defaults("{\"kind\":\"List\",\"items\":[{}", "", ""); /* as kubectl writes it */
    assert_defaults("{\"kind\":\"PodSet\",\"items\":[{}", "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_recorded_lists_however_they_are_cut),
        cmocka_unit_test(every_prefix_of_a_list_is_incomplete),
        cmocka_unit_test(accepts_members_of_a_list_in_any_order),
        cmocka_unit_test(accepts_an_empty_list),
        cmocka_unit_test(accepts_white_space_anywhere),
        cmocka_unit_test(returns_only_the_items_of_the_list_itself),
        cmocka_unit_test(ignores_brackets_and_quotes_in_strings),
        cmocka_unit_test(returns_items_of_any_type),
        cmocka_unit_test(refuses_invalid_json_at_the_first_wrong_byte),
        cmocka_unit_test(refuses_other_documents_with_a_reason),
        cmocka_unit_test(skips_only_the_item_nested_too_deeply),
        cmocka_unit_test(limits_an_item_to_item_max_bytes),
        cmocka_unit_test(limits_other_members),
        cmocka_unit_test(an_item_in_one_piece_is_not_copied),
        cmocka_unit_test(never_holds_a_large_list),
        cmocka_unit_test(releases_the_memory_of_a_huge_item),
        cmocka_unit_test(derives_the_kind_of_items_from_the_list),
    };
    return cmocka_run_group_tests_name("items", tests, NULL, NULL);
}
