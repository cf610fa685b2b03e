/*
 * story.c - runs a story: see story.h. A line that differs fails the assertion in expect().
 */
#include "story.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"

/* ---- recording ---- */

static void record_line(struct story *s, const char *line)
{
    buf_printf(&s->lines, "[%5" PRIu64 "] %s\n", s->sim.now_ms, line);
}

static const char *origin_note(enum inf_origin origin)
{
    switch (origin) {
    case INF_LIVE: return "";
    case INF_INITIAL: return " (initial)";
    case INF_RELIST: return " (relist)";
    case INF_RESYNC: return " (resync)";
    case INF_RESUMED: return " (resumed)";
    }
    return "?";
}

static void story_on_log(struct log *log, enum log_level level, const char *line)
{
    (void)level;
    record_line(container_of(log, struct story, log), line);
}

static void story_on_event(struct inf_handler *handler, struct inf_informer *informer,
                           const struct inf_event *event)
{
    static const char *const verbs[] = {
        [INF_ADDED] = "add", [INF_MODIFIED] = "update", [INF_DELETED] = "delete"};
    struct story *s = container_of(handler, struct story, handler);
    const struct inf_object *object = inf_event_object(event);
    (void)informer;
    s->received_us = event->received_us;
    buf_printf(&s->lines, "[%5" PRIu64 "] %s %.*s %s%s%s\n", s->sim.now_ms, verbs[event->verb],
               STR_FMT(object_key(object)), inf_object_resource_version(object),
               origin_note(event->origin), event->final ? "" : " last state unknown");
}

static void story_on_gap(struct inf_handler *handler, struct inf_informer *informer,
                         const struct inf_gap *gap)
{
    struct story *s = container_of(handler, struct story, handler);
    (void)informer;
    buf_printf(&s->lines, "[%5" PRIu64 "] gap: %s (%s)\n", s->sim.now_ms,
               inf_gap_reason_name(gap->reason), gap->text);
}

static void story_on_freshness(struct inf_handler *handler, struct inf_informer *informer,
                               const struct inf_freshness *f)
{
    struct story *s = container_of(handler, struct story, handler);
    (void)informer;
    buf_printf(&s->lines, "[%5" PRIu64 "] %s (%s)\n", s->sim.now_ms,
               f->stale ? "stale" : "recovered", f->text);
}

static void story_on_synced(struct inf_handler *handler, struct inf_informer *informer)
{
    (void)informer;
    record_line(container_of(handler, struct story, handler), "synced");
}

/* ---- steps ---- */

static void story_init(struct story *s)
{
    static const struct siphash_key key = {1, 2};
    pipeline_init(&s->pipeline, "pods", &s->server->source, &s->sim.clock, &key, &s->log,
                  &s->settings);
    s->phase = STORY_RUNNING;
}

void story_start(struct story *s)
{
    story_init(s);
    dispatch_add(&s->pipeline.dispatch, &s->handler, NULL);
    pipeline_start(&s->pipeline);
}

void story_pass(struct story *s, uint64_t ms)
{
    sim_advance(&s->sim, ms);
}

void story_start_with_many(struct story *s, int n)
{
    for (int i = 0; i < n; i++) {
        char *key = xasprintf("default/p%04d", i);
        apiserver_put(s->server, key);
        free(key);
    }
    s->server->burst = (unsigned)n + 1;
    story_start(s);
    story_pass(s, 10);
    assert_int_equal(inf_store_count(s->pipeline.store), n);
}

void story_refuse_reopening(struct story *s, unsigned times, int code, uint32_t retry_after_ms,
                            const char *why)
{
    apiserver_refuse(s->server, times, code, retry_after_ms, why);
    apiserver_end(s->server);
}

static void story_on_gone(struct pipeline *p)
{
    (void)p; /* it is part of the story */
}

void story_stop(struct story *s)
{
    pipeline_close(&s->pipeline, story_on_gone);
    s->phase = STORY_STOPPED;
}

static void forget_saved(struct story *s)
{
    for (size_t i = s->n_restored; i < s->n_saved; i++)
        inf_object_unref(s->saved[i]);
    free(s->saved);
    s->saved = NULL;
    s->n_saved = s->n_restored = 0;
}

