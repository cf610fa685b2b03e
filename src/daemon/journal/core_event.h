/*
 * core_event.h - what an object of kind Event says: in the core group and in events.k8s.io, which
 * name the same things differently.
 */
#ifndef DAEMON_JOURNAL_CORE_EVENT_H
#define DAEMON_JOURNAL_CORE_EVENT_H

#include <stdbool.h>

#include "informer/object.h"

enum {
    CORE_EVENT_NAME_MAX = 320,     /* LIMIT: longer names are cut */
    CORE_EVENT_MESSAGE_MAX = 1024, /* LIMIT: as the API server itself has it */
};

struct core_event {
    char reason[CORE_EVENT_NAME_MAX];
    char message[CORE_EVENT_MESSAGE_MAX];
    char count[24];                 /* a number as spelled; "" if there is none */
    char kind[CORE_EVENT_NAME_MAX]; /* of what it is about */
    char ns[CORE_EVENT_NAME_MAX];
    char name[CORE_EVENT_NAME_MAX];
    bool warning; /* else it is Normal */
};

/* False, and @ret untouched, if @object is no Event. */
bool core_event_read(const struct inf_object *object, struct core_event *ret);

#endif
