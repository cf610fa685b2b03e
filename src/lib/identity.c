/*
 * identity.c - requests the server's version and the identity under which it knows us.
 *
 * Normal path: GET /version, then POST a SelfSubjectReview: v1, or v1beta1 before Kubernetes 1.28.
 * A part that the server does not have or does not allow (404, 403) is left out. A rejected
 * credential (401) or an unreachable server is an error.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "kube/discovery/document.h"
#include "kube/discovery/self_review.h"
#include "lib/question.h"

struct identity {
    struct inf_question question;
    void (*on_answer)(void *ctx, const struct inf_identity *identity, const struct inf_error *why);
    void *ctx;
    struct document document;
    const char *review; /* API version of the review in progress; NULL: /version is in progress */
    char *version;
    struct self_review_identity self;
};

/* Closes the request first: on_answer may close the client. */
static void identity_report(struct identity *i, const struct inf_error *why)
{
    struct inf_identity result = {.version = i->version,
                                  .user = i->self.user,
                                  .groups = (const char *const *)i->self.groups,
                                  .n_groups = i->self.n_groups};
    inf_question_close(&i->question);
    i->on_answer(i->ctx, why ? NULL : &result, why);
}

static void identity_request_review(struct identity *i, const char *version)
{
    char *path = self_review_identity_path(version), *body = self_review_identity_body(version);
    i->review = version;
    document_start(&i->document, &i->question.client->server, path, body);
    free(path);
    free(body);
}

static bool is_unavailable(const struct inf_error *why)
{
    return why->code == INF_ENOTFOUND || why->code == INF_EFORBIDDEN;
}

static void identity_take_version(struct identity *i, const char *text, const struct inf_error *why)
{
    struct inf_error bad;
    if (text && self_review_version_read(text, &i->version, &bad) < 0)
        identity_report(i, &bad);
    else if (!text && !is_unavailable(why))
        identity_report(i, why);
    else
        identity_request_review(i, "v1");
}

static void identity_take_review(struct identity *i, const char *text, const struct inf_error *why)
{
    struct inf_error bad;
    if (text && self_review_identity_read(text, &i->self, &bad) < 0)
        identity_report(i, &bad);
    else if (text || is_unavailable(why))
        identity_report(i, NULL);
    else
        identity_report(i, why);
}

static void identity_on_end(struct document *document, const char *text,
                            const struct inf_error *why)
{
    static const char beta[] = "v1beta1";
    struct identity *i = container_of(document, struct identity, document);
    if (!i->review)
        identity_take_version(i, text, why);
    else if (!text && why->code == INF_ENOTFOUND && i->review != beta)
        identity_request_review(i, beta);
    else
        identity_take_review(i, text, why);
}

static void identity_stop(struct inf_question *question)
{
    document_stop(&container_of(question, struct identity, question)->document);
}

static void identity_free(struct inf_question *question)
{
    struct identity *i = container_of(question, struct identity, question);
    self_review_identity_free(&i->self);
    free(i->version);
    free(i);
}

struct inf_question *inf_identity_ask(struct inf_client *client,
                                      void (*on_answer)(void *ctx,
                                                        const struct inf_identity *identity,
                                                        const struct inf_error *why),
                                      void *ctx)
{
    struct identity *i = NEW(struct identity);
    i->question.stop = identity_stop;
    i->question.free = identity_free;
    i->on_answer = on_answer;
    i->ctx = ctx;
    i->document.on_end = identity_on_end;
    question_open(&i->question, client);
    document_start(&i->document, &client->server, "/version", NULL);
    return &i->question;
}
