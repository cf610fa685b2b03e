/*
 * until.h - ends `informerd watch` when a condition holds for one of its objects, or for all.
 */
#ifndef DAEMON_UNTIL_H
#define DAEMON_UNTIL_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/watch/event_consumer.h"

/* Borrowed; they outlive the daemon. A zeroed struct never ends it. */
struct until_options {
    const char *text;         /* a valid condition (until_condition.h); NULL: none */
    bool all;                 /* for all objects, and at least one */
    bool named;               /* each watch is of one named object; with `all`, each must exist */
    const char *const *names; /* valid regular expressions on names; other objects do not count */
    size_t n_names;
};

/* A consumer of events: see consumers.c. */
extern const struct event_consumer_ops until_consumer;

#endif
