/*
 * pipeline.c - the pump: takes deltas from the FIFO, applies them to the store, calls handlers.
 *
 * Normal path: take_delta() -> apply_delta() -> store -> emit_event() -> dispatch. The events of a
 * relist are emitted in slices, before any other delta. The objects of an earlier process are moved
 * to the store before the first request. Reading is paused while the FIFO is long, a
 * handler with INF_WAIT is full, or the memory budget is exceeded.
 */
#include "core/dispatch/pipeline.h"

#include <assert.h>
#include <stdlib.h>

#include "informer/state.h"

#include "base/alloc.h"
#include "base/base.h"
#include "core/mutant.h"
#include "core/object/object.h"
#include "core/store/store.h"

enum {
    SLICE = 64,         /* entries emitted or freed between two checks of the time budget */
    RESTORE_SLICE = 16, /* objects restored between two checks; each takes 4 to 16 us */
    REPACK_SLICE = 8,   /* objects repacked between two checks; each takes about 20 us */
    FIFO_HIGH = 2000,   /* LIMIT: deltas queued before the source is paused ... */
    FIFO_LOW = 1000,    /* ... and resumed at this count */
};

/* ---- applying ---- */

static void emit_event(void *ctx, const struct inf_event *event)
{
    struct pipeline *p = ctx;
    struct inf_event stamped = *event;
    stamped.received_us = p->received_us;
    dispatch_event(&p->dispatch, &stamped);
}

static void emit_gap(struct pipeline *p, enum inf_gap_reason reason, const char *text)
{
    dispatch_gap(&p->dispatch,
                 &(struct inf_gap){.reason = reason, .text = text, .received_us = p->received_us});
}

/* An object that can't be decoded. The gap names the state that the store keeps of it, if any. */
static void apply_skipped(struct pipeline *p, const struct delta *delta)
{
    const struct inf_object *about = delta->about, *kept = NULL;
    char *text;
    if (about)
        kept = inf_store_get(p->store, inf_object_namespace(about), inf_object_name(about));
    if (kept && object_may_be(kept, about))
        text = xasprintf("%s; the cache keeps resourceVersion %s", delta->text,
                         inf_object_resource_version(kept));
    else
        text = xasprintf("%s; not in the cache", delta->text);
    emit_gap(p, INF_GAP_SKIPPED, text);
    free(text);
}

static void apply_relist(struct pipeline *p, struct delta *delta)
{
    bool first = !p->dispatch.synced && !delta->resumed;
    if (!first && !MUTANT("gap-not-emitted"))
        emit_gap(p, delta->rewound ? INF_GAP_REWIND : INF_GAP_RELIST, delta->text);
    if (delta->redefined)
        store_redefine(p->store);
    store_flip(p->store, delta->generation, delta->resource_version,
               first            ? INF_INITIAL
               : delta->resumed ? INF_RESUMED
                                : INF_RELIST);
    delta->generation = NULL; /* owned by the store now */
    p->n_damaged = 0;
    p->emitting = true;
    if (first && MUTANT("synced-too-early"))
        dispatch_synced(&p->dispatch);
}

static void apply_delta(struct pipeline *p, struct delta *delta)
{
    p->received_us = delta->received_us;
    switch (delta->type) {
    case DELTA_ADDED:
    case DELTA_UPDATED: store_put(p->store, delta->object, INF_LIVE, emit_event, p); break;
    case DELTA_DELETED: store_delete(p->store, delta->object, emit_event, p); break;
    case DELTA_BOOKMARK: store_bookmark(p->store, delta->resource_version); break;
    case DELTA_REPLACED: apply_relist(p, delta); break;
    case DELTA_SKIPPED: apply_skipped(p, delta); break;
    case DELTA_CONFIRMED: dispatch_synced(&p->dispatch); break;
    case DELTA_STALE:
    case DELTA_RECOVERED:
        dispatch_freshness(&p->dispatch,
                           &(struct inf_freshness){.stale = delta->type == DELTA_STALE,
                                                   .text = delta->text,
                                                   .received_us = delta->received_us});
        break;
    case DELTA_TYPES: break; /* not a type */
    }
}

/* ---- restored objects ---- */

struct restore_slice {
    struct restored_object objects[RESTORE_SLICE];
    size_t n;
};

static void add_to_slice(void *to, const struct inf_object *object, const struct str *labels)
{
    struct restore_slice *slice = to;
    slice->objects[slice->n++] = (struct restored_object){.object = object, .labels = labels};
}

