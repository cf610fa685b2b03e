/*
 * story_sleep.c - a host that sleeps: its streams are dead without a word, and its copy grows old; a
 * process that is stopped, and a wall clock that jumps.
 */
#include "story.h"

/* covers: P5 P3 */
STORY(host_slept, "a host that slept reconnects at once, from where it was")
{
    story_start_watching(s);
    apiserver_fall_silent(s->server); /* it has forgotten the connection */
    apiserver_put(s->server, "default/b");
    sim_sleep(&s->sim, 100 * 1000);
    expect(s, "[   10] pods: process suspended for 100s\n"
              "[   10] pods: watching -> checking (compare with resourceVersion 1)\n");
    story_pass(s, 20);
    expect(s, "[   20] pods: checking -> watching (from resourceVersion 1)\n"
              "[   30] add default/b 2\n");
    expect_asked(s, "list '' limit=1; watch '1'; ");
}

STORY(host_nodded_off, "a sleep of some seconds, and one while nothing is open, change nothing")
{
    story_start_watching(s);
    sim_sleep(&s->sim, 4999);
    apiserver_end_with(s->server, INF_ENET, "gone");
    expect(s, "[   10] pods: gone; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (gone, retry in 800ms)\n");
    sim_sleep(&s->sim, 100 * 1000);
    expect(s, "");
    story_pass(s, 1000);
    expect(s, "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[  820] pods: checking -> watching (from resourceVersion 1)\n");
}

/* covers: P5 P6 */
STORY(host_slept_while_held,
      "a stream that is held when the host sleeps is reopened when it is released")
{
    story_start_watching(s);
    reflector_hold(&s->pipeline.reflector, true);
    sim_sleep(&s->sim, 3600 * 1000);
    expect(s, "");
    reflector_hold(&s->pipeline.reflector, false);
    expect(s, "[   10] pods: process suspended for 3600s\n"
              "[   10] pods: watching -> checking (compare with resourceVersion 1)\n");
    expect_asked(s, "list '' limit=1; ");
    reflector_hold(&s->pipeline.reflector, true);
    reflector_hold(&s->pipeline.reflector, false); /* once */
    expect(s, "");
}

/* covers: P6 P7 */
STORY(host_slept_while_held_and_ended,
      "a stream that is held when the host sleeps, and ends, waits as any other")
{
    story_start_watching(s);
    apiserver_refuse(s->server, 1, INF_ENET, 0, "connection refused");
    apiserver_end(s->server);
    sim_run(&s->sim);
    reflector_hold(&s->pipeline.reflector, true); /* the next one is not there yet */
    sim_sleep(&s->sim, 100 * 1000);
    story_pass(s, 100);
    reflector_hold(&s->pipeline.reflector, false);
    story_pass(s, 2000);
    expect(s, "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 1)\n"
              "[   20] pods: connection refused; retrying in 0.8s\n"
              "[   20] pods: watching -> waiting (connection refused, retry in 800ms)\n"
              "[  820] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[  830] pods: checking -> watching (from resourceVersion 1)\n");
    expect_asked(s, "watch '1'; list '' limit=1; watch '1'; ");
}

/* covers: P5 */
STORY(sleep_is_no_sign, "waking up and reopening the watch is no sign of the server")
{
    story_start_watching(s);
    s->server->version++; /* other resources change: the same version would be a sign */
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
STORY(slept_too_long,
      "who slept for too long has a stale copy on waking, until the server is heard")
{
    story_start_watching(s);
    s->server->version++;           /* other resources change: the same version would be a sign */
    sim_sleep(&s->sim, 151 * 1000); /* a stream without bookmarks might be silent for longer */
    expect(s, "[   10] pods: process suspended for 151s\n"
              "[   10] pods: watching -> checking (compare with resourceVersion 1)\n"
              "[   10] pods: process suspended for 151s\n"
              "[   10] stale (process suspended for 151s)\n");
    sim_sleep(&s->sim, 49 * 1000); /* and once more, before it was */
    expect(s, "[   10] pods: process suspended for 49s\n"
              "[   10] pods: checking -> checking (compare with resourceVersion 1)\n");
    story_pass(s, 20);
    apiserver_bookmark(s->server);
    expect(s, "[   20] pods: checking -> watching (from resourceVersion 1)\n"
              "[   30] pods: data received again after 200s\n"
              "[   30] recovered (data received again after 200s)\n");
}

/* covers: P5 */
STORY(slept_while_away, "time slept counts also while nothing is open")
{
    story_start_watching(s);
    apiserver_refuse(s->server, 1, INF_ENET, 100 * 1000, "connection refused");
    apiserver_cut(s->server);
    story_pass(s, 1000);
    sim_sleep(&s->sim, 60 * 1000);
    story_pass(s, 89 * 1000);
    expect(
        s,
        "[   10] pods: connection lost; retrying in 0.8s\n"
        "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n"
        "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n"
        "[  820] pods: connection refused; retrying in 100.0s\n"
        "[  820] pods: checking -> waiting (connection refused, retry in 100000ms)\n"
        "[90010] pods: process suspended for 60s; no data received for 150s: connection refused\n"
        "[90010] stale (process suspended for 60s; no data received for 150s: connection refused)\n");
}

/* covers: P5 */
STORY(stopped_too_long,
      "a process that was stopped blames nobody else: its copy is stale, and its timers go on")
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
    expect(s, "[400020] pods: checking -> watching (from resourceVersion 1)\n"
              "[400030] pods: data received again after 400s\n"
              "[400030] recovered (data received again after 400s)\n");
}

