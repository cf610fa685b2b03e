/*
 * test_event_lines.c - guessing the end of an event does not change the result: a body gives the
 * same events as its frames, for any content and all splits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/rng.h"
#include "kube/source/body.h"
#include "recording.h"
#include "split.h"

/* ---- with and without guessing ---- */

static void put_event(struct buf *out, int rc, struct source_event *event)
{
    if (rc < 0)
        buf_printf(out, "%s\n", inf_error_name(rc));
    else
        buf_printf(out, "%d %s %s\n", event->type, event->resource_version,
                   event->object ? inf_object_json(event->object, NULL) : "");
    if (rc >= 0)
        inf_object_unref(event->object);
}

/* Without guessing, in one piece. */
static void read_frames(struct str input, struct buf *out)
{
    struct frame frame = {.partial = {0}};
    struct decoder decoder = {.version = ""};
    struct str text;
    int rc;
    while ((rc = frame_next(&frame, &input, &text)) != 0) {
        struct source_event event = {0};
        struct inf_error err;
        bool cut = rc == -INF_ETOOBIG;
        if (rc > 0)
            rc = decode_event(&decoder, text, &event, &err);
        if (rc < 0 && decode_unreadable(text, cut, &event))
            rc = 1;
        put_event(out, rc, &event);
    }
    buf_printf(out, "%s", frame_between(&frame) ? "" : "cut");
    buf_putc(out, '\0');
    decoder_free(&decoder);
    frame_reset(&frame);
}

/* One piece, from memory of its own so that ASan detects reads beyond it. */
static void feed(struct body *body, struct str piece, struct buf *out)
{
    char *block = xmalloc(piece.len);
    struct str input = {block, piece.len};
    struct source_event event;
    struct inf_error err;
    int rc;
    memcpy(block, piece.at, piece.len);
    while (event = (struct source_event){0}, (rc = body_next(body, &input, &event, &err)) != 0)
        put_event(out, rc, &event);
    assert_int_equal(input.len, 0);
    free(block);
}

static void start(struct body *body)
{
    *body = (struct body){.want = SOURCE_WATCH};
}

static void finish(struct body *body, struct buf *out)
{
    struct inf_error why;
    assert_false(body_end(body, NULL, &why));
    buf_printf(out, "%s", why.code == INF_EEOF ? "" : "cut");
    buf_putc(out, '\0');
    body_free(body);
}

static void play(const void *expected, struct str input, struct split split)
{
    struct body body;
    struct buf out = {0};
    struct str piece;
    start(&body);
    while (split_next(&split, &input, &piece))
        feed(&body, piece, &out);
    finish(&body, &out);
    assert_string_equal(out.bytes, expected);
    buf_free(&out);
}

static void assert_alike(struct str text, size_t first, size_t piece)
{
    struct buf expected = {0};
    read_frames(text, &expected);
    play(expected.bytes, text, (struct split){first, piece});
    buf_free(&expected);
}

static void assert_alike_cut_anywhere(const char *text)
{
    struct buf expected = {0};
    read_frames(str_of(text), &expected);
    split_each(str_of(text), play, expected.bytes);
    buf_free(&expected);
}

/* ---- streams ---- */

static void recorded_watches_give_the_same_events_as_frames(void **state)
{
    static const char *const names[] = {"secrets-watchlist",    "widgets-watchlist",
                                        "pods-watchlist",       "pods-watchlist-metadata",
                                        "pods-watch-lifecycle", "pods-watch-too-old-410"};
    struct rng rng = {1};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct recording r;
        recording_open(&r, names[i]);
        assert_alike(recording_body(&r), 0, 0);
        assert_alike(recording_body(&r), 1, 1);
        for (int n = 0; n < 200; n++)
            assert_alike(recording_body(&r), rng_below(&rng, r.body.len),
                         n % 2 ? rng_below(&rng, 5000) : 0);
        recording_close(&r);
    }
}

