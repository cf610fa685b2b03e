/*
 * watch.h - one watch, and the faults in its events.
 */
#ifndef KUBESIM_WATCH_H
#define KUBESIM_WATCH_H

#include "conn.h"
#include "select.h"
#include "table.h"

struct watch {
    struct producer producer;
    struct list node; /* in resource->watches */
    struct conn *conn;
    struct resource *resource;
    struct selection selection;
    enum form form;
    enum table_object table; /* with FORM_TABLE */
    bool columns_sent;       /* of the Table; only the first event has them */
    bool pretty;
    bool bookmarks;
    bool marks_end; /* a bookmark ends the initial events */
    bool initial;   /* still sending the initial objects */
    bool bookmark_due;
    bool over; /* its timeout has passed */
    bool fault_done;
    struct snapshot s; /* the initial objects */
    size_t next;       /* position in them */
    uint64_t cursor;   /* number of the next event of the history */
    uint64_t after;    /* only versions after this are sent */
    uint64_t sent;     /* events sent, including bookmarks */
    struct buf last;   /* an error to send instead of events */
};

/* watch_faults.c: is a fault due before the next event? Injects it; false ends the watch. */
bool watch_fault_due(const struct watch *w);
bool watch_fault_inject(struct watch *w, struct buf *body);

#endif
