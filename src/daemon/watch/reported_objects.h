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

struct told {
    struct tree by_name;
};

void told_init(struct told *told);
void told_free(struct told *told);

/* @event, of an object of this namespace, was told. */
void told_note(struct told *told, const struct inf_event *event);

bool told_is_empty(const struct told *told);

/* Takes out the first in the order of names; its reference is the caller's. NULL if there is none. */
const struct inf_object *told_take(struct told *told);

#endif
