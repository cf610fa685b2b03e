/*
 * queue.h - a work queue between handlers, which must be fast, and work, which may be slow.
 *
 *     static void on_event(struct inf_handler *handler, struct inf_informer *informer,
 *                          const struct inf_event *event)
 *     {
 *         const struct inf_object *pod = inf_event_object(event);
 *         char key[INF_QUEUE_KEY_MAX];
 *         snprintf(key, sizeof(key), "%s/%s", inf_object_namespace(pod), inf_object_name(pod));
 *         inf_queue_add(app_of(handler)->queue, key);
 *     }
 *     static void work(struct inf_worker *worker, struct inf_queue *queue, const char *key)
 *     {
 *         job_start(app_of_worker(worker), key, on_job_end); // looks the key up in the store
 *     }
 *     static void on_job_end(struct app *app, const char *key, bool ok) // or at once
 *     {
 *         inf_queue_done(app->queue, key, ok ? INF_WORK_OK : INF_WORK_RETRY);
 *     }
 *     app->queue = inf_queue_open(client, &app->worker, NULL, &err);
 *
 * The queue holds keys, not events. Adding a key that already waits has no effect, so a burst of
 * changes causes one run. A key that is added while a worker runs it is run again afterwards. Two
 * runs of one key never overlap, and every add is followed by a run that starts after it and sees
 * what the adder saw. Keys are handed out in the order in which they became ready.
 *
 * No function calls back before it returns: the loop hands out keys in its pump phase. Everything
 * here belongs to the thread that runs the loop.
 */
#ifndef INFORMER_QUEUE_H
#define INFORMER_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inf_client;
struct inf_queue;

enum {
    INF_QUEUE_KEY_MAX = 4096, /* LIMIT: bytes of a key and its NUL; namespace/name needs 2050 */
};

/* ---- open and close ---- */

/* Embed it in your own struct or set `data`. Both callbacks may call any function of this library. */
struct inf_worker {
    void *data; /* for the user; the library does not use it */

    /* Works on @key. Call inf_queue_done() when the work is finished: in this call or later. @key
     * is borrowed: it is valid until then, and after that until you return to the loop. */
    void (*work)(struct inf_worker *worker, struct inf_queue *queue, const char *key);

    /* Called once after inf_queue_drain(), when no key is queued or being worked on. May be
     * NULL. */
    void (*on_drained)(struct inf_worker *worker, struct inf_queue *queue);
};

/* All fields may be zero. The string is copied. */
struct inf_queue_options {
    const char *name;         /* for the log; NULL: "queue" */
    uint32_t workers;         /* number of keys worked on at the same time; 0: 1 */
    uint32_t base_ms;         /* delay of a key's first retry, doubled for each further one; 0: 5 */
    uint32_t max_ms;          /* maximum delay of a retry; 0: 1,000,000 */
    uint32_t retries_per_sec; /* rate of retries of all keys together; 0: 10 */
    uint32_t burst;           /* retries that may exceed that rate after an idle period; 0: 100 */
    size_t keys_max;          /* LIMIT: distinct keys queued, delayed or worked on; 0: 1,000,000 */

    void *reserved[4];
};

/**
 * Opens a queue whose keys are handed to @worker. @options may be NULL.
 *
 * Keeps a pointer to @worker until inf_queue_close() or inf_client_close(). Returns NULL, with
 * @err, if @worker has no work() or a reserved field is not zero.
 */
INF_API struct inf_queue *inf_queue_open(struct inf_client *client, struct inf_worker *worker,
                                         const struct inf_queue_options *options,
                                         struct inf_error *err);

/**
 * Starts an orderly shutdown. From now on adds are refused, and delayed keys and further retries
 * are dropped. Queued keys are still handed out, and keys that were added again while being worked
 * on are run again. When the last run is done, on_drained() is called. Calling it again has no
 * effect. The queue must still be closed.
 */
INF_API void inf_queue_drain(struct inf_queue *queue);

/** Called when a queue is closed. @queue is freed afterwards: only read its data here. */
typedef void inf_queue_closed_fn(struct inf_queue *queue);

