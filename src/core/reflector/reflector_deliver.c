/*
 * reflector_deliver.c - turns what was received into deltas and pushes them into the FIFO.
 *
 * A complete list is one delta that replaces everything; a watch event is one delta. The last
 * version only advances. Nothing here fails; objects that can't be decoded become SKIPPED deltas.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "core/mutant.h"
#include "core/object/object.h"
#include "core/object/version.h"
#include "core/reflector/reflector_internal.h"
#include "core/store/generation.h"
#include "core/store/store.h"

static void push_delta(struct reflector *r, const struct delta *delta)
{
    fifo_push(r->fifo, delta); /* takes ownership */
    task_schedule(r->clock, r->pump);
}

void reflector_commit(struct reflector *r, const char *version, int64_t received_us)
{
    bool back = version_is_older(version, r->version);
    bool differs = generation_differs(r->staged);
    const char *reason = r->absent ? "the resource is available now" : r->sync_reason;
    push_delta(
        r, &(struct delta){.type = DELTA_REPLACED,
                           .generation = r->staged,
                           .resource_version = xstrdup(version),
                           .text = back ? xasprintf("server rewound from resourceVersion %s to %s",
                                                    r->version, version)
                                        : xstrdup(reason),
                           .rewound = back,
                           /* another release may store other fields of a restored object */
                           .redefined = r->redefined || r->restored != RESTORED_NOT,
                           .resumed = r->restored == RESTORED_COMPLETE,
                           .received_us = received_us});
    r->staged = NULL; /* owned by the FIFO now */
    r->redefined = false;
    r->restored = RESTORED_NOT;
    r->fault.code = 0;
    if (r->freshness.state != FRESHNESS_UNSYNCED) {
        r->counts.relists[r->sync_code]++;
        freshness_sign(&r->freshness, 0);
    } else {
        freshness_begin(&r->freshness);
    }
    r->absent = false;
    r->next = NEXT_WATCH;
    r->incomplete_fills = 0;
    r->version_checked_ms = clock_now_ms(r->clock);
    reflector_check_listed(r, differs);
    str_replace(&r->version, version);
}

void reflector_confirm(struct reflector *r)
{
    timer_stop(r->clock, &r->confirm);
    if (r->restored == RESTORED_NOT)
        return;
    r->restored = RESTORED_NOT;
    push_delta(r, &(struct delta){.type = DELTA_CONFIRMED});
}

void reflector_commit_absent(struct reflector *r, const struct inf_error *why)
{
    r->sync_code = why->code;
    str_replace(&r->sync_reason, why->text);
    if (!r->absent) {
        log_line(r->log, LOG_INFO, "%s: resource not found; waiting for it to appear: %s",
                 r->sm.owner, why->text);
        r->staged = generation_new(r->store);
        reflector_commit(r, "", clock_wall_us(r->clock));
        r->absent = true;
        r->next = NEXT_LIST;
    }
    r->fault.code = 0;
}

static void advance_version(struct reflector *r, const char *version)
{
    if (!version_is_older(version, r->version) && /* a stream never moves it backwards */
        !MUTANT("version-not-advanced"))
        str_replace(&r->version, version);
}

/* An object without a name is reported each time. */
static bool was_reported(struct reflector *r, const struct inf_object *identity)
{
    char *text;
    uint64_t hash;
    if (!identity)
        return false;
    text =
        xasprintf("%.*s %s", STR_FMT(object_key(identity)), inf_object_resource_version(identity));
    hash = generation_hash(store_current(r->store), str_of(text));
    free(text);
    return !seen_versions_add(&r->skipped, hash);
}

void reflector_push_skipped(struct reflector *r, const struct source_event *event)
{
    const char *version = event->resource_version;
    if (r->staged && event->object)
        generation_keep(r->staged, event->object);
    if (!was_reported(r, event->object)) {
        char *text = version[0] ? xasprintf("%s (resourceVersion %s)", event->text, version)
                                : xstrdup(event->text);
        r->counts.skipped++;
        log_line(r->log, LOG_ERROR, "%s: object skipped: %s", r->sm.owner, text);
        push_delta(r, &(struct delta){.type = DELTA_SKIPPED,
                                      .about = event->object ? inf_object_ref(event->object) : NULL,
                                      .text = text,
                                      .received_us = event->received_us});
    }
    if (r->staged || !version[0])
        return;
    advance_version(r, version);
    push_delta(r, &(struct delta){.type = DELTA_BOOKMARK,
                                  .resource_version = xstrdup(version),
                                  .received_us = event->received_us});
}

void reflector_push_change(struct reflector *r, enum delta_type type,
                           const struct source_event *event)
{
    struct delta delta = {.type = type, .received_us = event->received_us};
    if (event->object)
        delta.object = inf_object_ref(event->object);
    else
        delta.resource_version = xstrdup(event->resource_version);
    advance_version(r, event->resource_version);
    push_delta(r, &delta);
}

/* The time when this process did not run is reported apart from the silence of the server. */
static char *why_stale(const struct reflector *r, uint64_t silent_ms)
{
    uint64_t stopped_ms = r->freshness.stopped_ms;
    char *stopped = xasprintf("process suspended for %" PRIu64 "s", stopped_ms / 1000);
    char *silent = xasprintf("no data received for %" PRIu64 "s%s%s", silent_ms / 1000,
                             r->fault.code ? ": " : "", r->fault.code ? r->fault.text : "");
    char *text = !stopped_ms                     ? xstrdup(silent)
                 : silent_ms < stopped_ms + 1000 ? xstrdup(stopped)
                                                 : xasprintf("%s; %s", stopped, silent);
    free(stopped);
    free(silent);
    return text;
}

void reflector_on_freshness(struct freshness *f)
{
    struct reflector *r = container_of(f, struct reflector, freshness);
    uint64_t now = clock_elapsed_ms(r->clock);
    bool stale = freshness_is_stale(f);
    struct delta delta = {.received_us = clock_wall_us(r->clock)};
    if (stale) {
        r->stale_since_ms = f->sign_ms;
        delta.type = DELTA_STALE;
        delta.text = why_stale(r, now - f->sign_ms);
    } else {
        delta.type = DELTA_RECOVERED;
        delta.text =
            xasprintf("data received again after %" PRIu64 "s", (now - r->stale_since_ms) / 1000);
    }
    log_line(r->log, stale ? LOG_WARN : LOG_INFO, "%s: %s", r->sm.owner, delta.text);
    push_delta(r, &delta);
}

void reflector_drop_staged(struct reflector *r)
{
    if (!r->staged || MUTANT("staged-kept"))
        return;
    task_schedule(r->clock, r->pump); /* the pump frees it in slices */
    store_discard(r->store, r->staged);
    r->staged = NULL;
}
