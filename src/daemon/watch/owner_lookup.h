/*
 * owner_lookup.h - finds the owner of an object in the caches of the watches of its cluster.
 */
#ifndef DAEMON_WATCH_OWNER_LOOKUP_H
#define DAEMON_WATCH_OWNER_LOOKUP_H

#include "base/list.h"
#include "daemon/record/context.h"

/* A lookup in @watchers, a list of struct watcher, borrowed. */
struct owner_lookup owner_lookup_in(struct list *watchers);

#endif