#define MANAGED "\"managedFields\":[{\"manager\":\"x\",\"fieldsV1\":{\"f:a\":{\"k:{}\":{}}}}]"
#define OBJECT(version, more)                                                    \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"," more \
    "\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}"
#define POD(version)        EVENT("MODIFIED", OBJECT(version, "\"uid\":\"{}\"," MANAGED ","))
#define BOOKMARK            EVENT("BOOKMARK", OBJECT("9", ""))
#define GONE                EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410}")

static const char *const streams[] = {
    POD("1") "\n" POD("2") "\n" BOOKMARK "\n" POD("3") "\n" GONE "\n" POD("4") "\n",
    POD("1") POD("2") "\n" POD("3") " \r\n\n " POD("4") BOOKMARK POD("5"),
    POD("1") "\n{\"type\":\"ADDED\",\n\"object\":" OBJECT("2", "") "}\n" POD("3") "\n",
    POD("1") "\n" EVENT("ADDED", "\n" OBJECT("2", "") "\n") "\n" POD("3"),
    POD("1") "}}\n" POD("2") "\nOops {\n" POD("3") "\n" EVENT("ADDED", "{}") "\n" POD("4") "x\n",
    "{\"type\":\"ADDED\",\"object\":{\"a\":[1}}\n" POD("1") "\n{\"type\":\"ADDED}}\n" POD("2"),
    EVENT("ADDED", OBJECT("1", "") ",\"more\":{}") "\n" EVENT("NEW", "{}") "\n" POD("2") "\n",
    EVENT("ADDED", OBJECT("1", "") "}" POD("2") "{\"x\":{}") "\n" POD("3") "\n",
    POD("1") "\n" EVENT("ADDED", OBJECT("2", "")),
    POD("1") "\n{\"type\":\"ADDED\",\"object\":{\"kind\"",
};

static void unusual_streams_give_the_same_events_as_frames(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(streams); i++)
        assert_alike_cut_anywhere(streams[i]);
}

/* managedFields are removed without parsing: invalid content in them must not decide where an event
 * ends. */
static void unusual_managed_fields_give_the_same_events_as_frames(void **state)
{
    static const char *const odd[] = {"[{\"manager\":\"x\"]",
                                      "[{\"a\":1 \"b\"}]",
                                      "[{\"a\":x{{{}]",
                                      "[x\"]",
                                      "[1,null,{}]",
                                      "[{\"a\":null,\"b\":-1.5}]",
                                      "[{\"a\":\"\\\"]\"}]",
                                      "[{},]",
                                      "[{\"a\":x\"y,\"b\":{\"d\":\"}}}}}}}}\"}}]"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        char *text = xasprintf("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"b\","
                               "\"managedFields\":%s}}}\n" POD("2") "\n",
                               odd[i]);
        assert_alike_cut_anywhere(text);
        free(text);
    }
}

/* Removes, repeats or replaces some bytes of @text. */
static void mutate(struct buf *text, const char *from, struct rng *rng)
{
    static const char signs[] = "{}[]\",: \nx";
    uint64_t n = 1 + rng_below(rng, 4);
    buf_clear(text);
    buf_puts(text, from);
    for (uint64_t i = 0; i < n; i++) {
        size_t at = rng_below(rng, text->len), len = 1 + rng_below(rng, 8);
        if (len > text->len - at)
            len = text->len - at;
        if (rng_below(rng, 3) == 0) {
            memmove(buf_room(text, len) - text->len + at + len, text->bytes + at, text->len - at);
            text->len += len;
        } else if (rng_below(rng, 2) == 0 && text->len > len) {
            memmove(text->bytes + at, text->bytes + at + len, text->len - at - len);
            text->len -= len;
        } else {
            text->bytes[at] = signs[rng_below(rng, sizeof(signs) - 1)];
        }
    }
    buf_putc(
        text,
        '\n'); /* otherwise an event may wait for the end of text after it that is not an event */
}

