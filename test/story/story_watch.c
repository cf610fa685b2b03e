/*
 * story_watch.c - a first sync, a live watch, and the ways in which a stream ends.
 */
#include "story.h"

/* covers: 8/1 8/5 8/24 8/61 8/64 8/69 8/71 8/62 P1 P2 */
STORY(the_first_sync_delivers_objects_then_synced_then_changes,
      "objects are delivered once, in the server's order, then synced, then changes as they arrive")
{
    apiserver_put(s->server, "default/b");
    apiserver_put(s->server, "default/a");
    apiserver_put(s->server, "default-2/c");
    story_start(s);
    story_pass(s, 10);
    expect(s, "[    0] pods: idle -> filling (start)\n"
              "[   10] pods: filling -> watching (3 objects at resourceVersion 3)\n"
              "[   10] add default-2/c 3 (initial)\n"
              "[   10] add default/a 2 (initial)\n"
              "[   10] add default/b 1 (initial)\n"
              "[   10] synced\n");
    apiserver_put(s->server, "default/a");
    apiserver_put(s->server, "default/d");
    apiserver_delete(s->server, "default/b");
    expect(s, "[   10] update default/a 4\n"
              "[   10] add default/d 5\n"
              "[   10] delete default/b 6\n");
    expect_store(s, "default-2/c default/a default/d");
    assert_string_equal(inf_store_resource_version(s->pipeline.store), "6");
}

/* covers: 8/61 8/87 */
STORY(an_empty_list_is_synced, "nothing there is synced, too")
{
    story_start(s);
    story_pass(s, 10);
    expect(s, "[    0] pods: idle -> filling (start)\n"
              "[   10] pods: filling -> watching (0 objects at resourceVersion 0)\n"
              "[   10] synced\n");
}

/* covers: 8/37 8/123 P4 */
STORY(
    a_reopened_watch_delivers_nothing_twice,
    "a watch that the server ends is reopened at once from its version; nothing is delivered twice")
{
    story_start_watching(s);
    apiserver_end(s->server);
    story_pass(s, 10);
    expect(s, REOPENED("   10", "1"));
    apiserver_put(s->server, "default/a");
    expect(s, "[   20] update default/a 2\n");
}

/* covers: 1.6/clean-eof P7 */
STORY(immediate_reopens_are_limited_to_five_in_ten_seconds,
      "a proxy that ends each watch gets at most five requests in ten seconds without a wait")
{
    story_start_watching(s);
    for (int i = 0; i < 6; i++) {
        apiserver_end(s->server);
        story_pass(s, 10);
    }
    expect(s, REOPENED("   10", "1"), REOPENED("   20", "1"), REOPENED("   30", "1"),
           REOPENED("   40", "1"), REOPENED("   50", "1"),
           RETRIES("   60", "watching", "the server ended the watch", "0.8s", "800ms"));
}

