/*
 * test_event_frame.c - a body is split into events, for all splits of the input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "informer/error.h"

#include "base/alloc.h"
#include "kube/source/event_frame.h"
#include "recording.h"
#include "split.h"

/* Feeds one piece, from memory of its own so that ASan detects reads beyond it, and adds "<event>"
 * for each event. */
static int feed(struct frame *frame, struct str piece, struct buf *out)
{
    char *block = xmalloc(piece.len);
    struct str input = {block, piece.len}, event;
    int rc;
    memcpy(block, piece.at, piece.len);
    while ((rc = frame_next(frame, &input, &event)) == 1) {
        buf_putc(out, '<');
        buf_put(out, event.at, event.len);
        buf_putc(out, '>');
    }
    if (rc == 0)
        assert_int_equal(input.len, 0);
    free(block);
    return rc;
}

static void assert_text(const struct buf *out, const char *expected)
{
    char *text = xstrndup(out->len ? out->bytes : "", out->len);
    assert_string_equal(text, expected);
    free(text);
}

static void play(const void *ctx, struct str input, struct split split)
{
    struct frame frame = {.partial = {0}};
    struct buf out = {0};
    struct str piece;
    while (split_next(&split, &input, &piece))
        assert_int_equal(feed(&frame, piece, &out), 0);
    assert_text(&out, ctx);
    assert_true(frame_between(&frame));
    buf_free(&out);
    frame_reset(&frame);
}

static void each_line_is_an_event(void **state)
{
    (void)state;
    split_each(STR("one\n"), play, "<one>");
    split_each(STR("one\ntwo\nthree\n"), play, "<one><two><three>");
}

static void skips_empty_lines_and_carriage_returns(void **state)
{
    (void)state;
    split_each(STR("\n\none\n\n\ntwo\n\n"), play, "<one><two>");
    split_each(STR("one\r\n\r\ntwo\r\n"), play, "<one><two>");
    split_each(STR("one  \n \r\n\r \ntwo\n"), play, "<one><two>");
    split_each(STR("\n"), play, "");
}

static void leaves_the_contents_of_a_line_unchanged(void **state)
{
    (void)state;
    split_each(STR("  a\r b\t\n\xff\xfe\n"), play, "<a\r b><\xff\xfe>");
    split_each(STR("{ \"a\" :\r 1 }  \n"), play, "<{ \"a\" :\r 1 }>");
}

static void frames_recorded_watches_however_they_are_cut(void **state)
{
    static const char *const names[] = {"pods-watchlist", "pods-watch-lifecycle",
                                        "widgets-watchlist"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct recording r;
        struct buf expected = {0};
        struct str line;
        recording_open(&r, names[i]);
        while (recording_next(&r, &line))
            buf_printf(&expected, "<%.*s>", STR_FMT(line));
        buf_putc(&expected, '\0');
        split_each(recording_body(&r), play, expected.bytes);
        buf_free(&expected);
        recording_close(&r);
    }
}

static void knows_whether_it_is_between_two_events(void **state)
{
    struct frame frame = {.partial = {0}};
    struct buf out = {0};
    (void)state;
    assert_true(frame_between(&frame));
    feed(&frame, STR("one\n"), &out);
    assert_true(frame_between(&frame));
    feed(&frame, STR("tw"), &out);
    assert_false(frame_between(&frame));
    feed(&frame, STR("o\nth"), &out);
    assert_false(frame_between(&frame));
    frame_reset(&frame); /* another stream */
    assert_true(frame_between(&frame));
    feed(&frame, STR("four\n"), &out);
    assert_text(&out, "<one><two><four>");
    buf_free(&out);
    frame_reset(&frame);
}

/* A caller that stops after an event continues with the next one later. */
static void a_joined_event_is_valid_until_the_next_call(void **state)
{
    struct frame frame = {.partial = {0}};
    struct str input = STR("on"), event;
    (void)state;
    assert_int_equal(frame_next(&frame, &input, &event), 0);
    input = STR("e\ntwo\nthr");
    assert_int_equal(frame_next(&frame, &input, &event), 1);
    assert_true(str_eq(event, STR("one")));
    assert_true(frame_between(&frame)); /* it was returned: nothing is missing */
    assert_int_equal(frame_next(&frame, &input, &event), 1);
    assert_true(str_eq(event, STR("two")));
    assert_int_equal(frame_next(&frame, &input, &event), 0);
    input = STR("ee\n");
    assert_int_equal(frame_next(&frame, &input, &event), 1);
    assert_true(str_eq(event, STR("three")));
    assert_int_equal(frame_next(&frame, &input, &event), 0);
    frame_reset(&frame);
}

static void a_line_in_one_piece_is_not_copied(void **state)
{
    struct frame frame = {.partial = {0}};
    struct str input = STR("one\ntwo\n"), event;
    const char *from = input.at;
    (void)state;
    assert_int_equal(frame_next(&frame, &input, &event), 1);
    assert_ptr_equal(event.at, from);
    assert_int_equal(frame_next(&frame, &input, &event), 1);
    assert_ptr_equal(event.at, from + 4);
    assert_null(frame.partial.bytes);
}

