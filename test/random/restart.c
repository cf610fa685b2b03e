/*
 * restart.c - the process of a random story dies and another one starts with what was saved.
 *
 * The first handler saves what it has received, at the end of a batch, with its position. A save may be
 * late: then the end of the process loses it, together with what the handler has received since. The
 * next process starts with the saved objects, and the handler must get exactly the rest.
 */
#include <stdio.h>
#include <string.h>

#include "informer/state.h"

#include "base/base.h"
#include "core/object/object_packer.h"
#include "world.h"

static void forget_saved(struct world *w)
{
    for (size_t i = 0; i < KEYS; i++) {
        inf_object_unref(w->saved[i]);
        w->saved[i] = NULL;
    }
}

void save_at_batch_end(struct inf_handler *handler, struct inf_informer *informer)
{
    struct witness *t = container_of(handler, struct witness, handler);
    const char *position = inf_handler_checkpoint(handler);
    struct world *w = t->world;
    (void)informer;
    if (position)
        snprintf(w->unsaved_version, sizeof(w->unsaved_version), "%s", position);
    if (dice(w, 4) == 0)
        return; /* it is written with the next batch */
    forget_saved(w);
    for (size_t i = 0; i < KEYS; i++)
        w->saved[i] = t->known[i] ? inf_object_ref(t->known[i]) : NULL;
    snprintf(w->saved_version, sizeof(w->saved_version), "%s", w->unsaved_version);
}

/* As it was written: packed, with another key. */
static bool take_saved(void *ctx, size_t n, saved_object_fn *each, void *to)
{
    struct world *w = ctx;
    for (; n && w->restored < KEYS; n--, w->restored++)
        if (w->saved[w->restored])
            each(to, object_pack(&w->disk_packer, w->saved[w->restored], KEYS), NULL);
    return w->restored < KEYS;
}

static void on_gone(struct pipeline *pipeline)
{
    container_of(pipeline, struct world, pipeline)->gone = true;
}

static void end_process(struct world *w)
{
    w->relists = count_relists(w);
    pipeline_close(&w->pipeline, on_gone);
    w->sim.budget = 0;
    for (int i = 0; i < 1000 && !w->gone; i++)
        sim_tick(&w->sim);
    if (!w->gone)
        fail(w, "not gone after a restart");
    w->gone = false;
    w->store_version[0] = '\0';
}

static void restore_saved(struct world *w)
{
    const struct object_supply supply = {.take = take_saved, .ctx = w};
    bool mixed = strcmp(w->saved_version, INF_POSITION_MIXED) == 0;
    w->restored = 0;
    pipeline_restore(&w->pipeline, &supply, mixed ? "" : w->saved_version, 1,
                     mixed ? "ended in a relist" : NULL);
}

/* Without a save it starts as the first one. */
void restart(struct world *w)
{
    struct witness *fast = &w->witnesses[FAST];
    end_process(w);
    init_pipeline(w);
    restore_saved(w);
    for (size_t i = 0; i < WITNESSES; i++) {
        bool added = w->witnesses[i].added;
        forget_all(&w->witnesses[i]);
        if (i != FAST && added)
            add_witness(w, i);
    }
    for (size_t i = 0; i < KEYS; i++)
        fast->known[i] = w->saved[i] ? inf_object_ref(w->saved[i]) : NULL;
    snprintf(w->unsaved_version, sizeof(w->unsaved_version), "%s", w->saved_version);
    fast->gap_seen = fast->relist_added = false;
    fast->recreated[0] = '\0';
    if (dispatch_add_knowing(&w->pipeline.dispatch, &fast->handler, NULL) < 0)
        fail(w, "fast: not added");
    w->restarts++;
}

void restart_done(struct world *w)
{
    forget_saved(w);
    object_packer_free(&w->disk_packer);
    pack_context_unref(w->disk_packing);
}
