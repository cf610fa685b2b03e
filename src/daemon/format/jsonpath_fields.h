/*
 * jsonpath_fields.h - JSONPath as a field path (informer/path.h), where it is one: for tables, which
 * evaluate it for each of many objects without building a tree.
 *
 * Supported are .field ['key'] [*] [0] [?(@.field=="value")]; everything else is an error that says so.
 */
#ifndef DAEMON_FORMAT_JSONPATH_FIELDS_H
#define DAEMON_FORMAT_JSONPATH_FIELDS_H

#include "informer/object.h"
#include "informer/path.h"

#include "base/str.h"

/* Translates @text, without braces. Returns 0 with a path that the caller frees, NULL for the whole
 * object (".", "$" or "@"); or -INF_EINVAL. */
int jsonpath_fields_parse(struct str text, struct inf_path **ret, struct inf_error *err);

/* Calls @each for every value that @path names in @object; @path NULL: for the whole object. */
void jsonpath_fields_each(const struct inf_path *path, const struct inf_object *object,
                          inf_path_value_fn *each, void *ctx);

#endif
