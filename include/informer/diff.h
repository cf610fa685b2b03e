/*
 * diff.h - the differences between two states of an object, as a complete list of changes.
 *
 *     replace  status.phase                                       "Pending" -> "Running"
 *     add      status.conditions[type=Ready]                      {"type":"Ready",...}
 *     remove   metadata.annotations["shop.example.com/hold"]      "yes"
 *
 * Paths are those of informer/path.h. List items are matched by their merge key, as Kubernetes does
 * (name, type, mountPath ...), if every item of both lists has a unique key; otherwise by value,
 * and otherwise by position.
 *
 * A diff is complete: applied in order, its changes turn the old state into the new one, including
 * the order of lists. The operations are:
 *
 *     replace  replaces the value at the path
 *     remove   removes a member or an item. Positions such as [3] refer to the old list and are
 *              listed from the last to the first
 *     add      adds a member or an item. Positions refer to the new list and are listed from the
 *              first to the last. An item with a key is appended, unless `at` gives its position
 *     reorder  reorders the items of a list; the values are lists of keys: ["name=web","name=db"]
 *
 * A diff is bounded. Where it would exceed a limit it has less detail but remains correct: one
 * replace of a larger part stands for the changes inside it, or the values of a change are omitted,
 * and inf_diff_truncated() returns true. The same two states always give the same diff. The cost is
 * proportional to the size of both texts and the depth of the differences (at most 32), plus
 * sorting.
 */
#ifndef INFORMER_DIFF_H
#define INFORMER_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"
#include "informer/object.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inf_diff;

enum {
    INF_DIFF_CHANGES_DEFAULT = 256,
    INF_DIFF_BYTES_DEFAULT = 64 * 1024,
};

/* A zeroed struct selects the defaults. In addition to its values, a change has a path of at most
 * 1024 bytes. */
struct inf_diff_options {
    size_t changes_max; /* LIMIT: number of changes; 0: INF_DIFF_CHANGES_DEFAULT */
    size_t bytes_max;   /* LIMIT: total bytes of all values; 0: INF_DIFF_BYTES_DEFAULT */
    bool all;           /* include metadata.resourceVersion and metadata.managedFields */
    void *reserved[2];
};

enum inf_diff_op {
    INF_DIFF_ADD,
    INF_DIFF_REMOVE,
    INF_DIFF_REPLACE,
    INF_DIFF_REORDER,
};

/* JSON as the server sent it, not NUL-terminated. */
struct inf_diff_value {
    const char *json; /* NULL with len 0: no value; NULL with another len: the value was omitted */
    size_t len;
};

#define INF_DIFF_END ((size_t)-1)

struct inf_change {
    enum inf_diff_op op;
    const char *path;                /* "." is the whole object */
    struct inf_diff_value old_value; /* no value for an add */
    struct inf_diff_value new_value; /* no value for a remove */
    size_t at; /* add of an item with a key: its position in the new list; otherwise INF_DIFF_END */
};

/**
 * Compares two states of an object. @options may be NULL. The caller frees the diff.
 *
 * Values point into the two objects: keep both as long as the diff is used. Returns NULL with
 * INF_EINVAL if one of the objects is NULL or a reserved field is not zero. @err may be NULL.
 */
INF_API struct inf_diff *inf_diff_make(const struct inf_object *old_object,
                                       const struct inf_object *new_object,
                                       const struct inf_diff_options *options,
                                       struct inf_error *err);

/** Frees @diff. NULL is allowed. */
INF_API void inf_diff_free(struct inf_diff *diff);

/** The number of changes. 0: nothing changed, except possibly what options.all would include. */
INF_API size_t inf_diff_count(const struct inf_diff *diff);

/**
 * Change number @i, less than the count, in the order of application. Valid as long as the diff.
 */
INF_API const struct inf_change *inf_diff_get(const struct inf_diff *diff, size_t i);

/** Whether detail was omitted because of a limit. */
INF_API bool inf_diff_truncated(const struct inf_diff *diff);

/** "add", "remove", "replace", "reorder". */
INF_API const char *inf_diff_op_name(enum inf_diff_op op);

#ifdef __cplusplus
}
#endif

#endif
