/*
 * auth.h - who we are, said with each request.
 */
#ifndef KUBE_AUTH_H
#define KUBE_AUTH_H

#include "informer/error.h"

/* Borrowed strings; a client certificate is the TLS context's business, not ours. */
struct auth {
    const char *token;      /* may be NULL */
    const char *token_file; /* may be NULL; read anew for each request, for tokens rotate; wins over
                               `token` */
};

/*
 * The value of the Authorization header, to be given to secret_free(); NULL if we have no token.
 * -INF_EIO if the token file can't be read and there is no token to fall back on.
 */
int auth_header(const struct auth *auth, char **ret_value, struct inf_error *err);

#endif
