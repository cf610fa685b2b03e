/*
 * story_position.c - the resource version up to which a handler has received everything: what a
 * process may save, to continue from there.
 */
#include <stdlib.h>
#include <string.h>

#include "informer/state.h"

#include "base/alloc.h"
#include "base/base.h"
#include "story.h"

/* A checkpoint that is a version is exact, if nothing waits. */
static void expect_position(struct story *s, const char *version)
{
    const char *exact = inf_handler_position(&s->handler);
    bool is_version = version[0] >= '1' && version[0] <= '9';
    const char *position = inf_handler_checkpoint(&s->handler);
    assert_string_equal(position ? position : "as before", version);
    if (is_version && !inf_handler_backlog(&s->handler))
        assert_string_equal(exact, version);
    else
        assert_null(exact);
}

/* covers: P3 */
STORY(the_position_of_a_handler_is_what_it_has_received,
      "a handler has a position only if it has received everything up to that version")
{
    expect_position(s, "");
    apiserver_put(s->server, "default/a");
    apiserver_put(s->server, "default/b");
    story_start(s);
    sim_run(&s->sim);
    expect_position(s, "");
    story_pass(s, 10);
    expect_position(s, "2");
    apiserver_put(s->server, "default/a");
    sim_run(&s->sim);
    expect_position(s, "3");
    s->server->version++; /* another resource has changed */
    apiserver_bookmark(s->server);
    sim_run(&s->sim);
    expect_position(s, "5");
    inf_handler_pause(&s->handler);
    apiserver_put(s->server, "default/b");
    sim_run(&s->sim);
    expect_position(s, "as before");
    inf_handler_resume(&s->handler);
    sim_run(&s->sim);
    expect_position(s, "6");
    pipeline_change(&s->pipeline, "pods", &s->server->source, &s->settings, "other");
    expect_position(s, INF_POSITION_MIXED); /* the objects are those of another watch */
    story_pass(s, 10);
    expect_position(s, "6");
    story_stop(s);
    expect_position(s, "");
    buf_clear(&s->lines);
}

struct watcher {
    struct inf_handler handler;
    struct story *story;
};

static void position_on_event(struct inf_handler *handler, struct inf_informer *informer,
                              const struct inf_event *event)
{
    struct watcher *x = container_of(handler, struct watcher, handler);
    const char *position = inf_handler_checkpoint(handler);
    (void)informer;
    buf_printf(&x->story->lines, "%s%s at %s\n", inf_object_name(inf_event_object(event)),
               event->origin == INF_RELIST ? " (relist)" : "", position ? position : "as before");
}

static void position_on_batch_end(struct inf_handler *handler, struct inf_informer *informer)
{
    struct watcher *x = container_of(handler, struct watcher, handler);
    const char *position = inf_handler_checkpoint(handler);
    (void)informer;
    buf_printf(&x->story->lines, "position %s\n", position ? position : "as before");
}

enum {
    MANY = 1000,
};

/* The handler of a log is paused while the log is full. */
/* covers: crash/backlog */
STORY(a_handler_with_a_backlog_has_the_position_of_its_last_event,
      "if live events wait, the position is the version of the last one that was delivered")
{
    story_start_watching(s);
    expect_position(s, "1");
    inf_handler_pause(&s->handler);
    for (int i = 0; i < 40; i++)
        apiserver_put(s->server, "default/a");
    s->server->burst = 40;
    sim_run(&s->sim);
    expect_position(s, "as before");
    s->sim.budget = 1; /* one slice of the backlog */
    inf_handler_resume(&s->handler);
    sim_tick(&s->sim);
    inf_handler_pause(&s->handler);
    assert_int_equal(inf_handler_backlog(&s->handler), 8);
    expect_position(s, "33");
    apiserver_put(s->server, "default/a");
    sim_run(&s->sim);
    expect_position(s, "as before");
    inf_handler_resume(&s->handler);
    s->sim.budget = 0;
    sim_run(&s->sim);
    expect_position(s, "42");
    buf_clear(&s->lines);
}

