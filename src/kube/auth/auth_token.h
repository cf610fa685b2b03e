/*
 * auth_token.h - a token in a file that another process renews.
 *
 * The file is read on use, at most about once a minute, and immediately after the server has
 * rejected the token. If the file can't be read, the previous token is kept: it may still be valid,
 * and only the server can decide that.
 */
#ifndef KUBE_AUTH_TOKEN_H
#define KUBE_AUTH_TOKEN_H

#include <stdbool.h>

#include "informer/error.h"

#include "base/log.h"
#include "seam/clock.h"

/* Set `path`, `user`, `clock` and `log`; the rest is zero. */
struct auth_token {
    const char *path; /* borrowed, like the others */
    const char
        *user; /* the kubeconfig user whose tokenFile it is; NULL: not from a kubeconfig. If set,
                         a path that was never readable is not logged: it may be a token */
    struct clock *clock;
    struct log *log; /* may be NULL */
    char *token;     /* NULL: the file has never been read */
    uint64_t due_ms; /* when to read it again */
    bool complained; /* a warning was logged since the file was last readable */
};

/* Reads the file if that is due. Returns 1 if `token` has changed, 0 if not, or -INF_EIO if there
 * is no token. */
int auth_token_renew(struct auth_token *t, struct inf_error *err);

/* Reads the file now. Returns whether `token` has changed. */
bool auth_token_refused(struct auth_token *t);

void auth_token_free(struct auth_token *t);

#endif
