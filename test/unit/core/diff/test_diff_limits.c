/*
 * test_diff_limits.c - a diff over a limit is incomplete, but correct, and marked as incomplete. Large
 * inputs take linear time; otherwise these tests would time out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "core/diff/diff.h"
#include "core/object/path.h"
#include "daemon/record/diff_json.h"
#include "patch.h"

enum {
    MANY = 10000,
    TWICE_AS_MANY = 2 * MANY,
    VERY_MANY = DIFF_ITEMS_MAX / 2,
};

static struct str text_in(const struct buf *b)
{
    return (struct str){b->bytes, b->len};
}

/* Compares the changes, and whether a limit was reached. */
static void assert_diff(const char *old_json, const char *new_json, size_t changes_max,
                        const char *expected, bool truncated)
{
    const struct inf_diff_options options = {.changes_max = changes_max};
    char *old_text = patch_json(old_json), *new_text = patch_json(new_json), *lines;
    char *wanted = patch_json(expected);
    struct inf_diff *diff = diff_make(str_of(old_text), str_of(new_text), &options);
    lines = patch_lines(diff);
    assert_string_equal(lines, wanted);
    assert_int_equal(inf_diff_truncated(diff), truncated);
    patch_assert(diff, str_of(old_text), str_of(new_text));
    inf_diff_free(diff);
    free(lines);
    free(wanted);
    free(old_text);
    free(new_text);
}

static void too_many_changes_become_one_change_of_a_larger_part(void **state)
{
    const char *old_text = "{'a':{'b':{'x':1,'y':2},'c':1},'d':{'e':1,'f':2},'g':[1,2]}";
    const char *new_text = "{'a':{'b':{'x':3,'y':4},'c':2},'d':{'e':3,'f':4},'g':[1,2,3]}";
    (void)state;
    assert_diff(old_text, new_text, 6,
                "~ a.b.x 1 -> 3\n~ a.b.y 2 -> 4\n~ a.c 1 -> 2\n~ d.e 1 -> 3\n~ d.f 2 -> 4\n"
                "+ g[2] 3",
                false);
    assert_diff(old_text, new_text, 5,
                "~ a.b.x 1 -> 3\n~ a.b.y 2 -> 4\n~ a.c 1 -> 2\n"
                "~ d {'e':1,'f':2} -> {'e':3,'f':4}\n+ g[2] 3",
                true);
    assert_diff(old_text, new_text, 4,
                "~ a.b {'x':1,'y':2} -> {'x':3,'y':4}\n~ a.c 1 -> 2\n"
                "~ d {'e':1,'f':2} -> {'e':3,'f':4}\n+ g[2] 3",
                true);
    assert_diff(old_text, new_text, 3,
                "~ a {'b':{'x':1,'y':2},'c':1} -> {'b':{'x':3,'y':4},'c':2}\n"
                "~ d {'e':1,'f':2} -> {'e':3,'f':4}\n+ g[2] 3",
                true);
    assert_diff("{'a':[1,2],'b':1}", "{'a':[1,3],'b':2}", 1,
                "~ . {'a':[1,2],'b':1} -> {'a':[1,3],'b':2}", true);
    assert_diff("{'a':{'b':[{'name':'x'}]}}", "{'a':{'b':[{'name':'y'}]}}", 1,
                "~ a.b [{'name':'x'}] -> [{'name':'y'}]", true);
}

static void values_over_the_limit_are_omitted(void **state)
{
    const struct inf_diff_options options = {.bytes_max = 12};
    const struct str old_text = STR("{\"a\":\"1234567890\",\"b\":1,\"c\":{\"d\":1}}");
    const struct str new_text = STR("{\"a\":\"12345\",\"b\":2,\"e\":[1,2,3]}");
    struct inf_diff *diff = diff_make(old_text, new_text, &options);
    struct buf out = {0};
    (void)state;
    diff_json_put(&out, diff, NULL, SIZE_MAX, SIZE_MAX);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes,
                        "[{\"op\":\"replace\",\"path\":\"a\",\"old_size\":12,\"new_size\":7},"
                        "{\"op\":\"replace\",\"path\":\"b\",\"old\":1,\"new\":2},"
                        "{\"op\":\"remove\",\"path\":\"c\",\"old\":{\"d\":1}},"
                        "{\"op\":\"add\",\"path\":\"e\",\"new_size\":7}]");
    assert_true(inf_diff_truncated(diff));
    patch_assert(diff, old_text, new_text);
    buf_free(&out);
    inf_diff_free(diff);
}

