/*
 * story_faults.c - every way in which a watch ends, row by row, and what follows.
 *
 * `covers:` names the row of the table of faults, the promise or the upstream test that a story
 * covers; test/story/coverage.py prints a table of them and fails on an empty cell.
 */
#include "story.h"

/* covers: 1.6/clean-eof 8/2 */
STORY(a_normal_end_reopens_the_watch_at_once,
      "a watch that ends normally is reopened at once from the last version, without a relist")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    apiserver_end(s->server);
    story_pass(s, 10);
    expect(s, "[   10] add default/b 2\n", REOPENED("   10", "2"));
    expect_requests(s, "watch '2'; ");
}

/* covers: 1.6/empty-short-eof 8/7 8/8 P7 */
STORY(
    watches_that_end_at_once_are_reopened_with_growing_waits,
    "watches that end at once without an event are reopened a few times at once, then with growing waits")
{
    story_start_watching(s);
    for (int i = 0; i < 6; i++) {
        apiserver_end(s->server);
        story_pass(s, 10);
    }
    expect_requests(s, "watch '1'; watch '1'; watch '1'; watch '1'; watch '1'; ");
    story_pass(s, 800);
    expect_requests(s, "watch '1'; ");
    buf_clear(&s->lines);
}

/* covers: 1.6/unexpected-eof 8/51 */
STORY(
    a_watch_cut_inside_an_event_resumes,
    "a watch that is cut inside an event resumes: complete events are kept, the incomplete one is dropped")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    apiserver_end_with(s->server, INF_ECUT, "the watch ended in the middle of an event");
    story_pass(s, 1000);
    expect(
        s, "[   10] add default/b 2\n",
        RETRIES("   10", "watching", "the watch ended in the middle of an event", "0.8s", "800ms"),
        CHECKED("  810", "  820", "2"));
    expect_requests(s, "list '' limit=1; watch '2'; ");
}

/* covers: 1.6/malformed 8/3 8/141 */
STORY(a_body_that_is_not_json_causes_a_relist,
      "a body that can't be split into events causes a relist, and nothing is lost")
{
    story_start_watching(s);
    apiserver_end_with(s->server, INF_EDECODE, "not JSON");
    story_pass(s, 0);
    expect(s, RETRIES("   10", "watching", "not JSON", "0.8s", "800ms"));
    apiserver_put(s->server, "default/b");
    story_pass(s, 810);
    expect(s, "[  810] pods: waiting -> filling (retry)\n"
              "[  820] pods: filling -> watching (2 objects at resourceVersion 2)\n"
              "[  820] gap: relist (not JSON)\n"
              "[  820] add default/b 2 (relist)\n");
    expect_requests(s, "watch-list '1'; ");
}

/* covers: 1.6/malformed P3 8/141 8/25 */
STORY(an_undecodable_object_is_skipped_and_reported,
      "an object that can't be decoded is skipped and reported; the watch continues without a list")
{
    story_start_watching(s);
    s->server->poison = "default/b";
    apiserver_put(s->server, "default/b");
    apiserver_put(s->server, "default/c");
    story_pass(s, 5000);
    expect(s, "[   10] pods: object skipped: default/b (resourceVersion 2)\n"
              "[   10] gap: skipped (default/b (resourceVersion 2); not in the cache)\n"
              "[   10] add default/c 3\n");
    expect_requests(s, "");
    expect_store(s, "default/a default/c");
    assert_int_equal(s->pipeline.reflector.counts.skipped, 1);
}

/* covers: 1.6/malformed P3 P7 */
STORY(an_undecodable_object_is_reported_once_per_version,
      "an object that can't be decoded is reported once per version, however often it is received")
{
    story_start_watching(s);
    s->server->poison = "default/b";
    apiserver_put(s->server, "default/b");
    for (int i = 0; i < 2; i++) {
        apiserver_compact(s->server);
        apiserver_cut(s->server);
        story_pass(s, 5000);
    }
    apiserver_put(s->server, "default/b");
    apiserver_cut(s->server);
    story_pass(s, 5000);
    expect_events(s, "[   10] gap: skipped (default/b (resourceVersion 2); not in the cache)\n"
                     "[  840] gap: relist (too old resource version: 2 (3))\n"
                     "[ 6640] gap: relist (too old resource version: 3 (4))\n"
                     "[10010] gap: skipped (default/b (resourceVersion 5); not in the cache)\n");
    assert_int_equal(s->pipeline.reflector.counts.skipped, 2);
}

