/*
 * core_event.h - the contents of an object of kind Event, in the core group or in events.k8s.io,
 * which use different field names.
 */
#ifndef DAEMON_JOURNAL_CORE_EVENT_H
#define DAEMON_JOURNAL_CORE_EVENT_H

#include <stdbool.h>

#include "informer/object.h"

enum {
    CORE_EVENT_NAME_MAX = 320,     /* LIMIT: longer names are truncated */
    CORE_EVENT_MESSAGE_MAX = 1024, /* LIMIT: the API server has the same */
};

struct core_event {
    char reason[CORE_EVENT_NAME_MAX];
    char message[CORE_EVENT_MESSAGE_MAX];
    char count[24];                 /* decimal digits; "" if there is none */
    char kind[CORE_EVENT_NAME_MAX]; /* of the involved object, as `ns` and `name` */
    char ns[CORE_EVENT_NAME_MAX];
    char name[CORE_EVENT_NAME_MAX];
    bool warning; /* type Warning; else Normal */
};

/* Returns false and leaves @ret untouched if @object is not an Event. */
bool core_event_read(const struct inf_object *object, struct core_event *ret);

#endif
