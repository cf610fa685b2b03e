/*
 * Every way a watch ends, row by row, and what follows.
 *
 * `covers:` names the row of the table of faults, the promise or the upstream test that a story
 * stands for; test/story/coverage.py makes a table of them and fails on an empty cell.
 */
#include "story.h"

/* covers: 1.6/clean-eof 8/2 */
STORY(
    clean_end,
    "a stream that ends as it should is reopened at once from the last version, and never relisted")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    apiserver_end(s->server);
    story_pass(s, 10);
    expect(s, "[   10] add default/b 2\n"
              "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 2)\n");
    expect_asked(s, "watch '2'; ");
}

/* covers: 1.6/empty-short-eof 8/7 8/8 P7 */
STORY(
    empty_ends,
    "streams that end at once without an event are asked for a few times, then with growing pauses")
{
    story_start_watching(s);
    for (int i = 0; i < 6; i++) {
        apiserver_end(s->server);
        story_pass(s, 10);
    }
    expect_asked(s, "watch '1'; watch '1'; watch '1'; watch '1'; watch '1'; ");
    story_pass(s, 800);
    expect_asked(s, "watch '1'; ");
    buf_clear(&s->said);
}

/* covers: 1.6/unexpected-eof 8/51 */
STORY(
    cut_in_the_middle,
    "a stream cut in the middle of an event resumes: what was whole is kept, the part is forgotten")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    apiserver_end_with(s->server, INF_ECUT, "the watch ended in the middle of an event");
    story_pass(s, 1000);
    expect(s, "[   10] add default/b 2\n"
              "[   10] pods: the watch ended in the middle of an event; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (the watch ended in the middle of an event, retry "
              "in 800ms)\n"
              "[  810] pods: waiting -> checking (compare with resourceVersion 2)\n"
              "[  820] pods: checking -> watching (from resourceVersion 2)\n");
    expect_asked(s, "list '' limit=1; watch '2'; ");
}

/* covers: 1.6/malformed 8/3 8/141 */
STORY(broken_framing,
      "an answer that can't be cut into events costs a relist, and nothing is lost by it")
{
    story_start_watching(s);
    apiserver_end_with(s->server, INF_EDECODE, "not JSON");
    story_pass(s, 0);
    expect(s, "[   10] pods: not JSON; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (not JSON, retry in 800ms)\n");
    apiserver_put(s->server, "default/b");
    story_pass(s, 810);
    expect(s, "[  810] pods: waiting -> filling (retry)\n"
              "[  820] pods: filling -> watching (2 objects at resourceVersion 2)\n"
              "[  820] gap: relist (not JSON)\n"
              "[  820] add default/b 2 (relist)\n");
    expect_asked(s, "watch-list '1'; ");
}

/* covers: 1.6/malformed P3 8/141 8/25 */
STORY(
    unreadable_object,
    "an object that can't be read is skipped and reported; the stream goes on, and nothing is listed")
{
    story_start_watching(s);
    s->server->poison = "default/b";
    apiserver_put(s->server, "default/b");
    apiserver_put(s->server, "default/c");
    story_pass(s, 5000);
    expect(s, "[   10] pods: object skipped: default/b (resourceVersion 2)\n"
              "[   10] gap: skipped (default/b (resourceVersion 2); not in the cache)\n"
              "[   10] add default/c 3\n");
    expect_asked(s, "");
    expect_store(s, "default/a default/c");
    assert_int_equal(s->pipeline.reflector.counts.skipped, 1);
}

/* covers: 1.6/malformed P3 P7 */
STORY(unreadable_once_per_version,
      "an object that can't be read is reported once per version, however often it is sent")
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
    expect_told(s, "[   10] gap: skipped (default/b (resourceVersion 2); not in the cache)\n"
                   "[  840] gap: relist (too old resource version: 2 (3))\n"
                   "[ 6640] gap: relist (too old resource version: 3 (4))\n"
                   "[10010] gap: skipped (default/b (resourceVersion 5); not in the cache)\n");
    assert_int_equal(s->pipeline.reflector.counts.skipped, 2);
}

/* covers: 1.6/malformed P1 P3 P4 */
STORY(unreadable_after_it_was_read,
      "of an object that can't be read any more the last state stays, also after a relist")
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
    expect_told(
        s,
        "[   10] add default/b 2\n"
        "[   10] gap: skipped (default/b (resourceVersion 3); the cache keeps resourceVersion 2)\n"
        "[  840] gap: relist (too old resource version: 3 (4))\n");
    s->server->poison = NULL;
    apiserver_put_n(s->server, "default/b", 8);
    expect_told(s, "[ 5010] update default/b 5\n");
}

