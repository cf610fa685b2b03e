/*
 * test_line_diff.c - hunks of texts of several lines, and that applying them gives the new text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/rng.h"
#include "changes.h"
#include "daemon/record/diff_json.h"
#include "daemon/record/line_diff.h"
#include "daemon/record/summary.h"

/* 220 bytes before the lines of a test, so that they are compared by lines. */
#define PAD                                                                      \
    "# ---------------------------------------------------------------------\\n" \
    "# ---------------------------------------------------------------------\\n" \
    "# ---------------------------------------------------------------------\\n"

static struct str json(struct buf *out, const char *text)
{
    buf_clear(out);
    buf_printf(out, "\"%s\"", text);
    return (struct str){out->bytes, out->len};
}

static void names_the_changed_lines(void **state)
{
    static const struct {
        const char *before, *after, *hunks, *lines;
    } rows[] = {
        {PAD "a\\nb\\nc\\n", PAD "a\\nB\\nc\\n", "[\"@@ -5 +5 @@\\n-b\\n+B\"]", "line 5"},
        {PAD "a\\nb\\nc\\n", PAD "a\\nx\\ny\\nb\\nc\\n", "[\"@@ -4,0 +5,2 @@\\n+x\\n+y\"]",
         "lines 5-6"},
        {PAD "a\\nb\\nc\\n", PAD "a\\nc\\n", "[\"@@ -5 +4,0 @@\\n-b\"]", "lines after 4"},
        {PAD "a\\nb\\nc\\nd\\n", PAD "A\\nb\\nc\\nD\\n",
         "[\"@@ -4 +4 @@\\n-a\\n+A\",\"@@ -7 +7 @@\\n-d\\n+D\"]", "lines 4, 7"},
        {PAD "a\\nb", PAD "a\\nb\\n",
         "[\"@@ -5 +5 @@\\n-b\\n\\\\ No newline at end of file\\n+b\"]", "line 5"},
        {PAD "a\\n", PAD "a\\nb", "[\"@@ -4,0 +5 @@\\n+b\\n\\\\ No newline at end of file\"]",
         "line 5"},
        {PAD "a\\n", "", "[\"@@ -1,4 +0,0 @@\\n-# --", "lines after 0"},
        {"", PAD "a\\n", "[\"@@ -0,0 +1,4 @@\\n+# --", "lines 1-4"},
        {PAD "a\\nfoo\\nb", PAD "a\\n#foo\\nb", "[\"@@ -5 +5 @@\\n-foo\\n+#foo\"]", "line 5"},
        /* an escaped backslash before an n is not a line break */
        {PAD "a\\\\nb\\n", PAD "x\\\\nb\\n", "[\"@@ -4 +4 @@\\n-a\\\\nb\\n+x\\\\nb\"]", "line 4"},
        {PAD "a\\\\\\nb\\n", PAD "a\\\\nb\\n", "[\"@@ -4,2 +4 @@\\n-a\\\\\\n-b\\n+a\\\\nb\"]",
         "line 4"},
        {PAD "1\\n2\\n3\\n4\\n5\\n6\\n7\\n", PAD "x\\n2\\nx\\n4\\nx\\n6\\nx\\n", "[\"@@ -4 +4 @@",
         "lines 4, 6, 8 and 1 more"},
    };
    struct buf before = {0}, after = {0}, out = {0};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct line_diff diff;
        assert_true(
            line_diff_make(json(&before, rows[i].before), json(&after, rows[i].after), &diff));
        assert_int_equal(diff.old_size, before.len);
        assert_int_equal(diff.new_size, after.len);
        buf_clear(&out);
        assert_int_equal(line_diff_put_hunks(&out, &diff, 4096), 0);
        buf_putc(&out, '\0');
        if (strncmp(out.bytes, rows[i].hunks, strlen(rows[i].hunks)) != 0)
            fail_msg("row %zu: %s", i, out.bytes);
        buf_clear(&out);
        line_diff_put_lines(&out, &diff);
        buf_putc(&out, '\0');
        assert_string_equal(out.bytes, rows[i].lines);
    }
    buf_free(&before);
    buf_free(&after);
    buf_free(&out);
}

