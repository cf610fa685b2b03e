/*
 * auth_token.h - a token in a file that somebody else renews.
 *
 * Read on use, at most once a minute; at once when the server has refused what is kept. What was
 * read once is kept while the file can't be read: the token may still be good, and the server is
 * who knows.
 */
#ifndef KUBE_AUTH_TOKEN_H
#define KUBE_AUTH_TOKEN_H

#include <stdbool.h>

#include "informer/error.h"

#include "base/log.h"
#include "seam/clock.h"

/* Fill `path`, `user`, `clock` and `log`, leave the rest zero. */
struct auth_token {
    const char *path; /* borrowed, as the others */
    const char
        *user; /* whose tokenFile it is in a kubeconfig: a path that could never be read may be
                         the token itself, and is not named. NULL: it is from somewhere else */
    struct clock *clock;
    struct log *log; /* may be NULL */
    char *token;     /* NULL: the file was never read */
    uint64_t due_ms; /* when to read it again */
    bool complained; /* about the file, since it was last good */
};

/* Reads the file if that is due. Returns 1 if `token` is another one now, 0 if not, or -INF_EIO if
 * there is none. */
int auth_token_renew(struct auth_token *t, struct inf_error *err);

/* Reads it now. Whether `token` is another one. */
bool auth_token_refused(struct auth_token *t);

void auth_token_free(struct auth_token *t);

#endif