/* covers: 1.6/malformed P3 */
STORY(unreadable_deletion,
      "the deletion of an object that can't be read is reported with the last state that could")
{
    story_start_watching(s);
    s->server->poison = "default/a";
    apiserver_delete(s->server, "default/a");
    story_pass(s, 1000);
    expect_store(s, "");
    expect_told(s, "[   10] delete default/a 1 last state unknown\n");
}

/* covers: 1.6/malformed P3 */
STORY(replaced_by_an_unreadable_one,
      "an object whose name is now that of another one that can't be read is reported as deleted")
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
    expect_told(s, "[ 2450] gap: skipped (default/a (resourceVersion 3); not in the cache)\n"
                   "[ 2450] gap: relist (too old resource version: 1 (4))\n"
                   "[ 2450] delete default/a 1 (relist) last state unknown\n");
}

/* covers: 1.6/gone-in-stream 8/20 8/38 P3 P4 */
STORY(gone_in_stream, "an ERROR 410 in the stream relists at once; only the differences are told")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    apiserver_end_with(s->server, INF_EGONE, "too old resource version");
    story_pass(s, 20);
    expect(s, "[   10] add default/b 2\n"
              "[   10] pods: too old resource version\n"
              "[   10] pods: watching -> filling (too old resource version)\n"
              "[   20] pods: filling -> watching (2 objects at resourceVersion 2)\n"
              "[   20] gap: relist (too old resource version)\n");
    expect_asked(s, "watch-list '2'; ");
}

/* covers: 1.6/gone-in-stream P7 */
STORY(gone_again_and_again,
      "a second 410 before things went well waits: no server is asked in a loop")
{
    story_start_watching(s);
    apiserver_end_with(s->server, INF_EGONE, "too old");
    story_pass(s, 10);
    apiserver_end_with(s->server, INF_EGONE, "too old");
    story_pass(s, 1000);
    expect(s, "[   10] pods: too old\n"
              "[   10] pods: watching -> filling (too old)\n"
              "[   20] pods: filling -> watching (1 object at resourceVersion 1)\n"
              "[   20] gap: relist (too old)\n"
              "[   20] pods: too old; retrying in 0.8s\n"
              "[   20] pods: watching -> waiting (too old, retry in 800ms)\n"
              "[  820] pods: waiting -> filling (retry)\n"
              "[  830] pods: filling -> watching (1 object at resourceVersion 1)\n"
              "[  830] gap: relist (too old)\n");
}

/* covers: 1.6/throttled-in-stream 8/12 8/13 P7 */
STORY(throttled_in_stream,
      "an ERROR 429 in the stream waits as long as it says, then resumes; it does not relist")
{
    story_start_watching(s);
    apiserver_end_with(s->server, INF_ETHROTTLED, "too many requests");
    s->server->end.retry_after_ms = 3000;
    story_pass(s, 4000);
    expect(s, "[   10] pods: too many requests; retrying in 3.0s\n"
              "[   10] pods: watching -> waiting (too many requests, retry in 3000ms)\n"
              "[ 3010] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[ 3020] pods: checking -> watching (from resourceVersion 1)\n");
    expect_asked(s, "list '' limit=1; watch '1'; ");
}

/* covers: 1.6/internal-in-stream 1.6/error-in-stream 8/14 8/97 */
STORY(server_error_in_stream,
      "an ERROR 500 or 504 in the stream waits and resumes: the version is as good as before")
{
    story_start_watching(s);
    apiserver_end_with(s->server, INF_ESERVER, "internal error");
    story_pass(s, 1000);
    expect(s, "[   10] pods: internal error; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (internal error, retry in 800ms)\n"
              "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[  820] pods: checking -> watching (from resourceVersion 1)\n");
}

/* The server breaks off, and is away for one try. */
static void restart_server(struct story *s)
{
    apiserver_refuse(s->server, 1, INF_ENET, 0, "refused");
    apiserver_cut(s->server);
}

