/*
 * identity.c - requests our identity at the server, and the uid of its cluster.
 *
 * Identity: GET /version, then POST a SelfSubjectReview: v1, or v1beta1 before Kubernetes 1.28. A
 * part that the server does not have or does not allow (404, 403) is left out. A rejected
 * credential (401) or an unreachable server is an error.
 *
 * Cluster: the uid of the namespace kube-system. Every cluster has this namespace, and its uid does
 * not change during the life of the cluster, whatever the addresses of its servers. Without
 * permission to get the namespace the request fails with INF_EFORBIDDEN.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "kube/discovery/self_review.h"
#include "lib/request.h"

static void stop_nothing(struct request *request)
{
    (void)request; /* only the document is in progress */
}

/* ---- identity ---- */

struct identity {
    struct request request;
    inf_identity_cb *on_done;
    const char *review; /* API version of the review in progress; NULL: /version is in progress */
    char *version;
    struct self_review_identity self;
};

static void identity_report(struct request *request, const struct inf_error *why)
{
    struct identity *i = container_of(request, struct identity, request);
    struct inf_identity result = {.version = i->version,
                                  .user = i->self.user,
                                  .groups = (const char *const *)i->self.groups,
                                  .n_groups = i->self.n_groups};
    i->on_done(request->user, why ? NULL : &result, why);
}

static void identity_request_review(struct identity *i, const char *version)
{
    char *path = self_review_identity_path(version), *body = self_review_identity_body(version);
    i->review = version;
    document_start(&i->request.document, &i->request.client->server, path, body);
    free(path);
    free(body);
}

static void identity_on_document(struct document *document, const char *text,
                                 const struct inf_error *why)
{
    static const char beta[] = "v1beta1";
    struct identity *i = container_of(document, struct identity, request.document);
    bool unavailable = !text && (why->code == INF_ENOTFOUND || why->code == INF_EFORBIDDEN);
    struct inf_error bad;
    int rc = 0;
    if (text)
        rc = i->review ? self_review_identity_read(text, &i->self, &bad)
                       : self_review_version_read(text, &i->version, &bad);
    if (rc < 0)
        request_end(&i->request, &bad);
    else if (!text && !unavailable)
        request_end(&i->request, why);
    else if (!i->review)
        identity_request_review(i, "v1");
    else if (!text && why->code == INF_ENOTFOUND && i->review != beta)
        identity_request_review(i, beta);
    else
        request_end(&i->request, NULL);
}

static void identity_free(struct request *request)
{
    struct identity *i = container_of(request, struct identity, request);
    self_review_identity_free(&i->self);
    free(i->version);
    free(i);
}

static const struct request_ops identity_ops = {
    .stop = stop_nothing, .report = identity_report, .free = identity_free};

int inf_identity_request(struct inf_client *client, struct inf_request *request,
                         inf_identity_cb *on_done)
{
    struct identity *i = NEW(struct identity);
    int rc = request_start(&i->request, &identity_ops, client, request);
    if (rc < 0)
        return rc;
    i->on_done = on_done;
    i->request.document.on_end = identity_on_document;
    document_start(&i->request.document, &client->server, "/version", NULL);
    return 0;
}

/* ---- the cluster ---- */

struct cluster_uid {
    struct request request;
    inf_cluster_uid_cb *on_done;
    char *uid;
};

static void cluster_uid_report(struct request *request, const struct inf_error *why)
{
    struct cluster_uid *c = container_of(request, struct cluster_uid, request);
    c->on_done(request->user, why ? NULL : c->uid, why);
}

static void cluster_uid_on_document(struct document *document, const char *text,
                                    const struct inf_error *why)
{
    struct cluster_uid *c = container_of(document, struct cluster_uid, request.document);
    struct inf_error bad;
    if (text && self_review_uid_read(text, &c->uid, &bad) < 0)
        why = &bad;
    request_end(&c->request, c->uid ? NULL : why);
}

static void cluster_uid_free(struct request *request)
{
    struct cluster_uid *c = container_of(request, struct cluster_uid, request);
    free(c->uid);
    free(c);
}

static const struct request_ops cluster_uid_ops = {
    .stop = stop_nothing, .report = cluster_uid_report, .free = cluster_uid_free};

int inf_cluster_uid_request(struct inf_client *client, struct inf_request *request,
                            inf_cluster_uid_cb *on_done)
{
    struct cluster_uid *c = NEW(struct cluster_uid);
    int rc = request_start(&c->request, &cluster_uid_ops, client, request);
    if (rc < 0)
        return rc;
    c->on_done = on_done;
    c->request.document.on_end = cluster_uid_on_document;
    document_start(&c->request.document, &client->server, "/api/v1/namespaces/kube-system", NULL);
    return 0;
}
