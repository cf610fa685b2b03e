/*
 * watch.h - one watch, and the mischief that can be done to its events.
 */
#ifndef KUBESIM_WATCH_H
#define KUBESIM_WATCH_H

#include "conn.h"
#include "select.h"

struct watch {
    struct producer producer;
    struct list node; /* in resource->watches */
    struct conn *conn;
    struct resource *resource;
    struct selection selection;
    enum form form;
    bool pretty;
    bool bookmarks;
    bool marks_end; /* a bookmark ends the initial events */
    bool initial;   /* still telling what there was at the start */
    bool bookmark_due;
    bool over; /* its time is up */
    bool done_mischief;
    struct snapshot s; /* what there was at the start */
    size_t next;       /* of that */
    uint64_t cursor;   /* number of the next event of the history */
    uint64_t after;    /* only versions after this are told */
    uint64_t told;     /* events, bookmarks too */
    struct buf last;   /* an error that is all there is to say */
};

/* mischief.c: does a fault strike here, between two events? Then it does; false ends the watch. */
bool mischief_due(const struct watch *w);
bool mischief(struct watch *w, struct buf *body);

#endif