/* covers: P7 */
STORY(restarts_in_a_row,
      "a server that is restarted again and again, but tells something in between, is found as "
      "quickly each time")
{
    story_start_watching(s);
    restart_server(s);
    story_pass(s, 2430);
    expect(s, "[   10] pods: connection lost; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n"
              "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[  820] pods: refused; retrying in 1.6s\n"
              "[  820] pods: checking -> waiting (refused, retry in 1600ms)\n"
              "[ 2420] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[ 2430] pods: checking -> watching (from resourceVersion 1)\n");
    apiserver_put(s->server, "default/b");
    story_pass(s, 1000);
    restart_server(s);
    story_pass(s, 2430);
    expect(s, "[ 2440] add default/b 2\n"
              "[ 3440] pods: connection lost; retrying in 0.8s\n"
              "[ 3440] pods: watching -> waiting (connection lost, retry in 800ms)\n"
              "[ 4240] pods: waiting -> checking (compare with resourceVersion 2)\n"
              "[ 4250] pods: refused; retrying in 1.6s\n"
              "[ 4250] pods: checking -> waiting (refused, retry in 1600ms)\n"
              "[ 5850] pods: waiting -> checking (compare with resourceVersion 2)\n"
              "[ 5860] pods: checking -> watching (from resourceVersion 2)\n");
}

/* covers: P7 */
STORY(no_news_is_no_success,
      "neither a stream that brings nothing, nor one that breaks off behind its first event, makes "
      "the waits short again; nor do lists that fail")
{
    story_start_watching(s);
    apiserver_cut(s->server);
    story_pass(s, 1800); /* 0.8 s, then alive for 1 s, without a word */
    apiserver_cut(s->server);
    story_pass(s, 1630);
    apiserver_put(s->server, "default/b");
    story_pass(s, 900);
    apiserver_cut(s->server); /* before its second is over */
    story_pass(s, 3220);
    apiserver_put(s->server, "default/c");
    story_pass(s, 1000);
    apiserver_end_with(s->server, INF_EDECODE, "rubbish");
    expect(s, "[   10] pods: connection lost; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n"
              "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[  820] pods: checking -> watching (from resourceVersion 1)\n"
              "[ 1810] pods: connection lost; retrying in 1.6s\n"
              "[ 1810] pods: watching -> waiting (connection lost, retry in 1600ms)\n"
              "[ 3410] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[ 3420] pods: checking -> watching (from resourceVersion 1)\n"
              "[ 3440] add default/b 2\n"
              "[ 4340] pods: connection lost; retrying in 3.2s\n"
              "[ 4340] pods: watching -> waiting (connection lost, retry in 3200ms)\n"
              "[ 7540] pods: waiting -> checking (compare with resourceVersion 2)\n"
              "[ 7550] pods: checking -> watching (from resourceVersion 2)\n"
              "[ 7560] add default/c 3\n"
              "[ 8560] pods: rubbish; retrying in 6.4s\n"
              "[ 8560] pods: watching -> waiting (rubbish, retry in 6400ms)\n");
}

/* covers: P7 */
STORY(slow_failures, "a list that fails after a long time has failed: the waits grow all the same")
{
    apiserver_put(s->server, "default/a");
    s->server->withhold_end = true;
    story_start(s);
    story_pass(s, 12 * 1000);
    apiserver_cut(s->server);
    story_pass(s, 12 * 1000);
    apiserver_cut(s->server);
    expect(s, "[    0] pods: idle -> filling (start)\n"
              "[12000] pods: connection lost; retrying in 0.8s\n"
              "[12000] pods: filling -> waiting (connection lost, retry in 800ms)\n"
              "[12800] pods: waiting -> filling (retry)\n"
              "[24000] pods: connection lost; retrying in 1.6s\n"
              "[24000] pods: filling -> waiting (connection lost, retry in 1600ms)\n");
}

/* covers: 1.6/open-refused 8/10 8/13 8/35 P7 */
STORY(refused_while_reopening,
      "nobody answers when the watch is reopened: ever longer waits, no relist")
{
    story_start_watching(s);
    apiserver_refuse(s->server, 3, INF_ENET, 0, "connection refused");
    apiserver_end(s->server);
    story_pass(s, 10000);
    expect(s, "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 1)\n"
              "[   20] pods: connection refused; retrying in 0.8s\n"
              "[   20] pods: watching -> waiting (connection refused, retry in 800ms)\n"
              "[  820] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[  830] pods: connection refused; retrying in 1.6s\n"
              "[  830] pods: checking -> waiting (connection refused, retry in 1600ms)\n"
              "[ 2430] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[ 2440] pods: connection refused; retrying in 3.2s\n"
              "[ 2440] pods: checking -> waiting (connection refused, retry in 3200ms)\n"
              "[ 5640] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[ 5650] pods: checking -> watching (from resourceVersion 1)\n");
    expect_asked(s, "watch '1'; list '' limit=1; list '' limit=1; list '' limit=1; watch '1'; ");
}