/* covers: P5 P7 */
STORY(stopped_while_waiting, "a process that was stopped waits for the rest of its back-off")
{
    story_start_watching(s);
    apiserver_cut(s->server);
    story_pass(s, 100);
    sim_stop(&s->sim, 60 * 1000);
    story_pass(s, 600);
    expect(s, "[   10] pods: connection lost; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n");
    story_pass(s, 60 * 1000);
    expect(s, "[60810] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[60820] pods: checking -> watching (from resourceVersion 1)\n");
}

/* covers: P5 */
STORY(partly_stopped, "of a silence the time in which the process was stopped is named")
{
    story_start_watching(s);
    s->server->version++;
    sim_stop(&s->sim, 60 * 1000);
    story_pass(s, 20);
    apiserver_fall_silent(s->server);
    story_pass(s, 100 * 1000);
    expect_told(s, "[150010] stale (process suspended for 60s; no data received for 150s)\n");
}

/* As servers do: a bookmark when a stream is @every_s old, and so on. */
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
STORY(bookmarks_rarer_than_stale_after,
      "a stream whose bookmarks are rarer than stale_after is not reconnected again and again")
{
    s->settings.reflector.stale_after_ms = 60 * 1000;
    story_start_watching(s);
    pass_with_bookmarks(s, 6 * 62, 62);
    expect_asked(s, "list '' limit=1; watch '1'; ");
    expect_told(s, "[60010] stale (no data received for 60s: no data received for 60s)\n"
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
STORY(reconnect_keeps_the_wait,
      "after a reconnect to a server that sends bookmarks, an event does not make the wait longer")
{
    story_start_watching(s);
    apiserver_end(s->server);
    story_pass(s, 1000);
    apiserver_put(s->server, "default/b");
    story_pass(s, 200 * 1000);
    expect_told(s, "[ 1010] add default/b 2\n"
                   "[151010] stale (no data received for 150s)\n");
}

/* Ten years of the wall clock, whose jumps nothing but the time of records may follow. */
static void jump(struct story *s, int direction)
{
    s->sim.wall_offset_us += direction * INT64_C(10) * 365 * 24 * 3600 * 1000000;
}

/* covers: P5 P7 */
STORY(wall_clock_jumps,
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
    expect(s, "[   10] pods: connection lost; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n"
              "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[  820] pods: connection refused; retrying in 100.0s\n"
              "[  820] pods: checking -> waiting (connection refused, retry in 100000ms)\n"
              "[100820] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[100830] pods: checking -> watching (from resourceVersion 1)\n");
    story_pass(s, 1000);
    jump(s, 1);
    apiserver_put(s->server, "default/b");
    story_pass(s, 160 * 1000);
    expect(s, "[150010] pods: no data received for 150s\n"
              "[150010] stale (no data received for 150s)\n"
              "[150910] pods: data received again after 150s\n"
              "[150910] recovered (data received again after 150s)\n"
              "[150910] add default/b 3\n"
              "[300910] pods: no data received for 150s\n"
              "[300910] stale (no data received for 150s)\n");
}

/* covers: P4 */
STORY(
    wall_clock_jumps_in_records,
    "events that come while the wall clock jumps back keep their order, and the time they came at")
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
    expect_told(s, "[   10] add default/b 2\n"
                   "[   10] add default/c 3\n");
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(host_slept),
        cmocka_unit_test(host_nodded_off),
        cmocka_unit_test(host_slept_while_held),
        cmocka_unit_test(host_slept_while_held_and_ended),
        cmocka_unit_test(sleep_is_no_sign),
        cmocka_unit_test(slept_too_long),
        cmocka_unit_test(slept_while_away),
        cmocka_unit_test(stopped_too_long),
        cmocka_unit_test(stopped_while_waiting),
        cmocka_unit_test(partly_stopped),
        cmocka_unit_test(bookmarks_rarer_than_stale_after),
        cmocka_unit_test(reconnect_keeps_the_wait),
        cmocka_unit_test(wall_clock_jumps),
        cmocka_unit_test(wall_clock_jumps_in_records),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