/* An event of @len bytes, its newline, and @tail after it, in two pieces cut at @cut. */
static int feed_large(size_t len, const char *end, size_t cut, size_t *ret_len)
{
    struct frame frame = {.partial = {0}};
    size_t all = len + strlen(end);
    char *block = xmalloc(all);
    struct str first = {block, cut}, rest = {block + cut, all - cut}, event = {0};
    int rc;
    memset(block, 'x', len);
    memcpy(block + len, end, strlen(end));
    rc = frame_next(&frame, &first, &event);
    if (rc == 0)
        rc = frame_next(&frame, &rest, &event);
    *ret_len = event.len;
    frame_reset(&frame);
    free(block);
    return rc;
}

static void limits_an_event_to_frame_max_bytes(void **state)
{
    static const size_t cuts[] = {0, FRAME_MAX - 1};
    size_t len;
    (void)state;
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        assert_int_equal(feed_large(FRAME_MAX, "\n", cuts[i], &len), 1);
        assert_int_equal(len, FRAME_MAX);
        assert_int_equal(feed_large(FRAME_MAX + 1, "\n", cuts[i], &len), -INF_ETOOBIG);
    }
}

/* The limit applies to the bytes that the server sent for the line, so that a split does not
 * decide. */
static void the_frame_limit_does_not_depend_on_cuts(void **state)
{
    size_t len;
    (void)state;
    assert_int_equal(feed_large(FRAME_MAX, "\r\n", 0, &len), -INF_ETOOBIG);
    assert_int_equal(feed_large(FRAME_MAX, "\r\n", 7, &len), -INF_ETOOBIG);
    assert_int_equal(feed_large(FRAME_MAX - 1, "\r\n", 0, &len), 1);
    assert_int_equal(feed_large(FRAME_MAX - 1, "\r\n", 7, &len), 1);
}

static void drops_a_line_that_exceeds_the_limit(void **state)
{
    enum {
        PIECE = 4 * 1024 * 1024
    };
    struct frame frame = {.partial = {0}};
    char *block = xmalloc(PIECE);
    struct str event;
    int rc = 0;
    (void)state;
    memset(block, 'x', PIECE);
    for (int i = 0; i < 4; i++) {
        struct str input = {block, PIECE};
        assert_int_equal(frame_next(&frame, &input, &event), 0);
    }
    rc = frame_next(&frame, &(struct str){block, 1}, &event);
    assert_int_equal(rc, -INF_ETOOBIG);
    assert_true(frame.partial.cap <= FRAME_MAX); /* and was never stored twice */
    frame_reset(&frame);
    free(block);
}

static void releases_the_memory_of_a_huge_event(void **state)
{
    struct frame frame = {.partial = {0}};
    struct buf out = {0};
    char *huge = xmalloc(1024 * 1024);
    (void)state;
    memset(huge, 'x', 1024 * 1024);
    feed(&frame, (struct str){huge, 1024 * 1024}, &out);
    assert_true(frame.partial.cap >= 1024 * 1024);
    feed(&frame, STR("\n"), &out);
    assert_int_equal(frame.partial.cap, 0);
    buf_clear(&out);
    feed(&frame, STR("sma"), &out);
    feed(&frame, STR("ll\n"), &out);
    assert_text(&out, "<small>");
    assert_in_range(frame.partial.cap, 1, 1024); /* that of a small one is: cuts are frequent */
    buf_free(&out);
    free(huge);
    frame_reset(&frame);
}

/* ---- events of many lines ---- */

static void an_object_on_many_lines_is_one_event(void **state)
{
    (void)state;
    split_each(STR("{\n  \"type\": \"ADDED\",\n\n  \"object\": {\r\n    \"a\": [\n1 ]}\n}\n{}\n"),
               play, "<{\n  \"type\": \"ADDED\",\n\n  \"object\": {\r\n    \"a\": [\n1 ]}\n}><{}>");
    split_each(STR("\t{\n}  \r\none\n{\"a\":\n{},\"b\":[\n\t{},\r\n\n {}]}\n"), play,
               "<{\n}><one><{\"a\":\n{},\"b\":[\n\t{},\r\n\n {}]}>");
    split_each(STR("{\"a\":\"}\\\"\\\\\"\n,\"b\":\"{\"}\n{}\n"), play,
               "<{\"a\":\"}\\\"\\\\\"\n,\"b\":\"{\"}><{}>");
}

static void events_need_no_newline_between_or_after_them(void **state)
{
    (void)state;
    split_each(STR("{\"a\":1}{\"b\":\"}{\"} {}\n{}"), play, "<{\"a\":1}><{\"b\":\"}{\"}><{}><{}>");
    split_each(STR("{\"a\":{}}"), play, "<{\"a\":{}}>");
}

