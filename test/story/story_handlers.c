/*
 * story_handlers.c - many handlers: slow, late, removed; each gets its own consistent events.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "story.h"

/* A second handler, whose lines begin with its name. */
struct extra {
    struct inf_handler handler;
    struct story *story;
    const char *name;
    struct inf_handler *removes; /* removes this one from inside its callback, once */
    struct inf_handler *adds;
    bool pauses_itself;
};

static void record_call(struct extra *x, const char *what, const struct inf_object *object,
                        const char *more)
{
    buf_printf(&x->story->lines, "%s: %s", x->name, what);
    if (object)
        buf_printf(&x->story->lines, " %.*s %s", STR_FMT(object_key(object)),
                   inf_object_resource_version(object));
    buf_printf(&x->story->lines, "%s\n", more);
}

static void extra_on_event(struct inf_handler *handler, struct inf_informer *informer,
                           const struct inf_event *event)
{
    static const char *const verbs[] = {
        [INF_ADDED] = "add", [INF_MODIFIED] = "update", [INF_DELETED] = "delete"};
    struct extra *x = container_of(handler, struct extra, handler);
    (void)informer;
    record_call(x, verbs[event->verb], inf_event_object(event),
                event->origin == INF_RESYNC ? " (resync)" : "");
    if (x->removes)
        inf_handler_remove(x->removes);
    x->removes = NULL;
    if (x->adds)
        dispatch_add(&x->story->pipeline.dispatch, x->adds, NULL);
    x->adds = NULL;
    if (x->pauses_itself)
        inf_handler_pause(handler);
}

static void extra_on_synced(struct inf_handler *handler, struct inf_informer *informer)
{
    (void)informer;
    record_call(container_of(handler, struct extra, handler), "synced", NULL, "");
}

static void extra_on_gap(struct inf_handler *handler, struct inf_informer *informer,
                         const struct inf_gap *gap)
{
    struct extra *x = container_of(handler, struct extra, handler);
    (void)informer;
    buf_printf(&x->story->lines, "%s: gap %s %u\n", x->name, inf_gap_reason_name(gap->reason),
               (unsigned)gap->dropped);
}

static struct extra extra(struct story *s, const char *name)
{
    return (struct extra){.handler = {.on_event = extra_on_event,
                                      .on_synced = extra_on_synced,
                                      .on_gap = extra_on_gap},
                          .story = s,
                          .name = name};
}

/* Only the extra handlers record; a, b and c exist at versions 1 to 3. */
static void quiet_world(struct story *s)
{
    s->log.level = LOG_ERROR;
    s->handler = (struct inf_handler){0};
    apiserver_put(s->server, "n/a");
    apiserver_put(s->server, "n/b");
    apiserver_put(s->server, "n/c");
    story_start(s);
}

static void add(struct story *s, struct extra *x)
{
    assert_int_equal(dispatch_add(&s->pipeline.dispatch, &x->handler, NULL), 0);
}

/* The informer is synced and everything is delivered; @x gets nothing until it is resumed. */
static void fall_behind(struct story *s, struct extra *x)
{
    quiet_world(s);
    add(s, x);
    story_pass(s, 10);
    buf_clear(&s->lines);
    inf_handler_pause(&x->handler);
}

/* The handlers are on the story's stack: the informer must end first. */
static void story_end(struct story *s)
{
    story_stop(s);
    sim_run(&s->sim);
}

/* The server changes n/a @times times before the engine reads. */
static void update_often(struct story *s, int times)
{
    for (int i = 0; i < times; i++)
        apiserver_put(s->server, "n/a");
    sim_run(&s->sim);
}

