/*
 * state.h - state on disk: what a handler has seen survives a restart.
 *
 *     struct inf_state_settings settings = {.dir = "/var/lib/app/cache", .on_loaded = on_loaded};
 *     state = inf_state_open(loop, &settings, &err);
 *     ...
 *     static void on_loaded(struct inf_state *state)
 *     {
 *         stream = inf_state_stream(state, "prod/pods");
 *         informer = inf_informer_restore(client, &watch, stream, &handler, &err);
 *     }
 *     static void on_event(struct inf_handler *h, struct inf_informer *informer,
 *                          const struct inf_event *event)
 *     {
 *         inf_state_note(stream, informer, event);
 *         inf_state_queue_add(queue, line, len); // output that belongs to the event
 *     }
 *     static void on_batch_end(...)
 *     {
 *         if ((version = inf_handler_checkpoint(handler)))
 *             inf_state_position(stream, version);
 *         flush = inf_state_flush(state);
 *     }
 *     static void on_flushed(struct inf_state *state, uint64_t flush)
 *     {
 *         // write the lines of all batches up to @flush, then inf_state_queue_confirm()
 *     }
 *
 * Everything that is noted between two calls of inf_state_flush() is a batch. After a crash of the
 * process a batch exists completely or not at all. After a power loss the batches of the last
 * second or so may be missing, always the newest ones.
 *
 * A stream is a set of objects with a position: the resource version up to which its handler has
 * seen everything. A queue is a sequence of bytes, with a count up to which an output has written
 * them. Both are found again by name.
 *
 * The state is a cache. If files are damaged or were written by another version, all of it is
 * discarded, and inf_state_info() has the reason. If the disk is full, fails or does not answer, the
 * state is suspended: it accepts all calls and ignores them, and on_flushed() comes at once, so that
 * callers continue as without a state.
 *
 * Everything here belongs to the thread that runs the loop. No function blocks, and none calls back
 * before it returns. Callbacks may call any function of this library.
 */
#ifndef INFORMER_STATE_H
#define INFORMER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/informer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inf_state;
struct inf_state_stream;
struct inf_state_queue;

enum {
    INF_STATE_ID_MAX = 4096, /* LIMIT: bytes of a stream's id, a queue's name or an epoch */
};

/* ---- open and close ---- */

/* All fields except `dir` may be zero. Strings are copied. Callbacks may be NULL. */
struct inf_state_settings {
    /* Created with mode 0700 if it does not exist (its parent must); files have mode 0600. The
     * caller makes sure that no other process writes to it. */
    const char *dir;

    /* Identifies what the objects depend on and the state does not know, such as the key of hashed
     * values. The state of another epoch is discarded. At most INF_STATE_ID_MAX bytes. */
    const char *epoch;

    uint64_t max_disk;      /* bytes of all files; 0: 2 GiB. Above it the state is suspended */
    uint64_t segment_bytes; /* size of a file; 0: 32 MiB; at least 64 KiB, at most 256 MiB */
    bool read_only;         /* loads, and writes nothing: for tools */

    void *data; /* for the user: inf_state_data() */

    /* Called once, when everything was loaded or discarded. */
    void (*on_loaded)(struct inf_state *state);

    /* The batches up to @flush, a result of inf_state_flush(), are written (not necessarily synced),
     * or will never be, because the state is suspended. One call may report several flushes. */
    void (*on_flushed)(struct inf_state *state, uint64_t flush);

    /* The state is suspended, because of @why. NULL: it works again, and is empty. Stream and queue
     * handles stay valid; note all objects of each stream again, then its position. Until then a
     * stream counts as absent after a restart. */
    void (*on_suspended)(struct inf_state *state, const char *why);

    void (*on_log)(struct inf_state *state, enum inf_log_level level, const char *line);

    void *reserved[4];
};

/**
 * Opens a state and starts to load it in the background. on_loaded() is called when it is complete,
 * also if there is none or it had to be discarded.
 *
 * Returns NULL, with @err, if `dir` is missing, a string is too long or a reserved field is not zero.
 * Errors of the directory are not reported here: the state is suspended then.
 */
INF_API struct inf_state *inf_state_open(struct uv_loop_s *loop,
                                         const struct inf_state_settings *settings,
                                         struct inf_error *err);

