/*
 * test_api_skip.c - objects that can't be read, ended with or passed over; and bytes that complete
 * none yet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "kube/items.h"
#include "source_world.h"

static const struct source_request any_list = {
    .want = SOURCE_LIST, .resource_version = "0", .limit = 500, .timeout_s = 300};
static const struct source_request patient_list = {
    .want = SOURCE_LIST, .resource_version = "0", .skip_bad = true};
static const struct source_request patient_watch = {
    .want = SOURCE_WATCH, .resource_version = "7", .timeout_s = 300, .skip_bad = true};

/* ---- objects that can't be read ---- */

static void a_bad_item_ends_the_request_by_its_name(void **state)
{
    (void)state;
    source_world_tells(
        &any_list,
        LIST_HEAD LIST_META ",\"items\":[" ITEM("a") ",{\"metadata\":{\"name\":\"b\","
                                                     "\"uid\":7}}," ITEM("c") "]}",
        "open\nADDED shop/a 5\nINF_EDECODE: kube.test:6443: item 2 of the list, ConfigMap "
        "b: object: 'uid' is not a string\n");
}

static void or_it_is_skipped_when_that_was_asked_for(void **state)
{
    (void)state;
    source_world_tells(&patient_list,
                       LIST_HEAD LIST_META
                       ",\"items\":[" ITEM("a") ",{\"metadata\":{\"name\":\"b\","
                                                "\"uid\":7}},null,{\"data\":1}," ITEM("c") "]}",
                       "open\nADDED shop/a 5\n"
                       "SKIPPED item 2 of the list, ConfigMap b: object: 'uid' is not a string\n"
                       "SKIPPED item 3 of the list: object: no metadata\n"
                       "SKIPPED item 4 of the list: object: no metadata\n"
                       "ADDED shop/c 5\nPAGE_END 9\n" LIST_END);
}

/* @before, then a string of @len bytes, then @after; in one chunk. */
static void send_large(struct pipe *pipe, const char *before, size_t len, const char *after)
{
    char *large = xmalloc(len), *head = xasprintf(WATCH_HEAD "%zx\r\n%s\"",
                                                  strlen(before) + len + 2 + strlen(after), before);
    memset(large, 'x', len);
    pipe_sends(pipe, head);
    pipe_send(pipe, large, len);
    pipe_sends(pipe, "\"");
    pipe_sends(pipe, after);
    pipe_sends(pipe, "\r\n" WATCH_LAST);
    free(large);
    free(head);
}

static void assert_tells_of_large(const struct source_request *request, const char *before,
                                  const char *after, const char *expected)
{
    struct source_world w;
    source_world_init(&w, "configmaps", NULL);
    w.pipes.cut = 64 * 1024;
    send_large(source_world_ask_with(&w, request), before, ITEM_MAX, after);
    sim_run(&w.sim);
    source_world_told(&w, expected);
    source_world_done(&w);
}

#define LARGE "\"metadata\":{\"namespace\":\"shop\",\"name\":\"big\"},\"data\":"

static void an_item_too_big_is_skipped_to_its_end(void **state)
{
    (void)state;
    assert_tells_of_large(&patient_list, LIST_HEAD "\"items\":[" ITEM("a") ",{" LARGE,
                          "}," ITEM("c") "]," LIST_META "}",
                          "open\nADDED shop/a 5\n"
                          "SKIPPED item 2 of the list, ConfigMap shop/big: over 16777216 bytes\n"
                          "ADDED shop/c 5\nPAGE_END 9\n" LIST_END);
    assert_tells_of_large(&any_list, LIST_HEAD "\"items\":[{" LARGE, "}]," LIST_META "}",
                          "open\nINF_ETOOBIG: kube.test:6443: item 1 of the list, ConfigMap "
                          "shop/big: over 16777216 bytes\n");
}

#define OVER "watch event over frame_max=16777216 bytes\n"

