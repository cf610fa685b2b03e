/*
 * lease_access.c - checks our permissions for one Lease: a SelfSubjectAccessReview for each verb that a replica needs.
 *
 * create cannot be limited to a name, so it is reviewed without one. Nothing is retried.
 */
#include <stdlib.h>

#include "informer/lease.h"

#include "base/alloc.h"
#include "base/base.h"
#include "kube/discovery/self_review.h"
#include "lib/request.h"

static const struct {
    const char *verb;
    bool named;
} reviews[] = {{"create", false}, {"get", true}, {"update", true}};

struct lease_access {
    struct request request;
    inf_lease_access_cb *on_done;
    char *ns, *name;
    bool allowed[ARRAY_LEN(reviews)];
    size_t reviewed;
};

static void lease_access_report(struct request *request, const struct inf_error *why)
{
    struct lease_access *a = container_of(request, struct lease_access, request);
    struct inf_lease_access result = {
        .create = a->allowed[0], .get = a->allowed[1], .update = a->allowed[2]};
    a->on_done(request->user, why ? NULL : &result, why);
}

static void review_next(struct lease_access *a)
{
    char group[] = "coordination.k8s.io", version[] = "v1", name[] = "leases", *body;
    struct resource leases = {group, version, name};
    if (a->reviewed == ARRAY_LEN(reviews)) {
        request_end(&a->request, NULL);
        return;
    }
    body = self_review_access_body(&leases, a->ns, reviews[a->reviewed].verb,
                                   reviews[a->reviewed].named ? a->name : NULL);
    document_start(&a->request.document, &a->request.client->server, self_review_access_path, body);
    free(body);
}

static void lease_access_on_review(struct document *document, const char *text,
                                   const struct inf_error *why)
{
    struct lease_access *a = container_of(document, struct lease_access, request.document);
    struct inf_error bad;
    char *reason = NULL;
    if (!text) {
        request_end(&a->request, why);
        return;
    }
    if (self_review_access_read(text, &a->allowed[a->reviewed], &reason, &bad) < 0) {
        request_end(&a->request, &bad);
        return;
    }
    free(reason);
    a->reviewed++;
    review_next(a);
}

static void lease_access_stop(struct request *request)
{
    (void)request; /* only the document is in progress */
}

static void lease_access_free(struct request *request)
{
    struct lease_access *a = container_of(request, struct lease_access, request);
    free(a->ns);
    free(a->name);
    free(a);
}

static const struct request_ops lease_access_ops = {
    .stop = lease_access_stop, .report = lease_access_report, .free = lease_access_free};

int inf_lease_access_request(struct inf_client *client, struct inf_request *request, const char *ns,
                             const char *name, inf_lease_access_cb *on_done)
{
    struct lease_access *a = NEW(struct lease_access);
    int rc = request_start(&a->request, &lease_access_ops, client, request);
    if (rc < 0)
        return rc;
    a->ns = xstrdup(ns);
    a->name = xstrdup(name);
    a->on_done = on_done;
    a->request.document.on_end = lease_access_on_review;
    review_next(a);
    return 0;
}
