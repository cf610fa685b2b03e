/*
 * lease.h - reads and writes one Lease (coordination.k8s.io/v1): the only object that this library writes.
 *
 * It is for programs of which several run, and one at a time is to act. Whether that is this one is
 * decided by the caller: these functions only send requests. Concurrency is optimistic: a write names the
 * resource version that it replaces, and fails if another client was faster.
 */
#ifndef INFORMER_LEASE_H
#define INFORMER_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/error.h"
#include "informer/informer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    INF_LEASE_NOTE_MAX =
        200 * 1024, /* LIMIT: bytes of a note; the server permits 256 KiB of annotations */
};

/* A Lease. Strings are never NULL in a result, and "" is the same as a missing field. */
struct inf_lease {
    const char *version; /* the resource version; only in results */
    const char *holder;
    uint32_t duration_s; /* 0: missing or invalid */
    uint32_t transitions;
    int64_t acquired_us; /* microseconds since 1970, by the holder's clock; 0: missing */
    int64_t renewed_us;
    const char *note; /* the value of the annotation `informerd/positions` */
};

/** Receives the Lease and its JSON, which inf_lease_update() needs, both valid until it returns; or NULL
 * and the error. */
typedef void inf_lease_cb(struct inf_request *request, const struct inf_lease *lease,
                          const char *json, const struct inf_error *err);

/**
 * Requests the Lease @name in the namespace @ns.
 *
 * Fails with INF_ENOTFOUND if it does not exist. A request that fails is not retried. Returns 0, or -INF_EINVAL if a
 * name is not valid or @request is active; then the callback is not called.
 */
INF_API int inf_lease_get(struct inf_client *client, struct inf_request *request, const char *ns,
                          const char *name, inf_lease_cb *on_done);

/** Creates it. Fails with http_status 409 in the error if it exists. Returns as inf_lease_get(). */
INF_API int inf_lease_create(struct inf_client *client, struct inf_request *request, const char *ns,
                             const char *name, const struct inf_lease *lease,
                             inf_lease_cb *on_done);

/**
 * Replaces the Lease of which @json is the last known text: its fields that @lease has, while all others are
 * kept. A note that is NULL is kept, too.
 *
 * Fails with http_status 409 in the error if it has another version by now. Returns as inf_lease_get(), or
 * -INF_EINVAL if @json is not the text of a Lease or the note is longer than INF_LEASE_NOTE_MAX.
 */
INF_API int inf_lease_update(struct inf_client *client, struct inf_request *request, const char *ns,
                             const char *name, const char *json, const struct inf_lease *lease,
                             inf_lease_cb *on_done);

/* Our permissions for the Lease. */
struct inf_lease_access {
    bool create; /* any Lease in its namespace: the API can't limit this to a name */
    bool get;
    bool update;
    bool reserved[5];
};

/** Receives the permissions, valid until it returns; or NULL and the error. */
typedef void inf_lease_access_cb(struct inf_request *request, const struct inf_lease_access *access,
                                 const struct inf_error *err);

/** Requests whether we may do what the functions above do. Returns 0, or -INF_EINVAL if @request is active. */
INF_API int inf_lease_access_request(struct inf_client *client, struct inf_request *request,
                                     const char *ns, const char *name,
                                     inf_lease_access_cb *on_done);

#ifdef __cplusplus
}
#endif

#endif
