/*
 * reflector_deliver.h - where what a reflector takes in goes: into the list that is being filled, and into the
 * FIFO.
 *
 * It moves the resource version on, and wakes the pump.
 *
 * It is a part of the reflector (reflector.c), as ask.h, outcome.h and doubt.h are. Nobody else
 * includes it.
 */
#ifndef CORE_REFLECTOR_DELIVER_H
#define CORE_REFLECTOR_DELIVER_H

#include "core/reflector/reflector.h"

/* The staged list is complete: it becomes one delta, and the state of the world is @version. */
void reflector_commit(struct reflector *r, const char *version, int64_t received_us);

/* Forgets a list that did not come to its end. */
void reflector_drop_staged(struct reflector *r);

/* The resource is not there, and that is allowed: so it has no objects. Told once, as an empty list; the
 * next one begins anew. */
void reflector_commit_absent(struct reflector *r, const struct inf_error *why);

/* A change or a bookmark of a watch. */
void reflector_push_change(struct reflector *r, enum delta_type type,
                           const struct source_event *event);

/* An object that can't be read. It is reported once per version. Of a list that is being filled it
 * counts as part: what the store holds of it stays. */
void reflector_push_skipped(struct reflector *r, const struct source_event *event);

/* The reflector's freshness changed. */
void reflector_on_freshness(struct freshness *f);

#endif