/* covers: 1.6/malformed P1 P3 P4 */
STORY(an_undecodable_update_keeps_the_last_state,
      "the last state of an object that can't be decoded any more is kept, also after a relist")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    sim_run(&s->sim);
    s->server->poison = "default/b";
    apiserver_put_n(s->server, "default/b", 7);
    apiserver_compact(s->server);
    apiserver_cut(s->server);
    story_pass(s, 5000);
    expect_store(s, "default/a default/b");
    expect_events(
        s,
        "[   10] add default/b 2\n"
        "[   10] gap: skipped (default/b (resourceVersion 3); the cache keeps resourceVersion 2)\n"
        "[  840] gap: relist (too old resource version: 3 (4))\n");
    s->server->poison = NULL;
    apiserver_put_n(s->server, "default/b", 8);
    expect_events(s, "[ 5010] update default/b 5\n");
}

/* covers: 1.6/malformed P3 */
STORY(an_undecodable_deletion_is_reported_with_the_last_state,
      "the deletion of an object that can't be decoded is reported with the last known state")
{
    story_start_watching(s);
    s->server->poison = "default/a";
    apiserver_delete(s->server, "default/a");
    story_pass(s, 1000);
    expect_store(s, "");
    expect_events(s, "[   10] delete default/a 1 last state unknown\n");
}

/* covers: 1.6/malformed P3 */
STORY(
    an_object_replaced_by_an_undecodable_one_is_deleted,
    "an object whose name now belongs to another one that can't be decoded is reported as deleted")
{
    story_start_watching(s);
    apiserver_refuse(s->server, 1, INF_ENET, 0, "refused");
    apiserver_cut(s->server);
    sim_run(&s->sim);
    s->server->poison = "default/a";
    apiserver_delete(s->server, "default/a");
    apiserver_put(s->server, "default/a");
    apiserver_compact(s->server);
    story_pass(s, 5000);
    expect_store(s, "");
    expect_events(s, "[ 2450] gap: skipped (default/a (resourceVersion 3); not in the cache)\n"
                     "[ 2450] gap: relist (too old resource version: 1 (4))\n"
                     "[ 2450] delete default/a 1 (relist) last state unknown\n");
}

/* covers: 1.6/gone-in-stream 8/20 8/38 P3 P4 */
STORY(error_410_in_a_watch_relists_at_once,
      "an ERROR 410 in the stream relists at once; only the differences are delivered")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    apiserver_end_with(s->server, INF_EGONE, "too old resource version");
    story_pass(s, 20);
    expect(s, "[   10] add default/b 2\n", RELISTS("   10", "too old resource version"),
           "[   20] pods: filling -> watching (2 objects at resourceVersion 2)\n"
           "[   20] gap: relist (too old resource version)\n");
    expect_requests(s, "watch-list '2'; ");
}

/* covers: 1.6/gone-in-stream P7 */
STORY(a_second_410_waits,
      "a second 410 without a success in between waits: the server is not queried in a loop")
{
    story_start_watching(s);
    apiserver_end_with(s->server, INF_EGONE, "too old");
    story_pass(s, 10);
    apiserver_end_with(s->server, INF_EGONE, "too old");
    story_pass(s, 1000);
    expect(s, RELISTS("   10", "too old"),
           "[   20] pods: filling -> watching (1 object at resourceVersion 1)\n"
           "[   20] gap: relist (too old)\n",
           RETRIES("   20", "watching", "too old", "0.8s", "800ms"),
           "[  820] pods: waiting -> filling (retry)\n"
           "[  830] pods: filling -> watching (1 object at resourceVersion 1)\n"
           "[  830] gap: relist (too old)\n");
}