static void small_single_line_and_hashed_values_have_no_lines(void **state)
{
    static const struct {
        const char *before, *after;
    } rows[] = {
        {"a\\nb\\nc\\n", "a\\nb\\nd\\n"},
        {PAD "a", "hmac:0123456789\\n\\n\\n"},
        {"hmac:0123456789", PAD},
    };
    struct buf before = {0}, after = {0};
    struct line_diff diff;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_false(
            line_diff_make(json(&before, rows[i].before), json(&after, rows[i].after), &diff));
    for (int i = 0; i < 300; i++)
        buf_putc(&before, 'x');
    buf_clear(&after);
    buf_printf(&after, "\"%.*s\\nx\"", (int)(before.len - 2), before.bytes + 2);
    assert_false(
        line_diff_make(json(&before, "short"), (struct str){after.bytes, after.len}, &diff));
    assert_false(
        line_diff_make(STR("{\"a\":\"\\n\\n\\n\"}"), (struct str){after.bytes, after.len}, &diff));
    buf_free(&before);
    buf_free(&after);
}

/* ---- applying hunks ---- */

static size_t skip_lines(struct str text, size_t at, size_t count)
{
    for (; count && at < text.len; count--) {
        const char *end = memmem(text.at + at, text.len - at, "\\n", 2);
        at = end ? (size_t)(end - text.at) + 2 : text.len;
    }
    return at;
}

/* Lines have no backslashes. */
static void apply(struct buf *out, struct str old, const struct line_diff *diff)
{
    size_t line = 0, at = 0;
    for (size_t i = 0; i < diff->count; i++) {
        const struct line_hunk *h = &diff->hunks[i];
        size_t first = h->old_line - (h->old_count > 0);
        size_t from = skip_lines(old, at, first - line), to = skip_lines(old, from, h->old_count);
        assert_int_equal(to - from, h->old_text.len);
        assert_memory_equal(old.at + from, h->old_text.at, to - from);
        buf_put(out, old.at + at, from - at);
        buf_put(out, h->new_text.at, h->new_text.len);
        at = to;
        line = first + h->old_count;
    }
    buf_put(out, old.at + at, old.len - at);
}

static void random_text(struct buf *out, struct rng *rng, const struct buf *from, unsigned edits)
{
    size_t at = 0, lines = rng_below(rng, 40);
    buf_clear(out);
    if (!from) {
        buf_puts(out, PAD);
        for (size_t i = 0; i < lines; i++)
            buf_printf(out, "%c\\n", 'a' + (int)rng_below(rng, 6));
        return;
    }
    while (at < from->len) {
        size_t next = skip_lines((struct str){from->bytes, from->len}, at, 1);
        uint64_t dice = rng_below(rng, edits);
        if (dice == 0)
            buf_printf(out, "%c\\n", 'a' + (int)rng_below(rng, 6));
        if (dice != 1)
            buf_put(out, from->bytes + at, next - at);
        at = next;
    }
    if (rng_below(rng, 3) == 0)
        buf_puts(out, "end");
}

static void applying_the_hunks_gives_the_new_text(void **state)
{
    struct rng rng;
    struct buf before = {0}, after = {0}, old = {0}, new = {0}, applied = {0};
    (void)state;
    rng = (struct rng){.state = 17};
    for (int round = 0; round < 3000; round++) {
        struct line_diff diff;
        struct str a, b;
        random_text(&before, &rng, NULL, 0);
        random_text(&after, &rng, &before, 2 + (unsigned)rng_below(&rng, 20));
        buf_putc(&before, '\0');
        buf_putc(&after, '\0');
        a = json(&old, before.bytes);
        b = json(&new, after.bytes);
        if (str_eq(a, b))
            continue;
        assert_true(line_diff_make(a, b, &diff));
        if (diff.more)
            continue;
        buf_clear(&applied);
        apply(&applied, (struct str){a.at + 1, a.len - 2}, &diff);
        assert_int_equal(applied.len, b.len - 2);
        assert_memory_equal(applied.bytes, b.at + 1, applied.len);
    }
    buf_free(&before);
    buf_free(&after);
    buf_free(&old);
    buf_free(&new);
    buf_free(&applied);
}

