/*
 * state_internal.h - what the files of this directory share.
 *
 *     state.c            open, close, information        state_stream.c   streams and their objects
 *     state_load.c       reads the files at the start    state_queue.c    queues
 *     state_load_end.c   what follows from them          state_batch.c    collects records
 *     state_decode.c     records of one of them          state_write.c    writes them to files
 *     state_apply.c      applies one record              state_labels.c   label sets of objects
 *     state_suspend.c    errors, and the return          state_io.c       operations on files
 *     state_compact.c    removes old files               state_segment.c  which files there are
 *     state_index.c      where records are               state_loaded.c   loaded out of order
 *     state_order.c      sorts these                     state_verify.c   checks records on the pool
 *     state_restore.c    collects and returns them
 */
#ifndef CORE_STATE_INTERNAL_H
#define CORE_STATE_INTERNAL_H

#include <stdarg.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/rng.h"
#include "base/sm.h"
#include "core/object/object_packer.h"
#include "core/state/state.h"
#include "core/state/state_index.h"
#include "core/state/state_labels.h"
#include "core/state/state_record.h"

enum state_phase {
    STATE_LOADING,
    STATE_CLEARING, /* files are removed: damaged ones, or those from before a suspension */
    STATE_ACTIVE,
    STATE_READ_ONLY, /* loaded */
    STATE_SUSPENDED,
    STATE_CLOSING, /* what was noted is written */
    STATE_CLOSED,  /* on_closed() was called; an operation may still be in flight */
};

/* An operation on a file. state_io.c calls `then` with its result; it may start the next one. */
struct state_io {
    struct disk_op op;
    struct inf_state *state;
    void (*then)(struct inf_state *state, int64_t result); /* NULL: none in flight */
    bool appending;                                        /* the one in flight is an append */
};

/* Fires when an operation has not ended after a time in which the loop ran: the time is over twice, so
 * that a loop that was blocked itself first gets the end of the operation. */
struct hang_timer {
    struct timer timer;
    struct clock *clock;
    uint64_t half_ms;
    bool half_over;
    void (*fire)(struct hang_timer *timer);
};

/* Bytes of one file that wait to be written, in order. */
struct write_chunk {
    struct list node;
    uint32_t segment;
    uint32_t offset;
    struct buf bytes;
    size_t closed; /* bytes of complete batches */
    size_t written;
    uint64_t flush;   /* number of the last of them */
    uint64_t batches; /* complete ones */
};

struct segment {
    uint64_t size; /* with what waits to be written */
    uint64_t live; /* bytes of records that are needed */
};

/* A dictionary of packed objects. It has a file until no segment has a record that uses it. */
struct state_dictionary {
    struct list node;
    uint32_t number;
    uint64_t id;                        /* pack_dictionary_id() */
    struct pack_dictionary *dictionary; /* a reference, until it is written or loading ends */
    struct buf bytes;                   /* while loading: the record of its file */
    uint32_t last_segment;              /* the newest one that uses it; 0: none */
    uint64_t size;                      /* of its file; 0: not written yet */
};

struct inf_state_stream {
    struct list node;
    struct inf_state *state;
    uint32_t number;
    char *id;
    char *version; /* never NULL */
    int64_t written_us;
    bool version_changed; /* in the current batch */
    bool restored;
    bool rebuilding; /* incomplete until the next position */
    struct live_index index;
    struct inf_store *loaded;    /* the loaded objects but those that `index` lists; NULL: none */
    struct object_packer packer; /* of ordinary objects */
    struct pack_dictionary *newest_dictionary; /* of loaded objects: a reference, or NULL */
};

/* Bytes of a queue that are not confirmed, as they are in a file. */
struct queue_piece {
    struct list node;
    uint64_t begin, end;
    struct place place;
    char *bytes; /* while loading; else NULL */
};