/* {"a":{"a":...@leaf...}}, with @levels keys */
static void nest(struct buf *out, size_t levels, const char *key, int leaf)
{
    buf_clear(out);
    for (size_t i = 0; i < levels; i++)
        buf_printf(out, "{\"%s\":", key);
    buf_printf(out, "%d", leaf);
    for (size_t i = 0; i < levels; i++)
        buf_putc(out, '}');
}

static struct inf_diff *diff_nested(size_t levels, const char *key)
{
    struct buf old_text = {0}, new_text = {0};
    struct inf_diff *diff;
    nest(&old_text, levels, key, 1);
    nest(&new_text, levels, key, 2);
    diff = diff_make(text_in(&old_text), text_in(&new_text), NULL);
    patch_assert(diff, text_in(&old_text), text_in(&new_text));
    buf_free(&old_text);
    buf_free(&new_text);
    return diff;
}

/* The number of steps in the path of the only change. */
static size_t changed_depth(size_t levels, bool truncated)
{
    struct inf_diff *diff = diff_nested(levels, "a");
    size_t len = strlen(inf_diff_get(diff, 0)->path);
    assert_int_equal(inf_diff_count(diff), 1);
    assert_int_equal(inf_diff_truncated(diff), truncated);
    inf_diff_free(diff);
    return (len + 1) / 2; /* a.a.a */
}

static void depth_is_limited_by_the_length_of_paths(void **state)
{
    (void)state;
    assert_int_equal(changed_depth(PATH_STEPS_MAX, false), PATH_STEPS_MAX);
    assert_int_equal(changed_depth(PATH_STEPS_MAX + 1, true), PATH_STEPS_MAX);
    assert_int_equal(changed_depth(500, true), PATH_STEPS_MAX);
}

static void a_path_never_exceeds_the_limit_of_the_parser(void **state)
{
    char key[400];
    struct inf_diff *diff;
    (void)state;
    memset(key, 'k', sizeof(key) - 1);
    key[sizeof(key) - 1] = '\0';
    diff = diff_nested(5, key);
    assert_int_equal(inf_diff_count(diff), 1);
    assert_int_equal(strlen(inf_diff_get(diff, 0)->path), 2 * (sizeof(key) - 1) + 1);
    assert_true(inf_diff_truncated(diff));
    inf_diff_free(diff);
}

/* The path of a change in an item whose name has the given number of bytes. */
static void assert_named(size_t name_len, bool by_name)
{
    struct buf old_text = {0}, new_text = {0};
    struct inf_diff *diff;
    for (int v = 1; v <= 2; v++) {
        struct buf *out = v == 1 ? &old_text : &new_text;
        buf_puts(out, "[{\"name\":\"");
        memset(buf_room(out, name_len), 'n', name_len);
        out->len += name_len;
        buf_printf(out, "\",\"v\":%d}]", v);
    }
    diff = diff_make(text_in(&old_text), text_in(&new_text), NULL);
    assert_int_equal(inf_diff_count(diff), 1);
    assert_int_equal(strcmp(inf_diff_get(diff, 0)->path, "[0].v") != 0, by_name);
    inf_diff_free(diff);
    buf_free(&old_text);
    buf_free(&new_text);
}

static void a_name_that_is_too_long_is_not_a_merge_key(void **state)
{
    (void)state;
    assert_named(254, true); /* 256 with its quotes */
    assert_named(255, false);
}

/* ---- large ---- */

enum shape {
    KEYED,     /* {"name":"n7","v":0} */
    SCALARS,   /* "n7" */
    KEYLESS,   /* {"x7":0} */
    TWINS,     /* {}, the given number of times */
    LATE_KEYS, /* every key but the last exists and is not unique */
    MEMBERS,   /* an object: "n7":0 */
};

