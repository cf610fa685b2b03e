/*
 * event.h - references to the objects of an event that is stored for later.
 */
#ifndef CORE_DISPATCH_EVENT_H
#define CORE_DISPATCH_EVENT_H

#include "informer/event.h"

/* Takes references to the objects of @event, of which either may be NULL. */
void event_ref_objects(const struct inf_event *event);

/* Releases them and clears @event. */
void event_done(struct inf_event *event);

#endif