struct inf_state_queue {
    struct list node;
    struct inf_state *state;
    uint32_t number;
    char *name;
    uint64_t end;
    uint64_t confirmed;
    bool confirmed_changed;    /* in the current batch */
    struct list pieces;        /* of struct queue_piece, by position */
    struct queue_piece *found; /* by the last queue_find_piece(); NULL: none */
    struct buf pending;        /* found when it was loaded */
    uint64_t pending_end;
};

struct inf_state {
    struct disk *disk;
    struct clock *clock;
    struct siphash_key key;
    struct inf_state_settings settings; /* strings owned */
    void (*on_free)(void *owner);
    void *owner;
    void (*on_closed)(void *ctx);
    void *on_closed_ctx;
    struct log log;
    struct sm sm;
    struct rng rng;
    struct deferred_free deferred_free;

    char *reason; /* see struct inf_state_info; or NULL */
    bool loaded;
    bool suspension_reported;
    uint64_t id; /* of these files; all have the same */
    struct siphash_key pack_key;
    struct pack_context *context;

    struct list streams, queues, dictionaries;
    struct inf_state_stream
        *last_stream; /* that was looked up: the next record often has it, too */
    struct state_dictionary *last_dictionary;          /* the same */
    uint32_t next_stream, next_queue, next_dictionary; /* numbers */

    /* files oldest..newest; none if newest is 0 */
    uint32_t oldest, newest;
    struct segment *segments; /* [0] is the oldest */
    size_t segments_cap;

    /* writing */
    struct list chunks;
    size_t waiting;              /* bytes of all chunks */
    struct write_chunk *writing; /* the first one, or NULL */
    uint32_t end_offset;         /* in the newest file, with what waits */
    uint32_t definitions;        /* bytes at the beginning of the newest file */
    bool next_segment;           /* the next batch starts a file */
    struct live_index labels;    /* label sets that are defined in the newest file, by their text */
    uint32_t next_labels;        /* the number of the next one */
    uint32_t batch_records;      /* of the current batch */
    bool batch_changes;          /* a position or a confirmation becomes part of it */
    uint64_t batch_number;       /* of the last complete batch */
    uint64_t mark;               /* of the user: part of each batch */
    uint64_t flush, flushed;     /* numbers: returned; reported to the user */
    uint32_t open_segment;       /* the file of fd */
    int fd;                      /* -1: none */
    bool abandoned;              /* what waits is not written any more: suspended */
    bool dir_changed;            /* a new file is not synced in its directory */
    uint64_t closed, written,
        synced;       /* bytes of segments since the start: in complete batches, ... */
    uint32_t needed;  /* the first file that is needed after the next batch */
    uint64_t syncing; /* what `synced` will be */
    struct state_io write_io, sync_io;
    int side_fd; /* of a dictionary or a directory that write_io works on; -1: none */
    int load_fd, clean_fd, compact_fd; /* -1: none */
    struct buf side_bytes;
    size_t side_written;
    struct hang_timer hang_timer;
    struct timer sync_timer;
    struct task report_task, collect_task;
    struct list discarded; /* of struct discarded_objects */
    struct task discard_task;

    struct loader *loader;       /* while loading */
    struct compactor *compactor; /* while a file is compacted */
    struct cleaner *cleaner;     /* while files are removed */
    struct timer retry_timer, close_timer;
    uint32_t failures; /* suspensions in a row */
    uint64_t retry_ms; /* the next suspension lasts at least this long; 0: as usual */
    uint64_t resumed_ms;

    uint64_t batches, compactions, written_bytes, torn_bytes;
    int64_t written_us;
};

/* ---- state.c ---- */

static inline enum state_phase state_phase(const struct inf_state *state)
{
    return (enum state_phase)state->sm.state;
}

/* Whether the user may be called back. */
static inline bool state_may_call(const struct inf_state *state)
{
    return state_phase(state) < STATE_CLOSING;
}

void state_set_reason(struct inf_state *state, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void state_set_reason_v(struct inf_state *state, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));
void state_set_pack_key(struct inf_state *state, struct siphash_key key);
void state_report_loaded(struct inf_state *state);

