/*
 * state.c - state on disk (core/state/state.h) on the caller's loop, for informers.
 *
 * Normal path: inf_state_open() gives the state a clock and a disk on the loop; they are released
 * when its last operation has ended. inf_state_note() passes on what the cache holds, so that an
 * object is compressed once for both. Only the opening fails.
 */
#include "informer/state.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/rng.h"
#include "core/state/state.h"
#include "core/store/store.h"
#include "lib/recorder.h"
#include "loop/disk.h"
#include "loop/loop.h"

/* What a state needs of the loop, and the caches that are recorded in it. */
struct state_host {
    struct loop loop;
    struct loop_disk disk;
    struct list recorders;
    /* the user's */
    void (*on_loaded)(struct inf_state *state);
    void (*on_suspended)(struct inf_state *state, const char *why);
};

struct list *state_recorders(struct inf_state *state)
{
    return &((struct state_host *)state_owner(state))->recorders;
}

static void state_host_on_loaded(struct inf_state *state)
{
    struct state_host *host = state_owner(state);
    list_for_each(node, &host->recorders)
        recorder_on_loaded(node);
    if (host->on_loaded)
        host->on_loaded(state);
}

static void state_host_on_suspended(struct inf_state *state, const char *why)
{
    struct state_host *host = state_owner(state);
    if (!why)
        list_for_each(node, &host->recorders)
            recorder_on_emptied(node);
    if (host->on_suspended)
        host->on_suspended(state, why);
}

static void state_host_on_loop_closed(struct loop *loop)
{
    free(container_of(loop, struct state_host, loop));
}

static void state_host_close(void *owner)
{
    struct state_host *host = owner;
    loop_disk_close(&host->disk);
    loop_close(&host->loop, state_host_on_loop_closed);
}

struct inf_state *inf_state_open(struct uv_loop_s *loop, const struct inf_state_settings *settings,
                                 struct inf_error *err)
{
    struct state_host *host = NEW(struct state_host);
    struct inf_state_settings hosted = *settings;
    struct inf_state *state;
    struct siphash_key key;
    struct rng rng;
    if (loop_init(&host->loop, loop) < 0) { /* UNTESTED: libuv's own code never fails here */
        err_set(err, INF_EIO, "libuv: can't initialize a handle");
        free(host);
        return NULL;
    }
    rng_init(&rng);
    key = (struct siphash_key){rng_next(&rng), rng_next(&rng)};
    loop_disk_init(&host->disk, &host->loop);
    list_init(&host->recorders);
    host->on_loaded = settings->on_loaded;
    host->on_suspended = settings->on_suspended;
    hosted.on_loaded = state_host_on_loaded;
    hosted.on_suspended = state_host_on_suspended;
    state =
        state_new(&host->disk.disk, &host->loop.clock, &key, &hosted, state_host_close, host, err);
    if (!state)
        state_host_close(host);
    return state;
}

void state_note(struct inf_state_stream *stream, const struct inf_store *store,
                const struct inf_event *event)
{
    const struct inf_object *object = event->new_object, *held;
    struct str labels = {"", 0};
    if (event->origin == INF_RESYNC) /* nothing has changed */
        return;
    if (!object) {
        state_delete(stream, event->old_object);
        return;
    }
    held = store_form_labelled(store, object, &labels);
    if (held)
        state_put(stream, held, &labels);
    else
        state_put(stream, object, NULL);
}

void inf_state_note(struct inf_state_stream *stream, struct inf_informer *informer,
                    const struct inf_event *event)
{
    state_note(stream, inf_informer_store(informer), event);
}
