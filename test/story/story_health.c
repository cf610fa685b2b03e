/*
 * story_health.c - truth about how true the copy is, and manners with a server that many ask.
 */
#include "story.h"

/* covers: P5 */
STORY(outage, "a server that is away for long makes the copy stale, once, and its return heals it")
{
    story_start_watching(s);
    s->server->version++; /* other resources change: the same version would be a sign */
    apiserver_refuse(s->server, 1000, INF_ENET, 100 * 1000, "connection refused");
    apiserver_cut(s->server);
    story_pass(s, 290 * 1000);
    expect(s, "[   10] pods: connection lost; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n"
              "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[  820] pods: connection refused; retrying in 100.0s\n"
              "[  820] pods: checking -> waiting (connection refused, retry in 100000ms)\n"
              "[100820] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[100830] pods: connection refused; retrying in 100.0s\n"
              "[100830] pods: checking -> waiting (connection refused, retry in 100000ms)\n"
              "[150010] pods: no data received for 150s: connection refused\n"
              "[150010] stale (no data received for 150s: connection refused)\n"
              "[200830] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[200840] pods: connection refused; retrying in 100.0s\n"
              "[200840] pods: checking -> waiting (connection refused, retry in 100000ms)\n");
    apiserver_refuse(s->server, 0, 0, 0, "");
    story_pass(s, 11 * 1000);
    apiserver_bookmark(s->server);
    expect(s, "[300840] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[300850] pods: checking -> watching (from resourceVersion 1)\n"
              "[301010] pods: data received again after 301s\n"
              "[301010] recovered (data received again after 301s)\n");
}

/* covers: P5 */
STORY(empty_promise,
      "a proxy that takes the watch and then says nothing does not make the copy fresh")
{
    story_start_watching(s);
    s->server->version++; /* other resources change: the same version would be a sign */
    apiserver_cut(s->server);
    story_pass(s, 900);
    expect(s, "[   10] pods: connection lost; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n"
              "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[  820] pods: checking -> watching (from resourceVersion 1)\n");
    apiserver_fall_silent(s->server);
    story_pass(s, 150 * 1000);
    expect(s, "[150010] pods: no data received for 150s\n"
              "[150010] stale (no data received for 150s)\n");
}

/* covers: P5 */
STORY(quiet_end, "a stream that ends as it should was alive until then")
{
    story_start_watching(s);
    story_pass(s, 100 * 1000);
    apiserver_end(s->server);
    story_pass(s, 100 * 1000);
    expect(s, "[100010] pods: the server ended the watch\n"
              "[100010] pods: watching -> watching (from resourceVersion 1)\n");
}

/* covers: P5 */
STORY(relist_heals, "a stale copy that is listed anew is fresh after the differences are told")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    expect(s, "[   10] add default/b 2\n");
    apiserver_refuse(s->server, 1, INF_ESERVER, 200 * 1000, "shutting down");
    apiserver_cut(s->server);
    story_pass(s, 200 * 1000);
    apiserver_delete(s->server, "default/b");
    apiserver_compact(s->server);
    expect(s, "[   10] pods: connection lost; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n"
              "[  810] pods: waiting -> checking (compare with resourceVersion 2)\n"
              "[  820] pods: shutting down; retrying in 200.0s\n"
              "[  820] pods: checking -> waiting (shutting down, retry in 200000ms)\n"
              "[150010] pods: no data received for 150s: shutting down\n"
              "[150010] stale (no data received for 150s: shutting down)\n");
    story_pass(s, 1000);
    expect(s, "[200820] pods: waiting -> checking (compare with resourceVersion 2)\n"
              "[200830] pods: checking -> watching (from resourceVersion 2)\n"
              "[200840] pods: too old resource version: 2 (4)\n"
              "[200840] pods: watching -> filling (too old resource version: 2 (4))\n"
              "[200850] pods: data received again after 200s\n"
              "[200850] pods: filling -> watching (1 object at resourceVersion 4)\n"
              "[200850] gap: relist (too old resource version: 2 (4))\n"
              "[200850] delete default/b 2 (relist) last state unknown\n"
              "[200850] recovered (data received again after 200s)\n");
}

/* covers: P5 P6 */
STORY(held_is_not_stale,
      "while a full handler holds the stream it is not the server that is silent")
{
    s->handler.max_events = 2;
    story_start_watching(s);
    inf_handler_pause(&s->handler);
    for (int i = 0; i < 5; i++)
        apiserver_put(s->server, "default/a");
    story_pass(s, 1000 * 1000);
    expect(s, "");
    inf_handler_resume(&s->handler);
    expect(s, "[1000010] update default/a 2\n"
              "[1000010] update default/a 3\n"
              "[1000010] update default/a 4\n"
              "[1000010] update default/a 5\n"
              "[1000010] update default/a 6\n");
}

/* covers: P7 */
STORY(in_line,
      "where others are listing already, a list waits for its turn, and lets the next one in")
{
    struct list_limiter list_limiter;
    struct list_slot other;
    list_limiter_init(&list_limiter, 1);
    list_slot_init(&other, &list_limiter, &s->sim.clock, NULL);
    assert_true(list_slot_acquire(&other));
    s->settings.reflector.list_limiter = &list_limiter;
    story_start(s);
    story_pass(s, 5000);
    expect(s, "[    0] pods: idle -> queued (start)\n");
    expect_asked(s, "");
    list_slot_release(&other);
    story_pass(s, 10);
    expect(s, "[ 5000] pods: queued -> filling (list slot available)\n"
              "[ 5010] pods: filling -> watching (0 objects at resourceVersion 0)\n"
              "[ 5010] synced\n");
    assert_true(list_slot_acquire(&other));
    list_slot_release(&other);
}

/* covers: P7 */
STORY(failing_lets_others_in,
      "who has to wait before it tries again does not keep others from listing")
{
    struct list_limiter list_limiter;
    struct list_slot other;
    list_limiter_init(&list_limiter, 1);
    list_slot_init(&other, &list_limiter, &s->sim.clock, NULL);
    s->settings.reflector.list_limiter = &list_limiter;
    apiserver_refuse(s->server, 1, INF_EFORBIDDEN, 0, "pods is forbidden");
    story_start(s);
    story_pass(s, 100);
    expect(s, "[    0] pods: idle -> filling (start)\n"
              "[   10] pods: pods is forbidden; retrying in 0.8s\n"
              "[   10] pods: filling -> waiting (pods is forbidden, retry in 800ms)\n");
    assert_true(list_slot_acquire(&other));
    story_pass(s, 1000);
    expect(s, "[  810] pods: waiting -> queued (retry)\n");
    story_stop(s); /* in line */
    list_slot_release(&other);
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(outage),
        cmocka_unit_test(empty_promise),

        cmocka_unit_test(quiet_end),
        cmocka_unit_test(relist_heals),
        cmocka_unit_test(held_is_not_stale),
        cmocka_unit_test(in_line),
        cmocka_unit_test(failing_lets_others_in),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
