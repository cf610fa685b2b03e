/*
 * reported_objects.h - which objects of a namespace the journal was told of, each in the state told last.
 *
 * When a namespace is not selected any more, exactly these have to be told as gone: not those in the
 * store, of which some may still wait to be told. Costs a few words an object; the objects are those of
 * the store.
 */
#ifndef DAEMON_WATCH_REPORTED_OBJECTS_H
#define DAEMON_WATCH_REPORTED_OBJECTS_H

#include <stdbool.h>

#include "informer/event.h"

#include "base/tree.h"

struct reported_objects {
    struct tree by_name;
};

void reported_objects_init(struct reported_objects *told);
void reported_objects_free(struct reported_objects *told);

/* @event, of an object of this namespace, was told. */
void reported_objects_note(struct reported_objects *told, const struct inf_event *event);

bool reported_objects_is_empty(const struct reported_objects *told);

/* Takes out the first in the order of names; its reference is the caller's. NULL if there is none. */
const struct inf_object *reported_objects_take(struct reported_objects *told);

#endif
