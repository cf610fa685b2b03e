/*
 * reflector_request.h - what a reflector asks its source for, and when.
 *
 * Waits for its turn, opens the request, and sets how long that may be silent. Which request is
 * needed next follows from what the last one left behind: all anew, a doubt, or neither.
 *
 * It is a part of the reflector (reflector.c), as intake.h, outcome.h and doubt.h are. Nobody else
 * includes it.
 */
#ifndef CORE_REFLECTOR_REQUEST_H
#define CORE_REFLECTOR_REQUEST_H

#include "core/reflector/reflector.h"

enum reflector_state {
    IDLE,
    QUEUED, /* to list, until it is its turn */
    FILLING,
    LISTING,
    WATCHING,
    ASKING, /* in doubt, which version the server is at */
    WAITING,
    CLOSED,
};

enum {
    LIST_MAX_MS = 30 * 60 * 1000, /* LIMIT: all pages of one list together */
};

/* What is needed next: a watch from the last version, all anew, or which of both. */
void reflector_request_next(struct reflector *r, const char *why);

/* All there is, by watch-list where the server can do that, when it is our turn. */
void reflector_request_all(struct reflector *r, const char *why);

/* The same by list, and at once: we have our turn. */
void reflector_request_list_now(struct reflector *r, const char *why);

/* The list of the pager, from where that is. */
void reflector_request_list(struct reflector *r, const char *why);
void reflector_request_page(struct reflector *r);

/* What happens from the last version on. */
void reflector_request_watch(struct reflector *r);

/* The request under way is alive: its patience begins anew. */
void reflector_restart_silence_timer(struct reflector *r);

/* The source sends the request only now: all its limits count from here. */
void ask_prepared(struct reflector *r);

/* A watch-list has taken longer than the server was asked to keep it open, or a list longer than any
 * may take. */
bool ask_sync_is_over(const struct reflector *r);

/* It is our turn. */
void reflector_on_list_slot(struct list_slot *turn);

#endif
