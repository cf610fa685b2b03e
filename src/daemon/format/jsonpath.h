/*
 * jsonpath.h - kubectl's JSONPath, evaluated on JSON trees.
 *
 *     .metadata.name                           a field; a leading '$' or '@' is allowed
 *     .metadata.annotations.a\.b/c             a key with dots
 *     .metadata.annotations['a.b/c']           the same; also with double quotes
 *     .spec.containers[*].image                a field of every item; .* also of every member
 *     .spec.containers[0].image                a field of the first item; [-1]: of the last one
 *     .spec.containers[0:2], [0,2], [::2]      slices and several items
 *     ..image                                  a field at any depth
 *     .status.conditions[?(@.type=="Ready")].status    a field of the items for which the comparison
 *                                              holds: == != < <= > >=; without one: that have it
 *
 * A template is text with expressions in braces, which are paths, quoted text, or `range PATH` and
 * `end`, between which the template is repeated for each value of the path.
 *
 * Missing fields are not an error. An index out of bounds, an index of something that is not a list, and
 * a comparison of values of different types are, as in kubectl; callers can ignore them.
 */
#ifndef DAEMON_FORMAT_JSONPATH_H
#define DAEMON_FORMAT_JSONPATH_H

#include "informer/error.h"

#include "base/buf.h"
#include "base/str.h"
#include "daemon/format/json_tree.h"

struct jsonpath;

/* Parses a template, which has at least one expression in braces. Returns 0 with a template that the
 * caller frees, or -INF_EINVAL. */
int jsonpath_parse_template(struct str text, struct jsonpath **ret, struct inf_error *err);

/* Parses one path, with or without braces and a leading dot: "metadata.name". "." is the whole
 * object. */
int jsonpath_parse(struct str text, struct jsonpath **ret, struct inf_error *err);

void jsonpath_free(struct jsonpath *path); /* NULL is allowed */

/* Receives the values of one text or expression; @n may be 0. They are valid as long as the tree and the
 * template. */
typedef void jsonpath_values_fn(void *ctx, const struct json_node *const *values, size_t n);

/* How much work may be done: children that are visited, values, and the length of values that are passed
 * on. Short templates multiply values, for example .a[0,0,0].b[0,0,0]. */
struct jsonpath_budget {
    size_t left;
};

/* Calls @each for the texts and expressions of @path in order, on the tree @root. Returns 0, or
 * -INF_EINVAL with the reason; if @err is NULL, errors count as no value. */
int jsonpath_each(const struct jsonpath *path, const struct json_node *root,
                  jsonpath_values_fn *each, void *ctx, struct inf_error *err);

/* The same without errors, for templates that others give us. Returns -INF_ETOOBIG when the budget is used
 * up. */
int jsonpath_each_within(const struct jsonpath *path, const struct json_node *root,
                         struct jsonpath_budget *budget, jsonpath_values_fn *each, void *ctx);

/* The same as text: strings decoded, lists and maps as compact JSON, several values of an expression
 * with blanks between them. */
int jsonpath_put(struct buf *out, const struct jsonpath *path, const struct json_node *root,
                 struct inf_error *err);

int jsonpath_put_within(struct buf *out, const struct jsonpath *path, const struct json_node *root,
                        struct jsonpath_budget *budget);

/* Appends @text with its line ends and tabs, and all else that could control a terminal escaped. */
void jsonpath_put_visible(struct buf *out, struct str text);

#endif
