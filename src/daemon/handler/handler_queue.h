/*
 * handler_queue.h - the records that a handler has not delivered yet, in memory and in the state on disk.
 *
 *                  save             release           begin           done: removed
 *     collected ─────────> saving ─────────> waiting ────────> running ────> parked
 *                                               ^ ^───── retry ──┘  │          │
 *                                               └────── unpark ─────┼──────────┘
 *
 * Records belong to objects: each object has a list of its records in the order of their ids. An object
 * exists as long as it has records or is not idle.
 *
 * In the state on disk a queue is a log of entries, so that a record can end before older ones:
 *
 *     R ID TIME KEY-LENGTH ENV-LENGTH LINE-LENGTH\n KEY ENV LINE      a record
 *     S ID TIME KEY-LENGTH ENV-LENGTH LINE-LENGTH TRACK AFTER VERSION\n KEY ENV LINE
 *                                                                      likewise, with a span (handler_track.h)
 *     D ID\n                                                           it was delivered or dropped
 *     P ID RUNS TIME WHY-LENGTH\n WHY                                 it is parked
 *
 * (P ID\n is read, too: written by versions that did not save the reason.)
 *
 * The records and their D go to the same batches as everything else in the state, so after a crash
 * exactly the records without a D are there. The beginning of the log is confirmed up to the first
 * record that is needed; if an old record prevents that, all needed records are written again at the
 * end. Without a state on disk (queue NULL) records are only in memory.
 */
#ifndef DAEMON_HANDLER_QUEUE_H
#define DAEMON_HANDLER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/state.h"

#include "base/buf.h"
#include "base/hashmap.h"
#include "base/list.h"
#include "base/siphash.h"
#include "base/str.h"
#include "base/timers.h"
#include "daemon/handler/handler_track.h"

enum {
    HANDLER_QUEUE_SLACK =
        64 * 1024,         /* bytes of the log that are not needed, before it is rewritten */
    HANDLER_WHY_MAX = 160, /* LIMIT: bytes of the reason why a record is parked */
};

enum handler_record_state {
    RECORD_COLLECTED, /* not in the state on disk */
    RECORD_SAVING,    /* in a batch that is not written yet */
    RECORD_WAITING,
    RECORD_RUNNING,
    RECORD_PARKED, /* given up until it is unparked */
    RECORD_STATES,
};

/* What the handler does with an object; see handler.c. */
enum handler_object_state {
    OBJECT_IDLE,
    OBJECT_READY,   /* its first record is to be delivered */
    OBJECT_RUNNING, /* its first record is delivered */
    OBJECT_DELAYED, /* until the timer fires */
};

struct handler_object {
    struct hash_node by_key;
    struct list node;    /* in the queue */
    struct list records; /* by id */
    enum handler_object_state state;
    struct list ready;  /* in the handler, if it is ready */
    struct timer delay; /* if it is delayed */
    void *owner;        /* the handler */
    char key[];
};

struct handler_record {
    struct list node;      /* in the queue, by id */
    struct list of_object; /* in its object */
    struct handler_object *object;
    enum handler_record_state state;
    uint64_t id;
    uint64_t begin;           /* of its entry in the log on disk; valid unless it is collected */
    int64_t time_us;          /* when the change was received */
    uint32_t runs;            /* in this process, or until it was parked */
    uint32_t failures;        /* of these, those that count for retry.max */
    bool alone;               /* not delivered together with others: see handler_batch.c */
    int64_t parked_us;        /* when it was parked; 0: unknown */
    char *why;                /* owned; why it is parked; NULL: unknown, or not parked */
    struct handler_span span; /* among the versions of its stream */
    size_t env_len, line_len;
    char text[]; /* environment, each "NAME=value" with its NUL; then the line with its newline */
};

struct handler_queue {
    void *owner; /* of its objects */
    struct siphash_key hash_key;
    struct hashmap by_key;
    struct list objects;
    struct list records;             /* by id */
    struct inf_state_queue *on_disk; /* NULL: none */
    struct buf entry;                /* for put_record(): an entry of the log */
    struct handler_tracks *tracks;   /* borrowed; NULL: records have none */
    uint64_t next_id;
    size_t counts[RECORD_STATES];
    size_t bytes;        /* of all records but parked ones */
    size_t parked_bytes; /* of these */
};

