/*
 * path.h - field paths, which name values in an object; used by indexes, rules and selectors.
 *
 *     spec.nodeName                            a field
 *     metadata.annotations["a.b/c"]            a key that is not a plain name; escapes as in JSON
 *     metadata.ownerReferences[*].uid          a field of every item (in a map: member)
 *     status.conditions[type=Ready].status     a field of the items whose `type` is Ready
 *     spec.containers[0].image                 a field of the first item
 *
 * Plain names consist of letters, digits, '-' and '_'. The value in [key=value] needs quotes unless
 * it consists of letters, digits and - _ . / : + @ %. It is compared with the decoded value of
 * strings, and with the spelling of numbers and booleans. A leading '.' or '$', braces and '..' are
 * errors: a path is not JSONPath. The error message gives the correct form.
 *
 * Evaluating a path reads the object's text in place. The time is proportional to the length of the
 * text; no memory is allocated.
 */
#ifndef INFORMER_PATH_H
#define INFORMER_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"
#include "informer/object.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inf_path;

/**
 * Parses a path of at most 1024 bytes and 32 steps. The caller frees it.
 *
 * Returns NULL with INF_EINVAL if it is invalid; the text names the column and the expected form.
 * @err may be NULL.
 */
INF_API struct inf_path *inf_path_parse(const char *text, struct inf_error *err);

/** Frees @path. NULL is allowed. */
INF_API void inf_path_free(struct inf_path *path);

/**
 * The path in canonical spelling: two paths are equal exactly if their texts are. Valid as long as
 * @path.
 */
INF_API const char *inf_path_text(const struct inf_path *path);

/** Whether @path names at most one value of an object: it has no [*] and no [key=value]. */
INF_API bool inf_path_is_single(const struct inf_path *path);

/**
 * Receives one value as the server spelled it: @len bytes at @json, borrowed, not NUL-terminated.
 * Returns whether to continue.
 */
typedef bool inf_path_value_fn(void *ctx, const char *json, size_t len);

/**
 * Calls @each for every value of @object that @path names, in the object's order, until @each
 * returns false.
 *
 * If a key occurs twice, the first one is used. Returns the number of calls; 0: the object has no
 * such field.
 */
INF_API size_t inf_path_each(const struct inf_path *path, const struct inf_object *object,
                             inf_path_value_fn *each, void *ctx);

/** Receives one value of the path with number @path, else like inf_path_value_fn. */
typedef bool inf_path_values_fn(void *ctx, size_t path, const char *json, size_t len);

/**
 * Calls @each for every value of @object that one of @n paths (at most 64) names, in the object's
 * order, until @each returns false.
 *
 * The values of each path are those of inf_path_each(), but the object is read once for all of them.
 */
INF_API void inf_paths_each(const struct inf_path *const *paths, size_t n,
                            const struct inf_object *object, inf_path_values_fn *each, void *ctx);

/**
 * Writes the first value that @path names to @buf: a string decoded, any other value as spelled.
 *
 * Returns the length of the whole text. If that is @size or more, the text in @buf was truncated
 * between two characters; it is always NUL-terminated, unless @size is 0. Returns -INF_ENOTFOUND,
 * and "" in @buf, if the object has no such field.
 */
INF_API int inf_path_string(const struct inf_path *path, const struct inf_object *object, char *buf,
                            size_t size);

#ifdef __cplusplus
}
#endif

#endif
