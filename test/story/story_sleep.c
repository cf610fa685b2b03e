/*
 * story_sleep.c - a host that sleeps: its streams are dead without an error, and its copy grows
 * old; a process that is stopped, and a wall clock that jumps.
 */
#include "story.h"

/* covers: P5 P3 */
STORY(a_sleep_reconnects_at_once, "a host that slept reconnects at once, from its version")
{
    story_start_watching(s);
    apiserver_fall_silent(s->server); /* the server has no record of the connection */
    apiserver_put(s->server, "default/b");
    sim_sleep(&s->sim, 100 * 1000);
    expect(s, "[   10] pods: process suspended for 100s\n"
              "[   10] pods: watching -> checking (compare with resourceVersion 1)\n");
    story_pass(s, 20);
    expect(s, "[   20] pods: checking -> watching (from resourceVersion 1)\n"
              "[   30] add default/b 2\n");
    expect_requests(s, "list '' limit=1; watch '1'; ");
}

STORY(a_short_sleep_changes_nothing,
      "a sleep of some seconds, and one while no request is open, change nothing")
{
    story_start_watching(s);
    sim_sleep(&s->sim, 4999);
    apiserver_end_with(s->server, INF_ENET, "gone");
    expect(s, RETRIES("   10", "watching", "gone", "0.8s", "800ms"));
    sim_sleep(&s->sim, 100 * 1000);
    expect(s, "");
    story_pass(s, 1000);
    expect(s, CHECKED("  810", "  820", "1"));
}

/* covers: P5 P6 */
STORY(a_held_watch_reconnects_on_release_after_a_sleep,
      "a watch that is held when the host sleeps is reopened when it is released")
{
    story_start_watching(s);
    reflector_hold(&s->pipeline.reflector, true);
    sim_sleep(&s->sim, 3600 * 1000);
    expect(s, "");
    reflector_hold(&s->pipeline.reflector, false);
    expect(s, "[   10] pods: process suspended for 3600s\n"
              "[   10] pods: watching -> checking (compare with resourceVersion 1)\n");
    expect_requests(s, "list '' limit=1; ");
    reflector_hold(&s->pipeline.reflector, true);
    reflector_hold(&s->pipeline.reflector, false); /* once */
    expect(s, "");
}

/* covers: P6 P7 */
STORY(a_held_watch_that_ended_after_a_sleep_waits,
      "a watch that is held when the host sleeps, and ends, waits like any other")
{
    story_start_watching(s);
    story_refuse_reopening(s, 1, INF_ENET, 0, "connection refused");
    sim_run(&s->sim);
    reflector_hold(&s->pipeline.reflector, true); /* the next one has not started yet */
    sim_sleep(&s->sim, 100 * 1000);
    story_pass(s, 100);
    reflector_hold(&s->pipeline.reflector, false);
    story_pass(s, 2000);
    expect(s, REOPENED("   10", "1"),
           RETRIES("   20", "watching", "connection refused", "0.8s", "800ms"),
           CHECKED("  820", "  830", "1"));
    expect_requests(s, "watch '1'; list '' limit=1; watch '1'; ");
}

/* covers: P5 */
STORY(reconnecting_after_a_sleep_is_no_sign_of_life,
      "waking up and reopening the watch is no sign of life of the server")
{
    story_start_watching(s);
    s->server->version++; /* other resources change: the same version would be a sign of life */
    story_pass(s, 50 * 1000);
    sim_sleep(&s->sim, 60 * 1000);
    story_pass(s, 10);
    apiserver_fall_silent(s->server);
    story_pass(s, 50 * 1000);
    expect(s, "[50010] pods: process suspended for 60s\n"
              "[50010] pods: watching -> checking (compare with resourceVersion 1)\n"
              "[50020] pods: checking -> watching (from resourceVersion 1)\n"
              "[90010] pods: process suspended for 60s; no data received for 150s\n"
              "[90010] stale (process suspended for 60s; no data received for 150s)\n");
}

