/*
 * access.h - preflight requests: the server's version and resources, our identity there, the meaning
 * of a resource name, our permissions, and any other document of the server.
 *
 *     inf_identity_request(client, &app->identity, on_identity);
 *     inf_access_request(client, &app->access, "deploy", "shop", on_access, &err);
 *     uv_run(loop, UV_RUN_DEFAULT);
 *
 * Each of these functions starts a request (struct inf_request in informer.h) and returns 0; the
 * callback is called exactly once, from the loop. A request that fails is not retried: the error is
 * the result. If the server does not respond, the request fails after one minute; cancel it to stop
 * waiting earlier.
 */
#ifndef INFORMER_ACCESS_H
#define INFORMER_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"
#include "informer/informer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The server, and the identity under which it knows us. Valid until the callback returns. */
struct inf_identity {
    const char *version; /* of the server, "v1.36.0"; NULL: not available to us */
    const char *user;    /* NULL: not available to us, or the server is older than 1.27 */
    const char *const *groups;
    size_t n_groups;
};

/** Receives the identity; or NULL and the error. */
typedef void inf_identity_cb(struct inf_request *request, const struct inf_identity *identity,
                             const struct inf_error *err);

/**
 * Requests the server's version and our identity.
 *
 * Fails if the server can't be reached or rejects our credentials. Returns 0, or -INF_EINVAL if
 * @request is active.
 */
INF_API int inf_identity_request(struct inf_client *client, struct inf_request *request,
                                 inf_identity_cb *on_done);

/** Receives the uid, valid until it returns; or NULL and the error. */
typedef void inf_cluster_uid_cb(struct inf_request *request, const char *uid,
                                const struct inf_error *err);

/**
 * Requests an identifier of the cluster: the uid of its namespace kube-system. Two servers have the
 * same uid exactly if they belong to the same cluster.
 *
 * Fails for example with INF_EFORBIDDEN if we may not get that namespace. Returns 0, or -INF_EINVAL
 * if @request is active.
 */
INF_API int inf_cluster_uid_request(struct inf_client *client, struct inf_request *request,
                                    inf_cluster_uid_cb *on_done);

/* The permissions that a watch needs. Valid until the callback returns. */
struct inf_access {
    struct inf_resource resource; /* kind is NULL if discovery is forbidden to us */
    bool namespaced;              /* false also if that is not known */
    bool list;                    /* allowed */
    bool watch;                   /* allowed */
    const char *reason;           /* the server's reason for a denial, often "" */
};

/** Receives the permissions; or NULL and the error. */
typedef void inf_access_cb(struct inf_request *request, const struct inf_access *access,
                           const struct inf_error *err);

/**
 * Requests whether we may list and watch @resource (a name as in `struct inf_watch`) in namespace
 * @ns, or in all namespaces if @ns is NULL.
 *
 * Fails with INF_ENOTFOUND if the server has no such resource, with INF_EINVAL if the name is
 * ambiguous or @ns is given for a cluster-scoped resource, or with any other error of the request.
 * Returns 0, or -INF_EINVAL with @err if @resource or @ns is not a valid name or @request is
 * active: then the callback is not called. @err may be NULL.
 */
INF_API int inf_access_request(struct inf_client *client, struct inf_request *request,
                               const char *resource, const char *ns, inf_access_cb *on_done,
                               struct inf_error *err);

/** Like inf_access_request(), but only resolves the resource name: `list` and `watch` are false. */
INF_API int inf_resource_request(struct inf_client *client, struct inf_request *request,
                                 const char *resource, const char *ns, inf_access_cb *on_done,
                                 struct inf_error *err);

/* A resource of the server in one of its versions. Lists end with NULL. Valid until the callback
 * returns. */
struct inf_api_resource {
    struct inf_resource resource;
    bool namespaced;
    bool preferred;           /* the version that clients should use */
    const char *const *verbs; /* "list", "watch", ... */
    const char *const *short_names;
    const char *const *categories; /* "all", ... */
    void *reserved[2];
};

/** Receives @n resources in the server's order; or NULL and the error. */
typedef void inf_resources_cb(struct inf_request *request, const struct inf_api_resource *resources,
                              size_t n, const struct inf_error *err);

/**
 * Requests all resources that the server has, without subresources.
 *
 * Groups that do not respond are left out and logged. Documents that the client has read in the last 5
 * minutes are used again. Fails if the server can't be reached or rejects our credentials. Returns 0, or
 * -INF_EINVAL if @request is active.
 */
INF_API int inf_resources_request(struct inf_client *client, struct inf_request *request,
                                  inf_resources_cb *on_done);

/** Receives the @len bytes of a JSON document, NUL-terminated and valid until it returns; or NULL and the
 * error. */
typedef void inf_document_cb(struct inf_request *request, const char *json, size_t len,
                             const struct inf_error *err);

/**
 * Requests a JSON document of the server by GET: @path is a path with an optional query, as
 * "/openapi/v3" or "/apis/apps/v1/deployments?limit=1", already escaped. @accept lists media types of
 * JSON, for example for a Table; NULL means application/json.
 *
 * The document is a JSON object, of any content type. It is not interpreted, except that our credentials are removed from it. Fails with INF_ETOOBIG
 * if it exceeds 16 MiB, or with the error that the status of the response stands for. Returns 0, or
 * -INF_EINVAL if @path does not begin with '/', if @path contains a space or either a control character, or
 * if @request is active.
 */
INF_API int inf_document_request(struct inf_client *client, struct inf_request *request,
                                 const char *path, const char *accept, inf_document_cb *on_done);

/**
 * Resolves the resource name @text without a server. That is possible if @text names group and
 * version, or is the plural of a resource of the core group.
 *
 * Returns NULL if a server is needed or @text is not a valid name. Otherwise returns a resource
 * without a kind, in a single allocation that the caller releases with free().
 */
INF_API struct inf_resource *inf_resource_known(const char *text);

#ifdef __cplusplus
}
#endif

#endif
