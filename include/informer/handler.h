/*
 * handler.h - callbacks for changes of objects, with a backlog of events not yet delivered.
 *
 *     static void on_event(struct inf_handler *handler, struct inf_informer *informer,
 *                          const struct inf_event *event);
 *     ...
 *     static struct inf_handler handler = {.on_event = on_event};
 *     inf_handler_add(pods, &handler);
 *
 * event.h states what events a handler receives, and their guarantees.
 */
#ifndef INFORMER_HANDLER_H
#define INFORMER_HANDLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/event.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inf_informer;

/* ---- handlers ---- */

/* What happens when the backlog of a handler is full because it is slower than the cluster. */
enum inf_overflow {
    /* Stop reading from the server until there is room: all handlers of the cache wait. */
    INF_WAIT,
    /* Keep only the newest state of each object: intermediate changes are not delivered. */
    INF_COALESCE,
    /* Drop the oldest events and report it (on_gap). */
    INF_DROP,
};

/*
 * Embed it in your own struct or set `data`, fill it in, and do not modify it until it is removed.
 * Any callback may be NULL. Callbacks are called from the loop, never inside a call to this
 * library, and may call any function of it. @informer is the one that the handler was added to.
 */
struct inf_handler {
    void *data; /* for the user; the library does not use it */

    /** One change. */
    void (*on_event)(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event);

    /**
     * All objects that existed when the handler was added, or at the first list, were delivered.
     * Called once.
     */
    void (*on_synced)(struct inf_handler *handler, struct inf_informer *informer);

    /** The event stream has, or may have, a gap. Called before the events that follow the gap. */
    void (*on_gap)(struct inf_handler *handler, struct inf_informer *informer,
                   const struct inf_gap *gap);

    /**
     * The server has sent nothing for stale_after_ms, or sends again. The informer keeps trying to
     * reconnect.
     */
    void (*on_freshness)(struct inf_handler *handler, struct inf_informer *informer,
                         const struct inf_freshness *freshness);

    /** No more events in this iteration of the loop: a good time to write collected output. */
    void (*on_batch_end)(struct inf_handler *handler, struct inf_informer *informer);

    /**
     * This handler blocks another informer that shares the cache and is ready for events: its
     * backlog is full (INF_WAIT), or it is paused while the budget is used up.
     * inf_informer_separate() resolves that.
     */
    void (*on_blocking)(struct inf_handler *handler, struct inf_informer *informer);

    enum inf_overflow overflow;
    uint32_t max_events; /* limit of the backlog; 0: 4096 */
    uint32_t max_bytes;  /* limit of the objects in it; 0: 64 MiB */
    uint32_t resync_ms;  /* interval of redelivery of every object (origin INF_RESYNC); 0: never */

    void *internal; /* used by the library from inf_handler_add() to inf_handler_remove() */
    void *reserved[2];
};

/**
 * Registers @handler for every change from now on, preceded by one ADDED for each object already in
 * the cache. No change is missed or delivered twice.
 *
 * Keeps a pointer to @handler until inf_handler_remove() or until the informer is closed. Never
 * calls back before it returns. May be called from a handler. Returns 0, or -INF_EINVAL if @handler
 * is already registered or a reserved field is not zero.
 */
INF_API int inf_handler_add(struct inf_informer *informer, struct inf_handler *handler);

/**
 * Removes @handler. It is not called any more, not even for events in its backlog. May be called at
 * any time, also from its own callbacks. Harmless if it is not registered.
 */
INF_API void inf_handler_remove(struct inf_handler *handler);

/**
 * Pause and resume the calls to @handler, for example while its own output is full. Events are
 * added to its backlog meanwhile; `overflow` determines what happens when the backlog is full.
 */
INF_API void inf_handler_pause(struct inf_handler *handler);
INF_API void inf_handler_resume(struct inf_handler *handler);

/** Whether on_synced was called, or would have been. */
INF_API bool inf_handler_synced(const struct inf_handler *handler);

/** The number of events in the backlog of @handler. */
INF_API size_t inf_handler_backlog(const struct inf_handler *handler);

#ifdef __cplusplus
}
#endif

#endif
