/*
 * item_path.h - the values of a field path, each with the identity of the list items that contain it.
 *
 * Two states of an object are compared item by item: in status.containerStatuses[*].restartCount the
 * values of the container `web` in both states belong together, wherever the item is in its list. The
 * identity of an item of `[*]` is
 *
 *     the key, for a member of a map;
 *     the item's name, type, uid, key or ip, the first one that it has;
 *     otherwise its value, unless it is an object or a list; otherwise its position.
 */
#ifndef DAEMON_RULE_ITEM_PATH_H
#define DAEMON_RULE_ITEM_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/diff.h"
#include "informer/path.h"

#include "base/buf.h"
#include "base/str.h"

enum {
    ITEM_PATH_LEAD = 4, /* steps */
    ITEM_VALUES_MAX =
        256, /* LIMIT: values of a state that are compared; further ones are ignored */
};

struct item_path;

/* Parses @text as inf_path_parse() does; @err may be NULL. */
struct item_path *item_path_parse(const char *text, struct inf_error *err);

/* NULL is allowed. */
void item_path_free(struct item_path *path);

const struct inf_path *item_path_plain(const struct item_path *path);

/* Whether the path has `[*]`: an object may have several values, of different items. */
bool item_path_has_items(const struct item_path *path);

/* The canonical text of its first ITEM_PATH_LEAD steps, or of all if it has fewer. The caller owns it. */
char *item_path_lead(const struct item_path *path);

/* Whether @diff may have changed values of @path; reads only the paths of the diff. With @may_be also
 * the new values: at least one of a change at @path, which may contain the value itself, must satisfy
 * it. An omitted value is {NULL, 0}. */
typedef bool item_value_fn(const void *ctx, struct str json);
bool item_path_is_touched(const struct item_path *path, const struct inf_diff *diff);
bool item_path_is_touched_by(const struct item_path *path, const struct inf_diff *diff,
                             item_value_fn *may_be, const void *ctx);

/* Whether a change at the path @changed of a diff changes only what @path names: @path, or a part of
 * it. `[*]` is any item; `[type=Ready]` and `[0]` are only themselves. */
bool item_path_covers(const struct item_path *path, const char *changed);

/* Whether a change at the path @changed of a diff may have changed values of @path. */
bool item_path_touches(const struct item_path *path, const char *changed);

/* Whether the path @changed of a diff names one value of @path. Items of `[*]` count only if the diff
 * names them by `name`: that is their identity in both states. */
bool item_path_names(const struct item_path *path, const char *changed);

/* ---- values: item_values.c ---- */

struct item_value {
    struct str json;
    size_t id, id_len; /* in item_values.ids */
};

/* A zeroed struct is empty. The values are borrowed from the object. */
struct item_values {
    struct item_value *at;
    size_t count;
    struct buf ids;
};

/* Stores the values of @object for which @is_wanted returns true (NULL: all). */
void item_values_collect(struct item_values *ret, const struct item_path *path,
                         const struct inf_object *object, item_value_fn *is_wanted,
                         const void *ctx);
void item_values_free(struct item_values *values);

/* The value of the same item as @values->at[@i] in another state; NULL: there is none. */
const struct item_value *item_values_same(const struct item_values *values, size_t i,
                                          const struct item_values *in);

/* Whether the values of the two states differ, or their order. */
bool item_path_differs(const struct inf_path *path, const struct inf_object *old_object,
                       const struct inf_object *new_object);

#endif
