/*
 * sm.c - checks and logs transitions, in release builds as well.
 */
#include "base/sm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void sm_init(struct sm *sm, const struct sm_state *states, int start, const char *owner,
             struct log *log)
{
    *sm = (struct sm){.states = states, .state = start, .owner = owner, .log = log};
}

const char *sm_name(const struct sm *sm)
{
    return sm->states[sm->state].name;
}

void sm_move(struct sm *sm, int next, const char *why, ...)
{
    char reason[512];
    const char *from = sm_name(sm);
    va_list args;
    if (!(sm->states[sm->state].to & SM_TO(next))) {
        /* Also in release builds: continuing in an impossible state would corrupt the cache. */
        fprintf(stderr, "informer: bug: %s: invalid transition from %s to %s\n", sm->owner, from,
                sm->states[next].name);
        abort();
    }
    sm->state = next;
    if (!log_has(sm->log, LOG_DEBUG))
        return;
    va_start(args, why);
    vsnprintf(reason, sizeof(reason), why, args);
    va_end(args);
    log_line(sm->log, LOG_DEBUG, "%s: %s -> %s (%s)", sm->owner, from, sm_name(sm), reason);
}
