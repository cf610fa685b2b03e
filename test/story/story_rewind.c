/*
 * story_rewind.c - a server that was restored to an older version is detected by a version check.
 */
#include "story.h"

/* Three objects at version 3, and a server that is then restored to version 2. */
static void start_at_three(struct story *s)
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    apiserver_put(s->server, "default/c");
    expect(s, "[   10] add default/b 2\n"
              "[   10] add default/c 3\n");
}

/* covers: P1 P3 */
STORY(an_outage_is_followed_by_a_version_check,
      "the version of a server that was unreachable is checked before a watch continues")
{
    start_at_three(s);
    apiserver_refuse(s->server, 1, INF_ENET, 0, "connection refused");
    apiserver_cut(s->server);
    story_pass(s, 1000);
    apiserver_restore(s->server, 2);
    story_pass(s, 2000);
    expect(s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"),
           "[  810] pods: waiting -> checking (compare with resourceVersion 3)\n",
           RETRIES("  820", "checking", "connection refused", "1.6s", "1600ms"),
           "[ 2420] pods: waiting -> checking (compare with resourceVersion 3)\n"
           "[ 2430] pods: server rewound from resourceVersion 3 to 2\n"
           "[ 2430] pods: checking -> filling (server rewound from resourceVersion 3 to 2)\n"
           "[ 2440] pods: filling -> watching (2 objects at resourceVersion 2)\n"
           "[ 2440] gap: rewind (server rewound from resourceVersion 3 to 2)\n"
           "[ 2440] delete default/c 3 (relist) last state unknown\n");
    expect_requests(s, "list '' limit=1; list '' limit=1; watch-list ''; ");
}

/* covers: P1 P3 */
STORY(a_forbidden_check_is_repeated,
      "a server that has just started may forbid what it later allows: the check is repeated")
{
    start_at_three(s);
    apiserver_refuse(s->server, 2, INF_EFORBIDDEN, 0, "not yet");
    apiserver_cut(s->server);
    apiserver_restore(s->server, 2);
    story_pass(s, 10000);
    expect(s, RETRIES("   10", "watching", "connection lost", "0.8s", "800ms"),
           "[  810] pods: waiting -> checking (compare with resourceVersion 3)\n",
           RETRIES("  820", "checking", "not yet", "1.6s", "1600ms"),
           "[ 2420] pods: waiting -> checking (compare with resourceVersion 3)\n",
           RETRIES(" 2430", "checking", "not yet", "3.2s", "3200ms"),
           "[ 5630] pods: waiting -> checking (compare with resourceVersion 3)\n"
           "[ 5640] pods: server rewound from resourceVersion 3 to 2\n"
           "[ 5640] pods: checking -> filling (server rewound from resourceVersion 3 to 2)\n"
           "[ 5650] pods: filling -> watching (2 objects at resourceVersion 2)\n"
           "[ 5650] gap: rewind (server rewound from resourceVersion 3 to 2)\n"
           "[ 5650] delete default/c 3 (relist) last state unknown\n");
}

/* covers: P1 P3 */
STORY(a_sleep_is_followed_by_a_version_check,
      "after a sleep of the host the server's version is checked before a watch continues")
{
    start_at_three(s);
    apiserver_fall_silent(s->server); /* the server has no record of the connection */
    apiserver_restore(s->server, 2);
    sim_sleep(&s->sim, 100 * 1000);
    story_pass(s, 1000);
    expect(s, "[   10] pods: process suspended for 100s\n"
              "[   10] pods: watching -> checking (compare with resourceVersion 3)\n"
              "[   20] pods: server rewound from resourceVersion 3 to 2\n"
              "[   20] pods: checking -> filling (server rewound from resourceVersion 3 to 2)\n"
              "[   30] pods: filling -> watching (2 objects at resourceVersion 2)\n"
              "[   30] gap: rewind (server rewound from resourceVersion 3 to 2)\n"
              "[   30] delete default/c 3 (relist) last state unknown\n");
    expect_requests(s, "list '' limit=1; watch-list ''; ");
}

/* covers: P1 P5 */
STORY(
    a_watch_from_a_future_version_is_found_at_its_end,
    "a watch from a version that the server has not reached is silent to its end, and then checked")
{
    start_at_three(s);
    apiserver_restore(s->server, 1);
    apiserver_end(s->server);
    story_pass(s, 1000);
    apiserver_put(s->server, "default/d"); /* version 2: never delivered to a watch from 3 */
    story_pass(s, 100 * 1000);
    expect(s, REOPENED("   10", "3"));
    apiserver_end(s->server);
    story_pass(s, 1000);
    expect(s, "[101010] pods: the server ended the watch\n"
              "[101010] pods: watching -> checking (compare with resourceVersion 3)\n"
              "[101020] pods: server rewound from resourceVersion 3 to 2\n"
              "[101020] pods: checking -> filling (server rewound from resourceVersion 3 to 2)\n"
              "[101030] pods: filling -> watching (2 objects at resourceVersion 2)\n"
              "[101030] gap: rewind (server rewound from resourceVersion 3 to 2)\n"
              "[101030] delete default/b 2 (relist) last state unknown\n"
              "[101030] delete default/c 3 (relist) last state unknown\n"
              "[101030] add default/d 2 (relist)\n");
    expect_store(s, "default/a default/d");
}

