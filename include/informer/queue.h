/*
 * queue.h - the work queue: between handlers, which must be quick, and work, which may be slow.
 *
 *     static void on_event(struct inf_handler *handler, const struct inf_event *event)
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
 * It holds keys, not events. A key that is added while it waits is there already, so a burst of
 * changes is one run. A key that is added while it is worked on is handed out again when that run
 * is done: never two runs of one key at a time, and behind each add begins a run that sees what the
 * adder saw. Keys that are ready are handed out in the order in which they became so.
 *
 * Nothing is called back before a function returns: keys are handed out by the loop, in its pump
 * phase. Everything here belongs to the thread that runs the loop.
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
    INF_QUEUE_KEY_MAX = 4096, /* LIMIT: bytes of a key and its NUL; namespace/name has 2050 */
};

/* ---- life ---- */

/* Embed in your own struct. Both functions may call any function of this library. */
struct inf_worker {
    /* Work on @key, and say inf_queue_done() once that is over: in this call or in any later one.
     * The key is lent: it stays until then, and after that until you return to the loop. */
    void (*work)(struct inf_worker *worker, struct inf_queue *queue, const char *key);

    /* Once, after inf_queue_drain(): nothing is queued or worked on any more. May be NULL. */
    void (*on_drained)(struct inf_worker *worker, struct inf_queue *queue);
};

/* All fields may be left zero. The string is copied. */
struct inf_queue_options {
    const char *name; /* for the log; NULL: "queue" */
    uint32_t workers; /* so many keys are worked on at a time; 0: 1 */
    uint32_t base_ms; /* a key's first retry waits so long, each further one twice as long; 0: 5 */
    uint32_t max_ms;  /* ... but no longer than this; 0: 1,000,000 */
    uint32_t retries_per_sec; /* of all keys together; 0: 10 */
    uint32_t burst;           /* retries which that lets pass at once after a quiet time; 0: 100 */
    size_t keys_max;          /* LIMIT: different keys queued, delayed or worked on; 0: 1,000,000 */
};

/**
 * A queue whose keys @worker works on. @options may be NULL.
 *
 * Keeps @worker (not a copy) until inf_queue_close() or inf_client_close(). NULL, with @err, if it
 * has no work().
 */
INF_API struct inf_queue *inf_queue_open(struct inf_client *client, struct inf_worker *worker,
                                         const struct inf_queue_options *options,
                                         struct inf_error *err);

/**
 * Ends the work in an orderly way: adds are refused from now on, delayed keys and further retries
 * are dropped, what is queued is still handed out, and what is worked on and was added again is
 * worked on again. When the last of it is done, on_drained() is called. Asking twice is asking
 * once. The queue still wants closing.
 */
INF_API void inf_queue_drain(struct inf_queue *queue);

/**
 * Closes the queue at whatever it is; it is gone for the caller, and so are the keys that it lent
 * as soon as you return to the loop. @worker is not called any more, not even on_drained(). May be
 * called from its functions. NULL is fine.
 */
INF_API void inf_queue_close(struct inf_queue *queue);

/* ---- keys in ---- */

/**
 * Has @key (copied) worked on, from now on at the earliest. One that waits for that already keeps
 * its place.
 *
 * Returns 0; -INF_ECLOSED when draining; -INF_ETOOBIG, changing nothing, if the key is too long or
 * would be one more than keys_max: for the caller to remember, or to inf_handler_pause(). A key
 * that the queue knows always has room.
 */
INF_API int inf_queue_add(struct inf_queue *queue, const char *key);

/**
 * The same, in @delay_ms. Of several delays of one key only the earliest end counts; that it is
 * worked on before, for another reason, ends no delay. No delay is inf_queue_add(). Fails as that
 * does.
 */
INF_API int inf_queue_add_after(struct inf_queue *queue, const char *key, uint64_t delay_ms);

/**
 * The same, after a delay that grows with each retry of this key (base_ms, max_ms) and with those
 * of all keys (retries_per_sec, burst): the longer of the two. Counts a retry. Fails as
 * inf_queue_add() does.
 */
INF_API int inf_queue_add_rate_limited(struct inf_queue *queue, const char *key);

/* ---- keys out ---- */

enum inf_work_outcome {
    INF_WORK_OK,    /* or given up: its retries are forgotten */
    INF_WORK_RETRY, /* once more, as inf_queue_add_rate_limited(); always has room */
};

/**
 * The work on @key that work() began is over. If the key was added meanwhile, it is queued again.
 *
 * Returns 0, or -INF_ENOTFOUND if it is not being worked on.
 */
INF_API int inf_queue_done(struct inf_queue *queue, const char *key, enum inf_work_outcome outcome);

/** The next retry of @key waits base_ms again; a delay under way goes on. Any key is fine. */
INF_API void inf_queue_forget(struct inf_queue *queue, const char *key);

/** How often @key was retried since it last was done with INF_WORK_OK or forgotten. */
INF_API uint32_t inf_queue_retries(const struct inf_queue *queue, const char *key);

/* ---- numbers ---- */

/** How many keys wait for a worker: neither those delayed nor those worked on. */
INF_API size_t inf_queue_length(const struct inf_queue *queue);

/* The first group only grows; the others are of this moment. */
struct inf_queue_stats {
    uint64_t adds;      /* that lead to a run of their own; a delay counts when it is over */
    uint64_t collapsed; /* those of a key that waited already */
    uint64_t refused;   /* adds answered by -INF_ETOOBIG */
    uint64_t retries;   /* rate limited adds */
    uint64_t done;      /* runs that are over */
    uint64_t queued_ms; /* how long the keys of all runs, begun so far, had been ready, together */
    uint64_t worked_ms; /* how long all runs that are over took, together */

    size_t depth;   /* inf_queue_length() */
    size_t delayed; /* keys with a delay not over */
    size_t working;

    uint64_t oldest_queued_ms;  /* how long the first of those ready has waited; 0: none does */
    uint64_t longest_worked_ms; /* how long the run that began first goes on; 0: there is none */
    uint64_t unfinished_ms;     /* how long all runs that go on do so, together */
};

/** Costs no more than copying it. */
INF_API void inf_queue_stats(const struct inf_queue *queue, struct inf_queue_stats *ret_stats);

#ifdef __cplusplus
}
#endif

#endif