static void broken_streams_give_the_same_events_as_frames(void **state)
{
    struct rng rng = {2};
    struct buf text = {0};
    (void)state;
    for (int i = 0; i < 20000; i++) {
        mutate(&text, streams[rng_below(&rng, ARRAY_LEN(streams))], &rng);
        assert_alike((struct str){text.bytes, text.len}, rng_below(&rng, text.len),
                     rng_below(&rng, 3) ? rng_below(&rng, text.len) : 0);
    }
    buf_free(&text);
}

/* ---- time of delivery ---- */

static void assert_events(struct body *body, const char *piece, size_t events)
{
    struct buf out = {0};
    size_t n = 0;
    feed(body, str_of(piece), &out);
    for (size_t i = 0; i < out.len; i++)
        n += out.bytes[i] == '\n';
    assert_int_equal(n, events);
    buf_free(&out);
}

static void delivers_an_event_with_its_last_bracket(void **state)
{
    struct body body;
    (void)state;
    start(&body);
    assert_int_equal(body_next(&body, &(struct str){0}, NULL, NULL), 0);
    assert_events(&body, POD("1"), 1);
    assert_events(&body, "\n" POD("2") "\n{\"ty", 1);
    assert_events(&body, "pe\":\"ADDED\",\"obj", 0);
    assert_false(lines_between(&body.lines));
    assert_events(&body, "ect\":" OBJECT("3", "") "} \r", 1);
    assert_true(lines_between(&body.lines));
    assert_events(&body, "\n{\"type\":\"ADDED\",\"object\":" OBJECT("3", ""), 0);
    assert_events(&body, "}", 1);
    assert_events(&body, POD("4") POD("5"), 2);
    body_free(&body);
}

static size_t count_events(struct body *body, struct str piece)
{
    struct source_event event;
    struct inf_error err;
    size_t n = 0;
    while (piece.len && body_next(body, &piece, &event, &err) == 1) {
        inf_object_unref(event.object);
        n++;
    }
    assert_int_equal(piece.len, 0);
    return n;
}

/* No event waits for the end of the next one, or for the newline. */
static void events_on_one_line_are_delivered_as_each_is_complete(void **state)
{
    static const char *const events[] = {POD("1"),       POD("2"), " " POD("3"), "\t " POD("4"),
                                         " \r" POD("5"), BOOKMARK, POD("6")};
    static const size_t pieces[] = {1, 7, 60, 200, 300, 1000};
    (void)state;
    for (size_t p = 0; p < ARRAY_LEN(pieces); p++) {
        struct body body;
        struct buf line = {0};
        size_t ends[ARRAY_LEN(events)], complete = 0, delivered = 0;
        for (size_t i = 0; i < ARRAY_LEN(events); i++) {
            buf_puts(&line, events[i]);
            ends[i] = line.len;
        }
        start(&body);
        for (size_t at = 0; at < line.len; at += pieces[p]) {
            size_t len = line.len - at < pieces[p] ? line.len - at : pieces[p];
            delivered += count_events(&body, (struct str){line.bytes + at, len});
            while (complete < ARRAY_LEN(events) && ends[complete] <= at + len)
                complete++;
            assert_int_equal(delivered, complete);
        }
        body_free(&body);
        buf_free(&line);
    }
}

/* A paused caller sees by the rest of the input that there are more events. */
static void delivers_all_complete_events_of_the_input(void **state)
{
    static const char text[] = POD("1") POD("2") "\n" POD("3") POD("4") "\n";
    (void)state;
    for (size_t cut = 1; cut < sizeof(text) - 1; cut++) {
        struct str pieces[] = {{text, cut}, {text + cut, sizeof(text) - 1 - cut}};
        struct source_event event;
        struct inf_error err;
        struct body body;
        int events = 0;
        start(&body);
        for (int i = 0; i < 2; i++)
            while (pieces[i].len && body_next(&body, &pieces[i], &event, &err) == 1) {
                inf_object_unref(event.object);
                events++;
            }
        assert_int_equal(events, 4);
        body_free(&body);
    }
}

/* ---- limits ---- */