/* covers: 8/80 8/82 8/78 */
STORY(every_handler_gets_everything_in_order, "every handler gets all events, in order")
{
    struct extra one = extra(s, "one"), two = extra(s, "two");
    quiet_world(s);
    add(s, &one);
    add(s, &two);
    assert_int_equal(dispatch_add(&s->pipeline.dispatch, &two.handler, NULL), -INF_EINVAL);
    story_pass(s, 10);
    expect(s, "one: add n/a 1\none: add n/b 2\none: add n/c 3\none: synced\n"
              "two: add n/a 1\ntwo: add n/b 2\ntwo: add n/c 3\ntwo: synced\n");
    apiserver_delete(s->server, "n/b");
    expect(s, "one: delete n/b 4\ntwo: delete n/b 4\n");
    story_end(s);
}

/* covers: 8/82 8/86 */
STORY(
    a_late_handler_gets_a_replay_then_changes,
    "a handler that is added late gets the objects in the store, then the changes: no gap, no duplicate")
{
    struct extra x = extra(s, "late");
    quiet_world(s);
    story_pass(s, 10);
    expect(s, "");
    add(s, &x);
    apiserver_put(s->server, "n/b"); /* read before its replay begins */
    expect(s, "late: add n/a 1\nlate: add n/b 4\nlate: add n/c 3\nlate: synced\n");
    apiserver_put(s->server, "n/c");
    expect(s, "late: update n/c 5\n");
    story_end(s);
}

/* covers: 8/82 */
STORY(
    only_changes_that_the_replay_has_passed_are_delivered,
    "a change to an object that the replay has passed is delivered; a later one is part of the replay")
{
    struct extra x = extra(s, "late");
    quiet_world(s);
    story_pass(s, 10);
    x.pauses_itself = true;
    add(s, &x);
    expect(s, "late: add n/a 1\n");
    apiserver_put(s->server, "n/a");    /* behind */
    apiserver_put(s->server, "n/b");    /* before */
    apiserver_delete(s->server, "n/c"); /* before */
    apiserver_put(s->server, "n/d");    /* before */
    sim_run(&s->sim);
    x.pauses_itself = false;
    inf_handler_resume(&x.handler);
    expect(s, "late: update n/a 4\nlate: add n/b 5\nlate: add n/d 7\nlate: synced\n");
    story_end(s);
}

/* covers: 8/82 8/70 */
STORY(
    a_relist_during_a_replay_is_compared,
    "a relist in the middle of a replay: objects already replayed are compared, the rest is delivered as it is now")
{
    struct extra x = extra(s, "late");
    quiet_world(s);
    story_pass(s, 10);
    x.pauses_itself = true;
    add(s, &x);
    expect(s, "late: add n/a 1\n");
    apiserver_end_after(s->server, 1, INF_EGONE, "too old");
    sim_run(&s->sim);
    apiserver_delete(s->server, "n/a");
    apiserver_delete(s->server, "n/b");
    apiserver_put(s->server, "n/d");
    story_pass(s, 100);
    x.pauses_itself = false;
    inf_handler_resume(&x.handler);
    expect(s, "late: gap relist 0\nlate: delete n/a 1\nlate: add n/c 3\nlate: add n/d 6\n"
              "late: synced\n");
    story_end(s);
}

/* Dispatch only compares and passes on the owner of a handler: any address will do. */
static struct inf_informer *owner_of(void *address)
{
    return address;
}

static void extra_on_blocking(struct inf_handler *handler, struct inf_informer *informer)
{
    struct extra *x = container_of(handler, struct extra, handler);
    assert_ptr_equal(informer, owner_of(x));
    record_call(x, "blocking", NULL, "");
}

/* covers: 8/82 */
STORY(a_full_handler_that_blocks_others_is_notified,
      "a full handler is notified that it blocks the handlers of another owner")
{
    struct extra slow = extra(s, "slow"), fast = extra(s, "fast");
    slow.handler.max_events = 2;
    slow.handler.on_blocking = extra_on_blocking;
    quiet_world(s);
    assert_int_equal(dispatch_add(&s->pipeline.dispatch, &slow.handler, owner_of(&slow)), 0);
    assert_int_equal(dispatch_add(&s->pipeline.dispatch, &fast.handler, owner_of(&fast)), 0);
    inf_handler_remove(&s->handler); /* without owner */
    story_pass(s, 10);
    buf_clear(&s->lines);
    inf_handler_pause(&slow.handler);
    inf_handler_pause(&fast.handler);
    for (int i = 0; i < 3; i++) {
        apiserver_put(s->server, "n/a");
        sim_run(&s->sim);
    }
    expect(s, ""); /* the other one accepts none either */
    inf_handler_resume(&fast.handler);
    expect(s, "fast: update n/a 4\nfast: update n/a 5\nfast: update n/a 6\nslow: blocking\n");
    inf_handler_resume(&slow.handler);
    expect(s, "slow: update n/a 4\nslow: update n/a 5\nslow: update n/a 6\n");
    story_end(s);
}