/* covers: 1.6/open-cut 8/45 8/50 */
STORY(cut_before_the_answer,
      "a connection that dies before the answer is no end of the world, and no empty watch either")
{
    story_start_watching(s);
    apiserver_refuse(s->server, 1, INF_ECUT, 0, "closed the connection before it answered");
    apiserver_end(s->server);
    apiserver_put(s->server, "default/b");
    story_pass(s, 1000);
    expect(s, "[   10] add default/b 2\n"
              "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 2)\n"
              "[   20] pods: closed the connection before it answered; retrying in 0.8s\n"
              "[   20] pods: watching -> waiting (closed the connection before it answered, retry "
              "in 800ms)\n"
              "[  820] pods: waiting -> checking (compare with resourceVersion 2)\n"
              "[  830] pods: checking -> watching (from resourceVersion 2)\n");
}

/* covers: 1.6/open-retry-after 8/46 8/47 P7 */
STORY(server_says_how_long,
      "a 503 with Retry-After is obeyed, but not for longer than five minutes")
{
    story_start_watching(s);
    s->server->version++; /* other resources change: the same version would be a sign */
    apiserver_refuse(s->server, 1, INF_ESERVER, 3600 * 1000, "shutting down");
    apiserver_end(s->server);
    story_pass(s, 300 * 1000 + 100);
    expect(s, "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 1)\n"
              "[   20] pods: shutting down; retrying in 300.0s\n"
              "[   20] pods: watching -> waiting (shutting down, retry in 300000ms)\n"
              "[150010] pods: no data received for 150s: shutting down\n"
              "[150010] stale (no data received for 150s: shutting down)\n"
              "[300020] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[300030] pods: checking -> watching (from resourceVersion 1)\n");
}

/* covers: 1.6/open-error P5 8/38 8/79 */
STORY(gone_when_reopened,
      "an expired version at reopening relists at once, from a list not older than what we have")
{
    story_start_watching(s);
    apiserver_cut(s->server);
    sim_run(&s->sim);
    apiserver_compact(s->server);
    story_pass(s, 1000);
    expect(s, "[   10] pods: connection lost; retrying in 0.8s\n"
              "[   10] pods: watching -> waiting (connection lost, retry in 800ms)\n"
              "[  810] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[  820] pods: checking -> watching (from resourceVersion 1)\n"
              "[  830] pods: too old resource version: 1 (2)\n"
              "[  830] pods: watching -> filling (too old resource version: 1 (2))\n"
              "[  840] pods: filling -> watching (1 object at resourceVersion 2)\n"
              "[  840] gap: relist (too old resource version: 1 (2))\n");
    expect_asked(s, "list '' limit=1; watch '1'; watch-list '1'; ");
}

/* covers: 1.6/open-error P5 8/79 */
STORY(forbidden,
      "401, 403 and TLS failures are told each time, waited out, and heal without a relist")
{
    story_start_watching(s);
    apiserver_refuse(s->server, 1, INF_EFORBIDDEN, 0, "pods is forbidden");
    apiserver_end(s->server);
    story_pass(s, 1000);
    expect(s, "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 1)\n"
              "[   20] pods: pods is forbidden; retrying in 0.8s\n"
              "[   20] pods: watching -> waiting (pods is forbidden, retry in 800ms)\n"
              "[  820] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[  830] pods: checking -> watching (from resourceVersion 1)\n");
}

