/*
 * A first sync, a live watch, and every way a stream ends that the engine knows so far.
 */
#include "story.h"

/* covers: 8/1 8/5 8/24 8/61 8/64 8/69 8/71 8/62 P1 P2 */
STORY(first_sync,
      "what is there is told once, in the server's order, then synced, then changes as they come")
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
STORY(empty, "nothing there is synced, too")
{
    story_start(s);
    story_pass(s, 10);
    expect(s, "[    0] pods: idle -> filling (start)\n"
              "[   10] pods: filling -> watching (0 objects at resourceVersion 0)\n"
              "[   10] synced\n");
}

/* covers: 8/37 8/123 P4 */
STORY(normal_end,
      "a stream that the server ends is reopened at once, from where it was; nothing is told twice")
{
    story_start_watching(s);
    apiserver_end(s->server);
    story_pass(s, 10);
    expect(s, "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 1)\n");
    apiserver_put(s->server, "default/a");
    expect(s, "[   20] update default/a 2\n");
}

/* covers: 1.6/clean-eof P7 */
STORY(
    hot_proxy,
    "a proxy that ends each stream is not asked more than five times in ten seconds without a pause")
{
    story_start_watching(s);
    for (int i = 0; i < 6; i++) {
        apiserver_end(s->server);
        story_pass(s, 10);
    }
    expect(s, "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 1)\n"
              "[   20] pods: the server ended the watch\n"
              "[   20] pods: watching -> watching (from resourceVersion 1)\n"
              "[   30] pods: the server ended the watch\n"
              "[   30] pods: watching -> watching (from resourceVersion 1)\n"
              "[   40] pods: the server ended the watch\n"
              "[   40] pods: watching -> watching (from resourceVersion 1)\n"
              "[   50] pods: the server ended the watch\n"
              "[   50] pods: watching -> watching (from resourceVersion 1)\n"
              "[   60] pods: the server ended the watch; retrying in 0.8s\n"
              "[   60] pods: watching -> waiting (the server ended the watch, retry in 800ms)\n");
}

/* covers: 1.6/unexpected-eof 8/78 P3 */
STORY(cut,
      "a lost connection costs a pause, and what happened meanwhile is told as if nothing had been")
{
    story_start_watching(s);
    apiserver_cut(s->server);
    expect(s, "[   10] pods: connection lost; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n");
    apiserver_put(s->server, "default/b");
    apiserver_delete(s->server, "default/a");
    story_pass(s, 820);
    expect(s, "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[  820] pods: checking -> watching (from resourceVersion 1)\n"
              "[  830] add default/b 2\n"
              "[  830] delete default/a 3\n");
}

/* covers: 8/70 8/59 8/60 8/124 8/66 P3 P4 */
STORY(gone, "an expired version costs one relist and tells only the differences, deletes first")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    expect(s, "[   10] add default/b 2\n");
    apiserver_cut(s->server);
    expect(s, "[   10] pods: connection lost; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n");
    apiserver_delete(s->server, "default/b");
    apiserver_put(s->server, "default/c");
    apiserver_compact(s->server);
    story_pass(s, 830);
    expect(s, "[  810] pods: waiting -> checking (compare with resourceVersion 2)\n"
              "[  820] pods: checking -> watching (from resourceVersion 2)\n"
              "[  830] pods: too old resource version: 2 (5)\n"
              "[  830] pods: watching -> filling (too old resource version: 2 (5))\n"
              "[  840] pods: filling -> watching (2 objects at resourceVersion 5)\n"
              "[  840] gap: relist (too old resource version: 2 (5))\n"
              "[  840] delete default/b 2 (relist) last state unknown\n"
              "[  840] add default/c 4 (relist)\n");
    expect_store(s, "default/a default/c");
}

