/*
 * auth_exec.h - credentials from a kubectl exec plugin.
 *
 * The plugin runs when credentials are requested and none are usable: at first, after they have
 * expired, and after the server has rejected them. It runs in the background, one run at a time;
 * requests wait for its end. Time and output are limited, and there is a pause after each run, so
 * that a plugin that fails, or whose credentials are rejected, is not run in a tight loop.
 *
 * Its stdout contains the credentials and is never logged. If a run fails, its stderr is logged at
 * level debug: see exec_stderr.h.
 */
#ifndef KUBE_AUTH_EXEC_H
#define KUBE_AUTH_EXEC_H

#include <stdbool.h>

#include "informer/error.h"

#include "base/log.h"
#include "kube/auth/exec_credential.h"
#include "kube/config/kubeconfig.h"
#include "seam/child.h"
#include "seam/clock.h"

enum {
    EXEC_TIMEOUT_MS = 60 * 1000,
    EXEC_OUTPUT_MAX = 256 * 1024, /* LIMIT: bytes of stdout */
    EXEC_REST_MS = 5 * 1000,      /* pause between the end of a run and the next */
    EXEC_HINTS_MAX = 10,          /* LIMIT: install hints logged per hour */
};

/* Embedded in its owner, which sets the first five members; the rest is zero. */
struct auth_exec {
    struct clock *clock;
    struct log *log; /* may be NULL */
    struct spawner *spawner;
    const struct kubeconfig *config; /* its exec is set */
    /* A run has ended: `credential` is set, or @why is the error. */
    void (*on_done)(struct auth_exec *e, const struct inf_error *why);

    struct child_user user;
    struct child *child; /* NULL: not running */
    bool has_run;
    uint64_t ended_ms;       /* when the last run ended */
    struct inf_error failed; /* error of the last run; code 0: it succeeded */
    struct exec_credential credential;
    bool refused;      /* the server rejected the credential */
    unsigned hints;    /* install hints logged in this hour */
    uint64_t hints_ms; /* when the first of them was logged */
};

/* Returns 0 if `credential` can be used; 1 if on_done will be called; or the error of the last run
 * during the pause after it. */
int auth_exec_get(struct auth_exec *e, struct inf_error *err);

/* The server rejected the credential. Returns whether auth_exec_get() will provide another one. */
bool auth_exec_refused(struct auth_exec *e);

/* Cancels a run without calling on_done. */
void auth_exec_close(struct auth_exec *e);

#endif
