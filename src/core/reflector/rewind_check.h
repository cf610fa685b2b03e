/*
 * rewind_check.h - whether the server still is where we are.
 *
 * A restored etcd goes back to older versions. A server takes a watch from a version that it has
 * not reached yet, and says nothing before it has: not one change, not one bookmark. What happens
 * until then is never told. So a watch that broke off, that ended without having brought anything,
 * or that the host slept over, leaves a doubt, be it that nothing happened, that the server was away,
 * or that it went back; and in doubt it is asked for one object, since with that comes the version it
 * is at, before a watch goes on from ours.
 *
 * The answer also shows the opposite: a server that is at a newer version, of which the watches show
 * nothing (blind_watch.h).
 *
 * One small request for each stream that breaks off or is silent, and for each sleep, but for streams
 * that end at once only one in ten seconds; none for those that end as they should after something
 * happened. Who may not list, or whose lists fail again and
 * again, goes on without the answer.
 *
 * It is a part of the reflector (reflector.c), as ask.h, intake.h and outcome.h are. Nobody else
 * includes it.
 */
#ifndef CORE_REFLECTOR_REWIND_CHECK_H
#define CORE_REFLECTOR_REWIND_CHECK_H

#include "core/reflector/reflector.h"

/* A watch has ended with @why. */
void rewind_check_watch_ended(struct reflector *r, const struct inf_error *why);

/* The host slept while a watch was open. */
void rewind_check_slept(struct reflector *r);

/* True if @event shows a server at an older version than ours; then @ret_why says so. */
bool rewind_check_confirmed(const struct reflector *r, const struct source_event *event,
                            struct inf_error *ret_why);

/* @event is of the answer to the question, and does not show a server at an older version. */
void rewind_check_answered(struct reflector *r, const struct source_event *event);

/* The question has ended with @why. True if a watch may go on from our version; else it is to be
 * asked again. */
bool rewind_check_settled(struct reflector *r, const struct inf_error *why);

#endif