/* covers: 8/130 8/60 P4 */
STORY(recreated, "a name that comes back with another uid is another object: deleted, then added")
{
    story_start_watching(s);
    apiserver_cut(s->server);
    expect(s, "[   10] pods: connection lost; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n");
    apiserver_delete(s->server, "default/a");
    apiserver_put(s->server, "default/a");
    apiserver_compact(s->server);
    story_pass(s, 830);
    expect(s, "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[  820] pods: checking -> watching (from resourceVersion 1)\n"
              "[  830] pods: too old resource version: 1 (4)\n"
              "[  830] pods: watching -> filling (too old resource version: 1 (4))\n"
              "[  840] pods: filling -> watching (1 object at resourceVersion 4)\n"
              "[  840] gap: relist (too old resource version: 1 (4))\n"
              "[  840] delete default/a 1 (relist) last state unknown\n"
              "[  840] add default/a 3 (relist)\n");
}

/* covers: 8/10 8/128 8/129 1.6/open-refused */
STORY(
    refused,
    "a server that refuses is asked ever less often, up to each half minute, and as soon as it says so")
{
    apiserver_refuse(s->server, 8, INF_ENET, 0, "connection refused");
    story_start(s);
    story_pass(s, 100000);
    expect(s, "[    0] pods: idle -> filling (start)\n"
              "[   10] pods: connection refused; retrying in 0.8s\n"
              "[   10] pods: filling -> waiting (connection refused, retry in 800ms)\n"
              "[  810] pods: waiting -> filling (retry)\n"
              "[  820] pods: connection refused; retrying in 1.6s\n"
              "[  820] pods: filling -> waiting (connection refused, retry in 1600ms)\n"
              "[ 2420] pods: waiting -> filling (retry)\n"
              "[ 2430] pods: connection refused; retrying in 3.2s\n"
              "[ 2430] pods: filling -> waiting (connection refused, retry in 3200ms)\n"
              "[ 5630] pods: waiting -> filling (retry)\n"
              "[ 5640] pods: connection refused; retrying in 6.4s\n"
              "[ 5640] pods: filling -> waiting (connection refused, retry in 6400ms)\n"
              "[12040] pods: waiting -> filling (retry)\n"
              "[12050] pods: connection refused; retrying in 12.8s\n"
              "[12050] pods: filling -> waiting (connection refused, retry in 12800ms)\n"
              "[24850] pods: waiting -> filling (retry)\n"
              "[24860] pods: connection refused; retrying in 25.6s\n"
              "[24860] pods: filling -> waiting (connection refused, retry in 25600ms)\n"
              "[50460] pods: waiting -> filling (retry)\n"
              "[50470] pods: connection refused; retrying in 30.0s\n"
              "[50470] pods: filling -> waiting (connection refused, retry in 30000ms)\n"
              "[80470] pods: waiting -> filling (retry)\n"
              "[80480] pods: connection refused; retrying in 30.0s\n"
              "[80480] pods: filling -> waiting (connection refused, retry in 30000ms)\n");
}

/* covers: 8/35 8/12 1.6/open-retry-after */
STORY(told_to_wait, "a server that says how long to wait is obeyed")
{
    apiserver_refuse(s->server, 1, INF_ETHROTTLED, 7000, "too many requests");
    story_start(s);
    story_pass(s, 7020);
    expect(s, "[    0] pods: idle -> filling (start)\n"
              "[   10] pods: too many requests; retrying in 7.0s\n"
              "[   10] pods: filling -> waiting (too many requests, retry in 7000ms)\n"
              "[ 7010] pods: waiting -> filling (retry)\n"
              "[ 7020] pods: filling -> watching (0 objects at resourceVersion 0)\n"
              "[ 7020] synced\n");
}

/* covers: 8/122 P5 */
STORY(dead_peer,
      "a stream that sent bookmarks and falls silent is given up after two and a half minutes")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/a");
    apiserver_bookmark(s->server);
    expect(s, "[   10] update default/a 2\n");
    apiserver_fall_silent(s->server);
    apiserver_put(s->server, "default/b");
    story_pass(s, 150000);
    expect(s, "[150010] pods: no data received for 150s; retrying in 0.8s\n"
              "[150010] pods: watching -> waiting (no data received for 150s, retry in "
              "800ms)\n"
              "[150010] pods: no data received for 150s: no data received for 150s\n"
              "[150010] stale (no data received for 150s: no data received for 150s)\n");
    story_pass(s, 820);
    expect(s, "[150810] pods: waiting -> checking (compare with resourceVersion 3)\n"
              "[150820] pods: checking -> watching (from resourceVersion 3)\n"
              "[150830] pods: data received again after 150s\n"
              "[150830] recovered (data received again after 150s)\n"
              "[150830] add default/b 4\n");
}

