/*
 * story_blind.c - watches that show nothing, behind a proxy that buffers answers, while objects change.
 */
#include <stdlib.h>

#include "story.h"

enum {
    MINUTE_MS = 60 * 1000,
    HOUR_MS = 60 * MINUTE_MS,
};

/* One object, default/a, and from now on every watch ends at once without a byte. */
static void start_behind_a_buffer(struct story *s)
{
    story_start_watching(s);
    s->server->blind = APISERVER_ENDS_EMPTY;
}

/* covers: P1 P3 P5 P7 */
STORY(empty_watches_and_a_newer_version_cause_a_list,
      "if every watch ends empty and the server's version is newer, the objects are listed again")
{
    start_behind_a_buffer(s);
    story_pass(s, 12 * 1000);
    buf_clear(&s->lines);
    free(apiserver_take_requests(s->server));
    apiserver_put(s->server, "default/b");
    story_pass(s, 130);
    expect(
        s,
        "[12090] pods: waiting -> watching (from resourceVersion 1)\n"
        "[12100] pods: the server ended the watch\n"
        "[12100] pods: watching -> checking (compare with resourceVersion 1)\n"
        "[12110] pods: checking -> watching (from resourceVersion 1)\n"
        "[12120] pods: the server has a newer resourceVersion than 1, but its watches deliver no events; relisting\n",
        RELISTS("12120", "the server ended the watch"),
        "[12130] pods: filling -> watching (2 objects at resourceVersion 2)\n"
        "[12130] gap: relist (the server has a newer resourceVersion than 1, but its watches deliver no events)\n"
        "[12130] add default/b 2 (relist)\n",
        REOPENED("12130", "2"), REOPENED("12140", "2"));
    expect_requests(
        s, "watch '1'; list '' limit=1; watch '1'; watch-list '1'; watch '2'; watch '2'; ");
    expect_store(s, "default/a default/b");
}

/* Other resources change: the cluster's version moves on, and there is nothing of ours to show. */
static void pass_while_others_change(struct story *s, uint64_t ms)
{
    for (uint64_t passed = 0; passed < ms; passed += MINUTE_MS) {
        s->server->version++;
        story_pass(s, MINUTE_MS);
    }
}

/* covers: P5 P7 */
STORY(
    lists_without_a_difference_become_rare,
    "lists that find no difference are made at doubling intervals, and the cache is stale in between")
{
    start_behind_a_buffer(s);
    pass_while_others_change(s, 40 * MINUTE_MS);
    expect_events(
        s,
        "[12130] gap: relist (the server has a newer resourceVersion than 1, but its watches deliver no events)\n"
        "[200650] stale (no data received for 150s)\n"
        "[321280] gap: relist (the server has a newer resourceVersion than 2, but its watches deliver no events)\n"
        "[321280] recovered (data received again after 270s)\n"
        "[501340] stale (no data received for 150s)\n"
        "[922670] gap: relist (the server has a newer resourceVersion than 7, but its watches deliver no events)\n"
        "[922670] recovered (data received again after 571s)\n"
        "[1102730] stale (no data received for 150s)\n"
        "[2125460] gap: relist (the server has a newer resourceVersion than 17, but its watches deliver no events)\n"
        "[2125460] recovered (data received again after 1172s)\n"
        "[2305520] stale (no data received for 150s)\n");
}

/* covers: P5 P7 */
STORY(
    the_same_version_proves_that_nothing_changed,
    "a server that is at our version proves that nothing has changed, even if its watches end empty")
{
    start_behind_a_buffer(s);
    story_pass(s, 2 * HOUR_MS);
    expect_events(s, "");
}

/* covers: P5 */
STORY(
    a_cache_that_can_not_be_listed_stays_stale,
    "if the objects can't be listed either, the cache becomes stale and does not recover by itself")
{
    start_behind_a_buffer(s);
    story_pass(s, MINUTE_MS);
    s->server->refuse_lists = true;
    pass_while_others_change(s, HOUR_MS);
    expect_events(s, "[200650] stale (no data received for 150s: no lists today)\n");
}

