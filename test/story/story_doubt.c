/*
 * story_doubt.c - a server that went back to older versions does not say so, and is found out.
 */
#include "story.h"

/* Three objects at version 3, and a server that is then taken back to version 2. */
static void start_at_three(struct story *s)
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    apiserver_put(s->server, "default/c");
    expect(s, "[   10] add default/b 2\n"
              "[   10] add default/c 3\n");
}

/* covers: P1 P3 */
STORY(restored_while_away, "a server that was away is asked where it is before a watch goes on")
{
    start_at_three(s);
    apiserver_refuse(s->server, 1, INF_ENET, 0, "connection refused");
    apiserver_cut(s->server);
    story_pass(s, 1000);
    apiserver_restore(s->server, 2);
    story_pass(s, 2000);
    expect(s, "[   10] pods: connection lost; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n"
              "[  810] pods: waiting -> checking (compare with resourceVersion 3)\n"
              "[  820] pods: connection refused; retrying in 1.6s\n"
              "[  820] pods: checking -> waiting (connection refused, retry in 1600ms)\n"
              "[ 2420] pods: waiting -> checking (compare with resourceVersion 3)\n"
              "[ 2430] pods: server rewound from resourceVersion 3 to 2\n"
              "[ 2430] pods: checking -> filling (server rewound from resourceVersion 3 to 2)\n"
              "[ 2440] pods: filling -> watching (2 objects at resourceVersion 2)\n"
              "[ 2440] gap: rewind (server rewound from resourceVersion 3 to 2)\n"
              "[ 2440] delete default/c 3 (relist) last state unknown\n");
    expect_asked(s, "list '' limit=1; list '' limit=1; watch-list ''; ");
}

/* covers: P1 P3 */
STORY(restored_and_forbidding,
      "a server that has just started may forbid what it allows: that is no answer")
{
    start_at_three(s);
    apiserver_refuse(s->server, 2, INF_EFORBIDDEN, 0, "not yet");
    apiserver_cut(s->server);
    apiserver_restore(s->server, 2);
    story_pass(s, 10000);
    expect(s, "[   10] pods: connection lost; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n"
              "[  810] pods: waiting -> checking (compare with resourceVersion 3)\n"
              "[  820] pods: not yet; retrying in 1.6s\n"
              "[  820] pods: checking -> waiting (not yet, retry in 1600ms)\n"
              "[ 2420] pods: waiting -> checking (compare with resourceVersion 3)\n"
              "[ 2430] pods: not yet; retrying in 3.2s\n"
              "[ 2430] pods: checking -> waiting (not yet, retry in 3200ms)\n"
              "[ 5630] pods: waiting -> checking (compare with resourceVersion 3)\n"
              "[ 5640] pods: server rewound from resourceVersion 3 to 2\n"
              "[ 5640] pods: checking -> filling (server rewound from resourceVersion 3 to 2)\n"
              "[ 5650] pods: filling -> watching (2 objects at resourceVersion 2)\n"
              "[ 5650] gap: rewind (server rewound from resourceVersion 3 to 2)\n"
              "[ 5650] delete default/c 3 (relist) last state unknown\n");
}

/* covers: P1 P3 */
STORY(restored_while_asleep, "a host that slept asks where the server is before a watch goes on")
{
    start_at_three(s);
    apiserver_fall_silent(s->server); /* it has forgotten the connection */
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
    expect_asked(s, "list '' limit=1; watch-list ''; ");
}