/* covers: 8/29 8/41 */
STORY(endless_list,
      "a streaming list that never says it is complete is given up for good, and listed instead")
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
    expect_asked(s, "watch-list ''; list '0' limit=500; watch '1'; ");
}

/* covers: 8/97 */
STORY(no_version,
      "an object without a resourceVersion is refused: going on from nowhere would lose changes")
{
    story_start_watching(s);
    apiserver_put_text(s->server, "{\"metadata\":{\"name\":\"odd\",\"namespace\":\"default\"}}");
    expect(s,
           "[   10] pods: the server sent an event without a resourceVersion; retrying in "
           "0.8s\n"
           "[   10] pods: watching -> waiting (the server sent an event without a resourceVersion"
           ", retry in 800ms)\n");
}

/* covers: 8/126 P6 */
STORY(held, "while held nothing is read and nothing is given up; on release the stream goes on")
{
    story_start_watching(s);
    inf_handler_pause(&s->handler);
    s->handler.max_events = 1;
    apiserver_put(s->server, "default/b");
    apiserver_put(s->server, "default/c");
    apiserver_put(s->server, "default/d"); /* this one is not read any more */
    story_pass(s, 3600000);
    expect(s, "");
    assert_int_equal(inf_handler_backlog(&s->handler), 2);
    inf_handler_resume(&s->handler);
    expect(s, "[3600010] add default/b 2\n"
              "[3600010] add default/c 3\n"
              "[3600010] add default/d 4\n");
}

/* covers: 8/4 8/6 1.6/stop */
STORY(stopped_filling,
      "the informer can be stopped in every state, and says nothing afterwards: before an answer")
{
    story_start(s);
    expect(s, "[    0] pods: idle -> filling (start)\n");
    story_stop(s);
    story_pass(s, 100000);
    expect(s, "[    0] pods: filling -> closed (stop)\n");
}

/* covers: 1.6/stop */
STORY(stopped_waiting, "... while it waits to try again")
{
    apiserver_refuse(s->server, 1, INF_ENET, 0, "connection refused");
    story_start(s);
    story_pass(s, 10);
    story_stop(s);
    story_pass(s, 100000);
    expect(s, "[    0] pods: idle -> filling (start)\n"
              "[   10] pods: connection refused; retrying in 0.8s\n"
              "[   10] pods: filling -> waiting (connection refused, retry in 800ms)\n"
              "[   10] pods: waiting -> closed (stop)\n");
}

/* covers: 8/9 8/67 1.6/stop */
STORY(stopped_watching, "... and with changes on their way")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    story_stop(s);
    apiserver_put(s->server, "default/c");
    story_pass(s, 100000);
    expect(s, "[   10] pods: watching -> closed (stop)\n");
}

/* covers: P1 P6 */
STORY(left_out,
      "what is in a namespace that is left out is neither kept nor told, and moves the version on")
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
    expect_asked(s, "watch-list ''; ");
    apiserver_end(s->server);
    story_pass(s, 10);
    expect_asked(s, "watch '6'; ");
    expect(s, "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 6)\n");
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(first_sync),
        cmocka_unit_test(empty),
        cmocka_unit_test(normal_end),
        cmocka_unit_test(left_out),
        cmocka_unit_test(hot_proxy),
        cmocka_unit_test(cut),
        cmocka_unit_test(gone),
        cmocka_unit_test(recreated),
        cmocka_unit_test(refused),
        cmocka_unit_test(told_to_wait),
        cmocka_unit_test(dead_peer),
        cmocka_unit_test(endless_list),
        cmocka_unit_test(no_version),
        cmocka_unit_test(held),
        cmocka_unit_test(stopped_filling),
        cmocka_unit_test(stopped_waiting),
        cmocka_unit_test(stopped_watching),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