/* covers: 8/82 */
STORY(
    a_full_handler_that_blocks_only_its_owner_is_not_notified,
    "a full handler that blocks only handlers of its own owner, or of the library, is not notified")
{
    struct extra slow = extra(s, "slow"), fast = extra(s, "fast");
    struct inf_handler library = {0}; /* without owner */
    slow.handler.max_events = 2;
    slow.handler.on_blocking = extra_on_blocking;
    quiet_world(s);
    assert_int_equal(dispatch_add(&s->pipeline.dispatch, &slow.handler, owner_of(s)), 0);
    assert_int_equal(dispatch_add(&s->pipeline.dispatch, &fast.handler, owner_of(s)), 0);
    assert_int_equal(dispatch_add(&s->pipeline.dispatch, &library, NULL), 0);
    inf_handler_remove(&s->handler);
    story_pass(s, 10);
    buf_clear(&s->lines);
    inf_handler_pause(&slow.handler);
    for (int i = 0; i < 3; i++)
        apiserver_put(s->server, "n/a");
    expect(s, "fast: update n/a 4\nfast: update n/a 5\nfast: update n/a 6\n");
    assert_true(s->pipeline.reflector.held);
    story_end(s);
}

/* covers: 8/80 8/81 8/83 8/84 */
STORY(handlers_can_be_added_and_removed_inside_a_callback,
      "a handler can remove another, or itself, or add one, inside a callback")
{
    struct extra one = extra(s, "one"), two = extra(s, "two"), three = extra(s, "three");
    quiet_world(s);
    add(s, &one);
    add(s, &two);
    story_pass(s, 10);
    buf_clear(&s->lines);
    one.removes = &two.handler;
    one.adds = &three.handler;
    apiserver_put(s->server, "n/a");
    expect(s, "one: update n/a 4\n"
              "three: add n/a 4\nthree: add n/b 2\nthree: add n/c 3\nthree: synced\n");
    three.removes = &three.handler;
    apiserver_put(s->server, "n/b");
    apiserver_put(s->server, "n/c");
    expect(s, "one: update n/b 5\nthree: update n/b 5\none: update n/c 6\n");
    inf_handler_remove(&three.handler); /* a second call is harmless */
    assert_int_equal(inf_handler_backlog(&three.handler), 0);
    story_end(s);
}

/* covers: P6 8/126 */
STORY(a_full_waiting_handler_holds_the_stream,
      "a handler with INF_WAIT holds the stream when its backlog is full")
{
    struct extra x = extra(s, "slow");
    x.handler.max_events = 2;
    fall_behind(s, &x);
    for (int i = 0; i < 10; i++) {
        apiserver_put(s->server, "n/a");
        sim_run(&s->sim);
    }
    assert_int_equal(inf_handler_backlog(&x.handler), 3);
    assert_true(s->pipeline.reflector.held);
    assert_true(s->server->paused);
    story_pass(s, 3600 * 1000); /* for an hour: nothing is dropped */
    inf_handler_resume(&x.handler);
    sim_run(&s->sim);
    assert_false(s->pipeline.reflector.held);
    expect(s, "slow: update n/a 4\nslow: update n/a 5\nslow: update n/a 6\nslow: update n/a 7\n"
              "slow: update n/a 8\nslow: update n/a 9\nslow: update n/a 10\nslow: update n/a 11\n"
              "slow: update n/a 12\nslow: update n/a 13\n");
    story_end(s);
}

