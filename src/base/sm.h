/*
 * sm.h - a state machine with a transition table. Every transition goes through sm_move(), which checks
 * the table and writes a debug line.
 *
 *     static const struct sm_state states[] = {
 *         [IDLE] = {"idle", SM_TO(LISTING) | SM_TO(CLOSED)},
 *         ...
 *     };
 *     sm_move(&r->sm, LISTING, "start");          ->  pods: idle -> listing (start)
 */
#ifndef BASE_SM_H
#define BASE_SM_H

#include <stdint.h>

#include "base/log.h"

#define SM_TO(state) (UINT32_C(1) << (state))

struct sm_state {
    const char *name;
    uint32_t to; /* SM_TO() of each state that may follow */
};

struct sm {
    const struct sm_state *states;
    int state;
    const char *owner; /* borrowed; starts each line */
    struct log *log;   /* may be NULL */
};

void sm_init(struct sm *sm, const struct sm_state *states, int start, const char *owner,
             struct log *log);

/* Enters @next and logs the reason at debug level. A transition that is not in the table is a bug:
 * it aborts. */
__attribute__((format(printf, 3, 4))) void sm_move(struct sm *sm, int next, const char *why, ...);

/* The name of the current state. */
const char *sm_name(const struct sm *sm);

#endif