/* covers: 1.6/throttled-in-stream 8/12 8/13 P7 */
STORY(error_429_in_a_watch_waits_and_resumes,
      "an ERROR 429 in the stream waits for the requested time, then resumes without a relist")
{
    story_start_watching(s);
    apiserver_end_with(s->server, INF_ETHROTTLED, "too many requests");
    s->server->end.retry_after_ms = 3000;
    story_pass(s, 4000);
    expect(s, RETRIES("   10", "watching", "too many requests", "3.0s", "3000ms"),
           CHECKED(" 3010", " 3020", "1"));
    expect_requests(s, "list '' limit=1; watch '1'; ");
}

/* covers: 1.6/internal-in-stream 1.6/error-in-stream 8/14 8/97 */
STORY(error_500_in_a_watch_waits_and_resumes,
      "an ERROR 500 or 504 in the stream waits and resumes: the version is still valid")
{
    story_start_watching(s);
    apiserver_end_with(s->server, INF_ESERVER, "internal error");
    story_pass(s, 1000);
    expect(s, RETRIES("   10", "watching", "internal error", "0.8s", "800ms"),
           CHECKED("  810", "  820", "1"));
}

/* The server ends the watch, and refuses one attempt. */
static void restart_server(struct story *s)
{
    apiserver_refuse(s->server, 1, INF_ENET, 0, "refused");
    apiserver_cut(s->server);
}

/* covers: P7 */
STORY(
    changes_in_between_reset_the_back_off,
    "a server that restarts repeatedly, but delivers changes in between, is found quickly each time")
{
    story_start_watching(s);
    restart_server(s);
    story_pass(s, 2430);
    expect(s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"),
           "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n",
           RETRIES("  820", "checking", "refused", "1.6s", "1600ms"),
           CHECKED(" 2420", " 2430", "1"));
    apiserver_put(s->server, "default/b");
    story_pass(s, 1000);
    restart_server(s);
    story_pass(s, 2430);
    expect(s, "[ 2440] add default/b 2\n",
           RETRIES(" 3440", "watching", "connection lost", "0.8s", "800ms"),
           "[ 4240] pods: waiting -> checking (compare with resourceVersion 2)\n",
           RETRIES(" 4250", "checking", "refused", "1.6s", "1600ms"),
           CHECKED(" 5850", " 5860", "2"));
}

/* covers: P7 */
STORY(
    a_short_watch_does_not_reset_the_back_off,
    "the back-off is not reset by a watch without events, by one that breaks off after its first event, or by lists that fail")
{
    story_start_watching(s);
    apiserver_cut(s->server);
    story_pass(s, 1800); /* 0.8 s, then open for 1 s without data */
    apiserver_cut(s->server);
    story_pass(s, 1630);
    apiserver_put(s->server, "default/b");
    story_pass(s, 900);
    apiserver_cut(s->server); /* before the second has passed */
    story_pass(s, 3220);
    apiserver_put(s->server, "default/c");
    story_pass(s, 1000);
    apiserver_end_with(s->server, INF_EDECODE, "rubbish");
    expect(s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"),
           CHECKED("  810", "  820", "1"),
           RETRIES(" 1810", "watching", "connection lost", "1.6s", "1600ms"),
           CHECKED(" 3410", " 3420", "1"), "[ 3440] add default/b 2\n",
           RETRIES(" 4340", "watching", "connection lost", "3.2s", "3200ms"),
           CHECKED(" 7540", " 7550", "2"), "[ 7560] add default/c 3\n",
           RETRIES(" 8560", "watching", "rubbish", "6.4s", "6400ms"));
}

/* covers: P7 */
STORY(a_list_that_fails_late_still_backs_off,
      "a list that fails after a long time has failed: the waits grow all the same")
{
    apiserver_put(s->server, "default/a");
    s->server->withhold_end = true;
    story_start(s);
    story_pass(s, 12 * 1000);
    apiserver_cut(s->server);
    story_pass(s, 12 * 1000);
    apiserver_cut(s->server);
    expect(s, "[    0] pods: idle -> filling (start)\n",
           RETRIES("12000", "filling", "connection lost", "0.8s", "800ms"),
           "[12800] pods: waiting -> filling (retry)\n",
           RETRIES("24000", "filling", "connection lost", "1.6s", "1600ms"));
}