/**
 * Closes the queue immediately. The worker is not called any more, not even on_drained(). The
 * handle is no longer valid, except for @on_closed; borrowed keys stay valid until you return to
 * the loop. May be called from the worker's callbacks.
 *
 * Then @on_closed, which may be NULL, is called once, from the loop and never before this function
 * returns: the worker may be freed. NULL is allowed as @queue; then @on_closed is not called.
 */
INF_API void inf_queue_close(struct inf_queue *queue, inf_queue_closed_fn *on_closed);

/** The pointer last set with inf_queue_set_data(); NULL: none. The library does not use it. */
INF_API void *inf_queue_data(const struct inf_queue *queue);

/** Sets the user's pointer of @queue. */
INF_API void inf_queue_set_data(struct inf_queue *queue, void *data);

/* ---- adding keys ---- */

/**
 * Queues @key (copied). A key that is already queued keeps its position.
 *
 * Returns 0; -INF_ECLOSED after inf_queue_drain(); -INF_ETOOBIG, changing nothing, if the key is
 * too long or would exceed keys_max: the caller can then remember it, or call inf_handler_pause().
 * A key that the queue already knows is never refused for keys_max.
 */
INF_API int inf_queue_add(struct inf_queue *queue, const char *key);

/**
 * Queues @key after @delay_ms. Of several delays of one key only the one that ends first counts. A
 * run of the key for another reason does not cancel the delay. A delay of 0 is inf_queue_add().
 * Fails as inf_queue_add() does.
 */
INF_API int inf_queue_add_after(struct inf_queue *queue, const char *key, uint64_t delay_ms);

/**
 * Queues @key after a delay: the longer of the key's own back-off (base_ms, max_ms), which grows
 * with each retry, and the rate limit of all keys (retries_per_sec, burst). Counts a retry. Fails
 * as inf_queue_add() does.
 */
INF_API int inf_queue_add_rate_limited(struct inf_queue *queue, const char *key);

/* ---- finishing keys ---- */

enum inf_work_outcome {
    INF_WORK_OK,    /* success, or given up: the retry count is reset */
    INF_WORK_RETRY, /* run again, as by inf_queue_add_rate_limited(); never refused */
};

/**
 * Reports that the work on @key, started by work(), is finished. If the key was added meanwhile, it
 * is queued again.
 *
 * Returns 0, or -INF_ENOTFOUND if @key is not being worked on.
 */
INF_API int inf_queue_done(struct inf_queue *queue, const char *key, enum inf_work_outcome outcome);

/**
 * Resets the retry count of @key: the next retry waits base_ms again. A current delay is not
 * changed. Any key is allowed.
 */
INF_API void inf_queue_forget(struct inf_queue *queue, const char *key);

/** The number of retries of @key since it was last done with INF_WORK_OK or forgotten. */
INF_API uint32_t inf_queue_retries(const struct inf_queue *queue, const char *key);

/* ---- statistics ---- */

/** The number of keys that wait for a worker, without delayed keys and keys being worked on. */
INF_API size_t inf_queue_length(const struct inf_queue *queue);

/* The counters of the first group only grow; the others are current values. */
struct inf_queue_stats {
    uint64_t
        adds; /* adds that cause a run of their own; delayed adds count when the delay is over */
    uint64_t collapsed; /* adds of a key that was already waiting */
    uint64_t refused;   /* adds that returned -INF_ETOOBIG */
    uint64_t retries;   /* rate-limited adds */
    uint64_t done;      /* finished runs */
    uint64_t
        queued_ms; /* total time that the keys of all started runs waited after they were ready */
    uint64_t worked_ms; /* total duration of all finished runs */

    size_t depth;   /* inf_queue_length() */
    size_t delayed; /* keys whose delay is not over */
    size_t working;

    uint64_t oldest_queued_ms;  /* waiting time of the first ready key; 0: none waits */
    uint64_t longest_worked_ms; /* duration of the oldest current run; 0: there is none */
    uint64_t unfinished_ms;     /* total duration of all current runs */

    uint64_t reserved[4];
};

/** Copies the current numbers to @ret_stats. Costs no more than the copy. */
INF_API void inf_queue_stats(const struct inf_queue *queue, struct inf_queue_stats *ret_stats);

#ifdef __cplusplus
}
#endif

#endif