/* ---- limits ---- */

static void large_hunks_and_many_hunks_are_counted(void **state)
{
    struct buf before = {0}, after = {0}, out = {0};
    struct line_diff diff;
    (void)state;
    buf_putc(&before, '"');
    buf_putc(&after, '"');
    for (int i = 0; i < 50; i++) {
        buf_printf(&before, "line %d\\nsame\\n", i);
        buf_printf(&after, "LINE %d\\nsame\\n", i);
    }
    buf_putc(&before, '"');
    buf_putc(&after, '"');
    assert_true(line_diff_make((struct str){before.bytes, before.len},
                               (struct str){after.bytes, after.len}, &diff));
    assert_int_equal(diff.count, LINE_DIFF_HUNKS_MAX);
    assert_int_equal(diff.more, 50 - LINE_DIFF_HUNKS_MAX);
    assert_int_equal(line_diff_put_hunks(&out, &diff, 4096), 50 - LINE_DIFF_HUNKS_MAX);
    buf_clear(&out);
    assert_int_equal(line_diff_put_hunks(&out, &diff, 22), 49); /* the first one fits */
    buf_putc(&out, '\0');
    assert_int_equal(
        strncmp(out.bytes, "[\"@@ -1 +1 @@\\n-line 0\\n+LINE 0\",\"@@ -3 +3 @@\",", 46), 0);
    buf_free(&before);
    buf_free(&after);
    buf_free(&out);
}

/* 100,000 lines of which every one differs, and of which two differ. */
static void a_large_text_is_one_hunk_or_two(void **state)
{
    struct buf before = {0}, other = {0}, near = {0};
    struct line_diff diff;
    clock_t start;
    (void)state;
    buf_putc(&before, '"');
    buf_putc(&other, '"');
    buf_putc(&near, '"');
    for (int i = 0; i < 100000; i++) {
        buf_printf(&before, "key%06d\\n", i);
        buf_printf(&other, "KEY%06d\\n", i);
        buf_printf(&near, "%s%06d\\n", i == 500 || i == 600 ? "new" : "key", i);
    }
    buf_putc(&before, '"');
    buf_putc(&other, '"');
    buf_putc(&near, '"');
    start = clock();
    assert_true(line_diff_make((struct str){before.bytes, before.len},
                               (struct str){other.bytes, other.len}, &diff));
    assert_int_equal(diff.count, 1);
    assert_int_equal(diff.hunks[0].old_count, 100000);
    assert_int_equal(diff.hunks[0].new_count, 100000);
    assert_true(line_diff_make((struct str){before.bytes, before.len},
                               (struct str){near.bytes, near.len}, &diff));
    assert_int_equal(diff.count, 2);
    assert_int_equal(diff.hunks[1].new_line, 601);
    /* a few milliseconds; the sanitizers are slow */
    assert_true(clock() - start < CLOCKS_PER_SEC / 2);
    buf_free(&before);
    buf_free(&other);
    buf_free(&near);
}

static void assert_text(struct buf *out, const char *expected)
{
    buf_putc(out, '\0');
    assert_string_equal(out->bytes, expected);
    buf_clear(out);
}

static void assert_written(const struct inf_diff *diff, const struct line_diffs *diffs)
{
    struct buf out = {0};
    diff_json_put(&out, diff, diffs, SIZE_MAX, SIZE_MAX);
    assert_text(&out, "[{\"op\":\"replace\",\"path\":\"a\",\"old\":1,\"new\":2},"
                      "{\"op\":\"replace\",\"path\":\"data.f\",\"old_size\":224,"
                      "\"new_size\":224,\"hunks\":[\"@@ -4 +4 @@\\n-x\\n+y\"]}]");
    diff_json_put(&out, diff, diffs, SIZE_MAX, 1);
    assert_text(&out, "[{\"op\":\"replace\",\"path\":\"a\",\"old\":1,\"new\":2},"
                      "{\"op\":\"replace\",\"path\":\"data.f\",\"old_size\":224,"
                      "\"new_size\":224,\"hunks\":[\"@@ -4 +4 @@\"],\"hunks_omitted\":1}]");
    diff_json_put(&out, diff, diffs, SIZE_MAX, 0);
    assert_text(&out, "[{\"op\":\"replace\",\"path\":\"a\",\"old_size\":1,\"new_size\":1},"
                      "{\"op\":\"replace\",\"path\":\"data.f\",\"old_size\":224,"
                      "\"new_size\":224}]");
    summary_put_changes(&out, diff, diffs, true, 200);
    assert_text(&out, "data.f changed, line 4, a 1 -> 2");
    summary_put_changes(&out, diff, diffs, false, 200);
    assert_text(&out, "data.f, a");
    buf_free(&out);
}