/* An event whose object has @deep nested brackets, some of them in managedFields. */
static void put_deep(struct buf *out, size_t deep, bool managed)
{
    size_t above = managed ? 4 : 1;
    buf_puts(out, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"");
    buf_puts(out, managed ? ",\"managedFields\":[{\"f\":" : "},\"deep\":");
    for (size_t i = above; i < deep; i++)
        buf_putc(out, '[');
    for (size_t i = above; i < deep; i++)
        buf_putc(out, ']');
    buf_puts(out, managed ? "}]}}}\n" : "}}\n");
}

static void assert_deep(size_t deep, bool managed, const char *expected)
{
    struct buf text = {0};
    put_deep(&text, deep, managed);
    split_each((struct str){text.bytes, text.len}, play, expected);
    buf_free(&text);
}

/* The depth of managedFields does not count: they are dropped. */
static void limits_the_depth_of_an_object_however_it_is_cut(void **state)
{
    struct buf text = {0}, json = {0};
    (void)state;
    put_deep(&text, OBJECT_DEPTH_MAX, false);
    buf_printf(&json, "%d  {\"kind\":\"\",\"apiVersion\":\"\",%.*s\n", SOURCE_ADDED,
               (int)(text.len - strlen("{\"type\":\"ADDED\",\"object\":{}\n")),
               text.bytes + strlen("{\"type\":\"ADDED\",\"object\":{"));
    buf_putc(&json, '\0');
    assert_deep(OBJECT_DEPTH_MAX, false, json.bytes);
    buf_clear(&json);
    buf_printf(&json, "%d  \n", SOURCE_SKIPPED);
    buf_putc(&json, '\0');
    assert_deep(OBJECT_DEPTH_MAX + 1, false, json.bytes);
    assert_deep(OBJECT_DEPTH_MAX * 20, false, json.bytes);
    buf_clear(&json);
    buf_printf(&json, "%d  {\"kind\":\"\",\"apiVersion\":\"\",\"metadata\":{\"name\":\"a\"}}\n",
               SOURCE_ADDED);
    buf_putc(&json, '\0');
    assert_deep(OBJECT_DEPTH_MAX, true, json.bytes);
    assert_deep(OBJECT_DEPTH_MAX + 1, true, json.bytes);
    buf_free(&text);
    buf_free(&json);
}

static void a_line_too_long_to_be_held_is_framed(void **state)
{
    struct body body;
    struct buf text = {0}, out = {0};
    struct str input, piece;
    struct split split = {0, 10000};
    (void)state;
    buf_puts(&text, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"x\":\"");
    memset(buf_room(&text, LINES_HELD_MAX), 'x', LINES_HELD_MAX);
    text.len += LINES_HELD_MAX;
    buf_puts(&text, "\"}}}\n" POD("2") "\n");
    start(&body);
    input = (struct str){text.bytes, text.len};
    while (split_next(&split, &input, &piece)) {
        feed(&body, piece, &out);
        assert_in_range(body.lines.held.cap, 0, LINES_HELD_MAX);
        if (body.lines.held.len)
            assert_true(body.lines.held.secret);
    }
    buf_clear(&out);
    finish(&body, &out);
    assert_string_equal(out.bytes, "");
    assert_alike((struct str){text.bytes, text.len}, 0, 10000);
    buf_free(&text);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_watches_give_the_same_events_as_frames),
        cmocka_unit_test(unusual_streams_give_the_same_events_as_frames),
        cmocka_unit_test(unusual_managed_fields_give_the_same_events_as_frames),
        cmocka_unit_test(broken_streams_give_the_same_events_as_frames),
        cmocka_unit_test(delivers_an_event_with_its_last_bracket),
        cmocka_unit_test(events_on_one_line_are_delivered_as_each_is_complete),
        cmocka_unit_test(delivers_all_complete_events_of_the_input),
        cmocka_unit_test(limits_the_depth_of_an_object_however_it_is_cut),
        cmocka_unit_test(a_line_too_long_to_be_held_is_framed),
    };
    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
