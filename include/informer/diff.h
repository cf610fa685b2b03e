/*
 * diff.h - what changed between two states of an object, as a list that reads well and says it all.
 *
 *     replace  status.phase                                       "Pending" -> "Running"
 *     add      status.conditions[type=Ready]                      {"type":"Ready",...}
 *     remove   metadata.annotations["shop.example.com/hold"]      "yes"
 *
 * Paths are those of informer/path.h. Items of a list are matched by their merge key, as Kubernetes
 * does (name, type, mountPath ...), where each item of both lists has one of its own; else by what
 * they say, and else by their place.
 *
 * A diff is complete: done one after the other, its changes turn the old state into the new one,
 * lists in their order. What they mean, exactly:
 *
 *     replace  what is at the path
 *     remove   a member or an item. Places, as in [3], count in the old list: they are told from
 *              the last to the first
 *     add      a member or an item. Places count in the new list: they are told from the first to
 *              the last. An item with a key goes to the end, unless `at` says which place it gets
 *     reorder  the items of a list; the values are lists that name them: ["name=web","name=db"]
 *
 * It is also bounded. Where it would grow over a limit it says less, but nothing wrong: one replace
 * of a larger part stands for the changes inside it, or the values of a change are left out; and
 * inf_diff_truncated() says so. The same two states always give the same diff. It costs time in
 * proportion to the two texts and the depth of what differs (at most 32), and sorting.
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

/* A zeroed struct has the defaults. Beside the values, a change has a path of at most 1024 bytes. */
struct inf_diff_options {
    size_t changes_max; /* LIMIT: how many changes are told; 0: INF_DIFF_CHANGES_DEFAULT */
    size_t bytes_max;   /* LIMIT: bytes of all values together; 0: INF_DIFF_BYTES_DEFAULT */
    bool all;           /* also metadata.resourceVersion and metadata.managedFields */
};

enum inf_diff_op {
    INF_DIFF_ADD,
    INF_DIFF_REMOVE,
    INF_DIFF_REPLACE,
    INF_DIFF_REORDER,
};

/* JSON as the server spelled it, not NUL-terminated. */
struct inf_diff_value {
    const char *json; /* NULL: there is none, or, if len is not 0, it was left out */
    size_t len;
};

#define INF_DIFF_END ((size_t)-1)

struct inf_change {
    enum inf_diff_op op;
    const char *path;                /* "." is the whole object */
    struct inf_diff_value old_value; /* none for an add */
    struct inf_diff_value new_value; /* none for a remove */
    size_t at; /* add of an item with a key: its place in the new list; else INF_DIFF_END */
};

/**
 * Compares two states of an object. @options may be NULL. The caller frees the diff.
 *
 * Values are lent from the two objects: the diff is of use as long as both are kept. NULL with
 * INF_EINVAL if one of them is missing. @err may be NULL.
 */
INF_API struct inf_diff *inf_diff_make(const struct inf_object *old_object,
                                       const struct inf_object *new_object,
                                       const struct inf_diff_options *options,
                                       struct inf_error *err);

/** NULL is fine. */
INF_API void inf_diff_free(struct inf_diff *diff);

/** How many changes there are; 0: nothing changed but what options.all would show. */
INF_API size_t inf_diff_count(const struct inf_diff *diff);

/** Change number @i, below the count, in the order of doing. Lives as long as the diff. */
INF_API const struct inf_change *inf_diff_get(const struct inf_diff *diff, size_t i);

/** Whether a limit made it say less than there is to say. */
INF_API bool inf_diff_truncated(const struct inf_diff *diff);

/** "add", "remove", "replace", "reorder". */
INF_API const char *inf_diff_op_name(enum inf_diff_op op);

#ifdef __cplusplus
}
#endif

#endif