/* Called when an operation has ended: continues to close. May free @state. */
void state_settle(struct inf_state *state);

/* Closes one of the files that are still open. Returns false if there is none. */
bool state_close_leftovers(struct inf_state *state);

/* ---- state_io.c ---- */

typedef void state_then(struct inf_state *state, int64_t result);

void state_io_init(struct state_io *io, struct inf_state *state);
static inline bool state_io_busy(const struct state_io *io)
{
    return io->then != NULL;
}
bool state_any_io_busy(const struct inf_state *state);

/* @name is a file of the directory; "": the directory itself. */
void state_io_open(struct state_io *io, const char *name, int flags, state_then *then);
void state_io_remove(struct state_io *io, const char *name, state_then *then);
void state_io_make_dir(struct state_io *io, state_then *then);
void state_io_list(struct state_io *io, state_then *then);
void state_io_close(struct state_io *io, int fd, state_then *then);
void state_io_stat(struct state_io *io, int fd, state_then *then);
void state_io_truncate(struct state_io *io, int fd, uint64_t len, state_then *then);
void state_io_sync(struct state_io *io, int fd, state_then *then);
void state_io_read(struct state_io *io, int fd, char *bytes, size_t len, uint64_t at,
                   state_then *then);
void state_io_read_and_work(struct state_io *io, int fd, char *bytes, size_t len, uint64_t at,
                            void (*work)(void *ctx, size_t len), void *ctx,
                            state_then *then); /* @work: see struct disk_op */
void state_io_write(struct state_io *io, int fd, const char *bytes, size_t len, uint64_t at,
                    state_then *then);
void state_io_append(struct state_io *io, int fd, const char *bytes, size_t len,
                     state_then *then); /* only of write_io */
void state_io_collect(struct task *task);

void hang_timer_init(struct hang_timer *timer, struct clock *clock, uint64_t ms,
                     void (*fire)(struct hang_timer *timer));
void hang_timer_start(struct hang_timer *timer);
void hang_timer_stop(struct hang_timer *timer);

enum {
    STATE_FILE_NAME = 16,
};
enum state_file {
    FILE_OTHER,
    FILE_SEGMENT,
    FILE_DICTIONARY,
    FILE_PROBE, /* written to find out whether the disk works */
};
void state_file_name(char ret[STATE_FILE_NAME], enum state_file type, uint32_t number);
enum state_file state_file_type(const char *name, uint32_t *ret_number);

/* ---- state_batch.c ---- */

void chunk_free(struct inf_state *state, struct write_chunk *chunk);
void chunk_split(struct inf_state *state, struct write_chunk *chunk);

/* Starts a file for the next record of the current batch, if one is due. */
void writer_begin_record(struct inf_state *state);

/* Adds a record to the current batch. */
struct place writer_put(struct inf_state *state, const struct record *record);

/* The same for an object, in the form of @parts; NULL: as it is. */
struct place writer_put_object(struct inf_state *state, uint32_t stream, struct object_refs refs,
                               const struct inf_object *object, const struct packed_parts *parts);

/* Whether the owner has noted something that it has not flushed. */
static inline bool writer_is_batch_open(const struct inf_state *state)
{
    return state->batch_records || state->batch_changes;
}

/* Adds changed positions and confirmations to the current batch and ends it, under the flush number
 * @flush. A batch without records is not written; writer_close_always() writes it. */
void writer_close_notes(struct inf_state *state, uint64_t flush);
void writer_close_always(struct inf_state *state);

/* ---- state_write.c ---- */

void writer_init(struct inf_state *state);

/* Starts the next write, if none is in flight and there is something to write. */
void writer_pump(struct inf_state *state);

/* Syncs what was written, unless a sync is in flight. */
void writer_sync(struct inf_state *state);

bool writer_has_work(const struct inf_state *state);

/* Frees what waits, except what is being written. */
void writer_drop(struct inf_state *state);

/* ---- state_segment.c ---- */

