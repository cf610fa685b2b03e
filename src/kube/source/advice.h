/*
 * advice.h - what would help against a refusal, where the server can't know what we are after.
 *
 *     403   the commands that give the user, as the server calls us, the rights that a watch takes
 *     401   which credentials were shown, and what may be wrong with them
 *     404   that a name may be wrong
 */
#ifndef KUBE_SOURCE_ADVICE_H
#define KUBE_SOURCE_ADVICE_H

#include "informer/error.h"

#include "kube/discovery/resource.h"

/* What we were after, and how. */
struct advice {
    const struct resource *resource; /* without a name: a document about the server itself */
    const char *ns;                  /* NULL: all */
    const char *path_prefix;         /* of the server's URL; "": none */
    const char *credentials;         /* what the server saw of us, in words; NULL: nothing */
};

/* Adds it to the end of @why's text. Nothing that a server said becomes part of a command unless it
 * is quoted. */
void advice_add(struct inf_error *why, const struct advice *advice);

/* Takes that of a 404 away again, where it does not apply. */
void advice_cut_not_found(struct inf_error *why);

#endif