/* covers: P6 */
STORY(a_slow_handler_without_wait_holds_no_other,
      "a slow handler without INF_WAIT does not hold any other handler")
{
    struct extra fast = extra(s, "fast"), slow = extra(s, "slow");
    quiet_world(s);
    slow.handler.max_events = 1;
    slow.handler.overflow = INF_COALESCE;
    add(s, &fast);
    add(s, &slow);
    story_pass(s, 10);
    buf_clear(&s->lines);
    inf_handler_pause(&slow.handler);
    apiserver_put(s->server, "n/a");
    apiserver_put(s->server, "n/a");
    apiserver_put(s->server, "n/a");
    expect(s, "fast: update n/a 4\nfast: update n/a 5\nfast: update n/a 6\n");
    story_end(s);
}

/* covers: P6 8/60 */
STORY(
    a_coalescing_handler_gets_the_newest_states,
    "a handler that coalesces gets the newest states, and nothing of objects that came and went in between")
{
    struct extra x = extra(s, "slow");
    x.handler.max_events = 1;
    x.handler.overflow = INF_COALESCE;
    fall_behind(s, &x);
    apiserver_put(s->server, "n/a");
    apiserver_put(s->server, "n/a");
    apiserver_put(s->server, "n/brief");
    apiserver_delete(s->server, "n/brief");
    apiserver_delete(s->server,
                     "n/b"); /* replaced by another object of the same name: deleted, then added */
    apiserver_put(s->server, "n/b");
    apiserver_delete(s->server, "n/c");
    apiserver_put(s->server, "n/d");
    sim_run(&s->sim);
    inf_handler_resume(&x.handler);
    expect(s, "slow: update n/a 5\nslow: delete n/b 8\nslow: add n/b 9\nslow: delete n/c 10\n"
              "slow: add n/d 11\n");
    apiserver_put(s->server, "n/a"); /* it has caught up: every change again */
    apiserver_put(s->server, "n/a");
    expect(s, "slow: update n/a 12\nslow: update n/a 13\n");
    story_end(s);
}

/* covers: P6 P3 */
STORY(a_dropping_handler_loses_the_oldest_events,
      "a handler with INF_DROP loses the oldest events, and gets their number")
{
    struct extra x = extra(s, "slow");
    x.handler.max_events = 2;
    x.handler.overflow = INF_DROP;
    fall_behind(s, &x);
    update_often(s, 10);
    inf_handler_resume(&x.handler);
    expect(s, "slow: gap dropped 8\nslow: update n/a 12\nslow: update n/a 13\n");
    story_end(s);
}

/* covers: P6 */
STORY(a_backlog_is_also_limited_in_bytes,
      "a backlog is full when its objects have too many bytes, whatever their number")
{
    struct extra x = extra(s, "slow");
    x.handler.max_bytes = 3000;
    fall_behind(s, &x);
    update_often(s, 100);
    assert_in_range(inf_handler_backlog(&x.handler), 3, 20);
    inf_handler_resume(&x.handler);
    sim_run(&s->sim);
    assert_int_equal(inf_handler_backlog(&x.handler), 0);
    buf_clear(&s->lines);
    story_end(s);
}

/* covers: 8/15 8/76 8/77 8/63 8/74 */
STORY(a_resync_redelivers_everything_to_one_handler,
      "a handler with a resync interval gets all objects again as unchanged; others do not")
{
    struct extra plain = extra(s, "plain"), keen = extra(s, "keen");
    quiet_world(s);
    keen.handler.resync_ms = 2000;
    add(s, &plain);
    add(s, &keen);
    story_pass(s, 10);
    buf_clear(&s->lines);
    story_pass(s, 1980);
    expect(s, "");
    story_pass(s, 20);
    expect(s, "keen: update n/a 1 (resync)\nkeen: update n/b 2 (resync)\nkeen: update n/c 3 "
              "(resync)\n");
    apiserver_put(s->server, "n/a");
    expect(s, "plain: update n/a 4\nkeen: update n/a 4\n");
    story_pass(s, 2000);
    expect(s, "keen: update n/a 4 (resync)\nkeen: update n/b 2 (resync)\nkeen: update n/c 3 "
              "(resync)\n");
    story_end(s);
}

