/*
 * unknown_resource.h - `informerd watch podz` ends, and says what is near.
 *
 * A service waits for a resource that its server does not have: a conf is written for longer than a
 * server runs. Who types a word has misspelled it. So before its first list has come in each watch is
 * looked at now and then, until all are synced or one turns out to be of nothing.
 */
#ifndef DAEMON_WATCH_UNKNOWN_RESOURCE_H
#define DAEMON_WATCH_UNKNOWN_RESOURCE_H

#include "informer/error.h"

#include "base/list.h"
#include "seam/clock.h"

/* Embed. */
struct unknown_resource {
    struct timer look;
    struct clock *clock;
    const struct list *watchers;
    void (*on_unknown)(struct unknown_resource *unknown, const struct inf_error *why);
};

/* Looks at @watchers, which is borrowed. on_unknown() is called once at most. */
void unknown_resource_start(struct unknown_resource *unknown, struct clock *clock,
                            const struct list *watchers,
                            void (*on_unknown)(struct unknown_resource *unknown,
                                               const struct inf_error *why));

/* Looks no more; also if it never did. */
void unknown_resource_stop(struct unknown_resource *unknown);

#endif
