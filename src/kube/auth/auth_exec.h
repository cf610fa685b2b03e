/*
 * auth_exec.h - credentials from a program, as kubectl's exec plugins give them.
 *
 * It is run when they are asked for and none are at hand: at first, when they have expired, and
 * when the server has refused them. One run at a time, in the background; whoever asks meanwhile
 * waits for its end. It is bounded in time and output, and not run again right after a run: a
 * program that fails, or whose credentials nobody accepts, is not hammered.
 *
 * What it says on stdout is never repeated, for the credentials are there. Of a run that failed,
 * stderr is shown to who asked for details: see exec_stderr.h.
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
    EXEC_REST_MS = 5 * 1000,      /* between the end of a run and the next */
    EXEC_HINTS_MAX = 10,          /* install hints an hour */
};

/* Embed; fill the first five, leave the rest zero. */
struct auth_exec {
    struct clock *clock;
    struct log *log; /* may be NULL */
    struct spawner *spawner;
    const struct kubeconfig *config; /* has an exec */
    /* A run has ended: with `credential`, or with @why. */
    void (*on_done)(struct auth_exec *e, const struct inf_error *why);

    struct child_user user;
    struct child *child; /* NULL: it isn't running */
    bool has_run;
    uint64_t ended_ms;       /* the last run */
    struct inf_error failed; /* it; code 0: it didn't */
    struct exec_credential credential;
    bool refused; /* the credential, by the server */
    unsigned hints;
    uint64_t hints_ms; /* when the first of them was given */
};

/* Returns 0 if `credential` can be used; 1 if on_done will be called; or what the last run failed
 * with, if that is not long ago. */
int auth_exec_get(struct auth_exec *e, struct inf_error *err);

/* The credential was refused. Whether there will be another one for who asks. */
bool auth_exec_refused(struct auth_exec *e);

/* Ends a run, tells nobody. */
void auth_exec_close(struct auth_exec *e);

#endif
