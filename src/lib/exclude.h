/*
 * exclude.h - the namespaces that a watch of all namespaces excludes.
 *
 * A plain name becomes a field selector, metadata.namespace!=kube-system, which every server
 * supports: these objects are never sent. Servers do not support patterns; the engine discards
 * objects that match one when they arrive, so that they are neither stored nor delivered.
 */
#ifndef LIB_EXCLUDE_H
#define LIB_EXCLUDE_H

#include <stddef.h>

#include "informer/informer.h"

enum {
    EXCLUDE_MAX =
        64, /* LIMIT: names and patterns of one watch; each object is compared with them */
};

/* Returns 0, or -INF_EINVAL if there are too many, one is not valid, or the watch is of one
 * namespace. */
int exclude_check(const struct inf_watch *watch, struct inf_error *err);

/* The watch's field selector, extended by the plain names. The caller frees it. NULL: no
 * selector. */
char *exclude_fields(const struct inf_watch *watch);

#endif