void story_save(struct story *s)
{
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *object;
    forget_saved(s);
    s->saved = xcalloc(inf_store_count(s->pipeline.store), sizeof(struct inf_object *));
    while ((object = inf_store_next(s->pipeline.store, &cursor)))
        s->saved[s->n_saved++] = inf_object_ref(object);
    inf_cursor_end(&cursor);
    story_stop(s);
    sim_run(&s->sim);
    buf_clear(&s->lines);
    free(apiserver_take_requests(s->server));
}

static bool take_saved(void *ctx, size_t n, saved_object_fn *each, void *to)
{
    struct story *s = ctx;
    for (; n && s->n_restored < s->n_saved; n--)
        each(to, s->saved[s->n_restored++], s->saved_labels);
    return s->n_restored < s->n_saved;
}

static void restore_saved(struct story *s, const char *version, const char *why)
{
    const struct object_supply supply = {.take = take_saved, .ctx = s};
    pipeline_restore(&s->pipeline, &supply, version, /* written_us= */ 1, why);
    dispatch_add_knowing(&s->pipeline.dispatch, &s->handler, NULL);
}

void story_restore(struct story *s, const char *version, const char *why)
{
    story_init(s);
    restore_saved(s, version, why);
}

void story_restore_with(struct story *s, const char *version, struct inf_handler *before)
{
    story_init(s);
    dispatch_add(&s->pipeline.dispatch, before, NULL);
    restore_saved(s, version, NULL);
}

void expect_lines(struct story *s, const char *const parts[])
{
    struct buf expected = {0};
    for (; *parts; parts++)
        buf_puts(&expected, *parts);
    buf_putc(&expected, '\0');
    sim_run(&s->sim);
    buf_putc(&s->lines, '\0');
    assert_string_equal(s->lines.bytes, expected.bytes);
    buf_clear(&s->lines);
    buf_free(&expected);
}

void expect_events(struct story *s, const char *lines)
{
    struct buf events = {0};
    const char *line, *end;
    sim_run(&s->sim);
    buf_putc(&s->lines, '\0');
    for (line = s->lines.bytes; (end = strchr(line, '\n')); line = end + 1)
        if (!memmem(line, (size_t)(end - line), "] pods: ", 8))
            buf_put(&events, line, (size_t)(end + 1 - line));
    buf_putc(&events, '\0');
    assert_string_equal(events.bytes, lines);
    buf_free(&events);
    buf_clear(&s->lines);
}

void expect_requests(struct story *s, const char *requests)
{
    char *received = apiserver_take_requests(s->server);
    assert_string_equal(received, requests);
    free(received);
}

void story_start_watching(struct story *s)
{
    apiserver_put(s->server, "default/a");
    story_start(s);
    story_pass(s, 10);
    expect(s, "[    0] pods: idle -> filling (start)\n"
              "[   10] pods: filling -> watching (1 object at resourceVersion 1)\n"
              "[   10] add default/a 1 (initial)\n"
              "[   10] synced\n");
    expect_requests(s, "watch-list ''; ");
}

void expect_store(struct story *s, const char *keys)
{
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *object;
    struct buf all = {0};
    while ((object = inf_store_next(s->pipeline.store, &cursor)))
        buf_printf(&all, "%s%.*s", all.len ? " " : "", STR_FMT(object_key(object)));
    buf_putc(&all, '\0');
    assert_string_equal(all.bytes, keys);
    inf_cursor_end(&cursor);
    buf_free(&all);
}

void story_run(void (*story)(struct story *s))
{
    struct story *s = NEW(struct story);
    s->server = NEW(struct apiserver);
    s->log = (struct log){.level = LOG_DEBUG, .emit = story_on_log};
    s->handler = (struct inf_handler){.on_event = story_on_event,
                                      .on_synced = story_on_synced,
                                      .on_gap = story_on_gap,
                                      .on_freshness = story_on_freshness};
    s->settings.reflector.no_jitter = true;
    sim_init(&s->sim);
    apiserver_init(s->server, &s->sim);
    story(s);
    if (s->phase == STORY_RUNNING)
        story_stop(s);
    sim_run(&s->sim);
    apiserver_done(s->server);
    free(s->server);
    sim_done(&s->sim);
    forget_saved(s);
    buf_free(&s->lines);
    free(s);
}
