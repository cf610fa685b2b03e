/*
 * access.c - resolves a resource name and checks our permissions for it.
 *
 * Normal path: the name is looked up by discovery, then one SelfSubjectAccessReview is posted for
 * `list` and one for `watch`. If discovery is forbidden to us, names that need no lookup (group and
 * version given, or core group) still work, without a kind. Any other failure is reported as it is;
 * nothing is retried.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "kube/discovery/document.h"
#include "kube/discovery/lookup.h"
#include "kube/discovery/self_review.h"
#include "lib/question.h"

static const char *const verbs[] = {"list", "watch"};

struct access {
    struct inf_question question;
    void (*on_answer)(void *ctx, const struct inf_access *access, const struct inf_error *why);
    void *ctx;
    char *ns; /* NULL: all */
    struct resource_word word;
    bool only_resource;
    struct lookup lookup;
    struct document document;
    struct resource resource;
    char *kind;
    bool namespaced;
    bool allowed[ARRAY_LEN(verbs)];
    size_t reviewed; /* number of verbs */
    char *reason;
};

/* Closes the request first: on_answer may close the client. */
static void access_report(struct access *a, const struct inf_error *why)
{
    struct inf_access result = {
        .resource = {.group = a->resource.group,
                     .version = a->resource.version,
                     .name = a->resource.name,
                     .kind = a->kind},
        .namespaced = a->namespaced,
        .list = a->allowed[0],
        .watch = a->allowed[1],
        .reason = a->reason ? a->reason : "",
    };
    inf_question_close(&a->question);
    a->on_answer(a->ctx, why ? NULL : &result, why);
}

/* ---- permissions ---- */

static void access_review_next(struct access *a)
{
    char *body;
    if (a->only_resource || a->reviewed == ARRAY_LEN(verbs)) {
        access_report(a, NULL);
        return;
    }
    body = self_review_access_body(&a->resource, a->ns, verbs[a->reviewed]);
    document_start(&a->document, &a->question.client->server, self_review_access_path, body);
    free(body);
}

static void access_on_review(struct document *document, const char *text,
                             const struct inf_error *why)
{
    struct access *a = container_of(document, struct access, document);
    struct inf_error bad;
    char *reason = NULL;
    if (!text) {
        access_report(a, why);
        return;
    }
    if (self_review_access_read(text, &a->allowed[a->reviewed], &reason, &bad) < 0) {
        access_report(a, &bad);
        return;
    }
    if (!a->allowed[a->reviewed]) {
        free(a->reason);
        a->reason = reason;
    } else {
        free(reason);
    }
    a->reviewed++;
    access_review_next(a);
}

/* ---- the resource ---- */

static void access_set_resource(struct access *a, const struct api_resource *r)
{
    a->resource = (struct resource){xstrdup(r->group), xstrdup(r->version), xstrdup(r->name)};
    a->kind = xstrdup(r->kind);
    a->namespaced = r->namespaced;
}

static void access_on_found(struct lookup *lookup, const struct api_resource *found,
                            const struct inf_error *why)
{
    struct access *a = container_of(lookup, struct access, lookup);
    struct inf_error wrong;
    if (found && a->ns && !found->namespaced) {
        resource_word_refuse_scope(&a->word, found->name, &wrong);
        access_report(a, &wrong);
    } else if (found) {
        access_set_resource(a, found);
        access_review_next(a);
    } else if (why->code == INF_EFORBIDDEN && resource_word_is_complete(&a->word, &a->resource)) {
        access_review_next(a);
    } else {
        access_report(a, why);
    }
}

/* ---- start and stop ---- */

static void access_stop(struct inf_question *question)
{
    struct access *a = container_of(question, struct access, question);
    lookup_stop(&a->lookup);
    document_stop(&a->document);
}

static void access_free(struct inf_question *question)
{
    struct access *a = container_of(question, struct access, question);
    resource_word_free(&a->word);
    resource_free(&a->resource);
    free(a->ns);
    free(a->kind);
    free(a->reason);
    free(a);
}

/* Takes ownership of the contents of @word. */
static struct access *access_new(struct inf_client *client, struct resource_word *word,
                                 const char *ns)
{
    struct access *a = NEW(struct access);
    a->question.stop = access_stop;
    a->question.free = access_free;
    a->ns = ns ? xstrdup(ns) : NULL;
    a->word = *word;
    a->lookup.on_end = access_on_found;
    a->document.on_end = access_on_review;
    question_open(&a->question, client);
    lookup_start(&a->lookup, client->discovery_cache, &client->loop.clock, &a->word,
                 DISCOVERY_CACHE_KEEP_MS);
    return a;
}

static struct access *access_start(struct inf_client *client, const char *resource, const char *ns,
                                   void (*on_answer)(void *ctx, const struct inf_access *access,
                                                     const struct inf_error *why),
                                   void *ctx, struct inf_error *err)
{
    struct resource_word word;
    struct access *a;
    if (ns && resource_check_namespace(ns, err) < 0)
        return NULL;
    if (resource_word_parse(resource, &word, err) < 0)
        return NULL;
    a = access_new(client, &word, ns);
    a->on_answer = on_answer;
    a->ctx = ctx;
    return a;
}

struct inf_question *inf_access_ask(struct inf_client *client, const char *resource, const char *ns,
                                    void (*on_answer)(void *ctx, const struct inf_access *access,
                                                      const struct inf_error *why),
                                    void *ctx, struct inf_error *err)
{
    struct access *a = access_start(client, resource, ns, on_answer, ctx, err);
    return a ? &a->question : NULL;
}

struct inf_question *inf_resource_ask(struct inf_client *client, const char *resource,
                                      const char *ns,
                                      void (*on_answer)(void *ctx, const struct inf_access *access,
                                                        const struct inf_error *why),
                                      void *ctx, struct inf_error *err)
{
    struct access *a = access_start(client, resource, ns, on_answer, ctx, err);
    if (a)
        a->only_resource = true; /* in time: on_answer is called from the loop only */
    return a ? &a->question : NULL;
}

/* ---- without a server ---- */

static char *put_text(char *at, const char **ret, const char *text)
{
    *ret = strcpy(at, text);
    return at + strlen(text) + 1;
}

struct inf_resource *inf_resource_known(const char *text)
{
    struct resource_word word;
    struct inf_resource *known = NULL;
    struct resource r;
    if (resource_word_parse(text, &word, NULL) < 0)
        return NULL;
    if (resource_word_is_complete(&word, &r)) {
        char *at;
        known = xmalloc(sizeof(*known) + strlen(r.group) + strlen(r.version) + strlen(r.name) + 3);
        *known = (struct inf_resource){.kind = NULL};
        at = put_text((char *)(known + 1), &known->group, r.group);
        at = put_text(at, &known->version, r.version);
        put_text(at, &known->name, r.name);
        resource_free(&r);
    }
    resource_word_free(&word);
    return known;
}