/* covers: 1.6/open-refused 8/10 8/13 8/35 P7 */
STORY(
    a_refused_watch_waits_longer_each_time,
    "if the connection is refused when the watch is reopened, the waits grow, and there is no relist")
{
    story_start_watching(s);
    story_refuse_reopening(s, 3, INF_ENET, 0, "connection refused");
    story_pass(s, 10000);
    expect(s, REOPENED("   10", "1"),
           RETRIES("   20", "watching", "connection refused", "0.8s", "800ms"),
           "[  820] pods: waiting -> checking (compare with resourceVersion 1)\n",
           RETRIES("  830", "checking", "connection refused", "1.6s", "1600ms"),
           "[ 2430] pods: waiting -> checking (compare with resourceVersion 1)\n",
           RETRIES(" 2440", "checking", "connection refused", "3.2s", "3200ms"),
           CHECKED(" 5640", " 5650", "1"));
    expect_requests(s, "watch '1'; list '' limit=1; list '' limit=1; list '' limit=1; watch '1'; ");
}

/* covers: 1.6/open-cut 8/45 8/50 */
STORY(
    a_connection_cut_before_the_response_is_retried,
    "a connection that is cut before the response is retried, and does not count as an empty watch")
{
    story_start_watching(s);
    story_refuse_reopening(s, 1, INF_ECUT, 0, "closed the connection before it answered");
    apiserver_put(s->server, "default/b");
    story_pass(s, 1000);
    expect(
        s, "[   10] add default/b 2\n", REOPENED("   10", "2"),
        RETRIES("   20", "watching", "closed the connection before it answered", "0.8s", "800ms"),
        CHECKED("  820", "  830", "2"));
}

/* covers: 1.6/open-retry-after 8/46 8/47 P7 */
STORY(retry_after_is_limited_to_five_minutes,
      "Retry-After of a 503 is honoured, but for at most five minutes")
{
    story_start_watching(s);
    s->server->version++; /* other resources change: the same version would be a sign of life */
    story_refuse_reopening(s, 1, INF_ESERVER, 3600 * 1000, "shutting down");
    story_pass(s, 300 * 1000 + 100);
    expect(s, REOPENED("   10", "1"),
           RETRIES("   20", "watching", "shutting down", "300.0s", "300000ms"),
           STALE("150010", "no data received for 150s: shutting down"),
           CHECKED("300020", "300030", "1"));
}

/* covers: 1.6/open-error P5 8/38 8/79 */
STORY(error_410_on_reopening_relists_at_once,
      "an expired version on reopening relists at once, with a list that is not older than ours")
{
    story_start_watching(s);
    apiserver_cut(s->server);
    sim_run(&s->sim);
    apiserver_compact(s->server);
    story_pass(s, 1000);
    expect(s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"),
           CHECKED("  810", "  820", "1"), RELISTS("  830", "too old resource version: 1 (2)"),
           "[  840] pods: filling -> watching (1 object at resourceVersion 2)\n"
           "[  840] gap: relist (too old resource version: 1 (2))\n");
    expect_requests(s, "list '' limit=1; watch '1'; watch-list '1'; ");
}

/* covers: 1.6/open-error P5 8/79 */
STORY(a_forbidden_watch_resumes_without_a_relist,
      "401, 403 and TLS failures are logged each time, waited out, and resume without a relist")
{
    story_start_watching(s);
    story_refuse_reopening(s, 1, INF_EFORBIDDEN, 0, "pods is forbidden");
    story_pass(s, 1000);
    expect(s, REOPENED("   10", "1"),
           RETRIES("   20", "watching", "pods is forbidden", "0.8s", "800ms"),
           CHECKED("  820", "  830", "1"));
}

/* covers: P7 */
STORY(a_permanent_error_is_logged_rarely,
      "a request that stays refused is repeated slowly, and logged again only from time to time")
{
    s->log.level = LOG_INFO; /* the status that users see */
    apiserver_refuse(s->server, 30, INF_EFORBIDDEN, 0, "pods is forbidden");
    story_start(s);
    story_pass(s, 625 * 1000);
    expect(s, "[   10] pods: pods is forbidden; retrying in 0.8s\n"
              "[620660] pods: pods is forbidden; retrying in 30.0s\n");
    apiserver_refuse(s->server, 1, INF_EUNAUTHORIZED, 0, "who are you");
    story_pass(s, 35 * 1000);
    expect(s, "[650670] pods: who are you; retrying in 30.0s\n");
}

