/*
 * core_event.h - the contents of an object of kind Event, in the core group or in events.k8s.io,
 * which use different field names.
 */
#ifndef DAEMON_RECORD_CORE_EVENT_H
#define DAEMON_RECORD_CORE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/object.h"
#include "informer/path.h"

enum {
    CORE_EVENT_NAME_MAX = 320,     /* LIMIT: longer names are truncated */
    CORE_EVENT_MESSAGE_MAX = 1024, /* LIMIT: the API server has the same */
    CORE_EVENT_PATHS = 24,         /* all names of all fields */
};

#define CORE_EVENT_NO_TIME INT64_MIN

struct core_event {
    char reason[CORE_EVENT_NAME_MAX];
    char message[CORE_EVENT_MESSAGE_MAX];
    char count[24]; /* decimal digits; "" if there is none */
    char type[32];  /* "Normal", "Warning"; "" if there is none */
    /* of the involved object: */
    char kind[CORE_EVENT_NAME_MAX];
    char ns[CORE_EVENT_NAME_MAX];
    char name[CORE_EVENT_NAME_MAX];
    char uid[CORE_EVENT_NAME_MAX];
    char api_version[CORE_EVENT_NAME_MAX];
    bool warning;    /* the type is Warning */
    int64_t time_us; /* when the event was last observed: microseconds since 1970, UTC; or
                        CORE_EVENT_NO_TIME */
};

/* The paths of all fields, parsed once. */
struct core_event_reader {
    struct inf_path *paths[CORE_EVENT_PATHS];
};

void core_event_reader_init(struct core_event_reader *reader);
void core_event_reader_done(struct core_event_reader *reader);

/* Returns false and leaves @ret untouched if @object is not an Event. */
bool core_event_read(const struct core_event_reader *reader, const struct inf_object *object,
                     struct core_event *ret);

#endif