static void a_watch_event_too_big_is_skipped_to_its_end(void **state)
{
    static const struct source_request watch = {
        .want = SOURCE_WATCH, .resource_version = "7", .timeout_s = 300};
    (void)state;
    assert_tells_of_large(&patient_watch,
                          POD("a", "1") "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\"," LARGE,
                          "}}\n" POD("c", "3"),
                          "open\nADDED a 1\nSKIPPED Pod shop/big: " OVER "ADDED c 3\n"
                          "INF_EEOF: " WATCH_END);
    assert_tells_of_large(&watch, "{\"type\":\"ADDED\",\"object\":{" LARGE, "}}\n" POD("c", "3"),
                          "open\nINF_ETOOBIG: kube.test:6443: shop/big: " OVER);
    assert_tells_of_large(&patient_watch, "{\"type\":\"ADDED\",\"object\":{" LARGE, "",
                          "open\nSKIPPED shop/big: " OVER "INF_ECUT: kube.test:6443: the watch "
                          "ended in the middle of an event\n");
}

static void a_bad_watch_event_is_skipped_but_an_error_is_not(void **state)
{
    (void)state;
    source_world_tells(
        &patient_watch,
        POD("a", "1") "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"b\","
                      "\"uid\":7}}}\n"
                      "{}\n" POD(
                          "c", "3") "{\"type\":\"ERROR\",\"object\":{\"kind\":"
                                    "\"Status\",\"code\":410,\"message\":\"too old\"}}\n" POD("d",
                                                                                              "4"),
        "open\nADDED a 1\nSKIPPED b: object: 'uid' is not a string\n"
        "SKIPPED watch event: 'type' or 'object' is missing\nADDED c 3\n"
        "INF_EGONE: kube.test:6443: the server says: too old (410)\n");
}

/* As a proxy that minds neither newlines nor what it passes on may send it. */
static void a_bad_event_is_skipped_alone_wherever_its_line_ends(void **state)
{
    (void)state;
    source_world_tells(
        &patient_watch,
        "{}{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"1\"}}}"
        "{}{\"type\":\"ADDED\",\"object\":[1}}\n" POD(
            "c", "3") "Oops {\n{\"type\":"
                      "\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"4\"}}}",
        "open\nSKIPPED watch event: 'type' or 'object' is missing\nBOOKMARK 1\n"
        "SKIPPED watch event: 'type' or 'object' is missing\n"
        "SKIPPED object: unexpected character, expected a comma or a closing "
        "bracket at byte 2\nADDED c 3\n"
        "SKIPPED watch event: 6 bytes that are not a JSON object\nBOOKMARK 4\n"
        "INF_EEOF: " WATCH_END);
}

/* ---- progress ---- */

static size_t progress_after(struct source_world *w, struct pipe *pipe, const char *bytes)
{
    size_t before = w->n_progress;
    pipe_sends(pipe, bytes);
    sim_run(&w->sim);
    return w->n_progress - before;
}

static void bytes_that_complete_no_event_are_told_as_progress(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "configmaps", NULL);
    pipe = source_world_ask_with(&w, &any_list);
    assert_int_equal(progress_after(&w, pipe, WATCH_HEAD "800\r\n"), 0);
    assert_int_equal(progress_after(&w, pipe, LIST_HEAD "\"items\":"), 1);
    assert_int_equal(progress_after(&w, pipe, "[" ITEM("a")), 0);
    assert_int_equal(progress_after(&w, pipe, ",{\"metadata\":{\"name\":"), 1);
    assert_int_equal(progress_after(&w, pipe, "\"b\""), 1);
    assert_int_equal(progress_after(&w, pipe, "}},{\"meta"), 0);
    source_cancel(w.source);
    pipe = source_world_ask_with(&w, &patient_watch);
    assert_int_equal(progress_after(&w, pipe, WATCH_HEAD "800\r\n{\"type\":"), 1);
    source_cancel(w.source);
    pipe = source_world_ask_with(&w, &any_list);
    assert_int_equal(progress_after(&w, pipe, "HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\nBusy"),
                     0);
    source_world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_item_ends_the_request_by_its_name),
        cmocka_unit_test(or_it_is_skipped_when_that_was_asked_for),
        cmocka_unit_test(an_item_too_big_is_skipped_to_its_end),
        cmocka_unit_test(a_watch_event_too_big_is_skipped_to_its_end),
        cmocka_unit_test(a_bad_watch_event_is_skipped_but_an_error_is_not),
        cmocka_unit_test(a_bad_event_is_skipped_alone_wherever_its_line_ends),
        cmocka_unit_test(bytes_that_complete_no_event_are_told_as_progress),
    };
    return cmocka_run_group_tests_name("api_skip", tests, NULL, NULL);
}