/* covers: P1 */
STORY(an_older_bookmark_shows_a_rewind,
      "a bookmark that is older than our version shows a server that was restored")
{
    start_at_three(s);
    apiserver_restore(s->server, 1);
    s->server->after = 1; /* as if it continued the stream from there */
    apiserver_bookmark(s->server);
    story_pass(s, 1000);
    expect(s, RELISTS("   10", "server rewound from resourceVersion 3 to 2"),
           "[   20] pods: filling -> watching (1 object at resourceVersion 2)\n"
           "[   20] gap: rewind (server rewound from resourceVersion 3 to 2)\n"
           "[   20] delete default/b 2 (relist) last state unknown\n"
           "[   20] delete default/c 3 (relist) last state unknown\n");
}

/* covers: P4 P7 */
STORY(a_quiet_watch_costs_one_check,
      "a watch that ends after a quiet time costs one version check, and no list")
{
    story_start_watching(s);
    apiserver_end(s->server);
    for (int i = 0; i < 2; i++) {
        story_pass(s, 100 * 1000);
        apiserver_end(s->server);
    }
    expect(s, REOPENED("   10", "1"),
           "[100010] pods: the server ended the watch\n"
           "[100010] pods: watching -> checking (compare with resourceVersion 1)\n"
           "[100020] pods: checking -> watching (from resourceVersion 1)\n"
           "[200010] pods: the server ended the watch\n"
           "[200010] pods: watching -> checking (compare with resourceVersion 1)\n");
    story_stop(s); /* while the check is open */
    expect(s, "[200010] pods: checking -> closed (stop)\n");
}

/* covers: P7 */
STORY(a_watch_continues_if_listing_is_forbidden,
      "a client that may watch but not list continues without a check")
{
    story_start_watching(s);
    apiserver_end(s->server);
    story_pass(s, 100 * 1000);
    story_refuse_reopening(s, 3, INF_EFORBIDDEN, 0, "may not list");
    story_pass(s, 3000);
    expect(s, REOPENED("   10", "1"),
           "[100010] pods: the server ended the watch\n"
           "[100010] pods: watching -> checking (compare with resourceVersion 1)\n",
           RETRIES("100020", "checking", "may not list", "0.8s", "800ms"),
           "[100820] pods: waiting -> checking (compare with resourceVersion 1)\n",
           RETRIES("100830", "checking", "may not list", "1.6s", "1600ms"),
           CHECKED("102430", "102440", "1"));
}

/* covers: P7 */
STORY(a_watch_continues_after_repeated_failed_checks,
      "a server that repeatedly fails to answer does not prevent the watch")
{
    story_start_watching(s);
    apiserver_end(s->server);
    story_pass(s, 100 * 1000);
    buf_clear(&s->lines);
    story_refuse_reopening(s, 3, INF_ESERVER, 0, "out of order");
    story_pass(s, 1000);
    expect(s,
           "[100010] pods: the server ended the watch\n"
           "[100010] pods: watching -> checking (compare with resourceVersion 1)\n",
           RETRIES("100020", "checking", "out of order", "0.8s", "800ms"),
           "[100820] pods: waiting -> checking (compare with resourceVersion 1)\n",
           RETRIES("100830", "checking", "out of order", "1.6s", "1600ms"));
    story_pass(s, 2000);
    expect(s, CHECKED("102430", "102440", "1"));
}

/* covers: P6 */
STORY(a_check_can_be_held_and_released,
      "a version check is held and released like any other request")
{
    story_start_watching(s);
    apiserver_end(s->server);
    story_pass(s, 100 * 1000);
    apiserver_end(s->server);
    sim_run(&s->sim);
    reflector_hold(&s->pipeline.reflector, true);
    story_pass(s, 100 * 1000);
    buf_clear(&s->lines);
    reflector_hold(&s->pipeline.reflector, false);
    apiserver_fall_silent(s->server);
    story_pass(s, 30 * 1000);
    expect(s, "[230010] pods: no data received for 30s; retrying in 0.8s\n"
              "[230010] pods: checking -> waiting (no data received for 30s, retry in "
              "800ms)\n");
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(an_outage_is_followed_by_a_version_check),
        cmocka_unit_test(a_forbidden_check_is_repeated),
        cmocka_unit_test(a_sleep_is_followed_by_a_version_check),
        cmocka_unit_test(a_watch_from_a_future_version_is_found_at_its_end),
        cmocka_unit_test(an_older_bookmark_shows_a_rewind),
        cmocka_unit_test(a_quiet_watch_costs_one_check),
        cmocka_unit_test(a_watch_continues_if_listing_is_forbidden),
        cmocka_unit_test(a_watch_continues_after_repeated_failed_checks),
        cmocka_unit_test(a_check_can_be_held_and_released),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