/* covers: 1.6/unexpected-eof 8/78 P3 */
STORY(changes_during_an_outage_are_delivered_after_it,
      "a lost connection causes a wait, and changes in the meantime are delivered after it")
{
    story_start_watching(s);
    apiserver_cut(s->server);
    expect(s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"));
    apiserver_put(s->server, "default/b");
    apiserver_delete(s->server, "default/a");
    story_pass(s, 820);
    expect(s, CHECKED("  810", "  820", "1"),
           "[  830] add default/b 2\n"
           "[  830] delete default/a 3\n");
}

/* covers: 8/70 8/59 8/60 8/124 8/66 P3 P4 */
STORY(an_expired_version_delivers_only_the_differences,
      "an expired version causes one relist and delivers only the differences, deletes first")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    expect(s, "[   10] add default/b 2\n");
    apiserver_cut(s->server);
    expect(s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"));
    apiserver_delete(s->server, "default/b");
    apiserver_put(s->server, "default/c");
    apiserver_compact(s->server);
    story_pass(s, 830);
    expect(s, CHECKED("  810", "  820", "2"), RELISTS("  830", "too old resource version: 2 (5)"),
           "[  840] pods: filling -> watching (2 objects at resourceVersion 5)\n"
           "[  840] gap: relist (too old resource version: 2 (5))\n"
           "[  840] delete default/b 2 (relist) last state unknown\n"
           "[  840] add default/c 4 (relist)\n");
    expect_store(s, "default/a default/c");
}

/* covers: 8/130 8/60 P4 */
STORY(another_uid_is_another_object,
      "a name that is used again with another uid is another object: deleted, then added")
{
    story_start_watching(s);
    apiserver_cut(s->server);
    expect(s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"));
    apiserver_delete(s->server, "default/a");
    apiserver_put(s->server, "default/a");
    apiserver_compact(s->server);
    story_pass(s, 830);
    expect(s, CHECKED("  810", "  820", "1"), RELISTS("  830", "too old resource version: 1 (4)"),
           "[  840] pods: filling -> watching (1 object at resourceVersion 4)\n"
           "[  840] gap: relist (too old resource version: 1 (4))\n"
           "[  840] delete default/a 1 (relist) last state unknown\n"
           "[  840] add default/a 3 (relist)\n");
}

/* covers: 8/10 8/128 8/129 1.6/open-refused */
STORY(
    a_server_that_refuses_is_retried_every_half_minute,
    "a server that refuses is retried at growing intervals of up to half a minute, and at once after a success")
{
    apiserver_refuse(s->server, 8, INF_ENET, 0, "connection refused");
    story_start(s);
    story_pass(s, 100000);
    expect(s, "[    0] pods: idle -> filling (start)\n",
           RETRIES("   10", "filling", "connection refused", "0.8s", "800ms"),
           "[  810] pods: waiting -> filling (retry)\n",
           RETRIES("  820", "filling", "connection refused", "1.6s", "1600ms"),
           "[ 2420] pods: waiting -> filling (retry)\n",
           RETRIES(" 2430", "filling", "connection refused", "3.2s", "3200ms"),
           "[ 5630] pods: waiting -> filling (retry)\n",
           RETRIES(" 5640", "filling", "connection refused", "6.4s", "6400ms"),
           "[12040] pods: waiting -> filling (retry)\n",
           RETRIES("12050", "filling", "connection refused", "12.8s", "12800ms"),
           "[24850] pods: waiting -> filling (retry)\n",
           RETRIES("24860", "filling", "connection refused", "25.6s", "25600ms"),
           "[50460] pods: waiting -> filling (retry)\n",
           RETRIES("50470", "filling", "connection refused", "30.0s", "30000ms"),
           "[80470] pods: waiting -> filling (retry)\n",
           RETRIES("80480", "filling", "connection refused", "30.0s", "30000ms"));
}

/* covers: 8/35 8/12 1.6/open-retry-after */
STORY(retry_after_is_honoured, "a server that says how long to wait is obeyed")
{
    apiserver_refuse(s->server, 1, INF_ETHROTTLED, 7000, "too many requests");
    story_start(s);
    story_pass(s, 7020);
    expect(s, "[    0] pods: idle -> filling (start)\n",
           RETRIES("   10", "filling", "too many requests", "7.0s", "7000ms"),
           "[ 7010] pods: waiting -> filling (retry)\n"
           "[ 7020] pods: filling -> watching (0 objects at resourceVersion 0)\n"
           "[ 7020] synced\n");
}

/* covers: 8/122 P5 */
STORY(
    a_silent_watch_with_bookmarks_is_reconnected,
    "a watch that sent bookmarks and then falls silent is reconnected after two and a half minutes")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/a");
    apiserver_bookmark(s->server);
    expect(s, "[   10] update default/a 2\n");
    apiserver_fall_silent(s->server);
    apiserver_put(s->server, "default/b");
    story_pass(s, 150000);
    expect(s,
           "[150010] pods: no data received for 150s; retrying in 0.8s\n"
           "[150010] pods: watching -> waiting (no data received for 150s, retry in "
           "800ms)\n",
           STALE("150010", "no data received for 150s: no data received for 150s"));
    story_pass(s, 820);
    expect(s, CHECKED("150810", "150820", "3"),
           RECOVERED("150830", "data received again after 150s"), "[150830] add default/b 4\n");
}

/* covers: 8/29 8/41 */
STORY(a_streaming_list_without_end_is_replaced_by_list,
      "a streaming list that is never complete is given up permanently, and LIST is used instead")
{
    apiserver_put(s->server, "default/a");
    s->server->withhold_end = true;
    story_start(s);
    story_pass(s, 30020);
    expect(s, "[    0] pods: idle -> filling (start)\n"
              "[30010] pods: streaming list failed (no data received for 30s); "
              "using LIST instead\n"
              "[30010] pods: filling -> listing (use LIST)\n"
              "[30020] pods: listing -> watching (from resourceVersion 1)\n"
              "[30020] add default/a 1 (initial)\n"
              "[30020] synced\n");
    expect_requests(s, "watch-list ''; list '0' limit=500; watch '1'; ");
}

/* covers: 8/97 */
STORY(
    an_object_without_a_version_is_refused,
    "an object without a resourceVersion is refused: resuming without a version would lose changes")
{
    story_start_watching(s);
    apiserver_put_text(s->server, "{\"metadata\":{\"name\":\"odd\",\"namespace\":\"default\"}}");
    expect(s, RETRIES("   10", "watching", "the server sent an event without a resourceVersion",
                      "0.8s", "800ms"));
}

/* covers: 8/126 P6 */
STORY(a_held_watch_is_not_read,
      "while held nothing is read and no request is given up; on release the watch continues")
{
    story_start_watching(s);
    inf_handler_pause(&s->handler);
    s->handler.max_events = 1;
    apiserver_put(s->server, "default/b");
    apiserver_put(s->server, "default/c");
    apiserver_put(s->server, "default/d"); /* no longer read */
    story_pass(s, 3600000);
    expect(s, "");
    assert_int_equal(inf_handler_backlog(&s->handler), 2);
    inf_handler_resume(&s->handler);
    expect(s, "[3600010] add default/b 2\n"
              "[3600010] add default/c 3\n"
              "[3600010] add default/d 4\n");
}

/* covers: 8/4 8/6 1.6/stop */
STORY(the_informer_can_be_stopped_before_a_response,
      "the informer can be stopped before a response, and delivers nothing afterwards")
{
    story_start(s);
    expect(s, "[    0] pods: idle -> filling (start)\n");
    story_stop(s);
    story_pass(s, 100000);
    expect(s, "[    0] pods: filling -> closed (stop)\n");
}

/* covers: 1.6/stop */
STORY(the_informer_can_be_stopped_while_it_waits,
      "the informer can be stopped while it waits to retry")
{
    apiserver_refuse(s->server, 1, INF_ENET, 0, "connection refused");
    story_start(s);
    story_pass(s, 10);
    story_stop(s);
    story_pass(s, 100000);
    expect(s, "[    0] pods: idle -> filling (start)\n",
           RETRIES("   10", "filling", "connection refused", "0.8s", "800ms"),
           "[   10] pods: waiting -> closed (stop)\n");
}

/* covers: 8/9 8/67 1.6/stop */
STORY(the_informer_can_be_stopped_while_it_watches,
      "the informer can be stopped while changes are on their way")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    story_stop(s);
    apiserver_put(s->server, "default/c");
    story_pass(s, 100000);
    expect(s, "[   10] pods: watching -> closed (stop)\n");
}

