/*
 * story_list.c - first syncs and relists: streaming lists, their failures, and LIST with its pages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "story.h"

static void five_pods(struct story *s)
{
    for (char name[] = "default/a"; name[8] <= 'e'; name[8]++)
        apiserver_put(s->server, name);
}

static const char five_added[] = "add default/a 1 (initial)\n"
                                 "add default/b 2 (initial)\n"
                                 "add default/c 3 (initial)\n"
                                 "add default/d 4 (initial)\n"
                                 "add default/e 5 (initial)\n"
                                 "synced\n";

/* Compares the callbacks of handlers, without times and without the log of the engine. */
static void expect_events_untimed(struct story *s, const char *lines)
{
    struct buf events = {0};
    char *line, *rest = NULL;
    sim_run(&s->sim);
    buf_putc(&s->lines, '\0');
    for (line = strtok_r(s->lines.bytes, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *what = strchr(line, ']') + 2;
        if (strncmp(what, "pods: ", 6) != 0)
            buf_printf(&events, "%s\n", what);
    }
    buf_putc(&events, '\0');
    assert_string_equal(events.bytes, lines);
    buf_free(&events);
    buf_clear(&s->lines);
}

/* covers: 8/29 8/33 8/40 8/1 P1 P2 */
STORY(a_streaming_list_is_applied_at_its_end,
      "a streaming list is applied when its end is announced, at the announced version, not before")
{
    five_pods(s);
    s->server->withhold_end = true;
    story_start(s);
    story_pass(s, 20000);
    expect_events_untimed(s, "");
    expect_store(s, "");
    s->server->withhold_end = false;
    expect_events_untimed(s, five_added);
    assert_string_equal(inf_store_resource_version(s->pipeline.store), "5");
}

/* covers: 8/34 */
STORY(changes_during_a_streaming_list_are_delivered_once,
      "objects that change during a streaming list are delivered once, as they are at its end")
{
    five_pods(s);
    s->server->withhold_end = true;
    story_start(s);
    story_pass(s, 20);
    apiserver_put(s->server, "default/a"); /* comes as MODIFIED ... */
    apiserver_delete(s->server, "default/b");
    story_pass(s, 20);
    s->server->withhold_end = false; /* ... before the end */
    expect_events_untimed(s, "add default/a 6 (initial)\n"
                             "add default/c 3 (initial)\n"
                             "add default/d 4 (initial)\n"
                             "add default/e 5 (initial)\n"
                             "synced\n");
    assert_string_equal(inf_store_resource_version(s->pipeline.store), "7");
}

/* covers: 8/32 8/31 8/42 */
STORY(a_refused_streaming_list_is_not_tried_again,
      "a server that refuses streaming lists gets LIST requests from then on")
{
    five_pods(s);
    s->server->no_watch_list = true;
    story_start(s);
    story_pass(s, 30);
    expect_events_untimed(s, five_added);
    expect_requests(s, "watch-list ''; list '0' limit=500; watch '5'; ");
    apiserver_end_with(s->server, INF_EGONE, "too old");
    story_pass(s, 20);
    expect_requests(s, "list '5'; watch '5'; ");
    expect_events_untimed(s, "gap: relist (too old)\n");
}

/* covers: 8/36 8/41 */
STORY(
    two_incomplete_streaming_lists_cause_one_list,
    "after two streaming lists that end too early, LIST is used for this sync; the next sync streams again")
{
    five_pods(s);
    story_start(s);
    apiserver_end_after(s->server, 3, INF_EEOF, "the server ended the watch");
    story_pass(s, 10);
    apiserver_end_after(s->server, 3, INF_EEOF, "the server ended the watch");
    story_pass(s, 30);
    expect_events_untimed(s, five_added);
    expect_requests(s, "watch-list ''; watch-list ''; list '0' limit=500; watch '5'; ");
    apiserver_end_with(s->server, INF_EGONE, "too old");
    story_pass(s, 20);
    expect_requests(s, "watch-list '5'; ");
    expect_events_untimed(s, "gap: relist (too old)\n");
}

/* covers: 8/39 */
STORY(a_bookmark_without_annotation_does_not_end_a_list,
      "a bookmark without the annotation is not the end of a list")
{
    five_pods(s);
    apiserver_bookmark(s->server);
    s->server->withhold_end = true;
    story_start(s);
    story_pass(s, 10);
    apiserver_bookmark(s->server);
    story_pass(s, 10);
    expect_events_untimed(s, "");
    expect_store(s, "");
    assert_string_equal(sm_name(&s->pipeline.reflector.sm), "filling");
}

/* covers: 8/39 8/41 */
STORY(bookmarks_do_not_keep_a_streaming_list_alive,
      "bookmarks alone do not keep a list alive that receives neither objects nor its end")
{
    five_pods(s);
    s->server->withhold_end = true;
    story_start(s);
    for (int i = 0; i < 31; i++) {
        story_pass(s, 1000);
        apiserver_bookmark(s->server);
    }
    story_pass(s, 30);
    expect_events_untimed(s, five_added);
    expect_requests(s, "watch-list ''; list '0' limit=500; watch '35'; ");
}

/* Issue 14, 36. covers: P5 */
STORY(a_silent_lookup_is_no_failure_of_streaming_lists,
      "a silent lookup says nothing about streaming lists, and takes no time from the request")
{
    apiserver_put(s->server, "default/a");
    s->server->looking_up = true;
    story_start(s);
    story_pass(s, 31 * 1000);
    expect(s, "[    0] pods: idle -> filling (start)\n",
           RETRIES("30000", "filling", "no data received for 30s", "0.8s", "800ms"),
           "[30800] pods: waiting -> filling (retry)\n");
    story_pass(s, 25 * 1000);
    apiserver_looked_up(s->server);
    apiserver_fall_silent(s->server);
    story_pass(s, 29 * 1000); /* 54 seconds after the lookup began */
    expect(s, "");
    s->server->silent = false;
    story_pass(s, 20);
    expect(s, "[85000] pods: filling -> watching (1 object at resourceVersion 1)\n"
              "[85000] add default/a 1 (initial)\n"
              "[85000] synced\n");
    expect_requests(s, "watch-list ''; watch-list ''; ");
}

/* covers: 8/41 */
STORY(an_endless_streaming_list_is_given_up_at_the_watch_timeout,
      "an endless list is given up when a watch would have ended, however much it receives")
{
    s->server->withhold_end = true;
    story_start(s);
    for (int i = 0; i < 304; i++) {
        story_pass(s, 1000);
        apiserver_put(s->server, "default/a");
    }
    expect(s, "[    0] pods: idle -> filling (start)\n");
    story_pass(s, 1100);
    expect(
        s,
        "[305000] pods: streaming list failed (not complete at the watch timeout); using LIST instead\n"
        "[305000] pods: filling -> listing (use LIST)\n"
        "[305010] pods: listing -> watching (from resourceVersion 304)\n"
        "[305010] add default/a 304 (initial)\n"
        "[305010] synced\n");
}

/* covers: P6 8/41 */
STORY(time_while_held_does_not_count_for_a_list,
      "time in which we did not listen is not held against a list")
{
    five_pods(s);
    s->server->withhold_end = true;
    story_start(s);
    story_pass(s, 20);
    reflector_hold(&s->pipeline.reflector, true);
    story_pass(s, 1000 * 1000);
    reflector_hold(&s->pipeline.reflector, false);
    s->server->withhold_end = false;
    expect_events_untimed(s, five_added);
    expect_requests(s, "watch-list ''; ");
}

/* covers: 8/30 8/1 8/28 */
STORY(without_streaming_a_list_then_a_watch,
      "with streaming off, the first sync is a list of any version, then a watch from its version")
{
    five_pods(s);
    s->settings.reflector.no_watch_list = true;
    story_start(s);
    story_pass(s, 20);
    expect_events_untimed(s, five_added);
    expect_requests(s, "list '0' limit=500; watch '5'; ");
}

/* covers: 8/16 8/44 8/139 */
STORY(
    pages_are_combined_at_the_first_version,
    "pages are combined; later ones have the token and no version; the version is the first page's")
{
    five_pods(s);
    s->settings.reflector.no_watch_list = true;
    s->settings.reflector.page_size = 2;
    s->server->pages_cache = true;
    story_start(s);
    story_pass(s, 15);
    apiserver_put(s->server,
                  "default/f"); /* after the first page: not in the list, but in the watch */
    story_pass(s, 50);
    expect_requests(s, "list '0' limit=2; list '' limit=2 continue=5/2; list '' limit=2 "
                       "continue=5/4; watch '5'; ");
    expect_events_untimed(s, "add default/a 1 (initial)\n"
                             "add default/b 2 (initial)\n"
                             "add default/c 3 (initial)\n"
                             "add default/d 4 (initial)\n"
                             "add default/e 5 (initial)\n"
                             "synced\n"
                             "add default/f 6\n");
}

/* covers: 8/21 8/138 */
STORY(an_expired_token_causes_one_whole_list,
      "a token that expires causes one list without pages at the original version")
{
    five_pods(s);
    s->settings.reflector.no_watch_list = true;
    s->settings.reflector.page_size = 2;
    s->server->pages_cache = true;
    story_start(s);
    story_pass(s, 15);
    apiserver_delete(s->server, "default/a");
    apiserver_compact(s->server);
    story_pass(s, 50);
    expect_requests(s, "list '0' limit=2; list '' limit=2 continue=5/2; list '0'; watch '7'; ");
    expect_events_untimed(s, "add default/b 2 (initial)\n"
                             "add default/c 3 (initial)\n"
                             "add default/d 4 (initial)\n"
                             "add default/e 5 (initial)\n"
                             "synced\n");
}

/* covers: 8/17 8/19 */
STORY(
    a_relist_can_be_answered_from_the_cache,
    "a relist requests a state that is not older than ours, without pages, so that a cache can answer")
{
    five_pods(s);
    s->settings.reflector.no_watch_list = true;
    story_start(s);
    story_pass(s, 20);
    expect_events_untimed(s, five_added);
    apiserver_put(s->server, "default/a");
    apiserver_end_with(s->server, INF_EDECODE, "garbage");
    story_pass(s, 1000);
    expect_requests(s, "list '0' limit=500; watch '5'; list '6'; watch '6'; ");
    expect_events_untimed(s, "update default/a 6\n"
                             "gap: relist (garbage)\n");
}

/* covers: 8/18 */
STORY(
    a_server_that_pages_cached_lists_gets_paged_requests,
    "a server that sends pages although it could answer from its cache gets paged requests from then on")
{
    five_pods(s);
    s->settings.reflector.no_watch_list = true;
    s->server->pages_cache = true;
    for (int i = 0; i < 600; i++) {
        char key[24];
        snprintf(key, sizeof(key), "many/%d", i);
        apiserver_put(s->server, key);
    }
    story_start(s);
    story_pass(s, 30);
    apiserver_end_with(s->server, INF_EDECODE, "garbage");
    story_pass(s, 1000);
    expect_requests(s, "list '0' limit=500; list '' limit=500 continue=605/500; watch '605'; "
                       "list '605' limit=500; list '' limit=500 continue=605/500; watch '605'; ");
    assert_int_equal(inf_store_count(s->pipeline.store), 605);
    buf_clear(&s->lines);
}

/* covers: 8/22 8/20 */
STORY(
    a_list_of_a_future_version_is_repeated_for_the_newest,
    "a version that the server does not have yet is replaced by a list of the newest, without a wait")
{
    five_pods(s);
    s->settings.reflector.no_watch_list = true;
    story_start(s);
    story_pass(s, 20);
    expect_events_untimed(s, five_added);
    apiserver_end_with(s->server, INF_EDECODE, "garbage");
    sim_run(&s->sim);
    apiserver_restore(s->server, 3);
    story_pass(s, 1000);
    expect_requests(s, "list '0' limit=500; watch '5'; list '5'; list '' limit=500; watch '3'; ");
    expect_events_untimed(s, "gap: rewind (server rewound from resourceVersion 5 to 3)\n"
                             "delete default/d 4 (relist) last state unknown\n"
                             "delete default/e 5 (relist) last state unknown\n");
}

/* covers: 8/2 P3 */
STORY(an_incomplete_list_is_never_applied,
      "a list that is cut short is never taken for a short list")
{
    five_pods(s);
    s->settings.reflector.no_watch_list = true;
    apiserver_refuse(s->server, 1, INF_ECUT, 0, "cut in the middle of the list");
    story_start(s);
    story_pass(s, 10);
    expect_events_untimed(s, "");
    story_pass(s, 1000);
    expect_events_untimed(s, five_added);
}

/* covers: 8/26 P4 */
STORY(a_relist_without_changes_delivers_only_the_gap,
      "a relist of an unchanged cluster delivers only the gap, and stores no object twice")
{
    const struct inf_object *before;
    five_pods(s);
    story_start(s);
    story_pass(s, 20);
    expect_events_untimed(s, five_added);
    before = inf_store_get(s->pipeline.store, "default", "c");
    apiserver_end_with(s->server, INF_EGONE, "too old");
    story_pass(s, 20);
    expect_events_untimed(s, "gap: relist (too old)\n");
    assert_ptr_equal(inf_store_get(s->pipeline.store, "default", "c"), before);
}

/* covers: 1.6/stop */
STORY(a_stop_between_two_pages_is_final,
      "the informer can be stopped between two pages, and delivers nothing afterwards")
{
    five_pods(s);
    s->settings.reflector.no_watch_list = true;
    s->settings.reflector.page_size = 2;
    s->server->pages_cache = true;
    story_start(s);
    story_pass(s, 15);
    story_stop(s);
    story_pass(s, 100000);
    expect_requests(s, "list '0' limit=2; list '' limit=2 continue=5/2; ");
    expect_events_untimed(s, "");
}

static void stop_at_the_second(struct inf_handler *handler, struct inf_informer *informer,
                               const struct inf_event *event)
{
    struct story *s = container_of(handler, struct story, handler);
    (void)informer;
    buf_printf(&s->lines, "[] %s\n", inf_object_name(inf_event_object(event)));
    if (strcmp(inf_object_name(inf_event_object(event)), "b") == 0)
        story_stop(s);
}

/* covers: 1.6/stop */
STORY(a_handler_can_stop_the_informer_during_a_list,
      "the informer can be stopped by a handler while the events of a list are delivered")
{
    five_pods(s);
    s->handler.on_event = stop_at_the_second;
    story_start(s);
    story_pass(s, 100000);
    expect_events_untimed(s, "a\nb\n");
}

/* covers: 8/23 */
STORY(
    watch_timeouts_are_spread_over_five_to_ten_minutes,
    "the server is requested to end each watch after five to ten minutes, not all at the same time")
{
    uint32_t least = UINT32_MAX, most = 0;
    s->settings.reflector.no_jitter = false;
    story_start(s);
    for (int i = 0; i < 200; i++) {
        uint32_t timeout = s->server->request.timeout_s;
        least = timeout < least ? timeout : least;
        most = timeout > most ? timeout : most;
        apiserver_end_with(s->server, INF_EEOF, "end");
        story_pass(s, 60 * 1000);
    }
    assert_in_range(least, 300, 330);
    assert_in_range(most, 570, 600);
    buf_clear(&s->lines);
}

/* One pod, in lists that never end. */
static void start_endless(struct story *s, enum apiserver_endless how)
{
    s->settings.reflector.no_watch_list = true;
    s->server->endless = how;
    apiserver_put(s->server, "default/a");
    story_start(s);
}

/* covers: P6 P7 */
STORY(a_repeated_continue_token_fails_the_list,
      "a list whose continue token repeats fails at once, backs off, and releases its slot")
{
    struct list_limiter list_limiter;
    struct list_slot other;
    list_limiter_init(&list_limiter, 1);
    list_slot_init(&other, &list_limiter, &s->sim.clock, NULL);
    s->settings.reflector.list_limiter = &list_limiter;
    start_endless(s, APISERVER_REPEATS_TOKEN);
    story_pass(s, 500);
    expect(s, "[    0] pods: idle -> listing (start)\n",
           RETRIES("   20", "listing",
                   "list does not end: the server repeated a continue token after 2 pages", "0.8s",
                   "800ms"));
    expect_requests(s, "list '0' limit=500; list '' limit=500 continue=1/0-a; ");
    assert_true(list_slot_acquire(&other));
    list_slot_release(&other);
    s->server->endless = APISERVER_ENDS;
    story_pass(s, 1000);
    expect_store(s, "default/a");
    buf_clear(&s->lines);
}

/* covers: P6 P7 */
STORY(continue_tokens_in_a_cycle_fail_the_list,
      "a list whose continue tokens repeat in a cycle fails after few rounds")
{
    start_endless(s, APISERVER_CYCLES);
    story_pass(s, 500);
    expect(s, "[    0] pods: idle -> listing (start)\n",
           RETRIES("   70", "listing",
                   "list does not end: the server repeated a continue token after 7 pages", "0.8s",
                   "800ms"));
    expect_requests(
        s,
        "list '0' limit=500; list '' limit=500 continue=1/0-b; list '' limit=500 continue=1/0-c; list '' limit=500 continue=1/0-a; list '' limit=500 continue=1/0-b; list '' limit=500 continue=1/0-c; list '' limit=500 continue=1/0-a; ");
}

/* covers: P6 P7 */
STORY(many_pages_without_objects_fail_the_list,
      "a list that continues with pages without objects fails")
{
    start_endless(s, APISERVER_EMPTY_PAGES);
    story_pass(s, 1500);
    expect(s, "[    0] pods: idle -> listing (start)\n",
           RETRIES(" 1000", "listing", "list does not end: 100 consecutive pages without an object",
                   "0.8s", "800ms"));
    assert_int_equal(s->server->requests, 100);
}

/* covers: P6 P7 */
STORY(too_many_pages_fail_the_list,
      "a list that always has another page fails when it has too many")
{
    start_endless(s, APISERVER_MORE_PAGES);
    for (int i = 0; i < 2005; i++) {
        story_pass(s, 100);
        free(apiserver_take_requests(s->server));
    }
    expect(s, "[    0] pods: idle -> listing (start)\n",
           RETRIES("200000", "listing", "list does not end: more than pages_max=20000 pages",
                   "0.8s", "800ms"));
}

/* covers: P5 P6 P7 */
STORY(a_list_may_take_half_an_hour, "a list may take half an hour, however active its server is")
{
    s->server->latency_ms = 25 * 1000;
    start_endless(s, APISERVER_MORE_PAGES);
    story_pass(s, 1801 * 1000);
    expect(s, "[    0] pods: idle -> listing (start)\n",
           RETRIES("1800000", "listing",
                   "list not complete after list_max=1800s (1 objects received)", "0.8s", "800ms"),
           "[1800800] pods: waiting -> listing (retry)\n");
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(a_streaming_list_is_applied_at_its_end),
        cmocka_unit_test(changes_during_a_streaming_list_are_delivered_once),
        cmocka_unit_test(a_refused_streaming_list_is_not_tried_again),
        cmocka_unit_test(two_incomplete_streaming_lists_cause_one_list),
        cmocka_unit_test(a_bookmark_without_annotation_does_not_end_a_list),
        cmocka_unit_test(bookmarks_do_not_keep_a_streaming_list_alive),
        cmocka_unit_test(a_silent_lookup_is_no_failure_of_streaming_lists),
        cmocka_unit_test(an_endless_streaming_list_is_given_up_at_the_watch_timeout),
        cmocka_unit_test(time_while_held_does_not_count_for_a_list),
        cmocka_unit_test(without_streaming_a_list_then_a_watch),
        cmocka_unit_test(pages_are_combined_at_the_first_version),
        cmocka_unit_test(an_expired_token_causes_one_whole_list),
        cmocka_unit_test(a_relist_can_be_answered_from_the_cache),
        cmocka_unit_test(a_server_that_pages_cached_lists_gets_paged_requests),
        cmocka_unit_test(a_list_of_a_future_version_is_repeated_for_the_newest),
        cmocka_unit_test(an_incomplete_list_is_never_applied),
        cmocka_unit_test(a_relist_without_changes_delivers_only_the_gap),
        cmocka_unit_test(a_stop_between_two_pages_is_final),
        cmocka_unit_test(a_handler_can_stop_the_informer_during_a_list),
        cmocka_unit_test(watch_timeouts_are_spread_over_five_to_ten_minutes),
        cmocka_unit_test(a_repeated_continue_token_fails_the_list),
        cmocka_unit_test(continue_tokens_in_a_cycle_fail_the_list),
        cmocka_unit_test(many_pages_without_objects_fail_the_list),
        cmocka_unit_test(too_many_pages_fail_the_list),
        cmocka_unit_test(a_list_may_take_half_an_hour),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
