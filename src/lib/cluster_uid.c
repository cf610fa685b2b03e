/*
 * cluster_uid.c - identifies a cluster by the uid of its namespace kube-system.
 *
 * Every cluster has this namespace, and its uid does not change during the life of the cluster,
 * whatever the addresses of its servers. Without permission to get the namespace the request fails
 * with INF_EFORBIDDEN.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "kube/discovery/document.h"
#include "kube/discovery/self_review.h"
#include "lib/question.h"

struct cluster_uid {
    struct inf_question question;
    void (*on_answer)(void *ctx, const char *uid, const struct inf_error *why);
    void *ctx;
    struct document document;
};

static void cluster_uid_on_end(struct document *document, const char *text,
                               const struct inf_error *why)
{
    struct cluster_uid *c = container_of(document, struct cluster_uid, document);
    struct inf_error bad;
    char *uid = NULL;
    if (text && self_review_uid_read(text, &uid, &bad) < 0)
        why = &bad;
    inf_question_close(&c->question); /* first: on_answer may close the client */
    c->on_answer(c->ctx, uid, uid ? NULL : why);
    free(uid);
}

static void cluster_uid_stop(struct inf_question *question)
{
    document_stop(&container_of(question, struct cluster_uid, question)->document);
}

static void cluster_uid_free(struct inf_question *question)
{
    free(container_of(question, struct cluster_uid, question));
}

struct inf_question *inf_cluster_uid_ask(struct inf_client *client,
                                         void (*on_answer)(void *ctx, const char *uid,
                                                           const struct inf_error *why),
                                         void *ctx)
{
    struct cluster_uid *c = NEW(struct cluster_uid);
    c->question.stop = cluster_uid_stop;
    c->question.free = cluster_uid_free;
    c->on_answer = on_answer;
    c->ctx = ctx;
    c->document.on_end = cluster_uid_on_end;
    question_open(&c->question, client);
    document_start(&c->document, &client->server, "/api/v1/namespaces/kube-system", NULL);
    return &c->question;
}
