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

struct feed {
    struct list node; /* among the watcher's */
    struct watcher *watcher;
    char *ns;                      /* NULL: all */
    struct inf_informer *informer; /* NULL: it is not open */
    struct inf_handler handler;
    bool synced;
    bool
        ended; /* its namespace is not watched any more: freed when its objects are reported as deleted */

    /* if its namespace is there for its labels: see follower.c */
    bool followed;
    bool late;    /* it came after the first sync: what it finds is news */
    bool wanted;  /* the namespace is selected */
    bool deleted; /* it isn't, because it was deleted */
    bool ending;  /* the same, or perhaps: the server will tell the ends of its objects */
    bool leaving; /* its objects are being told as gone */
    uint64_t ending_until_ms;
    struct told told;
};

/* In no list yet, and not open. @ns is copied, NULL is all. */
struct feed *feed_new(struct watcher *watcher, const char *ns);

/* What the informer of a feed of @conf follows; @ns NULL is all. Lent from @conf. */
struct inf_watch feed_watch(const struct conf_watch *conf, const char *ns);

/* Its stream; nothing is told before feed_begin(). Returns 0, or what is wrong with the watch. */
int feed_open(struct feed *feed, struct inf_error *err);
void feed_begin(struct feed *feed);

/* Follows what the watcher's conf says now, in @ns (copied): the differences are told, with @why. */
void feed_change(struct feed *feed, const char *ns, const char *why);

/* Reports that events of this stream may be missing: a RELIST or GAP record with its namespace. */
void feed_gap(const struct feed *feed, const struct inf_gap *gap);

/* Takes over what @other was told of, and frees it. feed_change() to all namespaces has to follow. */
void feed_merge(struct feed *feed, struct feed *other);

/* A new feed of @ns, which takes over what @feed was told of there. feed_change() to another namespace has to follow. */
struct feed *feed_carve(struct feed *feed, const char *ns, const char *why);

/* Its namespace is not watched any more: what was told of it is told as deleted, with @why. */
void feed_end(struct feed *feed, const char *why);

/* Whether all of that was told. */
bool feed_is_over(const struct feed *feed);

/* Nothing comes from it any more. Harmless if it is not open. */
void feed_close(struct feed *feed);

/* Closes it and takes it out of its list. Not from one of its own callbacks. */
void feed_free(struct feed *feed);

#endif
