/*
 * watch_stream.h - the part of a watch that is one stream: of all namespaces or of one of them.
 */
#ifndef DAEMON_WATCH_STREAM_H
#define DAEMON_WATCH_STREAM_H

#include <stdbool.h>

#include "informer/informer.h"

#include "base/list.h"
#include "daemon/conf/conf.h"
#include "daemon/watch/reported_objects.h"

struct watcher;

struct watch_stream {
    struct list node; /* among the watcher's */
    struct watcher *watcher;
    char *ns;                      /* NULL: all */
    struct inf_informer *informer; /* NULL: it is not open */
    struct inf_handler handler;
    bool synced;
    bool
        ended; /* its namespace is not watched any more: freed when its objects are reported as deleted */

    /* if its namespace is there for its labels: see tracker.c */
    bool followed;
    bool late;    /* it came after the first sync: what it finds is news */
    bool wanted;  /* the namespace is selected */
    bool deleted; /* it isn't, because it was deleted */
    bool ending;  /* the same, or perhaps: the server will tell the ends of its objects */
    bool leaving; /* its objects are being told as gone */
    uint64_t ending_until_ms;
    struct reported_objects told;
};

/* In no list yet, and not open. @ns is copied, NULL is all. */
struct watch_stream *watch_stream_new(struct watcher *watcher, const char *ns);

/* What the informer of a stream of @conf follows; @ns NULL is all. Lent from @conf. */
struct inf_watch feed_watch(const struct conf_watch *conf, const char *ns);

/* Its stream; nothing is told before watch_stream_begin(). Returns 0, or what is wrong with the watch. */
int watch_stream_open(struct watch_stream *stream, struct inf_error *err);
void watch_stream_begin(struct watch_stream *stream);

/* Follows what the watcher's conf says now, in @ns (copied): the differences are told, with @why. */
void feed_change(struct watch_stream *stream, const char *ns, const char *why);

/* Reports that events of this stream may be missing: a RELIST or GAP record with its namespace. */
void feed_gap(const struct watch_stream *stream, const struct inf_gap *gap);

/* Takes over what @other was told of, and frees it. feed_change() to all namespaces has to follow. */
void feed_merge(struct watch_stream *stream, struct watch_stream *other);

/* A new stream of @ns, which takes over what @stream was told of there. feed_change() to another namespace has to follow. */
struct watch_stream *feed_carve(struct watch_stream *stream, const char *ns, const char *why);

/* Its namespace is not watched any more: what was told of it is told as deleted, with @why. */
void feed_end(struct watch_stream *stream, const char *why);

/* Whether all of that was told. */
bool feed_is_over(const struct watch_stream *stream);

/* Nothing comes from it any more. Harmless if it is not open. */
void watch_stream_close(struct watch_stream *stream);

/* Closes it and takes it out of its list. Not from one of its own callbacks. */
void watch_stream_free(struct watch_stream *stream);

#endif
