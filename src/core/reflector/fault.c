/*
 * fault.c - the table of fault rules, and the guard against requests in a busy loop.
 *
 * Adding an error code without a rule is a compile-time error.
 */
#include "core/reflector/fault.h"

#include "informer/error.h"

#include "base/base.h"

/* clang-format off */
static const struct fault_rule rules[] = {
    /* the normal end of a stream: the server closes each after some minutes */
    {INF_EEOF,          FAULT_RESUME, WAIT_FEW,     LOG_DEBUG},
    /* history compacted: relist at once, but only once per back-off step */
    {INF_EGONE,         FAULT_RELIST, WAIT_ONCE,    LOG_INFO},
    {INF_EFUTURE,       FAULT_RELIST, WAIT_ONCE,    LOG_WARN},
    /* what was received is valid; the rest follows when the server is back */
    {INF_ENET,          FAULT_RESUME, WAIT_BACKOFF, LOG_WARN},
    {INF_ETLS,          FAULT_RESUME, WAIT_BACKOFF, LOG_ERROR},
    {INF_ECUT,          FAULT_RESUME, WAIT_BACKOFF, LOG_WARN},
    {INF_ETIMEOUT,      FAULT_RESUME, WAIT_BACKOFF, LOG_WARN},
    {INF_EPROTO,        FAULT_RESUME, WAIT_BACKOFF, LOG_ERROR},
    {INF_EIO,           FAULT_RESUME, WAIT_BACKOFF, LOG_ERROR},
    {INF_ETHROTTLED,    FAULT_RESUME, WAIT_BACKOFF, LOG_WARN},
    {INF_EUNAUTHORIZED, FAULT_RESUME, WAIT_BACKOFF, LOG_ERROR},
    {INF_EFORBIDDEN,    FAULT_RESUME, WAIT_BACKOFF, LOG_ERROR},
    {INF_ESERVER,       FAULT_RESUME, WAIT_BACKOFF, LOG_WARN},
    /* an event was lost, or the version means nothing to the server: only a list is reliable */
    {INF_EDECODE,       FAULT_RELIST, WAIT_BACKOFF, LOG_ERROR},
    {INF_ETOOBIG,       FAULT_RELIST, WAIT_BACKOFF, LOG_ERROR},
    {INF_ENOTFOUND,     FAULT_RELIST, WAIT_BACKOFF, LOG_ERROR},
    {INF_EREFUSED,      FAULT_RELIST, WAIT_BACKOFF, LOG_ERROR},
    /* no source reports these; relisting is the safe reaction */
    {INF_EINVAL,        FAULT_RELIST, WAIT_BACKOFF, LOG_ERROR},
    {INF_ECONF,         FAULT_RELIST, WAIT_BACKOFF, LOG_ERROR},
    {INF_ECLOSED,       FAULT_RELIST, WAIT_BACKOFF, LOG_ERROR},
    {INF_ECANCELED,     FAULT_RELIST, WAIT_BACKOFF, LOG_ERROR},
};
/* clang-format on */

#define COUNT(name, value, text) +1
_Static_assert(ARRAY_LEN(rules) == 0 INF_ERROR_MAP(COUNT), "each error code has its rule");
#undef COUNT

const struct fault_rule *fault_rule(int code)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (rules[i].code == code)
            return &rules[i];
    return fault_rule(INF_EINVAL);
}

enum {
    WINDOW_MS = 10 * 1000, /* normal ends are reopened at once, ... */
    REOPEN_MAX = 5,        /* ... up to this often in the window, then wait */
};

bool fault_may_continue(struct fault_guard *guard, enum fault_wait wait, uint64_t now_ms)
{
    bool first = !guard->continued;
    switch (wait) {
    case WAIT_FEW:
        if (now_ms - guard->window_ms > WINDOW_MS)
            guard->reopened = 0;
        if (guard->reopened == 0)
            guard->window_ms = now_ms;
        return ++guard->reopened <= REOPEN_MAX;
    case WAIT_ONCE: guard->continued = true; return first;
    case WAIT_BACKOFF: break;
    }
    return false;
}

void fault_guard_reset(struct fault_guard *guard)
{
    guard->continued = false;
}
