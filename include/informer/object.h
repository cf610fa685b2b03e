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

/* Identity. Never NULL; the namespace is "" for cluster-scoped objects. */
INF_API const char *inf_object_kind(const struct inf_object *object);
INF_API const char *inf_object_api_version(const struct inf_object *object);
INF_API const char *inf_object_namespace(const struct inf_object *object);
INF_API const char *inf_object_name(const struct inf_object *object);
INF_API const char *inf_object_uid(const struct inf_object *object);
INF_API const char *inf_object_resource_version(const struct inf_object *object);

/**
 * Whether resource version @version is certainly older than @than, for one resource.
 *
 * Returns false also if the two can't be compared: those of Kubernetes are numbers, those of other
 * servers may be any string.
 */
INF_API bool inf_resource_version_is_older(const char *version, const char *than);

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

/** The canonical text, NUL-terminated. Stores its length in @ret_len, which may be NULL. */
INF_API const char *inf_object_json(const struct inf_object *object, size_t *ret_len);

/** The memory of the object in bytes, header and text. */
INF_API size_t inf_object_size(const struct inf_object *object);

#ifdef __cplusplus
}
#endif

#endif