/* covers: P7 */
STORY(refused_for_good, "what stays refused is asked for calmly, and told again only now and then")
{
    s->log.level = LOG_INFO; /* what people see */
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
STORY(
    not_found,
    "a resource that is no longer there is asked for again as a list, for its objects may be gone")
{
    story_start_watching(s);
    apiserver_refuse(s->server, 1, INF_ENOTFOUND, 0, "not found");
    apiserver_end(s->server);
    story_pass(s, 10);
    apiserver_delete(s->server, "default/a");
    apiserver_compact(s->server);
    story_pass(s, 1000);
    expect(s, "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 1)\n"
              "[   20] pods: not found; retrying in 0.8s\n"
              "[   20] pods: watching -> waiting (not found, retry in 800ms)\n"
              "[  820] pods: waiting -> filling (retry)\n"
              "[  830] pods: filling -> watching (0 objects at resourceVersion 3)\n"
              "[  830] gap: relist (not found)\n"
              "[  830] delete default/a 1 (relist) last state unknown\n");
}

/* covers: P5 P7 */
STORY(comes_later, "a resource that may come later is looked for calmly, and is no fault meanwhile")
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
STORY(taken_away,
      "a resource that is taken away, twice: its objects are told deleted, once each time")
{
    s->settings.reflector.optional = true;
    story_start_watching(s);
    apiserver_refuse(s->server, 2, INF_ENOTFOUND, 0, "not found");
    apiserver_end(s->server);
    story_pass(s, 16 * 1000);
    expect(s, "[   10] pods: the server ended the watch\n"
              "[   10] pods: watching -> watching (from resourceVersion 1)\n"
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
    apiserver_refuse(s->server, 1, INF_ENOTFOUND, 0, "not found");
    apiserver_end(s->server);
    story_pass(s, 2 * 1000);
    expect(s, "[16010] pods: the server ended the watch\n"
              "[16010] pods: watching -> watching (from resourceVersion 1)\n"
              "[16020] pods: resource not found; waiting for it to appear: not found\n"
              "[16020] pods: watching -> waiting (resource not found, next check in 3000ms)\n"
              "[16020] gap: relist (not found)\n"
              "[16020] delete default/a 1 (relist) last state unknown\n");
}

/* covers: P5 8/122 */
STORY(silent_peer,
      "bytes of a part of an event stretch the patience with a silent stream once, no more")
{
    story_start_watching(s);
    s->server->version++; /* other resources change: the same version would be a sign */
    story_pass(s, 100 * 1000);
    apiserver_progress(s->server);
    apiserver_fall_silent(s->server);
    story_pass(s, 400 * 1000);
    expect(s, "[150010] pods: no data received for 150s\n"
              "[150010] stale (no data received for 150s)\n"
              "[300010] pods: no data received for 300s; retrying in 0.8s\n"
              "[300010] pods: watching -> waiting (no data received for 300s, retry in "
              "800ms)\n"
              "[300810] pods: waiting -> checking (compare with resourceVersion 1)\n"
              "[300820] pods: checking -> watching (from resourceVersion 1)\n");
}

/* covers: P1 */
STORY(restored_backup, "a server that went back to an older state is believed, and the gap says so")
{
    story_start_watching(s);
    apiserver_put(s->server, "default/b");
    apiserver_put(s->server, "default/c");
    expect(s, "[   10] add default/b 2\n"
              "[   10] add default/c 3\n");
    apiserver_restore(s->server, 2);
    apiserver_end_with(s->server, INF_EGONE, "the cache was re-made");
    story_pass(s, 2000);
    expect(s, "[   10] pods: the cache was re-made\n"
              "[   10] pods: watching -> filling (the cache was re-made)\n"
              "[   20] pods: Too large resource version; retrying in 0.8s\n"
              "[   20] pods: filling -> waiting (Too large resource version, retry in 800ms)\n"
              "[  820] pods: waiting -> filling (retry)\n"
              "[  830] pods: filling -> watching (2 objects at resourceVersion 2)\n"
              "[  830] gap: rewind (server rewound from resourceVersion 3 to 2)\n"
              "[  830] delete default/c 3 (relist) last state unknown\n");
    expect_asked(s, "watch-list '3'; watch-list ''; ");
    assert_string_equal(inf_store_resource_version(s->pipeline.store), "2");
}

/* covers: 1.6/stop 8/4 8/6 8/9 */
STORY(stop, "stop ends the stream, and nothing is said afterwards")
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
        cmocka_unit_test(clean_end),
        cmocka_unit_test(empty_ends),
        cmocka_unit_test(cut_in_the_middle),
        cmocka_unit_test(broken_framing),
        cmocka_unit_test(unreadable_object),
        cmocka_unit_test(unreadable_once_per_version),
        cmocka_unit_test(unreadable_after_it_was_read),
        cmocka_unit_test(unreadable_deletion),
        cmocka_unit_test(replaced_by_an_unreadable_one),
        cmocka_unit_test(gone_in_stream),
        cmocka_unit_test(gone_again_and_again),
        cmocka_unit_test(throttled_in_stream),
        cmocka_unit_test(server_error_in_stream),
        cmocka_unit_test(restarts_in_a_row),
        cmocka_unit_test(no_news_is_no_success),
        cmocka_unit_test(slow_failures),
        cmocka_unit_test(refused_while_reopening),
        cmocka_unit_test(cut_before_the_answer),
        cmocka_unit_test(server_says_how_long),
        cmocka_unit_test(gone_when_reopened),
        cmocka_unit_test(forbidden),
        cmocka_unit_test(refused_for_good),
        cmocka_unit_test(not_found),
        cmocka_unit_test(comes_later),
        cmocka_unit_test(taken_away),
        cmocka_unit_test(silent_peer),

        cmocka_unit_test(restored_backup),
        cmocka_unit_test(stop),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
