/*
 * test_api_skip.c - objects that can't be decoded are skipped and reported by name and version;
 * and bytes that complete no object yet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "kube/source/list_items.h"
#include "source_world.h"

static const struct source_request any_list = {
    .want = SOURCE_LIST, .resource_version = "0", .limit = 500, .timeout_s = 300};
static const struct source_request any_watch = {
    .want = SOURCE_WATCH, .resource_version = "7", .timeout_s = 300};

/* ---- objects that can't be decoded ---- */

static void skips_an_invalid_item(void **state)
{
    (void)state;
    source_world_expect_response(
        &any_list,
        LIST_HEAD LIST_META
        ",\"items\":[" ITEM("a") ",{\"metadata\":{\"name\":\"b\","
                                 "\"uid\":7}},null,{\"data\":1}," ITEM("c") "]}",
        "open\n"
        "ADDED shop/a 5\n"
        "SKIPPED b  uid '' item 2 of the list, ConfigMap b: object: 'uid' is not a string\n"
        "SKIPPED item 3 of the list: object: metadata is missing\n"
        "SKIPPED item 4 of the list: object: metadata is missing\n"
        "ADDED shop/c 5\n"
        "PAGE_END 9\n"
        "INF_EEOF: kube.test:6443: the list is complete\n");
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

static void assert_reports_large(const struct source_request *request, const char *before,
                                 const char *after, const char *expected)
{
    struct source_world w;
    source_world_init(&w, "configmaps", NULL);
    w.pipes.cut = 64 * 1024;
    send_large(source_world_connect_with(&w, request), before, ITEM_MAX, after);
    sim_run(&w.sim);
    source_world_expect(&w, expected);
    source_world_done(&w);
}

#define LARGE "\"metadata\":{\"namespace\":\"shop\",\"name\":\"big\"},\"data\":"

static void skips_an_item_that_is_too_large(void **state)
{
    (void)state;
    assert_reports_large(
        &any_list, LIST_HEAD "\"items\":[" ITEM("a") ",{" LARGE, "}," ITEM("c") "]," LIST_META "}",
        "open\n"
        "ADDED shop/a 5\n"
        "SKIPPED shop/big  uid '' item 2 of the list, ConfigMap shop/big: exceeds 16777216 bytes\n"
        "ADDED shop/c 5\n"
        "PAGE_END 9\n"
        "INF_EEOF: kube.test:6443: the list is complete\n");
}

static void skips_a_watch_event_that_is_too_large(void **state)
{
    (void)state;
    assert_reports_large(
        &any_watch, POD("a", "1") "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\"," LARGE,
        "}}\n" POD("c", "3"),
        "open\n"
        "ADDED a 1\n"
        "SKIPPED shop/big  uid '' Pod shop/big: watch event exceeds frame_max=16777216 bytes\n"
        "ADDED c 3\n"
        "INF_EEOF: kube.test:6443: the server ended the watch\n");
    assert_reports_large(
        &any_watch, "{\"type\":\"ADDED\",\"object\":{" LARGE, "",
        "open\n"
        "SKIPPED shop/big  uid '' shop/big: watch event exceeds frame_max=16777216 bytes\n"
        "INF_ECUT: kube.test:6443: the watch ended in the middle of an event\n");
}

/* Nested in this many brackets, with the name after them, as the API server sorts members. */
static char *deep_object(const char *type)
{
    enum {
        DEPTH = 600
    };
    char open[DEPTH * 5 + 1], close[DEPTH + 1];
    for (size_t i = 0; i < DEPTH; i++)
        memcpy(open + i * 5, "{\"d\":", 5);
    open[DEPTH * 5] = '\0';
    memset(close, '}', DEPTH);
    close[DEPTH] = '\0';
    return xasprintf(
        "%s{\"apiVersion\":\"x.io/v1\",\"kind\":\"Deep\",\"metadata\":{\"annotations\":%s1%s,"
        "\"name\":\"bad\",\"namespace\":\"shop\",\"resourceVersion\":\"9\",\"uid\":\"u9\"}}%s",
        type, open, close, type[0] ? "}\n" : "");
}

static void skips_a_deeply_nested_object_with_name_and_version(void **state)
{
    static const char *const types[] = {"{\"type\":\"ADDED\",\"object\":",
                                        "{\"type\":\"DELETED\",\"object\":"};
    char *added = deep_object(types[0]), *deleted = deep_object(types[1]), *item = deep_object("");
    char *watch = xasprintf("%s%s%s%s", POD("a", "1"), added, deleted, POD("c", "3"));
    char *list = xasprintf("%s%s,\"items\":[%s,%s]}", LIST_HEAD, LIST_META, item, ITEM("c"));
    (void)state;
    source_world_expect_response(
        &any_watch, watch,
        "open\n"
        "ADDED a 1\n"
        "SKIPPED shop/bad 9 uid 'u9' Deep shop/bad: watch event is nested deeper than 513 levels\n"
        "DELETED shop/bad 9 uid 'u9' \n"
        "ADDED c 3\n"
        "INF_EEOF: kube.test:6443: the server ended the watch\n");
    source_world_expect_response(
        &any_list, list,
        "open\n"
        "SKIPPED shop/bad 9 uid 'u9' item 1 of the list, Deep shop/bad: object: nested more than 512 levels deep\n"
        "ADDED shop/c 5\n"
        "PAGE_END 9\n" LIST_END);
    free(added);
    free(deleted);
    free(item);
    free(watch);
    free(list);
}

static void skips_an_invalid_watch_event_but_no_error_event(void **state)
{
    (void)state;
    source_world_expect_response(
        &any_watch,
        POD("a", "1") "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"b\","
                      "\"uid\":7}}}\n"
                      "{\"type\":\"RENAMED\",\"object\":{\"metadata\":{\"name\":\"b\"}}}\n" POD(
                          "c", "3") "{\"type\":\"ERROR\",\"object\":{\"kind\":"
                                    "\"Status\",\"code\":410,\"message\":\"too old\"}}\n" POD("d",
                                                                                              "4"),
        "open\n"
        "ADDED a 1\n"
        "SKIPPED b  uid '' b: object: 'uid' is not a string\n"
        "SKIPPED b  uid '' b: watch event: unknown type \"RENAMED\"\n"
        "ADDED c 3\n"
        "INF_EGONE: kube.test:6443: server error: too old (410)\n");
}

/* It is unknown which events were lost with it. */
static void text_that_is_no_event_ends_the_watch(void **state)
{
    (void)state;
    source_world_expect_response(
        &any_watch, POD("a", "1") "{}\n" POD("c", "3"),
        "open\n"
        "ADDED a 1\n"
        "INF_EDECODE: kube.test:6443: watch event: 'type' or 'object' is missing\n");
    source_world_expect_response(
        &any_watch, POD("a", "1") "Oops {\n" POD("c", "3"),
        "open\n"
        "ADDED a 1\n"
        "INF_EDECODE: kube.test:6443: watch event: 6 bytes that are not a JSON object\n");
    source_world_expect_response(
        &any_watch, POD("a", "1") "{\"type\":\"ADDED\",\"object\":[1}}\n",
        "open\n"
        "ADDED a 1\n"
        "INF_EDECODE: kube.test:6443: object: unexpected character, expected a comma or a closing bracket at byte 2\n");
    source_world_expect_response(
        &any_watch, POD("a", "1") "{\"type\":\"ADDED\",\"object\":{]] not\n",
        "open\n"
        "ADDED a 1\n"
        "INF_EDECODE: kube.test:6443: watch event: 28 bytes that are not a JSON object\n");
}

/* ---- progress ---- */

static size_t progress_after(struct source_world *w, struct pipe *pipe, const char *bytes)
{
    size_t before = w->n_progress;
    pipe_sends(pipe, bytes);
    sim_run(&w->sim);
    return w->n_progress - before;
}

static void reports_bytes_without_an_event_as_progress(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "configmaps", NULL);
    pipe = source_world_connect_with(&w, &any_list);
    assert_int_equal(progress_after(&w, pipe, WATCH_HEAD "800\r\n"), 0);
    assert_int_equal(progress_after(&w, pipe, LIST_HEAD "\"items\":"), 1);
    assert_int_equal(progress_after(&w, pipe, "[" ITEM("a")), 0);
    assert_int_equal(progress_after(&w, pipe, ",{\"metadata\":{\"name\":"), 1);
    assert_int_equal(progress_after(&w, pipe, "\"b\""), 1);
    assert_int_equal(progress_after(&w, pipe, "}},{\"meta"), 0);
    source_cancel(w.source);
    pipe = source_world_connect_with(&w, &any_watch);
    assert_int_equal(progress_after(&w, pipe, WATCH_HEAD "800\r\n{\"type\":"), 1);
    source_cancel(w.source);
    pipe = source_world_connect_with(&w, &any_list);
    assert_int_equal(progress_after(&w, pipe, "HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\nBusy"),
                     0);
    source_world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skips_an_invalid_item),
        cmocka_unit_test(skips_an_item_that_is_too_large),
        cmocka_unit_test(skips_a_watch_event_that_is_too_large),
        cmocka_unit_test(skips_a_deeply_nested_object_with_name_and_version),
        cmocka_unit_test(skips_an_invalid_watch_event_but_no_error_event),
        cmocka_unit_test(text_that_is_no_event_ends_the_watch),
        cmocka_unit_test(reports_bytes_without_an_event_as_progress),
    };
    return cmocka_run_group_tests_name("api_skip", tests, NULL, NULL);
}
