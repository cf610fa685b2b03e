/*
 * index_path.h - an index whose values are those of a field path: `spec.nodeName`.
 */
#ifndef CORE_STORE_INDEX_PATH_H
#define CORE_STORE_INDEX_PATH_H

#include "informer/path.h"

#include "core/store/index.h"

/* Strings are indexed without quotes and escapes, other values as written. Borrows both arguments.
 * */
struct index_def index_by_path(const char *name, const struct inf_path *path);

/* Whether @def is such an index by @path. */
bool index_is_by_path(const struct index_def *def, const struct inf_path *path);

#endif