static void put_item(struct buf *out, enum shape shape, size_t i, int v)
{
    switch (shape) {
    case KEYED: buf_printf(out, "{\"name\":\"n%zu\",\"v\":%d}", i, v); break;
    case SCALARS: buf_printf(out, "\"n%zu\"", i); break;
    case KEYLESS: buf_printf(out, "{\"x%zu\":%d}", i, v); break;
    case TWINS: buf_puts(out, "{}"); break;
    case LATE_KEYS:
        buf_printf(out,
                   "{\"mountPath\":0,\"devicePath\":0,\"name\":0,\"type\":0,\"ip\":0,\"port\":0,"
                   "\"uid\":0,\"key\":0,\"address\":\"n%zu\",\"v\":%d}",
                   i, v);
        break;
    case MEMBERS: buf_printf(out, "\"n%zu\":%d", i, v); break;
    }
}

struct list {
    enum shape shape;
    size_t from, to; /* the items from @from to @to; descending if from is larger */
    size_t changed;  /* the item with v 1; NONE */
};

#define NONE ((size_t)-1)

static void put_list(struct buf *out, const struct list *l)
{
    bool back = l->from > l->to;
    size_t count = back ? l->from - l->to : l->to - l->from;
    buf_puts(out, l->shape == MEMBERS ? "{" : "[");
    for (size_t n = 0; n < count; n++) {
        size_t i = back ? l->from - 1 - n : l->from + n;
        if (n)
            buf_putc(out, ',');
        put_item(out, l->shape, i, i == l->changed);
    }
    buf_puts(out, l->shape == MEMBERS ? "}" : "]");
}

static const struct {
    struct list before;
    struct list after;
    size_t count;
    bool truncated;
} large[] = {
    {{KEYED, 0, MANY, NONE}, {KEYED, 0, MANY, MANY - 1}, 1, false},
    {{KEYED, 0, MANY, NONE}, {KEYED, 1, MANY + 1, 77}, 3, false},
    {{KEYED, 0, MANY, NONE}, {KEYED, MANY, 0, 5}, 2, true}, /* all names are omitted */
    {{KEYED, 0, MANY, NONE}, {KEYED, MANY, TWICE_AS_MANY, NONE}, 1, true},
    {{SCALARS, 0, MANY, NONE}, {SCALARS, 3, MANY + 2, NONE}, 5, false},
    {{SCALARS, 0, MANY, NONE}, {SCALARS, MANY, 0, NONE}, 1, true},
    {{SCALARS, 0, MANY, NONE}, {SCALARS, MANY, TWICE_AS_MANY, NONE}, 1, true},
    {{KEYLESS, 0, MANY, NONE}, {KEYLESS, 2, MANY, 9}, 4, false},
    {{TWINS, 0, MANY, NONE}, {TWINS, 0, MANY - 100, NONE}, 100, false},
    {{TWINS, 0, MANY, NONE}, {TWINS, 0, 1, NONE}, 1, true},
    {{LATE_KEYS, 0, MANY, NONE}, {LATE_KEYS, 1, MANY + 1, 77}, 3, false},
    {{MEMBERS, 0, MANY, NONE}, {MEMBERS, MANY, 0, 3}, 1, false},
    {{SCALARS, 0, VERY_MANY, NONE}, {SCALARS, 1, VERY_MANY, NONE}, 1, false},
    {{SCALARS, 0, VERY_MANY, NONE}, {SCALARS, 0, VERY_MANY + 1, NONE}, 1, true},
};

static void large_lists_take_n_log_n_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(large); i++) {
        struct buf before = {0}, after = {0};
        struct inf_diff *diff;
        put_list(&before, &large[i].before);
        put_list(&after, &large[i].after);
        diff = diff_make(text_in(&before), text_in(&after), NULL);
        if (inf_diff_count(diff) != large[i].count ||
            inf_diff_truncated(diff) != large[i].truncated)
            fail_msg("row %zu: %zu changes, %s", i, inf_diff_count(diff),
                     inf_diff_truncated(diff) ? "truncated" : "complete");
        inf_diff_free(diff);
        buf_free(&before);
        buf_free(&after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_many_changes_become_one_change_of_a_larger_part),
        cmocka_unit_test(values_over_the_limit_are_omitted),
        cmocka_unit_test(depth_is_limited_by_the_length_of_paths),
        cmocka_unit_test(a_path_never_exceeds_the_limit_of_the_parser),
        cmocka_unit_test(a_name_that_is_too_long_is_not_a_merge_key),
        cmocka_unit_test(large_lists_take_n_log_n_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
