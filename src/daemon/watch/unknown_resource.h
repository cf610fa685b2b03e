/*
 * unknown_resource.h - ends `informerd watch podz` with an error that suggests similar names.
 *
 * A service waits for a resource that its server does not have, because it may be installed later.
 * On the command line an unknown resource is treated as a typo. The status of each watch is checked
 * periodically until all watches are synced or one of them has an unknown resource.
 */
#ifndef DAEMON_WATCH_UNKNOWN_RESOURCE_H
#define DAEMON_WATCH_UNKNOWN_RESOURCE_H

#include "informer/error.h"

#include "base/list.h"
#include "seam/clock.h"

/* Embedded in its owner. */
struct unknown_resource {
    struct timer check;
    struct clock *clock;
    const struct list *watchers;
    void (*on_unknown)(struct unknown_resource *unknown, const struct inf_error *why);
};

/* Starts checking @watchers, which is borrowed. Calls @on_unknown at most once, from the loop. */
void unknown_resource_start(struct unknown_resource *unknown, struct clock *clock,
                            const struct list *watchers,
                            void (*on_unknown)(struct unknown_resource *unknown,
                                               const struct inf_error *why));

/* Stops checking. Does nothing if it was not started. */
void unknown_resource_stop(struct unknown_resource *unknown);

#endif
