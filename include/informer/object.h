/*
 * object.h - a Kubernetes object as the cache holds it: immutable, shared, in one allocation.
 *
 * Canonical form. The text is compact JSON. `kind` and `apiVersion` are always present and come
 * first. Fields that the informer drops (by default metadata.managedFields) are removed. Strings
 * and numbers keep the server's spelling. Two objects are therefore equal exactly if their texts
 * are, whether they came from a list or from a watch.
 *
 * Ownership. Objects are reference-counted and never change. An object that a function returns or
 * passes to a callback is borrowed: it is valid until you return to the loop. To keep it longer,
 * call inf_object_ref(), and inf_object_unref() later. Strings returned by the getters are valid as
 * long as the object. An object belongs to the thread of its loop.
 */
#ifndef INFORMER_OBJECT_H
#define INFORMER_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inf_object;

/** Adds a reference to @object, to be released with inf_object_unref(). Returns @object. */
INF_API struct inf_object *inf_object_ref(const struct inf_object *object);

/** Releases a reference to @object. NULL is allowed. */
INF_API void inf_object_unref(const struct inf_object *object);

/** The identity of @object. Never NULL; the namespace is "" for cluster-scoped objects. */
INF_API const char *inf_object_kind(const struct inf_object *object);
INF_API const char *inf_object_api_version(const struct inf_object *object);
INF_API const char *inf_object_namespace(const struct inf_object *object);
INF_API const char *inf_object_name(const struct inf_object *object);
INF_API const char *inf_object_uid(const struct inf_object *object);
INF_API const char *inf_object_resource_version(const struct inf_object *object);

/**
 * Whether resource version @version is certainly older than @other, for one resource.
 *
 * Returns false also if the two can't be compared: those of Kubernetes are numbers, those of other
 * servers may be any string.
 */
INF_API bool inf_resource_version_is_older(const char *version, const char *other);

/* The writer of an object, as recorded by the server with a resolution of one second. */
struct inf_writer {
    const char *manager;     /* the field manager: "kubelet", "kubectl-client-side-apply" */
    const char *subresource; /* "status", "scale", or "" */
    const char *time;        /* RFC 3339 */
    bool sole;               /* no other manager wrote to this part: the status, or the rest */
    void *reserved[2];
};

/* The part of an object that a write changed, as far as the difference shows it. */
enum inf_part {
    INF_PART_ANY,    /* not known */
    INF_PART_STATUS, /* all changes are under `status` */
    INF_PART_REST,   /* no change is under `status`, and not only `metadata` changed */
};

/**
 * Finds the last writer of @object. If a write to the status and another write have the same time,
 * @part decides between them.
 *
 * Returns false, and leaves @ret_writer untouched, if the writer is not known. The strings are valid
 * as long as the object.
 */
INF_API bool inf_object_writer(const struct inf_object *object, enum inf_part part,
                               struct inf_writer *ret_writer);

/**
 * Writes the value of the label @key to @buf.
 *
 * Returns the length of the whole value. If that is @size or more, the value in @buf was truncated
 * between two characters; it is always NUL-terminated, unless @size is 0. Returns -INF_ENOTFOUND,
 * and "" in @buf, if the object has no such label.
 */
INF_API int inf_object_label(const struct inf_object *object, const char *key, char *buf,
                             size_t size);

/** Like inf_object_label(), for the annotation @key. */
INF_API int inf_object_annotation(const struct inf_object *object, const char *key, char *buf,
                                  size_t size);

/**
 * Receives one label or annotation. Both strings are NUL-terminated and valid until the function
 * returns. @len is the length of @value, which is arbitrary text in annotations. Returns whether to
 * continue.
 */
typedef bool inf_object_pair_fn(void *ctx, const char *key, const char *value, size_t len);

/**
 * Calls @each for every label of @object, in the object's order, until @each returns false. Returns
 * the number of calls.
 */
INF_API size_t inf_object_each_label(const struct inf_object *object, inf_object_pair_fn *each,
                                     void *ctx);

/** Like inf_object_each_label(), for the annotations of @object. */
INF_API size_t inf_object_each_annotation(const struct inf_object *object, inf_object_pair_fn *each,
                                          void *ctx);

/* A reference to an owner of an object. The sizes are the limits of Kubernetes. */
struct inf_owner {
    char api_version[320]; /* "apps/v1" */
    char kind[64];         /* "ReplicaSet" */
    char name[256];
    char uid[64];
    void *reserved[2];
};

/**
 * Stores the owner that manages @object in @ret_owner: the owner reference with `controller: true`.
 *
 * Returns 0; -INF_ENOTFOUND if the object has no controller; -INF_ETOOBIG if a string does not fit.
 */
INF_API int inf_object_controller(const struct inf_object *object, struct inf_owner *ret_owner);

/**
 * Stores the creation time of @object in @ret_us, in microseconds since 1970 (UTC). Servers record
 * it with a resolution of one second.
 *
 * Returns 0, or -INF_ENOTFOUND if the object has no valid creation time.
 */
INF_API int inf_object_creation_time(const struct inf_object *object, int64_t *ret_us);

/** The canonical text, NUL-terminated. Stores its length in @ret_len, which may be NULL. */
INF_API const char *inf_object_json(const struct inf_object *object, size_t *ret_len);

/** The memory of the object in bytes, header and text. */
INF_API size_t inf_object_size(const struct inf_object *object);

#ifdef __cplusplus
}
#endif

#endif
