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
void ask_next(struct reflector *r, const char *why);

/* All there is, by watch-list where the server can do that, when it is our turn. */
void ask_all(struct reflector *r, const char *why);

/* The same by list, and at once: we have our turn. */
void ask_all_by_list(struct reflector *r, const char *why);

/* The list of the pager, from where that is. */
void ask_list(struct reflector *r, const char *why);
void ask_page(struct reflector *r);

/* What happens from the last version on. */
void ask_watch(struct reflector *r);

/* The request under way is alive: its patience begins anew. */
void ask_patience(struct reflector *r);

/* The source sends the request only now: all its limits count from here. */
void ask_prepared(struct reflector *r);

/* A watch-list has taken longer than the server was asked to keep it open, or a list longer than any
 * may take. */
bool ask_sync_is_over(const struct reflector *r);

/* It is our turn. */
void ask_on_turn(struct turn *turn);

#endif
