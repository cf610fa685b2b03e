/*
 * handlers.h - the set of handlers of the daemon: adding, changing and removing them at each reload,
 * and stopping them at the end. See handler.h for what a handler is.
 */
#ifndef DAEMON_HANDLERS_H
#define DAEMON_HANDLERS_H

#include "daemon/handler/handler.h"

struct handlers {
    struct handler_host host; /* filled in by the owner, apart from on_run_end */
    struct list handlers;     /* of struct handler */
    struct list leaving; /* of struct handler: removed or stopped, with runs that have not ended */
    struct timer cancel; /* ends the runs that take too long when the daemon stops */
    bool draining;
    void (*on_drained)(struct handlers *handlers);
};

void handlers_init(struct handlers *handlers);

/* Whether handlers_set() will succeed. Returns 0, or -INF_EINVAL naming the handler. */
int handlers_check(const struct handler_settings *settings, size_t n, struct inf_error *err);

/* Replaces the handlers; settings must have been checked. One whose name existed before continues with
 * its queue and the new settings. One that is no longer listed ends: its runs are finished, and records
 * that were not delivered are dropped and logged. */
void handlers_set(struct handlers *handlers, const struct handler_settings *settings, size_t n);

/* The state on disk was emptied and works again: saves all records. */
void handlers_save_again(struct handlers *handlers);

/* Whether a queue of the state with this name belongs to a handler. */
bool handlers_use_queue(const struct handlers *handlers, const char *name);

/* The name of the handler whose queue has this name; NULL: it is not a queue of a handler. */
const char *handlers_queue_owner(const char *queue_name);

/* Whether it has what handler_tracks_save() writes, rather than records. */
bool handlers_queue_has_tracks(const char *queue_name);

/* NULL: none has this name. */
struct handler *handlers_find(const struct handlers *handlers, const char *name);

/* A paused handler starts no runs, also after a restart with state on disk. Its records wait. */
void handlers_pause(struct handlers *handlers, struct handler *handler, bool paused);

/* Starts no more runs and calls @on_drained when the current ones have ended, possibly before it
 * returns. After @timeout_ms (0: never) they are ended. Records that were not delivered stay in the
 * state on disk; those in memory are logged. */
void handlers_drain(struct handlers *handlers, uint64_t timeout_ms,
                    void (*on_drained)(struct handlers *handlers));

void handlers_each(const struct handlers *handlers,
                   void (*each)(void *ctx, const struct handler *handler), void *ctx);
size_t handlers_count(const struct handlers *handlers);

#endif
