/*
 * event_order.h - the initial Events of a log for people, in the order of their own times.
 *
 * A server lists Events by name, which is not chronological. Their lines are
 * collected until the watch is synced, and then written in the order of time. Lines of other objects
 * are not delayed.
 */
#ifndef DAEMON_OUTPUT_EVENT_ORDER_H
#define DAEMON_OUTPUT_EVENT_ORDER_H

#include <stdbool.h>

#include "base/buf.h"
#include "daemon/format/record_format.h"

enum {
    EVENT_ORDER_BYTES_MAX = 1024 * 1024, /* LIMIT: after this, Events are written as they come */
    EVENT_ORDER_MS = 3000, /* the same; a watch of several namespaces may never be synced */
};

/* A zeroed struct is empty. */
struct event_order {
    struct buf text;  /* the lines, in the order of arrival */
    struct buf lines; /* of struct ordered_line */
    bool is_over;     /* a limit was reached: Events are written as they come */
};

void event_order_free(struct event_order *order);

/* Whether the line of @change is to be collected. */
bool event_order_takes(const struct event_order *order, const struct change *change);

void event_order_add(struct event_order *order, const struct record_format *format,
                     const struct change *change, const struct record_options *options);

/* Whether there are lines of @watch. */
bool event_order_has(const struct event_order *order, const struct watch_id *watch);

/* Moves all lines to @out, sorted. Lines with the same time stay in the order of arrival. */
void event_order_release(struct event_order *order, struct buf *out);

#endif
