/*
 * saved_stream.h - the objects of one stream of a watch in the state on disk, from which the next run
 * continues.
 *
 *     open    finds the objects of the last run by the id of the stream
 *     event   the state gets the object, or its deletion, together with the lines of the event logs
 *     batch   the state gets the position: the next run watches from there
 *
 * The id (stream_id.h) names cluster, watch, resource and namespace, then what determines the form of the
 * objects and which of them are selected. If only the latter has changed since the last run, the objects are still
 * comparable: the informer lists, and reports the differences. Then all objects are saved again in
 * their new form, in slices (saved_stream_rebuild()), and the stream gets its new id.
 */
#ifndef DAEMON_WATCH_SAVED_STREAM_H
#define DAEMON_WATCH_SAVED_STREAM_H

#include <stdbool.h>

#include "informer/informer.h"
#include "informer/state.h"

#include "seam/clock.h"

struct watch_stream;

enum saved_stream_state {
    SAVED_NOT,       /* there is no state on disk */
    SAVED_COMPLETE,  /* all objects that were reported are saved */
    SAVED_OUTDATED,  /* all to be saved again when the handler is current: their form has changed */
    SAVED_REGROUPED, /* the same, and there are objects that now belong to another stream */
    SAVED_REBUILDING, /* they are being saved again */
};

struct saved_stream {
    enum saved_stream_state state;
    struct inf_state_stream *stream; /* NULL if SAVED_NOT */
    bool resumed;                    /* it began with the objects of an earlier run */
    struct inf_cursor walk;          /* how far the objects are saved again */
    struct task rebuild;
    struct clock *clock;
};

/* Whether objects of the last run are those of @stream only if the cluster is the same, and its identity
 * is not known yet: then the stream is opened when it is. */
bool saved_stream_must_wait(const struct watch_stream *stream);

/* Opens the informer of @stream for @watch. With state on disk, it starts with the objects of the last
 * run, and the handler of @stream is added. Returns NULL, with @err, if @watch is not valid. */
struct inf_informer *saved_stream_open(struct watch_stream *stream, const struct inf_watch *watch,
                                       struct inf_error *err);

/* @event was reported. Call it after the lines of the event were collected, and before the next flush. */
void saved_stream_note(struct watch_stream *stream, const struct inf_event *event);

/* No more events follow in this batch: saves the position if the handler is current. */
void saved_stream_batch_end(struct watch_stream *stream);

/* All objects have to be saved again, under the present id of the stream: the watch was changed. With
 * @regrouped, objects were moved to or from another stream. */
void saved_stream_rebuild(struct watch_stream *stream, bool regrouped);

/* The same after the state on disk was lost: until then it has only some objects, and no position. */
void saved_stream_emptied(struct watch_stream *stream);

/* Notes another name or identity of the watch, the cluster or its server. */
void saved_stream_update_id(struct watch_stream *stream);

/* For a stream that was split off another one and has its informer: its objects are saved. */
void saved_stream_begin(struct watch_stream *stream);

/* The objects stay on disk. */
void saved_stream_close(struct watch_stream *stream);

/* Removes the objects from disk. */
void saved_stream_drop(struct watch_stream *stream);

#endif
