/*
 * story_sleep.c - a host that sleeps: its streams are dead without a word, and its copy grows old.
 */
#include "story.h"

/* covers: P5 P3 */
STORY(host_slept, "a host that slept reconnects at once, from where it was")
{
    story_start_watching(s);
    apiserver_fall_silent(s->server); /* it has forgotten the connection */
    apiserver_put(s->server, "default/b");
    sim_sleep(&s->sim, 100 * 1000);
    expect(s, "[   10] pods: the host slept for 100s\n"
              "[   10] pods: watching -> asking (is the server behind version 1?)\n");
    story_pass(s, 20);
    expect(s, "[   20] pods: asking -> watching (from version 1)\n"
              "[   30] add default/b 2\n");
    expect_asked(s, "list '' limit=1; watch '1'; ");
}

STORY(host_nodded_off, "a sleep of some seconds, and one while nothing is open, change nothing")
{
    story_start_watching(s);
    sim_sleep(&s->sim, 4999);
    apiserver_end_with(s->server, INF_ENET, "gone");
    expect(s, "[   10] pods: gone; trying again in 0.8s\n"
              "[   10] pods: watching -> waiting (gone, retry in 800ms)\n");
    sim_sleep(&s->sim, 100 * 1000);
    expect(s, "");
    story_pass(s, 1000);
    expect(s, "[  810] pods: waiting -> asking (is the server behind version 1?)\n"
              "[  820] pods: asking -> watching (from version 1)\n");
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
    expect(s, "[   10] pods: the host slept for 3600s\n"
              "[   10] pods: watching -> asking (is the server behind version 1?)\n");
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
              "[   10] pods: watching -> watching (from version 1)\n"
              "[   20] pods: connection refused; trying again in 0.8s\n"
              "[   20] pods: watching -> waiting (connection refused, retry in 800ms)\n"
              "[  820] pods: waiting -> asking (is the server behind version 1?)\n"
              "[  830] pods: asking -> watching (from version 1)\n");
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
    expect(s, "[50010] pods: the host slept for 60s\n"
              "[50010] pods: watching -> asking (is the server behind version 1?)\n"
              "[50020] pods: asking -> watching (from version 1)\n"
              "[90010] pods: nothing heard for 150s\n"
              "[90010] stale (nothing heard for 150s)\n");
}

/* covers: P5 */
STORY(slept_too_long,
      "who slept for too long has a stale copy on waking, until the server is heard")
{
    story_start_watching(s);
    s->server->version++;           /* other resources change: the same version would be a sign */
    sim_sleep(&s->sim, 151 * 1000); /* a stream without bookmarks might be silent for longer */
    expect(s, "[   10] pods: the host slept for 151s\n"
              "[   10] pods: watching -> asking (is the server behind version 1?)\n"
              "[   10] pods: nothing heard for 151s\n"
              "[   10] stale (nothing heard for 151s)\n");
    sim_sleep(&s->sim, 49 * 1000); /* and once more, before it was */
    expect(s, "[   10] pods: the host slept for 49s\n"
              "[   10] pods: asking -> asking (is the server behind version 1?)\n");
    story_pass(s, 20);
    apiserver_bookmark(s->server);
    expect(s, "[   20] pods: asking -> watching (from version 1)\n"
              "[   30] pods: heard again after 200s\n"
              "[   30] recovered (heard again after 200s)\n");
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
    expect(s, "[   10] pods: connection lost; trying again in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n"
              "[  810] pods: waiting -> asking (is the server behind version 1?)\n"
              "[  820] pods: connection refused; trying again in 100.0s\n"
              "[  820] pods: asking -> waiting (connection refused, retry in 100000ms)\n"
              "[90010] pods: nothing heard for 150s: connection refused\n"
              "[90010] stale (nothing heard for 150s: connection refused)\n");
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
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