/* covers: P1 P6 */
STORY(an_excluded_namespace_only_advances_the_version,
      "objects in an excluded namespace are neither stored nor delivered, and advance the version")
{
    static const char *const patterns[] = {"kube-*", "logs"};
    s->settings.reflector.exclude_ns = patterns;
    s->settings.reflector.n_exclude_ns = 2;
    apiserver_put(s->server, "kube-system/a");
    apiserver_put(s->server, "default/a");
    apiserver_put(s->server, "logs/a");
    story_start(s);
    story_pass(s, 10);
    expect(s, "[    0] pods: idle -> filling (start)\n"
              "[   10] pods: filling -> watching (1 object at resourceVersion 3)\n"
              "[   10] add default/a 2 (initial)\n"
              "[   10] synced\n");
    apiserver_put(s->server, "kube-system/a");
    apiserver_put(s->server, "logs-2/b");
    apiserver_delete(s->server, "logs/a");
    expect(s, "[   10] add logs-2/b 5\n");
    expect_store(s, "default/a logs-2/b");
    assert_string_equal(inf_store_resource_version(s->pipeline.store), "6");
    expect_requests(s, "watch-list ''; ");
    apiserver_end(s->server);
    story_pass(s, 10);
    expect_requests(s, "watch '6'; ");
    expect(s, REOPENED("   10", "6"));
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(the_first_sync_delivers_objects_then_synced_then_changes),
        cmocka_unit_test(an_empty_list_is_synced),
        cmocka_unit_test(a_reopened_watch_delivers_nothing_twice),
        cmocka_unit_test(an_excluded_namespace_only_advances_the_version),
        cmocka_unit_test(immediate_reopens_are_limited_to_five_in_ten_seconds),
        cmocka_unit_test(changes_during_an_outage_are_delivered_after_it),
        cmocka_unit_test(an_expired_version_delivers_only_the_differences),
        cmocka_unit_test(another_uid_is_another_object),
        cmocka_unit_test(a_server_that_refuses_is_retried_every_half_minute),
        cmocka_unit_test(retry_after_is_honoured),
        cmocka_unit_test(a_silent_watch_with_bookmarks_is_reconnected),
        cmocka_unit_test(a_streaming_list_without_end_is_replaced_by_list),
        cmocka_unit_test(an_object_without_a_version_is_refused),
        cmocka_unit_test(a_held_watch_is_not_read),
        cmocka_unit_test(the_informer_can_be_stopped_before_a_response),
        cmocka_unit_test(the_informer_can_be_stopped_while_it_waits),
        cmocka_unit_test(the_informer_can_be_stopped_while_it_watches),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
