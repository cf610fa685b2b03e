/*
 * path.h - field paths: one way to name a place in any object, for indexes, rules and selectors.
 *
 *     spec.nodeName                            a field
 *     metadata.annotations["a.b/c"]            a key that is no plain name; escapes as in JSON
 *     metadata.ownerReferences[*].uid          of every item (or, in a map, of every member)
 *     status.conditions[type=Ready].status     of the items whose `type` is Ready
 *     spec.containers[0].image                 of the first item
 *
 * Plain names are letters, digits, '-' and '_'. The value in [key=value] needs quotes unless it is
 * letters, digits and
 * - _ . / : + @ %. It is compared with strings by what they say, with numbers and booleans by their
 * spelling. There is no leading '.' or '$', no braces and no '..': a path is not JSONPath, and the
 * message about one says what to write.
 *
 * A path reads the object's text where it lies. It costs time in proportion to that text, and no
 * memory.
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
 * Reads a path of at most 1024 bytes and 32 steps. The caller frees it.
 *
 * Returns NULL with INF_EINVAL if it is none; the text names the column and what would be right.
 * @err may be NULL.
 */
INF_API struct inf_path *inf_path_parse(const char *text, struct inf_error *err);

/** NULL is fine. */
INF_API void inf_path_free(struct inf_path *path);

/** The path in canonical spelling: two paths are the same exactly if their texts are. Lives as long
 * as @path. */
INF_API const char *inf_path_text(const struct inf_path *path);

/** A value as the server spelled it: @len bytes at @json, lent, not NUL-terminated. Returns whether
 * to go on. */
typedef bool inf_path_fn(void *ctx, const char *json, size_t len);

/**
 * Calls @fn for every value of @object that @path names, in the object's order, until it returns
 * false.
 *
 * Of a key that is there twice, the first counts. Returns how many values were told; 0: the object
 * has no such place.
 */
INF_API size_t inf_path_each(const struct inf_path *path, const struct inf_object *object,
                             inf_path_fn *fn, void *ctx);

/**
 * Writes the first value that @path names as text to @buf, a string by what it says, anything else
 * as spelled.
 *
 * Returns the length of the whole text. If that is @size or more, the text in @buf was cut, between
 * two characters; it always ends in NUL, unless @size is 0. Returns -INF_ENOTFOUND, and "" in @buf,
 * if the object has no such place.
 */
INF_API int inf_path_string(const struct inf_path *path, const struct inf_object *object, char *buf,
                            size_t size);

#ifdef __cplusplus
}
#endif

#endif