/* covers: 1.6/open-error */
STORY(a_missing_resource_is_listed_again,
      "a resource that is missing is listed again, because its objects may be gone")
{
    story_start_watching(s);
    story_refuse_reopening(s, 1, INF_ENOTFOUND, 0, "not found");
    story_pass(s, 10);
    apiserver_delete(s->server, "default/a");
    apiserver_compact(s->server);
    story_pass(s, 1000);
    expect(s, REOPENED("   10", "1"), RETRIES("   20", "watching", "not found", "0.8s", "800ms"),
           "[  820] pods: waiting -> filling (retry)\n"
           "[  830] pods: filling -> watching (0 objects at resourceVersion 3)\n"
           "[  830] gap: relist (not found)\n"
           "[  830] delete default/a 1 (relist) last state unknown\n");
}

/* covers: P5 P7 */
STORY(an_optional_resource_is_waited_for_without_an_error,
      "an optional resource that is missing is checked periodically, and is no fault")
{
    s->settings.reflector.optional = true;
    apiserver_put(s->server, "default/a");
    apiserver_refuse(s->server, 5, INF_ENOTFOUND, 0, "not found");
    story_start(s);
    story_pass(s, 16 * 1000);
    expect(s, "[    0] pods: idle -> filling (start)\n"
              "[   10] pods: resource not found; waiting for it to appear: not found\n"
              "[   10] pods: filling -> waiting (resource not found, next check in 3000ms)\n"
              "[   10] synced\n"
              "[ 3010] pods: waiting -> filling (retry)\n"
              "[ 3020] pods: filling -> waiting (resource not found, next check in 3000ms)\n"
              "[ 6020] pods: waiting -> filling (retry)\n"
              "[ 6030] pods: filling -> waiting (resource not found, next check in 3000ms)\n"
              "[ 9030] pods: waiting -> filling (retry)\n"
              "[ 9040] pods: filling -> waiting (resource not found, next check in 3000ms)\n"
              "[12040] pods: waiting -> filling (retry)\n"
              "[12050] pods: filling -> waiting (resource not found, next check in 3000ms)\n"
              "[15050] pods: waiting -> filling (retry)\n"
              "[15060] pods: filling -> watching (1 object at resourceVersion 1)\n"
              "[15060] gap: relist (the resource is available now)\n"
              "[15060] add default/a 1 (relist)\n");
}

/* covers: P3 P5 */
STORY(
    objects_of_a_removed_optional_resource_are_deleted,
    "if an optional resource is removed twice, its objects are reported as deleted once each time")
{
    s->settings.reflector.optional = true;
    story_start_watching(s);
    story_refuse_reopening(s, 2, INF_ENOTFOUND, 0, "not found");
    story_pass(s, 16 * 1000);
    expect(s, REOPENED("   10", "1"),
           "[   20] pods: resource not found; waiting for it to appear: not found\n"
           "[   20] pods: watching -> waiting (resource not found, next check in 3000ms)\n"
           "[   20] gap: relist (not found)\n"
           "[   20] delete default/a 1 (relist) last state unknown\n"
           "[ 3020] pods: waiting -> filling (retry)\n"
           "[ 3030] pods: filling -> waiting (resource not found, next check in 3000ms)\n"
           "[ 6030] pods: waiting -> filling (retry)\n"
           "[ 6040] pods: filling -> watching (1 object at resourceVersion 1)\n"
           "[ 6040] gap: relist (the resource is available now)\n"
           "[ 6040] add default/a 1 (relist)\n");
    story_refuse_reopening(s, 1, INF_ENOTFOUND, 0, "not found");
    story_pass(s, 2 * 1000);
    expect(s, REOPENED("16010", "1"),
           "[16020] pods: resource not found; waiting for it to appear: not found\n"
           "[16020] pods: watching -> waiting (resource not found, next check in 3000ms)\n"
           "[16020] gap: relist (not found)\n"
           "[16020] delete default/a 1 (relist) last state unknown\n");
}

