/*
 * recorder.c - a handler of the library that records a cache in the state of its client.
 *
 * Normal path: when the state is loaded, the cache takes the objects of its stream and starts. The
 * handler then notes each event, and at the end of a batch the position; a timer notes the position of
 * a cache without events. If the state was emptied after a failure of the disk, the handler is added
 * again: it gets all objects and notes them. Nothing here fails; without a stream nothing is recorded.
 */
#include "lib/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "lib/shared.h"

enum {
    POSITION_EVERY_MS = 30 * 1000, /* without events, so that a restart finds a recent version */
};

struct recorder {
    struct inf_handler handler;
    struct shared *shared;
    struct inf_state *state;
    struct inf_state_stream *stream; /* NULL: not loaded yet, or not recorded */
    struct list node;                /* among the recorders of the state */
    struct timer timer;
    bool emptied; /* the stream lacks objects until the handler has a position */
};

static struct recorder *recorder_of(struct inf_handler *handler)
{
    return container_of(handler, struct recorder, handler);
}

static struct dispatch *dispatch_of_recorder(struct recorder *r)
{
    return &r->shared->pipeline.dispatch;
}

/* ---- handler ---- */

static void recorder_on_event(struct inf_handler *handler, struct inf_informer *informer,
                              const struct inf_event *event)
{
    struct recorder *r = recorder_of(handler);
    (void)informer; /* the cache has several */
    state_note(r->stream, r->shared->pipeline.store, event);
}

/* A stream that lacks objects must not get a position. */
static void record_position(struct recorder *r)
{
    const char *position = inf_handler_checkpoint(&r->handler);
    if (!position || (r->emptied && strcmp(position, INF_POSITION_MIXED) == 0))
        return;
    r->emptied = false;
    if (strcmp(position, inf_state_stream_version(r->stream)) != 0)
        inf_state_position(r->stream, position);
}

static void recorder_on_batch_end(struct inf_handler *handler, struct inf_informer *informer)
{
    struct recorder *r = recorder_of(handler);
    (void)informer;
    record_position(r);
    inf_state_flush(r->state);
}

static void recorder_on_timer(struct timer *timer)
{
    struct recorder *r = container_of(timer, struct recorder, timer);
    recorder_on_batch_end(&r->handler, NULL);
    timer_start(r->shared->pipeline.clock, timer, POSITION_EVERY_MS);
}

/* ---- streams ---- */

static bool is_recorded_by_another(const struct recorder *r, const char *id)
{
    list_for_each(node, state_recorders(r->state)) {
        const struct recorder *other = container_of(node, struct recorder, node);
        if (other != r && other->stream && strcmp(inf_state_stream_id(other->stream), id) == 0)
            return true;
    }
    return false;
}

/* NULL if the id is too long, or if another cache of the same watch is recorded. */
static struct inf_state_stream *find_stream(struct recorder *r)
{
    char *id = shared_state_id(r->shared);
    struct inf_state_stream *stream =
        is_recorded_by_another(r, id) ? NULL : inf_state_stream(r->state, id);
    free(id);
    return stream;
}

/* A cache that was changed before the state was loaded has started already: what was recorded of it
 * can't be used. */
static struct inf_state_stream *without_objects(struct recorder *r, struct inf_state_stream *stream)
{
    char *id = xstrdup(inf_state_stream_id(stream));
    inf_state_stream_drop(stream);
    stream = inf_state_stream(r->state, id);
    free(id);
    return stream;
}

static void recorder_start(struct recorder *r)
{
    struct inf_state_stream *stream = find_stream(r);
    bool started = pipeline_has_started(&r->shared->pipeline);
    bool restored = stream && inf_state_stream_is_restored(stream);
    if (restored && started) {
        stream = without_objects(r, stream);
        restored = false;
    }
    if (!started)
        shared_start(r->shared, stream);
    if (!stream)
        return;
    r->stream = stream;
    if (restored)
        dispatch_add_knowing(dispatch_of_recorder(r), &r->handler, NULL);
    else
        dispatch_add(dispatch_of_recorder(r), &r->handler, NULL);
    timer_start(r->shared->pipeline.clock, &r->timer, POSITION_EVERY_MS);
}

void recorder_on_loaded(struct list *node)
{
    recorder_start(container_of(node, struct recorder, node));
}

void recorder_on_emptied(struct list *node)
{
    struct recorder *r = container_of(node, struct recorder, node);
    if (!r->stream)
        return;
    r->emptied = true;
    inf_handler_remove(&r->handler);
    dispatch_add(dispatch_of_recorder(r), &r->handler, NULL);
}

/* An older stream of that id, if there is one, is replaced. */
static void rename_stream(struct recorder *r, const char *id)
{
    struct inf_state_stream *other = NULL;
    while ((other = inf_state_stream_next(r->state, other)))
        if (other != r->stream && strcmp(inf_state_stream_id(other), id) == 0)
            break;
    if (other)
        inf_state_stream_drop(other);
    inf_state_stream_rename(r->stream, id);
    inf_state_position(r->stream, INF_POSITION_MIXED);
}

static void stop_recording(struct recorder *r)
{
    inf_handler_remove(&r->handler);
    timer_stop(r->shared->pipeline.clock, &r->timer);
    inf_state_stream_drop(r->stream);
    r->stream = NULL;
}

void recorder_redefined(struct recorder *r)
{
    char *id;
    if (!r || !r->stream)
        return;
    id = shared_state_id(r->shared);
    if (strlen(id) > INF_STATE_ID_MAX || is_recorded_by_another(r, id))
        stop_recording(r);
    else if (strcmp(inf_state_stream_id(r->stream), id) != 0)
        rename_stream(r, id);
    free(id);
}

/* ---- life ---- */

struct recorder *recorder_new(struct shared *shared, struct inf_state *state)
{
    struct recorder *r = NEW(struct recorder);
    struct inf_state_info info;
    r->shared = shared;
    r->state = state;
    r->handler =
        (struct inf_handler){.on_event = recorder_on_event, .on_batch_end = recorder_on_batch_end};
    r->timer.fire = recorder_on_timer;
    inf_state_info(state, &info);
    if (info.loaded)
        recorder_start(r);
    list_push(state_recorders(state), &r->node);
    return r;
}

void recorder_close(struct recorder *r)
{
    if (!r)
        return;
    list_remove(&r->node);
    timer_stop(r->shared->pipeline.clock, &r->timer);
    if (r->stream) {
        record_position(r);
        inf_state_flush(r->state);
    }
    r->stream = NULL;
}

void recorder_free(struct recorder *r)
{
    free(r);
}
