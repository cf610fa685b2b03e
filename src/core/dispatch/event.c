/*
 * event.c - references to the objects of an event, and the names of its enums. Nothing here fails.
 */
#include "core/dispatch/event.h"

#include "informer/object.h"

void event_ref_objects(const struct inf_event *event)
{
    if (event->old_object)
        inf_object_ref(event->old_object);
    if (event->new_object)
        inf_object_ref(event->new_object);
}

void event_done(struct inf_event *event)
{
    inf_object_unref(event->old_object);
    inf_object_unref(event->new_object);
    *event = (struct inf_event){.verb = INF_ADDED};
}

const char *inf_verb_name(enum inf_verb verb)
{
    switch (verb) {
    case INF_ADDED: return "ADDED";
    case INF_MODIFIED: return "MODIFIED";
    case INF_DELETED: return "DELETED";
    }
    return "?";
}

const char *inf_origin_name(enum inf_origin origin)
{
    switch (origin) {
    case INF_LIVE: return "live";
    case INF_INITIAL: return "initial";
    case INF_RELIST: return "relist";
    case INF_RESYNC: return "resync";
    case INF_RESUMED: return "resumed";
    }
    return "?";
}

const char *inf_gap_reason_name(enum inf_gap_reason reason)
{
    switch (reason) {
    case INF_GAP_RELIST: return "relist";
    case INF_GAP_REWIND: return "rewind";
    case INF_GAP_SKIPPED: return "skipped";
    case INF_GAP_DROPPED: return "dropped";
    }
    return "?";
}
