/*
 * reflector_end.h - what the end of a request means, and what is done then.
 *
 * Every request ends, well or badly, by the other side or because we gave it up; what that means
 * depends on what was asked for:
 *
 *   filling   without its bookmark the list is not complete: again, or by LIST if the server can't
 *   listing   the next page, or a watch from the first page's version, or all anew
 *   watching  go on from the last version
 *   asking    the server is where we are, and a watch goes on; or it is not, and all anew
 *
 * For each error core/reflector/fault.c says whether to go on from the last version or to list anew, and
 * whether to wait; a request that lived makes the waits short again. A fault that stays the same is
 * told once in a while, not each time. A resource that may be absent and is absent is no fault: it is
 * looked for from time to time.
 *
 * It is a part of the reflector (reflector.c), as ask.h, intake.h and doubt.h are. Nobody else
 * includes it.
 */
#ifndef CORE_REFLECTOR_END_H
#define CORE_REFLECTOR_END_H

#include "core/reflector/reflector.h"

/* The request under way has ended with @why: INF_EEOF if as it should. Asks for what is needed next,
 * or waits first. */
void reflector_request_ended(struct reflector *r, const struct inf_error *why);

/* The same for a request that is still open: it is of no use, for @why. */
void reflector_abort_request(struct reflector *r, const struct inf_error *why);

/* The request under way has been silent for too long, and is taken for dead. */
void reflector_on_silence(struct silence_timer *patience);

/* A watch can't go on from the last version: all is listed next, because of @code and for the reason
 * @why, which is reported with the differences. An earlier reason stays. */
void reflector_need_list(struct reflector *r, int code, const char *why);

/* The wait is over. */
void reflector_on_retry(struct timer *timer);

#endif
