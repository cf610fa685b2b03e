/*
 * object.h - a Kubernetes object as the cache holds it: immutable, shared, one piece of memory.
 *
 * Canonical form. The text is compact JSON with `kind` and `apiVersion` always present and first,
 * fields that the informer drops cut out (by default metadata.managedFields), and the server's own
 * spelling of strings and numbers kept. So two objects are equal exactly if their texts are,
 * whether they came from a list or a watch.
 *
 * Ownership. Objects are reference-counted and never change. A function that hands you an object to
 * look at lends it: it is yours to read until you return to the loop; to keep it longer,
 * inf_object_ref() it and unref it later. Strings returned by the getters live as long as the
 * object. An object belongs to the thread of its loop.
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

/** Keeps @object until as many inf_object_unref(). Returns @object. */
INF_API struct inf_object *inf_object_ref(const struct inf_object *object);

/** Lets go of @object. NULL is fine. */
INF_API void inf_object_unref(const struct inf_object *object);

/* Identity. Never NULL; namespace is "" for cluster-scoped objects. */
INF_API const char *inf_object_kind(const struct inf_object *object);
INF_API const char *inf_object_api_version(const struct inf_object *object);
INF_API const char *inf_object_namespace(const struct inf_object *object);
INF_API const char *inf_object_name(const struct inf_object *object);
INF_API const char *inf_object_uid(const struct inf_object *object);
INF_API const char *inf_object_resource_version(const struct inf_object *object);

/** Whether resource version @version of a resource is certainly older than @than. False also where the
 * two can't be compared: Kubernetes' own are numbers, those of other servers may be anything. */
INF_API bool inf_resource_version_is_older(const char *version, const char *than);

/* Who wrote an object, as the server noted it; one-second grain. */
struct inf_who {
    const char *manager;     /* the field manager: "kubelet", "kubectl-client-side-apply" */
    const char *subresource; /* "status", "scale", or "" */
    const char *time;        /* RFC 3339 */
    bool sole;               /* no other manager wrote to this part: the status, or the rest */
};

/* Which part of an object a write was to, as far as what changed shows it. */
enum inf_part {
    INF_PART_ANY,    /* not known */
    INF_PART_STATUS, /* all that changed is under `status` */
    INF_PART_REST,   /* nothing under `status` changed, and not only `metadata` */
};

/**
 * Who wrote @object last. @part decides where a write to the status and another one have the same
 * time. False, and @ret_who untouched, if that is not known. The strings live as long as the object.
 */
INF_API bool inf_object_who(const struct inf_object *object, enum inf_part part,
                            struct inf_who *ret_who);

/** The canonical text, NUL-terminated; its length goes to @ret_len unless that is NULL. */
INF_API const char *inf_object_json(const struct inf_object *object, size_t *ret_len);

/** How much memory the object takes, header and text. */
INF_API size_t inf_object_size(const struct inf_object *object);

#ifdef __cplusplus
}
#endif

#endif