/* The store already has the new version when the first difference is emitted. */
STORY(there_is_no_position_in_the_middle_of_a_relist,
      "while the differences of a list are emitted, in several ticks, there is no position")
{
    struct watcher x = {
        .handler = {.on_event = position_on_event, .on_batch_end = position_on_batch_end},
        .story = s};
    const char *at;
    size_t positions = 0;
    story_start_with_many(s, MANY);
    dispatch_add(&s->pipeline.dispatch, &x.handler, NULL);
    story_refuse_reopening(s, 1, INF_EGONE, 0, "expired");
    story_pass(s, 5);
    buf_clear(&s->lines);
    for (int i = 0; i < MANY; i += 2) {
        char *key = xasprintf("default/p%04d", i);
        apiserver_put(s->server, key);
        free(key);
    }
    s->sim.budget = 1;
    story_pass(s, 100);
    buf_putc(&s->lines, '\0');
    for (at = s->lines.bytes; (at = strstr(at, "position ")); at++)
        positions += strncmp(at, "position -\n", 11) != 0;
    assert_int_equal(positions, 1);
    assert_non_null(strstr(s->lines.bytes, "position -\n"));
    assert_non_null(strstr(s->lines.bytes, "position 1500\n"));
    s->sim.budget = 0;
    story_stop(s);
    sim_run(&s->sim);
}

static void pause_on_event(struct inf_handler *handler, struct inf_informer *informer,
                           const struct inf_event *event)
{
    position_on_event(handler, informer, event);
    inf_handler_pause(handler);
}

STORY(a_handler_that_pauses_itself_has_received_that_event,
      "an event that is delivered before others arrive in the same tick is part of the position")
{
    struct watcher x = {
        .handler = {.on_event = pause_on_event, .on_batch_end = position_on_batch_end}, .story = s};
    story_start_watching(s);
    dispatch_add_knowing(&s->pipeline.dispatch, &x.handler, NULL);
    s->server->burst = 10;
    apiserver_put(s->server, "default/a");
    apiserver_put(s->server, "default/a");
    expect_events(s, "[   10] update default/a 2\n"
                     "a at 2\n"
                     "[   10] update default/a 3\n"
                     "position 2\n");
    story_stop(s);
    sim_run(&s->sim);
}

/* With coalescing, a change can be applied before an older one. */
/* covers: crash/coalesced */
STORY(a_coalescing_queue_has_a_position_when_it_is_empty,
      "if changes are coalesced before they are applied, there is a position when none is left")
{
    struct watcher x = {
        .handler = {.on_event = position_on_event, .on_batch_end = position_on_batch_end},
        .story = s};
    s->settings.coalesce = true;
    story_start_watching(s);
    dispatch_add(&s->pipeline.dispatch, &x.handler, NULL);
    sim_run(&s->sim);
    buf_clear(&s->lines);
    s->sim.budget = 1; /* one change per tick */
    s->server->burst = 10;
    apiserver_put(s->server, "default/a");
    apiserver_put(s->server, "default/b");
    apiserver_put(s->server, "default/a");
    expect_events(s, "[   10] update default/a 4\n"
                     "a at -\n"
                     "position -\n"
                     "[   10] add default/b 3\n"
                     "b at 4\n"
                     "position 4\n");
    s->sim.budget = 0;
    story_stop(s);
    sim_run(&s->sim);
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(the_position_of_a_handler_is_what_it_has_received),
        cmocka_unit_test(a_handler_with_a_backlog_has_the_position_of_its_last_event),
        cmocka_unit_test(a_handler_that_pauses_itself_has_received_that_event),
        cmocka_unit_test(there_is_no_position_in_the_middle_of_a_relist),
        cmocka_unit_test(a_coalescing_queue_has_a_position_when_it_is_empty),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