/* Returns true when all were moved. */
static bool move_all(struct pipeline *p)
{
    struct generation *moved = NULL;
    if (!p->supply.move || !p->supply.move(p->supply.ctx, p->store, &moved, &p->n_damaged))
        return false;
    p->supply.move = NULL;
    if (!moved) {
        generation_reserve(p->restoring, p->supply.count);
        return false;
    }
    store_discard(p->store, p->restoring);
    p->restoring = moved;
    return true;
}

/* Returns true when all were taken. */
static bool take_slice(struct pipeline *p)
{
    struct restore_slice slice;
    bool more;
    slice.n = 0;
    more = p->supply.take(p->supply.ctx, RESTORE_SLICE, add_to_slice, &slice);
    p->n_damaged += generation_restore(p->restoring, slice.objects, slice.n);
    for (size_t i = 0; i < slice.n; i++)
        inf_object_unref(slice.objects[i].object);
    return !more;
}

/* If objects can't be used, the copy is not that of its version: only a list is reliable. */
static void restore_slice(struct pipeline *p)
{
    struct reflector *r = &p->reflector;
    size_t count;
    if (!(p->supply.move ? move_all(p) : take_slice(p)))
        return;
    count = generation_count(p->restoring);
    log_line(r->log, LOG_INFO, "%s: restored %zu object%s", r->sm.owner, count,
             count == 1 ? "" : "s");
    if (p->n_damaged) {
        char *why = xasprintf("%zu saved objects are damaged", p->n_damaged);
        reflector_list_restored(r, why);
        free(why);
    }
    store_restore(p->store, p->restoring, r->version);
    p->restoring = NULL; /* owned by the store now */
}

/* ---- the pump ---- */

static bool take_delta(struct pipeline *p)
{
    struct delta delta;
    bool drop;
    if (!fifo_pop(&p->fifo, &delta))
        return false;
    p->taken[delta.type]++;
    drop =
        p->taken[delta.type] == 2 && ((MUTANT("drop-one-event") && delta.type == DELTA_UPDATED) ||
                                      (MUTANT("drop-one-delete") && delta.type == DELTA_DELETED));
    if (!drop)
        apply_delta(p, &delta);
    delta_done(&delta);
    return true;
}

/* Emits the differences of the last relist, one slice at a time. No other delta is applied before
 * all are emitted. */
static void emit_slice(struct pipeline *p)
{
    p->emitting = !store_emit_some(p->store, SLICE, emit_event, p);
    if (!p->emitting && !p->dispatch.synced)
        dispatch_synced(&p->dispatch);
}

/* Returns true when nothing is left to do. Not while a list is received: its generation counts the
 * objects that it shares with the current one. */
static bool repack_slice(struct pipeline *p)
{
    return p->reflector.staged || store_repack_some(p->store, REPACK_SLICE);
}

/* One small step. Returns false if there is nothing to do, or if it must wait: a handler is full, or
 * the memory budget is exceeded. In the latter case deltas are applied only while handlers keep up,
 * which frees memory. */
static bool pipeline_step(struct pipeline *p)
{
    if (p->restoring) {
        restore_slice(p);
        return true;
    }
    if (dispatch_full(&p->dispatch) ||
        (budget_holds(&p->account) && dispatch_bytes(&p->dispatch) > 0))
        return false;
    if (!p->emitting)
        return take_delta(p) || !store_sweep(p->store, SLICE) || !repack_slice(p);
    emit_slice(p);
    return true;
}

static void pipeline_on_budget(struct budget_account *account)
{
    struct pipeline *p = container_of(account, struct pipeline, account);
    task_schedule(p->clock, &p->pump);
}

/* Works until nothing is left or the tick's time is used up. At the end it pauses reading while deltas
 * or events pile up. */