/* covers: P5 */
STORY(a_long_sleep_makes_the_cache_stale,
      "after a sleep that was too long the cache is stale, until data arrives from the server")
{
    story_start_watching(s);
    s->server->version++; /* other resources change: the same version would be a sign of life */
    sim_sleep(&s->sim, 151 * 1000); /* a stream without bookmarks might be silent for longer */
    expect(s, "[   10] pods: process suspended for 151s\n"
              "[   10] pods: watching -> checking (compare with resourceVersion 1)\n"
              "[   10] pods: process suspended for 151s\n"
              "[   10] stale (process suspended for 151s)\n");
    sim_sleep(&s->sim, 49 * 1000); /* again, before the check has ended */
    expect(s, "[   10] pods: process suspended for 49s\n"
              "[   10] pods: checking -> checking (compare with resourceVersion 1)\n");
    story_pass(s, 20);
    apiserver_bookmark(s->server);
    expect(s, "[   20] pods: checking -> watching (from resourceVersion 1)\n",
           RECOVERED("   30", "data received again after 200s"));
}

/* covers: P5 */
STORY(sleep_during_an_outage_counts_as_silence, "time asleep counts also while no request is open")
{
    story_start_watching(s);
    apiserver_refuse(s->server, 1, INF_ENET, 100 * 1000, "connection refused");
    apiserver_cut(s->server);
    story_pass(s, 1000);
    sim_sleep(&s->sim, 60 * 1000);
    story_pass(s, 89 * 1000);
    expect(
        s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"),
        "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n",
        RETRIES("  820", "checking", "connection refused", "100.0s", "100000ms"),
        "[90010] pods: process suspended for 60s; no data received for 150s: connection refused\n"
        "[90010] stale (process suspended for 60s; no data received for 150s: connection refused)\n");
}

/* covers: P5 */
STORY(
    a_stopped_process_is_stale_and_says_why,
    "a process that was stopped reports that as the reason; its cache is stale, and its timers continue")
{
    story_start_watching(s);
    s->server->version++;
    sim_stop(&s->sim, 400 * 1000); /* longer than any silence of a stream */
    expect(s, "[400010] pods: process suspended for 400s\n"
              "[400010] pods: watching -> checking (compare with resourceVersion 1)\n"
              "[400010] pods: process suspended for 400s\n"
              "[400010] stale (process suspended for 400s)\n");
    story_pass(s, 20);
    apiserver_bookmark(s->server);
    expect(s, "[400020] pods: checking -> watching (from resourceVersion 1)\n",
           RECOVERED("400030", "data received again after 400s"));
}