void segments_add(struct inf_state *state);
void segments_reset(struct inf_state *state);
void segments_remove_oldest(struct inf_state *state);
void segments_remove_newest(struct inf_state *state);
struct segment *segment_of(struct inf_state *state, uint32_t number); /* NULL: does not exist */
void segment_live(struct inf_state *state, const struct place *place);
void segment_dead(struct inf_state *state, const struct place *place); /* segment 0: nothing */

struct state_dictionary *dictionary_by_number(struct inf_state *state, uint32_t number);
struct state_dictionary *dictionary_by_id(struct inf_state *state, uint64_t id);
struct state_dictionary *dictionary_add(struct inf_state *state, uint32_t number);
void dictionary_free(struct inf_state *state, struct state_dictionary *dictionary);

/* ---- state_load.c ---- */

void loader_start(struct inf_state *state);
void loader_free(struct inf_state *state);
bool loader_busy(const struct inf_state *state);

/* ---- state_compact.c ---- */

/* After a write: starts or continues a compaction, or suspends a state that is too large. */
void compact_check(struct inf_state *state);
void compact_continue(struct inf_state *state);
void compact_batch_closed(struct inf_state *state);
bool compactor_busy(const struct inf_state *state);
void compactor_free(struct inf_state *state);

/* ---- state_suspend.c ---- */

/* Suspends the state; the text is the reason. Only from callbacks of the loop. */
void state_suspend(struct inf_state *state, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Removes all files, then becomes active. If @probe, it also writes a file first. */
void state_clear(struct inf_state *state, bool probe);
bool cleaner_busy(const struct inf_state *state);
void cleaner_free(struct inf_state *state);
void suspend_init(struct inf_state *state);

/* ---- state_restore.c ---- */

/* Adds an object that was loaded (takes over its references) at @place. Returns the place that the
 * object with its key had. */
struct place stream_load(struct inf_state_stream *stream, struct loaded_object object,
                         struct place place);

/* About @count objects will be loaded: room for them is made at once. */
void stream_expect(struct inf_state_stream *stream, size_t count);

/* Fetches the memory that a load under @hash needs. */
void stream_prefetch(struct inf_state_stream *stream, uint64_t hash);

/* Removes the object with that key from those that were loaded. */
void stream_unload(struct inf_state_stream *stream, struct str key, uint64_t hash);

/* ---- state_stream.c, state_queue.c ---- */

uint64_t state_key_hash(const struct inf_state *state, struct str key);
struct inf_state_stream *stream_by_number(struct inf_state *state, uint32_t number);
struct inf_state_stream *stream_make(struct inf_state *state, uint32_t number, struct str id);
void stream_define(struct inf_state_stream *stream); /* adds its definition to the current batch */
void stream_put_position(struct inf_state_stream *stream); /* if it has one */
void stream_forget(struct inf_state_stream *stream);       /* its objects */
void stream_free(struct inf_state_stream *stream);

/* Sets or removes the place of the object with @key; one that was loaded is released. The place that it had
 * goes to the caller, who reports it dead. */
struct place stream_put_place(struct inf_state_stream *stream, struct str key, struct place place);
struct place stream_remove_place(struct inf_state_stream *stream, struct str key);
void streams_init(struct inf_state *state);
void streams_free_discarded(struct inf_state *state); /* all at once */

struct inf_state_queue *queue_by_number(struct inf_state *state, uint32_t number);
struct inf_state_queue *queue_make(struct inf_state *state, uint32_t number, struct str name);
void queue_define(struct inf_state_queue *queue);
void queue_put_confirm(struct inf_state_queue *queue);
void queue_add_piece(struct inf_state_queue *queue, struct queue_piece piece);
void queue_drop_confirmed(struct inf_state_queue *queue);

/* The piece that begins at this position; NULL: none. Fast if that is near the one of the last call. */
struct queue_piece *queue_find_piece(struct inf_state_queue *queue, uint64_t begin);
void queue_forget(struct inf_state_queue *queue);
void queue_free(struct inf_state_queue *queue);

#endif