static void pipeline_pump(struct task *task)
{
    struct pipeline *p = container_of(task, struct pipeline, pump);
    bool more;
    if (p->list_damaged && !p->closed) {
        p->list_damaged = false;
        reflector_list_damaged(&p->reflector, "a saved object is damaged");
    }
    do {
        more = pipeline_step(p);
        more |= dispatch_step(&p->dispatch, !p->emitting && !p->restoring);
    } while (more && !p->closed && !clock_over_budget(p->clock));
    if (!p->closed)
        dispatch_batch_end(&p->dispatch);
    if (p->closed)
        return;
    if (p->fifo.count >= FIFO_HIGH)
        p->fifo_full = true;
    else if (p->fifo.count <= FIFO_LOW)
        p->fifo_full = false;
    budget_set(&p->account, dispatch_bytes(&p->dispatch) + p->fifo.bytes);
    reflector_hold(&p->reflector, p->restoring || p->fifo_full || dispatch_full(&p->dispatch) ||
                                      budget_holds(&p->account));
    if (more)
        task_schedule(p->clock, &p->pump);
    if (p->reflector.held)
        dispatch_report_blocking(&p->dispatch, budget_holds(&p->account));
}

/* ---- life ---- */

static void take_back_lent(struct deferred_free *lent)
{
    store_take_back(container_of(lent, struct pipeline, lent)->store);
}

/* A reader has an unpacked object until it returns to the loop. */
static void pipeline_on_lend(void *ctx)
{
    struct pipeline *p = ctx;
    clock_free_later(p->clock, &p->lent, take_back_lent);
}

/* A saved object was read for the first time, and its frame is damaged: the pump lists, once. Not while
 * the differences of a list are emitted, which replaces it. */
static void pipeline_on_damaged(void *ctx)
{
    struct pipeline *p = ctx;
    if (p->closed || p->emitting || p->n_damaged++)
        return;
    p->list_damaged = true;
    task_schedule(p->clock, &p->pump);
}

static void pipeline_tear_down(struct task *task);

void pipeline_init(struct pipeline *p, const char *name, struct source *source, struct clock *clock,
                   const struct siphash_key *key, struct log *log,
                   const struct pipeline_settings *settings)
{
    static const struct store_events events = {pipeline_on_lend, pipeline_on_damaged};
    *p = (struct pipeline){.clock = clock, .key = *key};
    p->store = store_new(key, settings->indexes, settings->n_indexes);
    list_init(&p->lent.node);
    store_set_events(p->store, &events, p);
    store_pack(p->store, settings->packing, settings->pack_limits);
    if (settings->coalesce)
        fifo_coalesce(&p->fifo, key);
    task_init(&p->pump, PHASE_PUMP, pipeline_pump);
    task_init(&p->teardown, PHASE_PUMP, pipeline_tear_down);
    reflector_init(&p->reflector, name, source, clock, p->store, &p->fifo, &p->pump, log,
                   &settings->reflector);
    dispatch_init(&p->dispatch, clock, p->store, &p->pump, key);
    budget_open(&p->account, settings->budget, pipeline_on_budget);
}

void pipeline_start(struct pipeline *p)
{
    reflector_start(&p->reflector);
}

bool pipeline_has_started(const struct pipeline *p)
{
    return reflector_has_started(&p->reflector);
}

void pipeline_restore(struct pipeline *p, const struct object_supply *supply, const char *version,
                      int64_t written_us, const char *why)
{
    p->supply = *supply;
    p->resumable = version[0] || why;
    p->restored_us = written_us;
    p->restoring = generation_new(p->store);
    if (!supply->move)
        generation_reserve(p->restoring, supply->count);
    dispatch_restored(&p->dispatch);
    reflector_restore(&p->reflector, version, why);
    task_schedule(p->clock, &p->pump);
}

bool pipeline_is_unconfirmed(const struct pipeline *p)
{
    return p->dispatch.restored && !p->restoring && !p->dispatch.synced;
}

void pipeline_adjust(struct pipeline *p, const struct pipeline_settings *settings)
{
    fifo_coalesce(&p->fifo, settings->coalesce ? &p->key : NULL);
    store_pack(p->store, settings->packing, settings->pack_limits);
    task_schedule(p->clock, &p->pump);
    p->reflector.settings.optional = settings->reflector.optional;
}

void pipeline_change(struct pipeline *p, const char *name, struct source *source,
                     const struct pipeline_settings *settings, const char *why)
{
    store_set_indexes(p->store, settings->indexes, settings->n_indexes);
    pipeline_adjust(p, settings);
    reflector_change(&p->reflector, name, source, &settings->reflector, why);
}

/* Moves what is left to restore, and emits the remaining events of a relist to the backlogs, so that
 * store and backlogs match. */
static void settle(struct pipeline *p)
{
    while (p->restoring)
        restore_slice(p);
    while (p->emitting)
        emit_slice(p);
}