/* An invalid event must not affect the following lines. */
static void returns_any_other_line_as_an_event(void **state)
{
    (void)state;
    split_each(STR("{}}{}\n{}\n"), play, "<{}><}{}><{}>");
    split_each(STR("[{},\n{}] \n\"{\n{}\n1 {\n{}"), play, "<[{},><{}><]><\"{><{}><1 {><{}>");
    split_each(STR("{} x{}\r\n{}"), play, "<{}><x{}><{}>");
}

static void an_object_that_breaks_off_ends_where_the_next_begins(void **state)
{
    (void)state;
    split_each(STR("{\"a\":{\"b\":1\n{\"c\":1}\n"), play, "<{\"a\":{\"b\":1><{\"c\":1}>");
    split_each(STR("{\"a\":[1}\r\n\n  {}{\n{\"c\":1}"), play, "<{\"a\":[1}><{}><{><{\"c\":1}>");
}

/* It is not JSON: an object that breaks off there must not affect the following events. */
static void a_newline_in_a_string_ends_the_event(void **state)
{
    (void)state;
    split_each(STR("{\"a\":\"b\n{\"c\":1}\n\"d\n{\\\"\n"), play,
               "<{\"a\":\"b><{\"c\":1}><\"d><{\\\">");
}

static void put_nested(struct buf *out, size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        buf_puts(out, "{\"a\":");
    buf_putc(out, '1');
    for (size_t i = 0; i < depth; i++)
        buf_putc(out, '}');
    buf_putc(out, '\n');
}

static void reports_an_event_nested_too_deeply_and_continues(void **state)
{
    struct frame frame = {.partial = {0}};
    struct buf text = {0};
    struct str input, event;
    (void)state;
    put_nested(&text, FRAME_DEPTH_MAX);
    put_nested(&text, FRAME_DEPTH_MAX + 1);
    put_nested(&text, 1);
    input = (struct str){text.bytes, text.len};
    assert_int_equal(frame_next(&frame, &input, &event), 1);
    assert_int_equal(frame_next(&frame, &input, &event), -INF_EDECODE);
    assert_int_equal(frame_next(&frame, &input, &event), 1);
    assert_true(str_eq(event, STR("{\"a\":1}")));
    assert_true(frame_between(&frame));
    frame_reset(&frame);
    buf_free(&text);
}

/* @begin, then spaces over the limit, then @end: the event "<{}>" after it must be returned. */
static void assert_passed_over(const char *begin, const char *end)
{
    struct frame frame = {.partial = {0}};
    struct buf out = {0};
    char *spaces = xmalloc(FRAME_MAX);
    memset(spaces, ' ', FRAME_MAX);
    assert_int_equal(feed(&frame, str_of(begin), &out), 0);
    assert_int_equal(feed(&frame, (struct str){spaces, FRAME_MAX}, &out), -INF_ETOOBIG);
    assert_false(frame_between(&frame));
    assert_int_equal(feed(&frame, STR("x"), &out), 0);
    assert_int_equal(frame.partial.len, 0); /* and no memory is held for it any more */
    assert_int_equal(feed(&frame, str_of(end), &out), 0);
    assert_true(frame_between(&frame));
    assert_text(&out, "<{}>");
    buf_free(&out);
    free(spaces);
    frame_reset(&frame);
}

static void skips_an_event_over_the_limit_to_its_end(void **state)
{
    (void)state;
    assert_passed_over("x", "xxx\n{}\n");
    assert_passed_over("{\"a\":[", "1]}\n{}\n");
    assert_passed_over("{\n\"a\":[\n", "1\n]\n}\n{}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_an_event),
        cmocka_unit_test(skips_empty_lines_and_carriage_returns),
        cmocka_unit_test(leaves_the_contents_of_a_line_unchanged),
        cmocka_unit_test(frames_recorded_watches_however_they_are_cut),
        cmocka_unit_test(knows_whether_it_is_between_two_events),
        cmocka_unit_test(a_joined_event_is_valid_until_the_next_call),
        cmocka_unit_test(a_line_in_one_piece_is_not_copied),
        cmocka_unit_test(limits_an_event_to_frame_max_bytes),
        cmocka_unit_test(the_frame_limit_does_not_depend_on_cuts),
        cmocka_unit_test(drops_a_line_that_exceeds_the_limit),
        cmocka_unit_test(releases_the_memory_of_a_huge_event),
        cmocka_unit_test(an_object_on_many_lines_is_one_event),
        cmocka_unit_test(events_need_no_newline_between_or_after_them),
        cmocka_unit_test(returns_any_other_line_as_an_event),
        cmocka_unit_test(an_object_that_breaks_off_ends_where_the_next_begins),
        cmocka_unit_test(a_newline_in_a_string_ends_the_event),
        cmocka_unit_test(reports_an_event_nested_too_deeply_and_continues),
        cmocka_unit_test(skips_an_event_over_the_limit_to_its_end),
    };
    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