/* covers: 8/57 8/58 8/62 P2 */
STORY(
    a_coalescing_informer_delivers_the_newest_states,
    "an informer that coalesces delivers the newest state of objects that changed while it was busy")
{
    struct extra x = extra(s, "x");
    s->settings.coalesce = true;
    quiet_world(s);
    x.handler.max_events = 1;
    add(s, &x);
    story_pass(s, 10);
    buf_clear(&s->lines);
    s->server->burst = 100; /* all in one read */
    apiserver_put(s->server, "n/a");
    apiserver_put(s->server, "n/b");
    apiserver_put(s->server, "n/a");
    apiserver_delete(s->server, "n/c");
    apiserver_put(s->server, "n/c");
    expect(s, "x: update n/a 6\nx: update n/b 5\nx: delete n/c 3\nx: add n/c 8\n");
    assert_string_equal(inf_store_resource_version(s->pipeline.store), "8");
    apiserver_delete(s->server, "n/c"); /* the next object of this name is never reported */
    apiserver_put(s->server, "n/c");
    apiserver_delete(s->server, "n/c");
    expect(s, "x: delete n/c 8\n");
    story_end(s);
}

/* covers: 8/83 */
STORY(a_handler_of_a_closed_informer_is_not_used,
      "a handler of a closed informer can be freed: it is not used any more")
{
    struct extra x = extra(s, "x");
    quiet_world(s);
    add(s, &x);
    story_pass(s, 10);
    buf_clear(&s->lines);
    story_stop(s);
    sim_run(&s->sim);
    assert_null(x.handler.internal);
    inf_handler_remove(&x.handler);
    inf_handler_pause(&x.handler);
    inf_handler_resume(&x.handler);
    expect(s, "");
}

/* covers: P6 */
STORY(a_dropping_handler_is_synced_even_if_it_was_too_slow,
      "a handler whose backlog was dropped gets on_synced when it has caught up")
{
    s->handler.overflow = INF_DROP;
    s->handler.max_events = 1;
    apiserver_put(s->server, "default/a");
    story_start(s);
    inf_handler_pause(&s->handler);
    story_pass(s, 10);
    apiserver_put(s->server, "default/a");
    story_pass(s, 10);
    inf_handler_resume(&s->handler);
    expect_events(s, "[   20] gap: dropped (handler too slow; its oldest events were dropped)\n"
                     "[   20] update default/a 2\n"
                     "[   20] synced\n");
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(every_handler_gets_everything_in_order),
        cmocka_unit_test(a_late_handler_gets_a_replay_then_changes),
        cmocka_unit_test(only_changes_that_the_replay_has_passed_are_delivered),
        cmocka_unit_test(a_relist_during_a_replay_is_compared),
        cmocka_unit_test(handlers_can_be_added_and_removed_inside_a_callback),
        cmocka_unit_test(a_full_waiting_handler_holds_the_stream),
        cmocka_unit_test(a_full_handler_that_blocks_others_is_notified),
        cmocka_unit_test(a_full_handler_that_blocks_only_its_owner_is_not_notified),
        cmocka_unit_test(a_slow_handler_without_wait_holds_no_other),
        cmocka_unit_test(a_coalescing_handler_gets_the_newest_states),
        cmocka_unit_test(a_dropping_handler_loses_the_oldest_events),
        cmocka_unit_test(a_backlog_is_also_limited_in_bytes),
        cmocka_unit_test(a_resync_redelivers_everything_to_one_handler),
        cmocka_unit_test(a_coalescing_informer_delivers_the_newest_states),
        cmocka_unit_test(a_handler_of_a_closed_informer_is_not_used),
        cmocka_unit_test(a_dropping_handler_is_synced_even_if_it_was_too_slow),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
