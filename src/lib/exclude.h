/*
 * exclude.h - the namespaces that a watch over all of them leaves out.
 *
 * A plain name becomes a field selector, metadata.namespace!=kube-system, which every server takes:
 * what is in there is never sent. Of a pattern the server knows nothing; it is the engine that passes
 * such objects over as they come in, so that they are neither kept nor told.
 */
#ifndef LIB_EXCLUDE_H
#define LIB_EXCLUDE_H

#include <stddef.h>

#include "informer/informer.h"

enum {
    EXCLUDE_MAX =
        64, /* LIMIT: names and patterns of one watch; each object is compared with them */
};

/* -INF_EINVAL if there are too many, one is no name or pattern, or the watch is of one namespace. */
int exclude_check(const struct inf_watch *watch, struct inf_error *err);

/* A copy of the list, which the caller frees, each text and all; NULL if there are none. */
char **exclude_copy(const struct inf_watch *watch);
void exclude_free(char **patterns, size_t n);

/* The watch's field selector with the plain names in it; the caller's. NULL: none is needed. */
char *exclude_fields(const struct inf_watch *watch);

#endif
