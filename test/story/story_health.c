/*
 * story_health.c - the freshness of the copy, and limits of requests to a server with many clients.
 */
#include "story.h"

/* covers: P5 */
STORY(
    a_long_outage_makes_the_cache_stale_once,
    "a server that is unreachable for long makes the cache stale, once, and its return makes it fresh")
{
    story_start_watching(s);
    s->server->version++; /* other resources change: the same version would be a sign of life */
    apiserver_refuse(s->server, 1000, INF_ENET, 100 * 1000, "connection refused");
    apiserver_cut(s->server);
    story_pass(s, 290 * 1000);
    expect(s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"),
           "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n",
           RETRIES("  820", "checking", "connection refused", "100.0s", "100000ms"),
           "[100820] pods: waiting -> checking (compare with resourceVersion 1)\n",
           RETRIES("100830", "checking", "connection refused", "100.0s", "100000ms"),
           STALE("150010", "no data received for 150s: connection refused"),
           "[200830] pods: waiting -> checking (compare with resourceVersion 1)\n",
           RETRIES("200840", "checking", "connection refused", "100.0s", "100000ms"));
    apiserver_refuse(s->server, 0, 0, 0, "");
    story_pass(s, 11 * 1000);
    apiserver_bookmark(s->server);
    expect(s, CHECKED("300840", "300850", "1"),
           RECOVERED("301010", "data received again after 301s"));
}

/* covers: P5 */
STORY(an_open_but_silent_watch_does_not_make_the_cache_fresh,
      "a proxy that accepts the watch and then sends nothing does not make the cache fresh")
{
    story_start_watching(s);
    s->server->version++; /* other resources change: the same version would be a sign of life */
    apiserver_cut(s->server);
    story_pass(s, 900);
    expect(s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"),
           CHECKED("  810", "  820", "1"));
    apiserver_fall_silent(s->server);
    story_pass(s, 150 * 1000);
    expect(s, STALE("150010", "no data received for 150s"));
}

/* covers: P5 */
STORY(a_watch_that_ends_normally_was_alive, "a stream that ends as it should was alive until then")
{
    story_start_watching(s);
    story_pass(s, 100 * 1000);
    apiserver_end(s->server);
    story_pass(s, 100 * 1000);
    expect(s, REOPENED("100010", "1"));
}

/* covers: P5 */
STORY(a_relist_makes_a_stale_cache_fresh,
      "a stale cache that is listed again is fresh after the differences are delivered")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    expect(s, "[   10] add default/b 2\n");
    apiserver_refuse(s->server, 1, INF_ESERVER, 200 * 1000, "shutting down");
    apiserver_cut(s->server);
    story_pass(s, 200 * 1000);
    apiserver_delete(s->server, "default/b");
    apiserver_compact(s->server);
    expect(s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"),
           "[  810] pods: waiting -> checking (compare with resourceVersion 2)\n",
           RETRIES("  820", "checking", "shutting down", "200.0s", "200000ms"),
           STALE("150010", "no data received for 150s: shutting down"));
    story_pass(s, 1000);
    expect(s, CHECKED("200820", "200830", "2"),
           RELISTS("200840", "too old resource version: 2 (4)"),
           "[200850] pods: data received again after 200s\n"
           "[200850] pods: filling -> watching (1 object at resourceVersion 4)\n"
           "[200850] gap: relist (too old resource version: 2 (4))\n"
           "[200850] delete default/b 2 (relist) last state unknown\n"
           "[200850] recovered (data received again after 200s)\n");
}

/* covers: P5 P6 */
STORY(a_held_stream_is_not_stale,
      "while a full handler holds the stream, the silence is not the server's")
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
STORY(a_list_waits_for_a_free_slot,
      "while others are listing, a list waits for a slot, and releases it for the next one")
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
    expect_requests(s, "");
    list_slot_release(&other);
    story_pass(s, 10);
    expect(s, "[ 5000] pods: queued -> filling (list slot available)\n"
              "[ 5010] pods: filling -> watching (0 objects at resourceVersion 0)\n"
              "[ 5010] synced\n");
    assert_true(list_slot_acquire(&other));
    list_slot_release(&other);
}

/* covers: P7 */
STORY(a_failed_list_releases_its_slot,
      "a reflector that waits before its next try does not keep others from listing")
{
    struct list_limiter list_limiter;
    struct list_slot other;
    list_limiter_init(&list_limiter, 1);
    list_slot_init(&other, &list_limiter, &s->sim.clock, NULL);
    s->settings.reflector.list_limiter = &list_limiter;
    apiserver_refuse(s->server, 1, INF_EFORBIDDEN, 0, "pods is forbidden");
    story_start(s);
    story_pass(s, 100);
    expect(s, "[    0] pods: idle -> filling (start)\n",
           RETRIES("   10", "filling", "pods is forbidden", "0.8s", "800ms"));
    assert_true(list_slot_acquire(&other));
    story_pass(s, 1000);
    expect(s, "[  810] pods: waiting -> queued (retry)\n");
    story_stop(s); /* in the queue */
    list_slot_release(&other);
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(a_long_outage_makes_the_cache_stale_once),
        cmocka_unit_test(an_open_but_silent_watch_does_not_make_the_cache_fresh),

        cmocka_unit_test(a_watch_that_ends_normally_was_alive),
        cmocka_unit_test(a_relist_makes_a_stale_cache_fresh),
        cmocka_unit_test(a_held_stream_is_not_stale),
        cmocka_unit_test(a_list_waits_for_a_free_slot),
        cmocka_unit_test(a_failed_list_releases_its_slot),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
