/*
 * jsonpath.h - a subset of kubectl's JSONPath, translated to field paths (informer/path.h).
 *
 *     .metadata.name                           a field; a leading '$' is allowed
 *     .metadata.annotations.a\.b/c             a key with dots
 *     .metadata.annotations['a.b/c']           the same; also with double quotes
 *     .spec.containers[*].image                a field of every item
 *     .spec.containers[0].image                a field of the first item
 *     .status.conditions[?(@.type=="Ready")].status    a field of the items with this value
 *
 * Everything else is an error that names what is supported: recursive descent (..), slices, lists of
 * indexes, negative indexes, other comparisons, and range/end.
 */
#ifndef DAEMON_FORMAT_JSONPATH_H
#define DAEMON_FORMAT_JSONPATH_H

#include "informer/object.h"
#include "informer/path.h"

#include "base/buf.h"
#include "base/str.h"

/* Translates @text, without braces. Returns 0 with a path that the caller frees, NULL for the whole
 * object (".", "$" or "@"); or -INF_EINVAL. */
int jsonpath_parse(struct str text, struct inf_path **ret, struct inf_error *err);

/* Calls @each for every value that @path names in @object; @path NULL: for the whole object. */
void jsonpath_each(const struct inf_path *path, const struct inf_object *object,
                   inf_path_value_fn *each, void *ctx);

#endif