void handler_queue_init(struct handler_queue *queue, const struct siphash_key *hash_key);

/* The record, which is collected, has this span. */
void handler_queue_set_span(struct handler_record *record, const struct handler_span *span);

/* Frees all records. What is on disk stays there. */
void handler_queue_free(struct handler_queue *queue);

/* Takes over the records of @on_disk, which is borrowed. They are waiting or parked. Returns false if
 * some could not be read: these are dropped. */
bool handler_queue_restore(struct handler_queue *queue, struct inf_state_queue *on_disk);

/* Adds a collected record. @env is a sequence of strings with their NULs. */
struct handler_record *handler_queue_add(struct handler_queue *queue, const char *key,
                                         int64_t time_us, struct str env, struct str line);

/* Adds the collected records to the current batch of the state. */
void handler_queue_save(struct handler_queue *queue);

/* That batch is written: its records are waiting. Calls @each for each of them. */
void handler_queue_release(struct handler_queue *queue,
                           void (*each)(void *ctx, struct handler_record *record), void *ctx);

/* Frees a record that was delivered or is not needed. If that was the last one of an object that is
 * idle, the object is freed, too. */
void handler_queue_remove(struct handler_queue *queue, struct handler_record *record);

/* Moves a waiting record to RUNNING, or a running one to WAITING. */
void handler_queue_move(struct handler_queue *queue, struct handler_record *record,
                        enum handler_record_state state);

/* Parks a running record; of a longer @why the first HANDLER_WHY_MAX bytes are kept. */
void handler_queue_park(struct handler_queue *queue, struct handler_record *record, const char *why,
                        int64_t now_us);

/* Parked records are waiting again: those with sequence number @seq, or all if it is 0. Calls @each for
 * each of them. Returns their number. */
size_t handler_queue_unpark(struct handler_queue *queue, uint64_t seq,
                            void (*each)(void *ctx, struct handler_record *record), void *ctx);

/* Removes parked records: those with sequence number @seq, or all if it is 0. Returns their number. */
size_t handler_queue_drop_parked(struct handler_queue *queue, uint64_t seq);

/* The state on disk was emptied: writes all needed records again. */
void handler_queue_rewrite(struct handler_queue *queue);

struct handler_object *handler_queue_find(const struct handler_queue *queue, const char *key);

/* Frees the object if it has no records and is idle. */
void handler_object_release(struct handler_queue *queue, struct handler_object *object);

/* The first record that is not parked; NULL: none. */
struct handler_record *handler_object_first(const struct handler_object *object);
struct handler_record *handler_queue_first(const struct handler_queue *queue);

/* Records that are not parked. */
size_t handler_queue_length(const struct handler_queue *queue);

/* ---- for its parts: handler_queue_load.c ---- */

/* Adds the records of a log to an empty queue. Returns false if it is damaged. */
bool handler_queue_load(struct handler_queue *queue, struct str log);

/* Adds a record that an earlier run has saved; its id must be greater than those of all others. It is
 * waiting. */
struct handler_record *handler_queue_put(struct handler_queue *queue, uint64_t id, struct str key,
                                         int64_t time_us, struct str env, struct str line);

/* Such a record has a span in the track of that number, if that is known. */
void handler_queue_put_span(struct handler_queue *queue, struct handler_record *record,
                            uint64_t track, uint64_t after, uint64_t version);

/* Such a record was parked. */
void handler_queue_put_parked(struct handler_queue *queue, struct handler_record *record,
                              uint32_t runs, int64_t parked_us, struct str why);

static inline struct str handler_record_line(const struct handler_record *record)
{
    return (struct str){record->text + record->env_len, record->line_len};
}

/* The value of the variable INFORMERD_@name of the record; "": it has none. */
const char *handler_record_variable(const struct handler_record *record, const char *name);

/* 0: unknown. */
uint64_t handler_record_seq(const struct handler_record *record);

#endif
