/*
 * consumer.h - a durable consumer: records that are kept on disk until the program has worked on them.
 *
 *     static void on_event(struct inf_handler *h, struct inf_informer *informer,
 *                          const struct inf_event *event)
 *     {
 *         inf_state_note(stream, informer, event);
 *         inf_consumer_add(consumer, text, len); // in the same batch as the object
 *     }
 *     static void on_flushed(struct inf_state *state, uint64_t flush) // and when work is done
 *     {
 *         struct inf_consumer_record record;
 *         while (jobs < JOBS_MAX && inf_consumer_next(consumer, &record))
 *             job_start(record.id, record.bytes, record.len, on_job_end);
 *     }
 *     static void on_job_end(uint64_t id, bool ok)
 *     {
 *         if (ok)
 *             inf_consumer_done(consumer, id);
 *         else
 *             inf_consumer_return(consumer, id);
 *         inf_state_flush(state);
 *     }
 *
 * A record is in the same batch of the state as everything else that is noted with it: after a crash
 * both exist or neither. It is handed out only after the batch was written, and until it is done each
 * later run of the program gets it again: each record at least once, in the order in which they
 * were added, apart from those that were returned. A record that must not be worked on twice needs an
 * identity of its own, such as the object's uid and resource version.
 *
 * Records are also in memory. A state that is suspended saves nothing: records are handed out as
 * without a state. When it works again (on_suspended() with NULL), call inf_consumer_save().
 *
 * Everything here belongs to the thread that runs the loop. Nothing calls back.
 */
#ifndef INFORMER_CONSUMER_H
#define INFORMER_CONSUMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/state.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inf_consumer;

/* All fields may be zero. */
struct inf_consumer_options {
    size_t bytes_max; /* LIMIT: bytes of records that are not done; 0: 64 MiB */

    void *reserved[4];
};

/**
 * Opens the consumer with this name, with the records that earlier runs of the program have left. Call
 * it after on_loaded() of the state. The name is that of a queue of the state, which nothing else may
 * use. @options may be NULL.
 *
 * Returns NULL, with @err, if the name is longer than INF_STATE_ID_MAX or a reserved field is not zero.
 */
INF_API struct inf_consumer *inf_consumer_open(struct inf_state *state, const char *name,
                                               const struct inf_consumer_options *options,
                                               struct inf_error *err);

/** Frees the consumer; its records stay on disk. Call it before inf_state_close(). NULL is allowed. */
INF_API void inf_consumer_close(struct inf_consumer *consumer);

/**
 * Adds a record (copied) in the current batch of the state. inf_consumer_next() returns it after
 * on_flushed() of that batch.
 *
 * Returns 0; or -INF_ETOOBIG, changing nothing, if it would exceed bytes_max: the caller can then call
 * inf_handler_pause(), or drop older records with inf_consumer_done().
 */
INF_API int inf_consumer_add(struct inf_consumer *consumer, const char *bytes, size_t len);

struct inf_consumer_record {
    uint64_t id;       /* grows with each record, also over restarts */
    const char *bytes; /* valid until the record is done */
    size_t len;
    bool repeated; /* perhaps handed out before: by an earlier run of the program, or returned */

    uint64_t reserved[2];
};

/** Hands out the oldest record that was not handed out. Returns false if there is none now. */
INF_API bool inf_consumer_next(struct inf_consumer *consumer, struct inf_consumer_record *ret);

/** The work on the record is done: it is removed, in the current batch. In any order. Returns 0, or
 * -INF_ENOTFOUND if there is no such record. */
INF_API int inf_consumer_done(struct inf_consumer *consumer, uint64_t id);

/** The work has failed: inf_consumer_next() hands the record out again. Returns 0, or -INF_ENOTFOUND if
 * it is not handed out. */
INF_API int inf_consumer_return(struct inf_consumer *consumer, uint64_t id);

/** The state was emptied and works again: adds all records to the current batch. */
INF_API void inf_consumer_save(struct inf_consumer *consumer);

/** The number of records that are not done. */
INF_API size_t inf_consumer_length(const struct inf_consumer *consumer);

#ifdef __cplusplus
}
#endif

#endif