/**
 * Writes and syncs what was noted, then closes all files. Takes at most two seconds; what a disk has
 * not accepted by then is lost. Stream and queue handles are no longer valid.
 *
 * Then @on_closed, which may be NULL, is called once with @ctx, from the loop. Other callbacks are
 * not called any more. NULL is allowed as @state; then @on_closed is not called.
 */
INF_API void inf_state_close(struct inf_state *state, void (*on_closed)(void *ctx), void *ctx);

/** The `data` of the settings. */
INF_API void *inf_state_data(const struct inf_state *state);

/** Whether what is noted is written: it is loaded, not suspended, not read-only. */
INF_API bool inf_state_is_active(const struct inf_state *state);

struct inf_state_info {
    bool loaded;
    bool suspended;
    const char *reason; /* why it is suspended, or why the state on disk was discarded when it was
                           loaded; NULL: neither. Valid until you return to the loop */

    uint64_t disk_bytes; /* of all files */
    uint64_t live_bytes; /* of the records that are needed */
    uint64_t segments;
    uint64_t objects;
    uint64_t streams;
    uint64_t batches;       /* written since it was opened */
    uint64_t compactions;   /* segments that were compacted and removed */
    uint64_t written_bytes; /* since it was opened */
    int64_t written_us;     /* time of the last batch that was loaded or written; 0: none */
    uint64_t torn_bytes;    /* of an incomplete batch, cut off when it was loaded */
    uint64_t memory_bytes;  /* of the index and of what waits to be written, without objects */
    uint64_t mark;          /* of inf_state_mark(), in the last batch; 0: none */

    uint64_t reserved[7];
};

/** Copies the current numbers to @ret_info. */
INF_API void inf_state_info(const struct inf_state *state, struct inf_state_info *ret_info);

/* ---- streams ---- */

/**
 * The stream with this id, a text that identifies everything on which its objects depend: cluster,
 * resource, selection and shape. It is created if it does not exist. Call it after on_loaded().
 * Returns NULL if @id is longer than INF_STATE_ID_MAX.
 */
INF_API struct inf_state_stream *inf_state_stream(struct inf_state *state, const char *id);

/** The stream after @after in the order of creation; the first one if @after is NULL; NULL after the
 * last one. */
INF_API struct inf_state_stream *inf_state_stream_next(const struct inf_state *state,
                                                       const struct inf_state_stream *after);

/** Its id, valid as long as the stream, or until it is renamed. */
INF_API const char *inf_state_stream_id(const struct inf_state_stream *stream);

/** The number of its objects; 0 while the state is suspended. */
INF_API size_t inf_state_stream_count(const struct inf_state_stream *stream);

/** Its position; "": none. */
INF_API const char *inf_state_stream_version(const struct inf_state_stream *stream);

/** When the position was last written (microseconds since 1970, UTC); 0: never. */
INF_API int64_t inf_state_stream_written_us(const struct inf_state_stream *stream);

/** Whether it was loaded from disk and no informer has taken its objects yet. */
INF_API bool inf_state_stream_is_restored(const struct inf_state_stream *stream);

/** Gives the stream another id, which no other stream may have. Objects and position stay. Ignored if
 * @id is longer than INF_STATE_ID_MAX. */
INF_API void inf_state_stream_rename(struct inf_state_stream *stream, const char *id);

/** Removes the stream with its objects, in the current batch. The handle is no longer valid. */
INF_API void inf_state_stream_drop(struct inf_state_stream *stream);

/**
 * Adds the change to the current batch: the new object, or that it was deleted. @informer is the one
 * that delivered @event, or another one of the same objects.
 */
INF_API void inf_state_note(struct inf_state_stream *stream, struct inf_informer *informer,
                            const struct inf_event *event);

/**
 * The resource version up to which @handler has received everything: a process that has the objects
 * that the handler has seen can continue from there. It also advances without events. NULL if there is
 * none now: before on_synced, while events wait in its backlog, in the middle of the differences of a
 * list, or after inf_informer_change(), until the list is complete. Valid until you return to the
 * loop.
 */
INF_API const char *inf_handler_position(const struct inf_handler *handler);

/* The checkpoint of a handler that has seen objects of several versions. */
#define INF_POSITION_MIXED "-"

/**
 * What to pass to inf_state_position() in on_batch_end(), after the events were noted:
 * inf_handler_position(), or the version of the last live event if others wait in the backlog; "" while
 * the objects are not complete; INF_POSITION_MIXED if the differences of a list were delivered in part,
 * or the watch was changed and its list is not complete: after a restart the objects are compared with
 * another list. NULL: do not change it, because nothing was delivered since the last call. Valid until
 * you return to the loop.
 */