static void each_text_of_a_diff_has_its_lines(void **state)
{
    struct buf before = {0}, after = {0};
    struct line_diffs *diffs;
    const struct line_diff *lines;
    struct sample s;
    (void)state;
    buf_printf(&before, "'a':1,'data':{'f':'%sx\\n'}", PAD);
    buf_printf(&after, "'a':2,'data':{'f':'%sy\\n'}", PAD);
    buf_putc(&before, '\0');
    buf_putc(&after, '\0');
    sample_pod(&s, before.bytes, after.bytes);
    assert_int_equal(inf_diff_count(s.diff), 2);
    diffs = line_diffs_make(s.diff, &s.event);
    assert_null(line_diffs_get(diffs, 0));
    lines = line_diffs_get(diffs, 1);
    assert_non_null(lines);
    assert_int_equal(lines->hunks[0].new_line, 4);
    assert_written(s.diff, diffs);
    line_diffs_free(diffs);
    /* the diff has omitted the values */
    inf_diff_free(s.diff);
    s.diff = inf_diff_make(s.before, s.after, &(struct inf_diff_options){.bytes_max = 100}, NULL);
    assert_null(inf_diff_get(s.diff, 1)->new_value.json);
    diffs = line_diffs_make(s.diff, &s.event);
    assert_int_equal(line_diffs_get(diffs, 1)->hunks[0].new_line, 4);
    line_diffs_free(diffs);
    sample_free(&s);
    sample_pod(&s, "'a':1", "'a':2");
    assert_null(line_diffs_make(s.diff, &s.event));
    assert_null(line_diffs_get(NULL, 0));
    line_diffs_free(NULL);
    sample_free(&s);
    buf_free(&before);
    buf_free(&after);
}

/* Each omitted value costs a walk over the object, and an object may have very many. */
static void the_search_for_omitted_texts_is_limited(void **state)
{
    struct buf texts[2] = {{0}, {0}};
    struct line_diffs *diffs;
    struct sample s;
    (void)state;
    for (size_t side = 0; side < 2; side++) {
        buf_puts(&texts[side], "'data':{");
        for (int i = 0; i <= LINE_DIFFS_LOOKUPS_MAX; i++)
            buf_printf(&texts[side], "%s'%03d':'" PAD "%zu'", i ? "," : "", i, side);
        buf_put(&texts[side], "}", 2);
    }
    sample_pod(&s, texts[0].bytes, texts[1].bytes);
    inf_diff_free(s.diff);
    s.diff = inf_diff_make(s.before, s.after, &(struct inf_diff_options){.bytes_max = 100}, NULL);
    assert_int_equal(inf_diff_count(s.diff), LINE_DIFFS_LOOKUPS_MAX + 1);
    diffs = line_diffs_make(s.diff, &s.event);
    assert_non_null(line_diffs_get(diffs, LINE_DIFFS_LOOKUPS_MAX - 1));
    assert_null(line_diffs_get(diffs, LINE_DIFFS_LOOKUPS_MAX));
    line_diffs_free(diffs);
    sample_free(&s);
    buf_free(&texts[0]);
    buf_free(&texts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_changed_lines),
        cmocka_unit_test(small_single_line_and_hashed_values_have_no_lines),
        cmocka_unit_test(applying_the_hunks_gives_the_new_text),
        cmocka_unit_test(large_hunks_and_many_hunks_are_counted),
        cmocka_unit_test(a_large_text_is_one_hunk_or_two),
        cmocka_unit_test(each_text_of_a_diff_has_its_lines),
        cmocka_unit_test(the_search_for_omitted_texts_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
