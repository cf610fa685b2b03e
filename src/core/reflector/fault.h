/*
 * fault.h - what to do when a request ends: a table from error code to reaction.
 */
#ifndef CORE_REFLECTOR_FAULT_H
#define CORE_REFLECTOR_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

enum fault_next {
    FAULT_RESUME, /* go on from the last resource version: nothing was missed */
    FAULT_RELIST, /* that is of no use any more: list anew and tell the differences */
};

enum fault_wait {
    WAIT_FEW,     /* not at all, a few times in a row; then back off */
    WAIT_ONCE,    /* not at all the first time; then back off */
    WAIT_BACKOFF, /* back off; longer if the server says so */
};

struct fault_rule {
    int code;
    enum fault_next next;
    enum fault_wait wait;
    enum log_level level;
};

/* The rule for @code; one for every code there is. */
const struct fault_rule *fault_rule(int code);

/* Against asking a server again and again without a pause. A zeroed struct is ready. */
struct fault_guard {
    bool went_on;       /* once, since the last rest */
    uint64_t window_ms; /* when the first of the last quick reopens was */
    uint32_t reopened;  /* how many there were since then */
};

/* Whether to go on without a wait this time. A proxy that ends each stream after one event must not make us spin. */
bool fault_may_go_on(struct fault_guard *guard, enum fault_wait wait, uint64_t now_ms);

/* There was a wait, or things went well for a while. */
void fault_guard_rested(struct fault_guard *guard);

#endif
