/*
 * advice.h - adds a remedy to a refusal of the server, which does not know what the request is
 * for.
 *
 * 403: the commands that grant the permissions of a watch to the user. 401: which credentials
 * were sent, and what may be wrong with them. 404: that a name may be wrong.
 */
#ifndef KUBE_SOURCE_ADVICE_H
#define KUBE_SOURCE_ADVICE_H

#include "informer/error.h"

#include "kube/discovery/resource.h"

/* The request that was refused. */
struct advice {
    const struct resource *resource; /* without a name: a document about the server itself */
    const char *ns;                  /* NULL: all */
    const char *path_prefix;         /* of the server's URL; "": none */
    const char *credentials;         /* a description of our credentials; NULL: none */
};

/* Adds the advice to the text of @why. Text of the server becomes part of a command only if it is
 * quoted. */
void advice_add(struct inf_error *why, const struct advice *advice);

/* Removes the advice about a 404, where it does not apply. */
void advice_cut_not_found(struct inf_error *why);

#endif
