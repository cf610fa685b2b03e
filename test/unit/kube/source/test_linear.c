/*
 * test_linear.c - the cost of splitting a body into objects is linear in its size, for all
 * splits.
 *
 * It is counted, not timed: the linker replaces the functions that frame.c, lines.c and items.c
 * use, so that every byte that is scanned or copied is counted here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "kube/source/event_frame.h"
#include "kube/source/event_lines.h"
#include "kube/source/list_items.h"
#include "split.h"
#include "tier.h"

static size_t scanned, copied, searched;

size_t __real_json_scan_value(struct json_scan *scan, struct str text, bool *ret_ended);
size_t __wrap_json_scan_value(struct json_scan *scan, struct str text, bool *ret_ended);
int __real_buf_append(struct buf *b, const char *bytes, size_t len, size_t limit);
int __wrap_buf_append(struct buf *b, const char *bytes, size_t len, size_t limit);
void __real_buf_put(struct buf *b, const char *bytes, size_t len);
void __wrap_buf_put(struct buf *b, const char *bytes, size_t len);
void *__real_memchr(const void *bytes, int c, size_t len);
void *__wrap_memchr(const void *bytes, int c, size_t len);

size_t __wrap_json_scan_value(struct json_scan *scan, struct str text, bool *ret_ended)
{
    size_t n = __real_json_scan_value(scan, text, ret_ended);
    scanned += n;
    return n;
}

int __wrap_buf_append(struct buf *b, const char *bytes, size_t len, size_t limit)
{
    copied += len;
    return __real_buf_append(b, bytes, len, limit);
}

void __wrap_buf_put(struct buf *b, const char *bytes, size_t len)
{
    copied += len;
    __real_buf_put(b, bytes, len);
}

void *__wrap_memchr(const void *bytes, int c, size_t len)
{
    void *found = __real_memchr(bytes, c, len);
    searched += found ? (size_t)((const char *)found - (const char *)bytes) + 1 : len;
    return found;
}

enum {
    OBJECTS = 40,
    LINES = 400
};

/* Large objects, on one line or on many. */
static void put_object(struct buf *out, bool pretty)
{
    buf_puts(out, "{\"object\":{");
    for (int i = 0; i < LINES; i++)
        buf_printf(out, "%s\"key%d\":\"a \\\"value\\\" with [brackets}\"%s", i ? "," : "", i,
                   pretty ? "\n  " : "");
    buf_puts(out, "}}");
}

static size_t count_frames(struct str input, struct split split)
{
    struct frame frame = {.partial = {0}};
    struct str piece, event;
    size_t n = 0;
    while (split_next(&split, &input, &piece))
        while (frame_next(&frame, &piece, &event) == 1)
            n++;
    frame_reset(&frame);
    return n;
}

static size_t count_items(struct str input, struct split split)
{
    struct list_items items = {.count = 0};
    struct str piece, item;
    struct inf_error err;
    size_t n = 0;
    while (split_next(&split, &input, &piece))
        while (list_items_next(&items, &piece, &item, &err) == ITEMS_ONE)
            n++;
    assert_int_equal(list_items_end(&items, &err), 0);
    list_items_reset(&items);
    return n;
}

static void assert_linear(const struct buf *text, size_t (*count)(struct str, struct split))
{
    static const size_t pieces[] = {1, 2, 3, 17, 100, 1000, 4096, 65536, 0};
    struct str input = {text->bytes, text->len};
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        scanned = copied = searched = 0;
        assert_int_equal(count(input, (struct split){pieces[i], pieces[i]}), OBJECTS);
        assert_in_range(scanned, input.len * 9 / 10, input.len); /* all of them, each once */
        assert_in_range(copied, 0, input.len);
        assert_in_range(searched, 0, input.len * 2); /* for a newline, and for quotes */
        if (!pieces[i])
            assert_in_range(copied, 0, input.len / 10); /* a complete one is not copied */
    }
}

static void assert_linear_watch(const char *between)
{
    struct buf text = {0};
    for (int i = 0; i < OBJECTS; i++) {
        put_object(&text, false);
        buf_puts(&text, between);
    }
    assert_linear(&text, count_frames);
    buf_free(&text);
}

static void a_watch_is_scanned_and_copied_once(void **state)
{
    (void)state;
    assert_linear_watch("\n");
    assert_linear_watch(""); /* the end of a very long line is not searched repeatedly */
}

static void a_list_is_scanned_and_copied_once(void **state)
{
    (void)state;
    for (int pretty = 0; pretty <= 1; pretty++) {
        struct buf text = {0};
        buf_puts(&text, "{\"kind\":\"XList\",\"items\":[");
        for (int i = 0; i < OBJECTS; i++) {
            buf_puts(&text, i ? "," : "");
            put_object(&text, pretty);
        }
        buf_puts(&text, "]}");
        assert_linear(&text, count_items);
        buf_free(&text);
    }
}

