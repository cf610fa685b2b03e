/*
 * fault.h - the reaction to each error code: what to request next, how long to wait, how to log it.
 */
#ifndef CORE_REFLECTOR_FAULT_H
#define CORE_REFLECTOR_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

enum fault_next {
    FAULT_RESUME, /* resume from the last resource version: nothing was missed */
    FAULT_RELIST, /* that version is of no use: list again and report the differences */
};

enum fault_wait {
    WAIT_FEW,     /* no wait for the first few in a row, then back off */
    WAIT_ONCE,    /* no wait the first time, then back off */
    WAIT_BACKOFF, /* back off; longer if the server requests it */
};

struct fault_rule {
    int code;
    enum fault_next next;
    enum fault_wait wait;
    enum log_level level;
};

/* The rule for @code. Every error code has one. */
const struct fault_rule *fault_rule(int code);

/* Limits requests without a wait in between. Zero-initialised. */
struct fault_guard {
    bool continued;     /* a WAIT_ONCE was granted since the last wait */
    uint64_t window_ms; /* first immediate reopen of the current window */
    uint32_t reopened;  /* immediate reopens since then */
};

/* Whether the next request may be opened without a wait. Prevents a busy loop, for example behind a
 * proxy that ends each stream after one event. */
bool fault_may_continue(struct fault_guard *guard, enum fault_wait wait, uint64_t now_ms);

/* There was a wait, or a stream lived long enough: WAIT_ONCE is granted again. */
void fault_guard_reset(struct fault_guard *guard);

#endif