void pipeline_split(struct pipeline *from, struct pipeline *to, struct inf_informer *owner)
{
    settle(from);
    store_copy(to->store, from->store, "");
    to->restored_us = from->restored_us;
    to->resumable = from->resumable;
    to->reflector.restored = from->reflector.restored;
    dispatch_split(&from->dispatch, &to->dispatch, owner);
    task_schedule(from->clock, &from->pump);
}

/* Applies everything in the FIFO, which FIFO_HIGH bounds; the events go to the backlogs. */
static void apply_all_deltas(struct pipeline *p)
{
    do
        settle(p);
    while (take_delta(p));
    task_schedule(p->clock, &p->pump);
}

void pipeline_merge(struct pipeline *from, struct pipeline *to, struct inf_informer *owner)
{
    apply_all_deltas(from);
    apply_all_deltas(to);
    store_copy(to->store, from->store, "");
    dispatch_merge(&from->dispatch, &to->dispatch, owner);
}

void pipeline_carve(struct pipeline *from, struct pipeline *to, const char *ns)
{
    apply_all_deltas(from);
    store_copy(to->store, from->store, ns);
    to->dispatch.synced = true;
    store_forget(from->store, ns);
}

bool pipeline_synced(const struct pipeline *p)
{
    return p->dispatch.synced;
}

/* Whether the store has the state of its version, as far as handlers have been given it. Not while
 * differences are emitted or a list of another watch is awaited; nor, if the FIFO coalesces, while it
 * has changes that may be older than those that were applied. */
static bool is_exact(const struct pipeline *p)
{
    return !p->restoring && (!p->emitting || MUTANT("position-in-relist")) &&
           !p->reflector.redefined && !p->fifo.lists && !p->n_damaged &&
           (!p->fifo.coalesce || !p->fifo.count);
}

static const struct pipeline *pipeline_of(const struct inf_handler *handler)
{
    const struct dispatch *d = dispatch_of(handler);
    return d ? container_of(d, struct pipeline, dispatch) : NULL;
}

const char *inf_handler_position(const struct inf_handler *handler)
{
    const struct pipeline *p = pipeline_of(handler);
    if (!p || !is_exact(p) || !dispatch_is_caught_up(handler) || !inf_handler_synced(handler))
        return NULL;
    return inf_store_resource_version(p->store);
}

const char *inf_handler_checkpoint(const struct inf_handler *handler)
{
    const struct pipeline *p = pipeline_of(handler);
    const struct inf_object *last = NULL;
    enum dispatch_reached reached;
    if (!p || !(p->dispatch.synced || p->resumable))
        return "";
    reached = dispatch_reached(handler, &last);
    if (reached == REACHED_BEFORE)
        return NULL;
    if (reached == REACHED_MIXED || !is_exact(p))
        return INF_POSITION_MIXED;
    if (reached == REACHED_ALL || MUTANT("position-ahead"))
        return inf_store_resource_version(p->store);
    return p->fifo.coalesce ? INF_POSITION_MIXED : inf_object_resource_version(last);
}

void pipeline_close(struct pipeline *p, void (*on_gone)(struct pipeline *p))
{
    assert(!p->closed);
    p->closed = true;
    p->on_gone = on_gone;
    budget_close(&p->account);
    task_cancel(&p->pump);
    reflector_close(&p->reflector);
    dispatch_close(&p->dispatch);
    task_schedule(p->clock, &p->teardown);
}

static void pipeline_free_deferred(struct deferred_free *deferred_free)
{
    struct pipeline *p = container_of(deferred_free, struct pipeline, deferred_free);
    p->on_gone(p);
}

/* The FIFO and the backlogs are bounded; the store is not, and is freed in slices. */
static void pipeline_tear_down(struct task *task)
{
    struct pipeline *p = container_of(task, struct pipeline, teardown);
    struct delta delta;
    dispatch_free(&p->dispatch);
    store_discard(p->store, p->restoring);
    p->restoring = NULL;
    while (fifo_pop(&p->fifo, &delta)) {
        store_discard(p->store, delta.generation);
        delta.generation = NULL;
        delta_done(&delta);
    }
    while (!store_free_some(p->store, SLICE))
        if (clock_over_budget(p->clock)) {
            task_schedule(p->clock, &p->teardown);
            return;
        }
    list_remove(&p->lent.node); /* with the store, what it has lent is taken back */
    fifo_free(&p->fifo);
    clock_free_later(p->clock, &p->deferred_free, pipeline_free_deferred);
}
