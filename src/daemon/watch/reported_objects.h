/*
 * reported_objects.h - the objects of a namespace that were reported to the journal, in their last
 * reported state.
 *
 * When the namespace leaves the selection, exactly these are reported as deleted. The store can't
 * be used for that: some of its objects may not have been reported yet. Costs a few words for each
 * object; the objects themselves are shared with the store.
 */
#ifndef DAEMON_WATCH_REPORTED_OBJECTS_H
#define DAEMON_WATCH_REPORTED_OBJECTS_H

#include <stdbool.h>

#include "informer/event.h"

#include "base/tree.h"

struct reported_objects {
    struct tree by_name;
};

void reported_objects_init(struct reported_objects *objects);
void reported_objects_free(struct reported_objects *objects);

/* Records that @event, of an object of this namespace, was reported. */
void reported_objects_note(struct reported_objects *objects, const struct inf_event *event);

bool reported_objects_is_empty(const struct reported_objects *objects);

/* Removes and returns the first object in the order of names, with its reference. NULL if there
 * is none. */
const struct inf_object *reported_objects_take(struct reported_objects *objects);

#endif