/* covers: P5 P7 */
STORY(a_stopped_process_waits_for_the_rest_of_its_back_off,
      "a process that was stopped waits for the rest of its back-off")
{
    story_start_watching(s);
    apiserver_cut(s->server);
    story_pass(s, 100);
    sim_stop(&s->sim, 60 * 1000);
    story_pass(s, 600);
    expect(s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"));
    story_pass(s, 60 * 1000);
    expect(s, CHECKED("60810", "60820", "1"));
}

/* covers: P5 */
STORY(a_stale_cache_names_the_time_the_process_was_stopped,
      "the time in which the process was stopped is named apart from the silence")
{
    story_start_watching(s);
    s->server->version++;
    sim_stop(&s->sim, 60 * 1000);
    story_pass(s, 20);
    apiserver_fall_silent(s->server);
    story_pass(s, 100 * 1000);
    expect_events(s, "[150010] stale (process suspended for 60s; no data received for 150s)\n");
}

/* As servers do: a bookmark when a stream is @every_s old, and periodically after that. */
static void pass_with_bookmarks(struct story *s, int seconds, int every_s)
{
    unsigned requests = s->server->requests;
    for (int age = 0; seconds > 0; seconds--) {
        story_pass(s, 1000);
        age = s->server->requests == requests ? age + 1 : 0;
        requests = s->server->requests;
        if (age && age % every_s == 0)
            apiserver_bookmark(s->server);
    }
}

/* covers: P5 P7 */
STORY(rare_bookmarks_do_not_cause_reconnects,
      "a watch whose bookmarks are rarer than stale_after is not reconnected repeatedly")
{
    s->settings.reflector.stale_after_ms = 60 * 1000;
    story_start_watching(s);
    pass_with_bookmarks(s, 6 * 62, 62);
    expect_requests(s, "list '' limit=1; watch '1'; ");
    expect_events(s, "[60010] stale (no data received for 60s: no data received for 60s)\n"
                     "[60820] recovered (data received again after 60s)\n"
                     "[120820] stale (no data received for 60s)\n"
                     "[123010] recovered (data received again after 62s)\n"
                     "[183010] stale (no data received for 60s)\n"
                     "[185010] recovered (data received again after 62s)\n"
                     "[245010] stale (no data received for 60s)\n"
                     "[247010] recovered (data received again after 62s)\n"
                     "[307010] stale (no data received for 60s)\n"
                     "[309010] recovered (data received again after 62s)\n"
                     "[369010] stale (no data received for 60s)\n"
                     "[371010] recovered (data received again after 62s)\n");
}

/* covers: P5 */
STORY(an_event_after_a_reconnect_does_not_extend_the_limit,
      "after a reconnect to a server that sends bookmarks, an event does not extend the limit")
{
    story_start_watching(s);
    apiserver_end(s->server);
    story_pass(s, 1000);
    apiserver_put(s->server, "default/b");
    story_pass(s, 200 * 1000);
    expect_events(s, "[ 1010] add default/b 2\n"
                     "[151010] stale (no data received for 150s)\n");
}

/* Ten years on the wall clock, which may affect only the time of records. */
static void jump(struct story *s, int direction)
{
    s->sim.wall_offset_us += direction * INT64_C(10) * 365 * 24 * 3600 * 1000000;
}

/* covers: P5 P7 */
STORY(wall_clock_jumps_change_no_wait,
      "a wall clock that jumps in either direction changes no wait, no age and no staleness")
{
    story_start_watching(s);
    s->server->version++;
    jump(s, 1);
    apiserver_refuse(s->server, 1, INF_ENET, 100 * 1000, "connection refused");
    apiserver_cut(s->server);
    story_pass(s, 900);
    jump(s, -2);
    story_pass(s, 149 * 1000);
    expect(s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"),
           "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n",
           RETRIES("  820", "checking", "connection refused", "100.0s", "100000ms"),
           CHECKED("100820", "100830", "1"));
    story_pass(s, 1000);
    jump(s, 1);
    apiserver_put(s->server, "default/b");
    story_pass(s, 160 * 1000);
    expect(s, STALE("150010", "no data received for 150s"),
           RECOVERED("150910", "data received again after 150s"), "[150910] add default/b 3\n",
           STALE("300910", "no data received for 150s"));
}

/* covers: P4 */
STORY(
    wall_clock_jumps_keep_the_order_of_events,
    "events that arrive while the wall clock jumps back keep their order and their time of arrival")
{
    int64_t first, second;
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    sim_run(&s->sim);
    first = s->received_us;
    jump(s, -1);
    apiserver_put(s->server, "default/c");
    sim_run(&s->sim);
    second = s->received_us;
    assert_true(second < first);
    assert_true(second == clock_wall_us(&s->sim.clock));
    expect_events(s, "[   10] add default/b 2\n"
                     "[   10] add default/c 3\n");
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(a_sleep_reconnects_at_once),
        cmocka_unit_test(a_short_sleep_changes_nothing),
        cmocka_unit_test(a_held_watch_reconnects_on_release_after_a_sleep),
        cmocka_unit_test(a_held_watch_that_ended_after_a_sleep_waits),
        cmocka_unit_test(reconnecting_after_a_sleep_is_no_sign_of_life),
        cmocka_unit_test(a_long_sleep_makes_the_cache_stale),
        cmocka_unit_test(sleep_during_an_outage_counts_as_silence),
        cmocka_unit_test(a_stopped_process_is_stale_and_says_why),
        cmocka_unit_test(a_stopped_process_waits_for_the_rest_of_its_back_off),
        cmocka_unit_test(a_stale_cache_names_the_time_the_process_was_stopped),
        cmocka_unit_test(rare_bookmarks_do_not_cause_reconnects),
        cmocka_unit_test(an_event_after_a_reconnect_does_not_extend_the_limit),
        cmocka_unit_test(wall_clock_jumps_change_no_wait),
        cmocka_unit_test(wall_clock_jumps_keep_the_order_of_events),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