/* Its lines are copied together, complete or not: once. */
static void a_reformatted_watch_is_scanned_and_copied_once(void **state)
{
    struct buf text = {0};
    struct str input;
    (void)state;
    for (int i = 0; i < OBJECTS; i++) {
        put_object(&text, true);
        buf_puts(&text, "\n");
    }
    input = (struct str){text.bytes, text.len};
    for (size_t piece = 1; piece < text.len; piece *= 7) {
        scanned = copied = 0;
        assert_int_equal(count_frames(input, (struct split){piece, piece}), OBJECTS);
        assert_in_range(scanned, input.len * 9 / 10, input.len);
        assert_in_range(copied, 0, input.len);
    }
    buf_free(&text);
}

/* ---- guessing ---- */

/* All guesses in it are correct, or all are wrong. */
static size_t count_lines(struct str input, struct split split, bool right)
{
    struct lines lines = {.framed = 0};
    struct str piece, event;
    size_t n = 0;
    while (split_next(&split, &input, &piece)) {
        enum lines_result result;
        while ((result = lines_guess(&lines, &piece, &event)) != LINES_MORE) {
            if (result == LINES_GUESS && right)
                lines_accept(&lines, &piece);
            else if (lines_next(&lines, &piece, &event) != 1)
                break;
            n++;
        }
    }
    assert_true(lines_between(&lines));
    lines_reset(&lines);
    return n;
}

static void put_events(struct buf *out, int lines, const char *between)
{
    for (int i = 0; i < OBJECTS; i++) {
        buf_puts(out, "{\"type\":\"ADDED\",\"object\":{");
        for (int line = 0; line < lines; line++)
            buf_printf(out, "\"key%d\":\"value, as long as most\",", line);
        buf_printf(out, "\"last\":0}}%s", between);
    }
}

/* Buffered data is searched twice: for a newline, and for the start of another event. */
static void a_correct_guess_is_not_scanned(void **state)
{
    struct buf text = {0};
    struct str input;
    (void)state;
    put_events(&text, LINES, "\n");
    input = (struct str){text.bytes, text.len};
    for (size_t piece = text.len; piece > 10; piece /= 3) {
        scanned = copied = searched = 0;
        assert_int_equal(count_lines(input, (struct split){0, piece}, true), OBJECTS);
        assert_in_range(scanned, 0, input.len / 10); /* where a piece ends in a brace */
        assert_in_range(copied, 0, piece < text.len ? input.len * 11 / 10 : 0);
        assert_in_range(searched, input.len, input.len * (piece < text.len ? 21 : 11) / 10);
    }
    buf_free(&text);
}

/* The longest exceed the buffer. The quick tier tests every fifth combination. */
static void a_wrong_guess_is_scanned_once(void **state)
{
    static const char *const between[] = {"\n", "", " ", "\r\n\n"};
    static const int lines[] = {0, 1, LINES, 20 * LINES};
    static const size_t pieces[] = {3, 1000, 16384, 0};
    const size_t combinations = ARRAY_LEN(between) * ARRAY_LEN(lines) * ARRAY_LEN(pieces);
    (void)state;
    for (size_t i = 0; i < combinations; i += tier_is_full() ? 1 : 5) {
        size_t piece = pieces[i % ARRAY_LEN(pieces)];
        struct buf text = {0};
        put_events(&text, lines[i / ARRAY_LEN(pieces) % ARRAY_LEN(lines)],
                   between[i / ARRAY_LEN(pieces) / ARRAY_LEN(lines)]);
        scanned = copied = searched = 0;
        assert_int_equal(
            count_lines((struct str){text.bytes, text.len}, (struct split){0, piece}, false),
            OBJECTS);
        assert_in_range(scanned, text.len * 9 / 10, text.len);
        assert_in_range(copied, 0, text.len * 2); /* when it is held, and by the frame */
        assert_in_range(searched, 0,
                        text.len * 4); /* for a newline, twice, for braces and for quotes */
        buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_watch_is_scanned_and_copied_once),
        cmocka_unit_test(a_list_is_scanned_and_copied_once),
        cmocka_unit_test(a_reformatted_watch_is_scanned_and_copied_once),
        cmocka_unit_test(a_correct_guess_is_not_scanned),
        cmocka_unit_test(a_wrong_guess_is_scanned_once),
    };
    return cmocka_run_group_tests_name("linear", tests, NULL, NULL);
}
