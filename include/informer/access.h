/*
 * access.h - preflight requests: the server's version, our identity there, the meaning of a
 * resource name, and our permissions.
 *
 *     inf_identity_ask(client, on_identity, ctx);
 *     inf_access_ask(client, "deploy", "shop", on_access, ctx, &err);
 *     uv_run(loop, UV_RUN_DEFAULT);
 *
 * Each request calls on_answer exactly once, from the loop, unless it is closed first. The handle
 * is no longer valid when on_answer is called. A request that fails is not retried: the error is
 * the result. If the server does not respond, the request fails after one minute; close the request
 * to stop waiting earlier.
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

struct inf_question;

/**
 * Cancels a request that is still in progress: on_answer will not be called.
 *
 * inf_client_close() cancels all requests of its client. NULL is allowed.
 */
INF_API void inf_question_close(struct inf_question *question);

/* The server, and the identity under which it knows us. Valid until on_answer returns. */
struct inf_identity {
    const char *version; /* of the server, "v1.36.0"; NULL: not available to us */
    const char
        *user; /* our user name; NULL: not available to us, or the server is older than 1.27 */
    const char *const *groups;
    size_t n_groups;
};

/**
 * Requests the server's version and our identity.
 *
 * @on_answer gets @identity; or NULL and @why if the server can't be reached or rejects our
 * credentials.
 */
INF_API struct inf_question *inf_identity_ask(struct inf_client *client,
                                              void (*on_answer)(void *ctx,
                                                                const struct inf_identity *identity,
                                                                const struct inf_error *why),
                                              void *ctx);

/**
 * Requests an identifier of the cluster: the uid of its namespace kube-system. Two servers have the
 * same uid exactly if they belong to the same cluster.
 *
 * @on_answer gets @uid; or NULL and @why, for example INF_EFORBIDDEN if we may not get that
 * namespace.
 */
INF_API struct inf_question *inf_cluster_uid_ask(struct inf_client *client,
                                                 void (*on_answer)(void *ctx, const char *uid,
                                                                   const struct inf_error *why),
                                                 void *ctx);

/* The permissions that a watch needs. Valid until on_answer returns. */
struct inf_access {
    struct inf_resource resource; /* kind is NULL if discovery is forbidden to us */
    bool namespaced;              /* false also if that is not known */
    bool list;                    /* allowed */
    bool watch;                   /* allowed */
    const char *reason;           /* the server's reason for a denial, often "" */
};

/**
 * Requests whether we may list and watch @resource (a name as in `struct inf_watch`) in namespace
 * @ns, or in all namespaces if @ns is NULL.
 *
 * @on_answer gets @access; or NULL and @why: INF_ENOTFOUND if the server has no such resource,
 * INF_EINVAL if the name is ambiguous or @ns is given for a cluster-scoped resource, or any other
 * error of the request. Returns NULL, with @err, if @resource or @ns is not a valid name. @err may
 * be NULL.
 */
INF_API struct inf_question *inf_access_ask(
    struct inf_client *client, const char *resource, const char *ns,
    void (*on_answer)(void *ctx, const struct inf_access *access, const struct inf_error *why),
    void *ctx, struct inf_error *err);

/** Like inf_access_ask(), but only resolves the resource name: `list` and `watch` are false. */
INF_API struct inf_question *inf_resource_ask(
    struct inf_client *client, const char *resource, const char *ns,
    void (*on_answer)(void *ctx, const struct inf_access *access, const struct inf_error *why),
    void *ctx, struct inf_error *err);

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
