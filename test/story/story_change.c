/*
 * story_change.c - an informer whose watch is changed while it runs: the copy is compared with the
 * first list, and handlers get the differences.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "story.h"

/* The server as seen by another watch. Objects that are created in both in the same order have
 * the same uid and version. */
static struct apiserver *other_watch(struct story *s)
{
    struct apiserver *other = NEW(struct apiserver);
    apiserver_init(other, &s->sim);
    return other;
}

static void other_done(struct story *s, struct apiserver *other)
{
    story_stop(s);
    sim_run(&s->sim);
    apiserver_done(other);
    free(other);
}

/* Delivers default/a, b and c at 10 ms. */
static void start_with_three_objects(struct story *s)
{
    apiserver_put(s->server, "default/a");
    apiserver_put(s->server, "default/b");
    apiserver_put(s->server, "default/c");
    story_start(s);
    story_pass(s, 10);
    sim_run(&s->sim);
    buf_clear(&s->lines);
    expect_requests(s, "watch-list ''; ");
}

STORY(another_selection_is_listed_at_once,
      "another selection is listed at once, and only the differences are reported")
{
    struct apiserver *other = other_watch(s);
    start_with_three_objects(s);
    apiserver_put_n(other, "default/a", 7); /* the same version, in another shape */
    apiserver_put(other, "default/b");
    apiserver_put(other, "default/d");
    apiserver_put(other, "default/b");
    pipeline_change(&s->pipeline, "web", &other->source, &s->settings, "label_selector changed");
    story_pass(s, 10);
    expect(s, "[   10] web: watching -> filling (label_selector changed)\n"
              "[   20] web: filling -> watching (3 objects at resourceVersion 4)\n"
              "[   20] gap: relist (label_selector changed)\n"
              "[   20] delete default/c 3 (relist) last state unknown\n"
              "[   20] update default/b 4 (relist)\n"
              "[   20] add default/d 3 (relist)\n");
    apiserver_put(other, "default/a");
    apiserver_put(s->server, "default/z"); /* no longer watched */
    expect(s, "[   20] update default/a 5\n");
    expect_requests(s, "");
    other_done(s, other);
}

STORY(a_change_before_the_first_list_applies_to_it,
      "a watch that is changed before its first list starts with the new definition")
{
    struct apiserver *other = other_watch(s);
    apiserver_put(s->server, "default/a");
    apiserver_put(other, "default/b");
    story_start(s);
    pipeline_change(&s->pipeline, "web", &other->source, &s->settings, "other");
    story_pass(s, 10);
    expect(s, "[    0] pods: idle -> filling (start)\n"
              "[    0] web: filling -> filling (other)\n"
              "[   10] web: filling -> watching (1 object at resourceVersion 1)\n"
              "[   10] add default/b 1 (initial)\n"
              "[   10] synced\n");
    other_done(s, other);
}

STORY(a_change_does_not_wait_for_a_retry,
      "a change does not wait for a retry, and resets the back-off")
{
    struct apiserver *other = other_watch(s);
    story_start_watching(s);
    apiserver_refuse(s->server, 9, INF_EFORBIDDEN, 0, "forbidden");
    apiserver_end_with(s->server, INF_EFORBIDDEN, "forbidden");
    expect(s, RETRIES("   10", "watching", "forbidden", "0.8s", "800ms"));
    other->version = 1;
    pipeline_change(&s->pipeline, "pods", &other->source, &s->settings, "other");
    story_pass(s, 10);
    expect(s, "[   10] pods: waiting -> filling (other)\n"
              "[   20] pods: filling -> watching (0 objects at resourceVersion 1)\n"
              "[   20] gap: relist (other)\n"
              "[   20] delete default/a 1 (relist) last state unknown\n");
    other_done(s, other);
}

STORY(a_change_while_held_is_listed_on_release,
      "a watch that is held is listed when it is released, after the queued events were delivered")
{
    struct apiserver *other = other_watch(s);
    s->handler.max_events = 1;
    start_with_three_objects(s);
    inf_handler_pause(&s->handler);
    apiserver_put(s->server, "default/a");
    apiserver_put(s->server, "default/b");
    story_pass(s, 10);
    apiserver_put(other, "default/a");
    other->version = 9;
    pipeline_change(&s->pipeline, "web", &other->source, &s->settings, "other");
    story_pass(s, 100);
    expect(s, "[   20] web: watching -> waiting (other)\n");
    inf_handler_resume(&s->handler);
    story_pass(s, 10);
    expect(s, "[  120] update default/a 4\n"
              "[  120] update default/b 5\n"
              "[  120] web: waiting -> filling (released)\n"
              "[  130] web: filling -> watching (1 object at resourceVersion 9)\n"
              "[  130] gap: relist (other)\n"
              "[  130] delete default/b 5 (relist) last state unknown\n"
              "[  130] delete default/c 3 (relist) last state unknown\n"
              "[  130] update default/a 1 (relist)\n");
    other_done(s, other);
}

STORY(another_server_is_listed_at_any_version,
      "the same source on another server is listed at whatever version that server has")
{
    start_with_three_objects(s);
    apiserver_delete(s->server, "default/b");
    s->server->version = 2; /* another change is counted separately */
    reflector_moved(&s->pipeline.reflector, "the server is another one");
    story_pass(s, 10);
    expect(s, "[   10] pods: watching -> filling (the server is another one)\n"
              "[   20] pods: filling -> watching (2 objects at resourceVersion 2)\n"
              "[   20] gap: relist (the server is another one)\n"
              "[   20] delete default/b 2 (relist) last state unknown\n");
    expect_requests(s, "watch-list ''; ");
}

STORY(an_informer_that_ends_reports_its_objects_as_deleted,
      "an informer that ends reports its objects as deleted, and requests nothing more")
{
    start_with_three_objects(s);
    reflector_end(&s->pipeline.reflector, "not selected any more");
    story_pass(s, 1000 * 1000);
    expect(s, "[   10] pods: watching -> closed (not selected any more)\n"
              "[   10] gap: relist (not selected any more)\n"
              "[   10] delete default/a 1 (relist) last state unknown\n"
              "[   10] delete default/b 2 (relist) last state unknown\n"
              "[   10] delete default/c 3 (relist) last state unknown\n");
    reflector_moved(&s->pipeline.reflector, "the server is another one");
    story_pass(s, 1000);
    expect(s, "");
    expect_requests(s, "");
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(another_selection_is_listed_at_once),
        cmocka_unit_test(a_change_before_the_first_list_applies_to_it),
        cmocka_unit_test(a_change_does_not_wait_for_a_retry),
        cmocka_unit_test(a_change_while_held_is_listed_on_release),
        cmocka_unit_test(another_server_is_listed_at_any_version),
        cmocka_unit_test(an_informer_that_ends_reports_its_objects_as_deleted),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
