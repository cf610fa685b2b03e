/*
 * watch_stream.h - one stream of a watch: an informer of one namespace, or of all.
 *
 * A watch with several namespaces has one stream for each. A stream passes the events of its
 * informer to the consumers of its watch.
 */
#ifndef DAEMON_WATCH_STREAM_H
#define DAEMON_WATCH_STREAM_H

#include <stdbool.h>

#include "informer/informer.h"

#include "base/list.h"
#include "base/sm.h"
#include "daemon/conf/conf.h"
#include "daemon/watch/saved_stream.h"

struct watcher;

enum watch_stream_state {
    STREAM_CLOSED, /* not open yet; perhaps until the cluster is identified */
    STREAM_OPEN,
    STREAM_ENDED, /* no longer watched: freed when its objects are reported as deleted */
    /* only if its namespace was selected by label: */
    STREAM_ENDING,     /* its namespace was deleted, perhaps: the server reports its objects */
    STREAM_DESELECTED, /* open, but to be closed */
    STREAM_LEAVING,    /* ended; its reported objects are being reported as deleted */
    STREAM_RETURNING,  /* the same, but its namespace was selected again: it opens afterwards */
};

struct watch_stream {
    struct list node; /* in the watcher's `streams` */
    struct watcher *watcher;
    char *ns;                      /* NULL: all namespaces */
    char *track;                   /* stream_id_track(); NULL: to be made */
    struct inf_informer *informer; /* NULL: not open */
    struct inf_handler handler;
    struct sm sm; /* enum watch_stream_state */
    struct saved_stream saved;
    bool late; /* opened after the first sync: its objects are not reported as initial */

    /* if its namespace was selected by label: see namespace_tracker.c */
    bool ns_deleted;          /* the namespace is not selected because it was deleted */
    bool left_unseen;         /* it was deleted or left while the daemon did not run */
    uint64_t ending_until_ms; /* STREAM_ENDING: it is ended at this time */
};

/* Whether it watches its namespace, rather than only reporting deletions there. */
bool watch_stream_is_current(const struct watch_stream *stream);

/* Creates a stream that is in no list and not open. @ns is copied; NULL: all namespaces. */
struct watch_stream *watch_stream_new(struct watcher *watcher, const char *ns);

/* The watch that the informer of a stream of @conf has; @ns NULL: all namespaces. Points into
 * @conf. */
struct inf_watch watch_stream_watch(const struct conf_watch *conf, const char *ns);

/* Opens the informer. Nothing is reported before watch_stream_begin(). If the identity of the cluster has to
 * be known first, nothing is done: see saved_stream_must_wait(). Returns 0 or a negative error, with
 * @err. */
int watch_stream_open(struct watch_stream *stream, struct inf_error *err);
void watch_stream_begin(struct watch_stream *stream);

/* Applies the watcher's changed conf, in @ns (copied). The differences are reported after a
 * RELIST with @why. */
void watch_stream_change(struct watch_stream *stream, const char *ns, const char *why);

/* Reports that events of this stream may be missing: a RELIST or GAP record with its namespace. */
void watch_stream_gap(const struct watch_stream *stream, const struct inf_gap *gap);

/* Reports to consumers up to which version they have received everything. That happens after each batch of events; a
 * bookmark of the server is no event. */
void watch_stream_report_position(struct watch_stream *stream);

/* Takes over the objects of @other and frees it. A watch_stream_change() to all namespaces must follow. */
void watch_stream_merge(struct watch_stream *stream, struct watch_stream *other);

/* Creates a stream of @ns that takes over the objects of @stream there. A watch_stream_change() of
 * @stream to another namespace must follow. */
struct watch_stream *watch_stream_split_off(struct watch_stream *stream, const char *ns,
                                            const char *why);

/* Whether it was ended: its objects are being reported as deleted. */
bool watch_stream_is_leaving(const struct watch_stream *stream);

/* Whether all objects that it has reported were reported as deleted. */
bool watch_stream_is_empty(const struct watch_stream *stream);

/* The same as watch_stream_end() for a namespace that was selected by label: no RELIST, and the deletions
 * are live ones. */
void watch_stream_leave(struct watch_stream *stream, const char *why);

/* Ends a stream whose namespace is no longer watched: its reported objects are reported as
 * deleted, with @why. */
void watch_stream_end(struct watch_stream *stream, const char *why);

/* Whether the stream was ended and all of its objects were reported as deleted. */
bool watch_stream_is_over(const struct watch_stream *stream);

/* Closes the informer: no more events follow. Does nothing if it is not open. */
void watch_stream_close(struct watch_stream *stream);

/* Closes the stream, removes it from its list and frees it. Not from one of its own callbacks. Its
 * objects stay in the state on disk, except with _discard(). */
void watch_stream_free(struct watch_stream *stream);
void watch_stream_discard(struct watch_stream *stream);

#endif