/* covers: P5 8/122 */
STORY(incomplete_events_extend_the_silence_limit_once,
      "bytes of an incomplete event extend the silence limit of a watch once, not more")
{
    story_start_watching(s);
    s->server->version++; /* other resources change: the same version would be a sign of life */
    story_pass(s, 100 * 1000);
    apiserver_progress(s->server);
    apiserver_fall_silent(s->server);
    story_pass(s, 400 * 1000);
    expect(s, STALE("150010", "no data received for 150s"),
           "[300010] pods: no data received for 300s; retrying in 0.8s\n"
           "[300010] pods: watching -> waiting (no data received for 300s, retry in "
           "800ms)\n",
           CHECKED("300810", "300820", "1"));
}

/* covers: P1 */
STORY(a_restored_server_causes_a_rewind_gap,
      "a server that was restored to an older state is listed, and the gap names the rewind")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    apiserver_put(s->server, "default/c");
    expect(s, "[   10] add default/b 2\n"
              "[   10] add default/c 3\n");
    apiserver_restore(s->server, 2);
    apiserver_end_with(s->server, INF_EGONE, "the cache was re-made");
    story_pass(s, 2000);
    expect(s, RELISTS("   10", "the cache was re-made"),
           RETRIES("   20", "filling", "Too large resource version", "0.8s", "800ms"),
           "[  820] pods: waiting -> filling (retry)\n"
           "[  830] pods: filling -> watching (2 objects at resourceVersion 2)\n"
           "[  830] gap: rewind (server rewound from resourceVersion 3 to 2)\n"
           "[  830] delete default/c 3 (relist) last state unknown\n");
    expect_requests(s, "watch-list '3'; watch-list ''; ");
    assert_string_equal(inf_store_resource_version(s->pipeline.store), "2");
}

/* covers: 1.6/stop 8/4 8/6 8/9 */
STORY(nothing_is_delivered_after_a_stop,
      "a stop ends the watch, and nothing is delivered or logged afterwards")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    story_stop(s);
    story_pass(s, 1000000);
    expect(s, "[   10] pods: watching -> closed (stop)\n");
    assert_null(s->server->user);
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(a_normal_end_reopens_the_watch_at_once),
        cmocka_unit_test(watches_that_end_at_once_are_reopened_with_growing_waits),
        cmocka_unit_test(a_watch_cut_inside_an_event_resumes),
        cmocka_unit_test(a_body_that_is_not_json_causes_a_relist),
        cmocka_unit_test(an_undecodable_object_is_skipped_and_reported),
        cmocka_unit_test(an_undecodable_object_is_reported_once_per_version),
        cmocka_unit_test(an_undecodable_update_keeps_the_last_state),
        cmocka_unit_test(an_undecodable_deletion_is_reported_with_the_last_state),
        cmocka_unit_test(an_object_replaced_by_an_undecodable_one_is_deleted),
        cmocka_unit_test(error_410_in_a_watch_relists_at_once),
        cmocka_unit_test(a_second_410_waits),
        cmocka_unit_test(error_429_in_a_watch_waits_and_resumes),
        cmocka_unit_test(error_500_in_a_watch_waits_and_resumes),
        cmocka_unit_test(changes_in_between_reset_the_back_off),
        cmocka_unit_test(a_short_watch_does_not_reset_the_back_off),
        cmocka_unit_test(a_list_that_fails_late_still_backs_off),
        cmocka_unit_test(a_refused_watch_waits_longer_each_time),
        cmocka_unit_test(a_connection_cut_before_the_response_is_retried),
        cmocka_unit_test(retry_after_is_limited_to_five_minutes),
        cmocka_unit_test(error_410_on_reopening_relists_at_once),
        cmocka_unit_test(a_forbidden_watch_resumes_without_a_relist),
        cmocka_unit_test(a_permanent_error_is_logged_rarely),
        cmocka_unit_test(a_missing_resource_is_listed_again),
        cmocka_unit_test(an_optional_resource_is_waited_for_without_an_error),
        cmocka_unit_test(objects_of_a_removed_optional_resource_are_deleted),
        cmocka_unit_test(incomplete_events_extend_the_silence_limit_once),

        cmocka_unit_test(a_restored_server_causes_a_rewind_gap),
        cmocka_unit_test(nothing_is_delivered_after_a_stop),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