/* covers: P1 P3 P5 */
STORY(silent_watches_hide_changes_for_two_watches_at_most,
      "changes that silent watches hide are found after two of them")
{
    s->settings.reflector.no_watch_list = true;
    apiserver_put(s->server, "default/a");
    story_start(s);
    s->server->blind = APISERVER_SHOWS_NOTHING;
    story_pass(s, 100 * 1000);
    apiserver_put(s->server, "default/b");
    for (int i = 0; i < 4; i++) {
        story_pass(s, 200 * 1000);
        apiserver_end(s->server);
    }
    expect_events(
        s,
        "[   10] add default/a 1 (initial)\n"
        "[   10] synced\n"
        "[500010] gap: relist (the server has a newer resourceVersion than 1, but its watches deliver no events)\n"
        "[500010] add default/b 2 (relist)\n"
        "[650010] stale (no data received for 150s)\n"
        "[700010] recovered (data received again after 200s)\n"
        "[850010] stale (no data received for 150s)\n");
}

/* covers: P5 P7 */
STORY(a_quiet_resource_without_bookmarks_is_not_stale,
      "a quiet resource of a server that sends no bookmarks is not stale, and is listed rarely")
{
    s->settings.reflector.no_watch_list = true;
    apiserver_put(s->server, "default/a");
    story_start(s);
    for (int i = 0; i < 24; i++) {
        pass_while_others_change(s, 5 * MINUTE_MS);
        apiserver_end(s->server);
    }
    expect_events(
        s,
        "[   10] add default/a 1 (initial)\n"
        "[   10] synced\n"
        "[600010] gap: relist (the server has a newer resourceVersion than 2, but its watches deliver no events)\n"
        "[1200010] gap: relist (the server has a newer resourceVersion than 12, but its watches deliver no events)\n"
        "[2100010] gap: relist (the server has a newer resourceVersion than 22, but its watches deliver no events)\n"
        "[3600010] gap: relist (the server has a newer resourceVersion than 37, but its watches deliver no events)\n"
        "[5100010] gap: relist (the server has a newer resourceVersion than 62, but its watches deliver no events)\n"
        "[6600010] gap: relist (the server has a newer resourceVersion than 87, but its watches deliver no events)\n");
}

/* covers: P5 */
STORY(opening_a_watch_that_ends_at_once_is_no_sign_of_life,
      "a watch that is accepted and ends at once is no sign of life, with or without bookmarks")
{
    s->settings.reflector.no_watch_list = true;
    apiserver_put(s->server, "default/a");
    story_start(s);
    s->server->blind = APISERVER_ENDS_EMPTY;
    pass_while_others_change(s, 40 * MINUTE_MS);
    expect_events(
        s,
        "[   10] add default/a 1 (initial)\n"
        "[   10] synced\n"
        "[80750] gap: relist (the server has a newer resourceVersion than 2, but its watches deliver no events)\n"
        "[260810] stale (no data received for 150s)\n"
        "[381440] gap: relist (the server has a newer resourceVersion than 3, but its watches deliver no events)\n"
        "[381440] recovered (data received again after 270s)\n"
        "[561510] stale (no data received for 150s)\n"
        "[982840] gap: relist (the server has a newer resourceVersion than 8, but its watches deliver no events)\n"
        "[982840] recovered (data received again after 571s)\n"
        "[1162910] stale (no data received for 150s)\n"
        "[2185640] gap: relist (the server has a newer resourceVersion than 18, but its watches deliver no events)\n"
        "[2185640] recovered (data received again after 1172s)\n"
        "[2365710] stale (no data received for 150s)\n");
}

/* covers: P5 */
STORY(the_end_of_a_silent_watch_does_not_make_the_cache_fresh,
      "a watch that was silent until the cache was stale does not make it fresh by its end")
{
    story_start_watching(s);
    s->server->blind = APISERVER_SHOWS_NOTHING;
    apiserver_progress(s->server);
    story_pass(s, 200 * 1000);
    s->server->version++;
    apiserver_end(s->server);
    story_pass(s, 1000);
    expect(s, STALE("150010", "no data received for 150s"),
           "[200010] pods: the server ended the watch\n"
           "[200010] pods: watching -> checking (compare with resourceVersion 1)\n"
           "[200020] pods: checking -> watching (from resourceVersion 1)\n");
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(empty_watches_and_a_newer_version_cause_a_list),
        cmocka_unit_test(lists_without_a_difference_become_rare),
        cmocka_unit_test(the_same_version_proves_that_nothing_changed),
        cmocka_unit_test(a_cache_that_can_not_be_listed_stays_stale),
        cmocka_unit_test(silent_watches_hide_changes_for_two_watches_at_most),
        cmocka_unit_test(a_quiet_resource_without_bookmarks_is_not_stale),
        cmocka_unit_test(opening_a_watch_that_ends_at_once_is_no_sign_of_life),
        cmocka_unit_test(the_end_of_a_silent_watch_does_not_make_the_cache_fresh),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
