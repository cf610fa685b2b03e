/*
 * test_api_shard.c - objects of other shards are dropped when they arrive, in lists and in watches,
 * also those that are written in an unusual way or can't be decoded.
 *
 * Of the uids, world is in shard 0 of 2; a and foobar are in shard 1.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "source_world.h"

static const struct source_request any_list = {
    .want = SOURCE_LIST, .resource_version = "0", .limit = 500, .timeout_s = 300};
static const struct source_request any_watch = {
    .want = SOURCE_WATCH, .resource_version = "7", .timeout_s = 300};

#define UID(name, uid) \
    "\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"5\",\"uid\":\"" uid "\"}"
#define EVENT(type, name, uid) "{\"type\":\"" type "\",\"object\":{" UID(name, uid) "}}"

/* Shard @index of 2, with the text in pieces of several lengths. */
static void expect_of_shard(uint32_t index, const struct source_request *request, const char *body,
                            const char *expected)
{
    for (size_t cut = 0; cut < 80; cut += 13) {
        struct resource_scope scope = {.shard = {index, 2}};
        struct source_world w;
        struct pipe *pipe;
        source_world_init_with(&w, "configmaps", &scope, NULL);
        w.pipes.cut = cut;
        pipe = source_world_connect_with(&w, request);
        pipe_sends(pipe, WATCH_HEAD);
        send_chunk(pipe, body);
        pipe_sends(pipe, WATCH_LAST);
        sim_run(&w.sim);
        source_world_expect(&w, expected);
        source_world_done(&w);
    }
}

static void uids_of_this_test_are_in_both_shards(void **state)
{
    (void)state;
    assert_true(shard_has((struct shard){1, 2}, STR("a")));
    assert_true(shard_has((struct shard){1, 2}, STR("foobar")));
    assert_true(shard_has((struct shard){0, 2}, STR("world")));
}

static void list_has_only_the_items_of_the_shard(void **state)
{
    static const char list[] =
        LIST_HEAD LIST_META ",\"items\":[{" UID("one", "a") "},{" UID("two", "world") "},{" UID(
            "three",
            "foobar") "},{\"metadata\":{\"name\":\"escaped\",\"resourceVersion\":\"5\",\"uid\":"
                      "\"worl\\u0064\"}}]}";
    (void)state;
    expect_of_shard(0, &any_list, list,
                    "open\nADDED two 5\nADDED escaped 5\nPAGE_END 9\n" LIST_END);
    expect_of_shard(1, &any_list, list, "open\nADDED one 5\nADDED three 5\nPAGE_END 9\n" LIST_END);
}

static void watch_has_only_the_events_of_the_shard(void **state)
{
    static const char events[] =
        EVENT("ADDED", "one", "a") "\n" EVENT("MODIFIED", "two", "world") "\n" EVENT(
            "DELETED", "three", "foobar") "\n" EVENT("DELETED", "two", "world") "\n";
    (void)state;
    expect_of_shard(0, &any_watch, events,
                    "open\nMODIFIED two 5\nDELETED two 5\nINF_EEOF: " WATCH_END);
    expect_of_shard(1, &any_watch, events,
                    "open\nADDED one 5\nDELETED three 5\nINF_EEOF: " WATCH_END);
}

static void bookmarks_are_delivered_to_every_shard(void **state)
{
    static const char events[] = EVENT(
        "ADDED", "one",
        "a") "\n"
             "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n";
    (void)state;
    expect_of_shard(0, &any_watch, events, "open\nBOOKMARK 9\nINF_EEOF: " WATCH_END);
    expect_of_shard(1, &any_watch, events, "open\nADDED one 5\nBOOKMARK 9\nINF_EEOF: " WATCH_END);
}

/* Two events in one line, and members in another order: nothing after them is lost. */
static void unusual_events_are_split_too(void **state)
{
    static const char events[] = EVENT("ADDED", "one", "a") EVENT(
        "ADDED", "two", "world") "\n"
                                 "{\"object\":{" UID("three", "a") "},\"type\":\"ADDED\"}\n" EVENT(
                                     "ADDED", "four", "world") "\n";
    (void)state;
    expect_of_shard(0, &any_watch, events, "open\nADDED two 5\nADDED four 5\nINF_EEOF: " WATCH_END);
    expect_of_shard(1, &any_watch, events,
                    "open\nADDED one 5\nADDED three 5\nINF_EEOF: " WATCH_END);
}

static void object_that_cannot_be_decoded_is_reported_by_its_shard(void **state)
{
#define BAD "{\"metadata\":{\"name\":\"bad\",\"namespace\":7,\"uid\":\"world\"}}"
    static const char list[] = LIST_HEAD LIST_META ",\"items\":[" BAD "]}";
    (void)state;
    expect_of_shard(1, &any_list, list, "open\nPAGE_END 9\n" LIST_END);
    expect_of_shard(0, &any_list, list,
                    "open\nSKIPPED bad  uid 'world' item 1 of the list, ConfigMap bad: object: "
                    "'namespace' is not a string\nPAGE_END 9\n" LIST_END);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uids_of_this_test_are_in_both_shards),
        cmocka_unit_test(list_has_only_the_items_of_the_shard),
        cmocka_unit_test(watch_has_only_the_events_of_the_shard),
        cmocka_unit_test(bookmarks_are_delivered_to_every_shard),
        cmocka_unit_test(unusual_events_are_split_too),
        cmocka_unit_test(object_that_cannot_be_decoded_is_reported_by_its_shard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