/* covers: P1 P5 */
STORY(
    restored_unseen,
    "a watch from a version the server has not reached is silent to its end, and believed no more")
{
    start_at_three(s);
    apiserver_restore(s->server, 1);
    apiserver_end(s->server);
    story_pass(s, 1000);
    apiserver_put(s->server, "default/d"); /* version 2: never told to who watches from 3 */
    story_pass(s, 100 * 1000);
    expect(s, "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 3)\n");
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
STORY(older_bookmark, "a bookmark older than what we have shows a server that went back")
{
    start_at_three(s);
    apiserver_restore(s->server, 1);
    s->server->after = 1; /* as if it went on with the stream from there */
    apiserver_bookmark(s->server);
    story_pass(s, 1000);
    expect(s, "[   10] pods: server rewound from resourceVersion 3 to 2\n"
              "[   10] pods: watching -> filling (server rewound from resourceVersion 3 to 2)\n"
              "[   20] pods: filling -> watching (1 object at resourceVersion 2)\n"
              "[   20] gap: rewind (server rewound from resourceVersion 3 to 2)\n"
              "[   20] delete default/b 2 (relist) last state unknown\n"
              "[   20] delete default/c 3 (relist) last state unknown\n");
}

/* covers: P4 P7 */
STORY(nothing_happened, "a watch that ends after a quiet time costs one question, and no list")
{
    story_start_watching(s);
    apiserver_end(s->server);
    for (int i = 0; i < 2; i++) {
        story_pass(s, 100 * 1000);
        apiserver_end(s->server);
    }
    expect(s, "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 1)\n"
              "[100010] pods: the server ended the watch\n"
              "[100010] pods: watching -> checking (compare with resourceVersion 1)\n"
              "[100020] pods: checking -> watching (from resourceVersion 1)\n"
              "[200010] pods: the server ended the watch\n"
              "[200010] pods: watching -> checking (compare with resourceVersion 1)\n");
    story_stop(s); /* with the question open */
    expect(s, "[200010] pods: checking -> closed (stop)\n");
}

/* covers: P7 */
STORY(may_not_ask, "who may watch but not list goes on without an answer")
{
    story_start_watching(s);
    apiserver_end(s->server);
    story_pass(s, 100 * 1000);
    apiserver_refuse(s->server, 3, INF_EFORBIDDEN, 0, "may not list");
    apiserver_end(s->server);
    story_pass(s, 3000);
    expect(s, "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 1)\n"
              "[100010] pods: the server ended the watch\n"
              "[100010] pods: watching -> checking (compare with resourceVersion 1)\n"
              "[100020] pods: may not list; retrying in 0.8s\n"
              "[100020] pods: checking -> waiting (may not list, retry in 800ms)\n"
              "[100820] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[100830] pods: may not list; retrying in 1.6s\n"
              "[100830] pods: checking -> waiting (may not list, retry in 1600ms)\n"
              "[102430] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[102440] pods: checking -> watching (from resourceVersion 1)\n");
}

/* covers: P7 */
STORY(no_answer, "a server that fails to answer again and again does not keep us from watching")
{
    story_start_watching(s);
    apiserver_end(s->server);
    story_pass(s, 100 * 1000);
    buf_clear(&s->said);
    apiserver_refuse(s->server, 3, INF_ESERVER, 0, "out of order");
    apiserver_end(s->server);
    story_pass(s, 1000);
    expect(s, "[100010] pods: the server ended the watch\n"
              "[100010] pods: watching -> checking (compare with resourceVersion 1)\n"
              "[100020] pods: out of order; retrying in 0.8s\n"
              "[100020] pods: checking -> waiting (out of order, retry in 800ms)\n"
              "[100820] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[100830] pods: out of order; retrying in 1.6s\n"
              "[100830] pods: checking -> waiting (out of order, retry in 1600ms)\n");
    story_pass(s, 2000);
    expect(s, "[102430] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[102440] pods: checking -> watching (from resourceVersion 1)\n");
}

/* covers: P6 */
STORY(held_question, "a question is held and released like anything else that is open")
{
    story_start_watching(s);
    apiserver_end(s->server);
    story_pass(s, 100 * 1000);
    apiserver_end(s->server);
    sim_run(&s->sim);
    reflector_hold(&s->pipeline.reflector, true);
    story_pass(s, 100 * 1000);
    buf_clear(&s->said);
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
        cmocka_unit_test(restored_while_away),   cmocka_unit_test(restored_and_forbidding),
        cmocka_unit_test(restored_while_asleep), cmocka_unit_test(restored_unseen),
        cmocka_unit_test(older_bookmark),        cmocka_unit_test(nothing_happened),
        cmocka_unit_test(may_not_ask),           cmocka_unit_test(no_answer),
        cmocka_unit_test(held_question),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