INF_API const char *inf_handler_checkpoint(const struct inf_handler *handler);

/**
 * Sets the position in the current batch. The last one of a batch counts. Set it only if everything
 * up to @version was noted in this batch or before.
 */
INF_API void inf_state_position(struct inf_state_stream *stream, const char *version);

/**
 * Saves a number of the caller with this batch and all later ones, such as that of the next line of an
 * output: after a power loss, inf_state_info() has it as it was in the last batch that exists. Lines with
 * that number and later ones are unknown to the state. Call it directly before inf_state_flush().
 */
INF_API void inf_state_mark(struct inf_state *state, uint64_t mark);

/**
 * Ends the current batch and starts to write it. Returns a number, larger than the ones before;
 * on_flushed() is called later with this number or a larger one, also if nothing was noted.
 */
INF_API uint64_t inf_state_flush(struct inf_state *state);

/* ---- queues ---- */

/** The queue with this name; it is created if it does not exist. Call it after on_loaded(). Returns
 * NULL if @name is longer than INF_STATE_ID_MAX. */
INF_API struct inf_state_queue *inf_state_queue(struct inf_state *state, const char *name);

/** The queue after @after in the order of creation; the first one if @after is NULL; NULL after the
 * last one. */
INF_API struct inf_state_queue *inf_state_queue_next(const struct inf_state *state,
                                                     const struct inf_state_queue *after);

/** Its name, valid as long as the queue. */
INF_API const char *inf_state_queue_name(const struct inf_state_queue *queue);

/** Adds bytes to the queue, in the current batch. They are copied. */
INF_API void inf_state_queue_add(struct inf_state_queue *queue, const char *bytes, size_t len);

/** The number of bytes that were added in the life of the queue. While the state is suspended they are
 * counted, too. */
INF_API uint64_t inf_state_queue_end(const struct inf_state_queue *queue);

/** The output has written all bytes up to this count. Becomes part of the current batch. A count that
 * is lower than an earlier one has no effect. */
INF_API void inf_state_queue_confirm(struct inf_state_queue *queue, uint64_t end);

/**
 * The bytes that were found when the state was loaded and have not been confirmed: the output may
 * have written none, some or all of them. They are borrowed, and available until they are confirmed;
 * a partial confirmation does not change what is returned.
 *
 * Returns false if there are none. @ret_end is the count after the last of them.
 */
INF_API bool inf_state_queue_pending(const struct inf_state_queue *queue, const char **ret_bytes,
                                     size_t *ret_len, uint64_t *ret_end);

/** Removes the queue, in the current batch. The handle is no longer valid. */
INF_API void inf_state_queue_drop(struct inf_state_queue *queue);

/* ---- informers ---- */

/**
 * Opens an informer whose cache starts with the objects of @stream, which it takes. They count as
 * delivered to @handler, which is added; other handlers get them as ADDED.
 *
 * Then it watches from the position of the stream. If that has expired, or there is none, it lists,
 * and reports the differences with origin INF_RESUMED (INF_INITIAL for a stream without position). It
 * also lists if the position is INF_POSITION_MIXED.
 * For a new stream it is the same as inf_informer_open() followed by inf_handler_add(). Close the
 * informer before the state, and before inf_state_stream_drop().
 *
 * Readers see the restored objects as soon as all of them were moved to the cache, in small steps.
 * inf_status has `restored` then, and is not `synced` until the server has confirmed the copy or sent
 * a list; then on_synced() is called. Fails as inf_informer_open() and inf_handler_add() do.
 */
INF_API struct inf_informer *inf_informer_restore(struct inf_client *client,
                                                  const struct inf_watch *watch,
                                                  struct inf_state_stream *stream,
                                                  struct inf_handler *handler,
                                                  struct inf_error *err);

/**
 * The same if the objects of @stream are those of another watch, for example with another selector or
 * other fields: lists at once, and reports the differences to @handler with @why, as
 * inf_informer_change() does. Give the stream the id of @watch with inf_state_stream_rename().
 */
INF_API struct inf_informer *inf_informer_restore_changed(struct inf_client *client,
                                                          const struct inf_watch *watch,
                                                          struct inf_state_stream *stream,
                                                          struct inf_handler *handler,
                                                          const char *why, struct inf_error *err);

#ifdef __cplusplus
}
#endif

#endif
