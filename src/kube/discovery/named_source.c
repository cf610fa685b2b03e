/*
 * named_source.c - resolves the name (lookup.h), then opens requests at an api_source.
 *
 * Normal path: open() starts the lookup; its result creates the inner source, which serves this and
 * all later requests and delivers events directly to the user. Only the end of a request comes here
 * first: a 404 starts a second lookup to confirm it (see the header). Errors of the lookup end the
 * request like errors of the inner source.
 */
#include "kube/discovery/named_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "kube/source/advice.h"

enum {
    DENIALS_MIN = 4,        /* the API's own 404 is accepted without discovery after this many */
    DENIALS_MS = 10 * 1000, /* in a row, over at least this time */
};

struct named_source {
    struct source source;
    struct deferred_free deferred_free;
    const struct api_server *server;
    struct discovery_cache *discovery_cache;
    struct resource_name wanted;
    char *ns, *label_selector, *field_selector; /* NULL: none */
    struct shard shard;
    uint64_t *other_shards;
    bool ns_is_default, by_namespace;
    bool cluster_scoped; /* the namespace is not used */
    const struct shape *shape;
    void (*on_found)(void *ctx, const struct resource *found, const char *kind);
    void *ctx;
    struct api_source *inner; /* of the resolved resource; NULL: not resolved, or gone */
    struct resource found;    /* the resolved resource; empty: not resolved yet */
    bool paused;

    /* the request under way */
    struct source_user *user; /* NULL: there is none */
    struct source_request request;
    char *version, *token; /* strings that it refers to */

    struct lookup lookup;
    uint64_t max_age_ms; /* of the discovery documents */

    /* a 404 that the lookup has to confirm */
    bool confirming;
    struct inf_error refusal;
    struct resource_name
        same_group;   /* the name in the group where it was found; borrows its strings */
    unsigned denials; /* in a row: see api_source_denied() */
    uint64_t denied_since_ms;
};

/* ---- the resolved resource ---- */

static void inner_on_end(void *ctx, const struct inf_error *why);

/* Takes ownership of the strings of @resource. */
static void use_resource(struct named_source *s, struct resource *resource, const char *kind)
{
    resource_free(&s->found);
    s->found = (struct resource){xstrdup(resource->group), xstrdup(resource->version),
                                 xstrdup(resource->name)};
    s->same_group = (struct resource_name){.text = s->wanted.text,
                                           .name = s->wanted.name,
                                           .group = s->found.group,
                                           .version = s->wanted.version};
    s->on_found(s->ctx, resource, kind);
    s->inner =
        api_source_new(s->server, &(struct api_source_options){
                                      .resource = resource,
                                      .scope = {s->cluster_scoped ? NULL : s->ns, s->label_selector,
                                                s->field_selector, s->shard},
                                      .other_shards = s->other_shards,
                                      .shape = s->shape,
                                      .on_end = inner_on_end,
                                      .ctx = s,
                                  });
    if (s->paused)
        source_pause(api_source_source(s->inner));
}

static void close_inner(struct named_source *s)
{
    if (s->inner)
        api_source_close(s->inner);
    s->inner = NULL;
}

/* ---- the lookup ---- */

static void finish_request(struct named_source *s, const struct inf_error *why)
{
    struct source_user *user = s->user;
    struct inf_error copy = *why; /* the owner of @why may be freed in on_end */
    s->user = NULL;
    user->ops->on_end(user, &copy);
}

static void open_inner(struct named_source *s)
{
    source_open(api_source_source(s->inner), &s->request, s->user);
}

static void use_found(struct named_source *s, const struct api_resource *r)
{
    struct resource resource = {xstrdup(r->group), xstrdup(r->version), xstrdup(r->name)};
    close_inner(s);
    s->cluster_scoped = !r->namespaced;
    s->max_age_ms = DISCOVERY_CACHE_KEEP_MS;
    use_resource(s, &resource, r->kind);
    open_inner(s);
    if (s->user->ops->on_prepared)
        s->user->ops->on_prepared(s->user);
}

/* ---- confirming a 404 ---- */

/* The resource is gone. The next request repeats the lookup: it may return in another version. */
static void finish_absent(struct named_source *s, const struct inf_error *why)
{
    close_inner(s);
    s->max_age_ms = LOOKUP_FRESH_MS;
    finish_request(s, why);
}

/* @why is the error if discovery could not be read; NULL if discovery lists the resource. */
static void finish_unconfirmed(struct named_source *s, const struct inf_error *why)
{
    struct inf_error failure;
    if (s->denials >= DENIALS_MIN &&
        clock_now_ms(s->server->clock) - s->denied_since_ms >= DENIALS_MS) {
        finish_absent(s, &s->refusal);
        return;
    }
    if (why) {
        err_set(&failure, why->code, "%s; discovery can't confirm it: %s", s->refusal.text,
                why->text);
    } else {
        advice_cut_not_found(&s->refusal);
        err_set(&failure, INF_ESERVER, "%s; but discovery lists the resource", s->refusal.text);
    }
    failure.http_status = s->refusal.http_status;
    failure.retry_after_ms = why ? why->retry_after_ms : 0;
    finish_request(s, &failure);
}

static void confirm_not_found(struct named_source *s, const struct api_resource *r,
                              const struct inf_error *why)
{
    bool unchanged = r && strcmp(r->name, s->found.name) == 0 &&
                     strcmp(r->version, s->found.version) == 0 &&
                     r->namespaced == !s->cluster_scoped;
    struct inf_error absent;
    s->confirming = false;
    if (unchanged) {
        finish_unconfirmed(s, NULL);
    } else if (r) {
        use_found(s, r);
    } else if (why->code == INF_ENOTFOUND) {
        err_set(&absent, INF_ENOTFOUND, "%s (HTTP %d)", why->text, s->refusal.http_status);
        finish_absent(s, &absent);
    } else {
        finish_unconfirmed(s, why);
    }
}

static void named_source_on_found(struct lookup *lookup, const struct api_resource *r,
                                  const struct inf_error *why)
{
    struct named_source *s = container_of(lookup, struct named_source, lookup);
    bool limited = (s->ns && !s->ns_is_default) || s->by_namespace;
    struct inf_error wrong;
    if (r && !r->namespaced && limited) {
        resource_name_refuse_scope(&s->wanted, r->name, &wrong);
        s->confirming = false;
        finish_absent(s, &wrong);
    } else if (s->confirming) {
        confirm_not_found(s, r, why);
    } else if (r) {
        use_found(s, r);
    } else {
        s->max_age_ms = LOOKUP_FRESH_MS;
        finish_request(s, why);
    }
}

static void named_source_on_progress(struct lookup *lookup)
{
    struct named_source *s = container_of(lookup, struct named_source, lookup);
    s->user->ops->on_progress(s->user);
}

/* Not while paused, because its end would be delivered. Documents that were read are cached. */
static void start_lookup(struct named_source *s)
{
    if (!s->paused)
        lookup_start(&s->lookup, s->discovery_cache, s->server->clock,
                     s->confirming ? &s->same_group : &s->wanted,
                     s->confirming ? LOOKUP_NOW : s->max_age_ms);
}

/* The end of a request at the inner source. */
static void inner_on_end(void *ctx, const struct inf_error *why)
{
    struct named_source *s = ctx;
    if (why->code != INF_ENOTFOUND) {
        s->denials = 0;
        finish_request(s, why);
        return;
    }
    if (!api_source_denied(s->inner))
        s->denials = 0;
    else if (!s->denials++)
        s->denied_since_ms = clock_now_ms(s->server->clock);
    s->refusal = *why;
    s->confirming = true;
    start_lookup(s);
}

/* ---- seam/source.h ---- */

static void named_source_open(struct source *source, const struct source_request *request,
                              struct source_user *user)
{
    struct named_source *s = container_of(source, struct named_source, source);
    s->user = user;
    free(s->version);
    free(s->token);
    s->request = *request; /* kept, because it may be sent after the lookup, and again */
    s->request.resource_version = s->version = xstrdup_or_null(request->resource_version);
    s->request.continue_token = s->token = xstrdup_or_null(request->continue_token);
    if (s->inner)
        open_inner(s);
    else
        start_lookup(s);
}

static void named_source_cancel(struct source *source)
{
    struct named_source *s = container_of(source, struct named_source, source);
    lookup_stop(&s->lookup);
    if (s->inner)
        source_cancel(api_source_source(s->inner));
    s->confirming = false;
    s->user = NULL;
}

static void named_source_pause(struct source *source)
{
    struct named_source *s = container_of(source, struct named_source, source);
    s->paused = true;
    lookup_stop(&s->lookup);
    if (s->inner)
        source_pause(api_source_source(s->inner));
}

static void named_source_resume(struct source *source)
{
    struct named_source *s = container_of(source, struct named_source, source);
    s->paused = false;
    if (s->inner)
        source_resume(api_source_source(s->inner));
    if (s->user && (!s->inner || s->confirming))
        start_lookup(s);
}

static bool named_source_is_preparing(const struct source *source)
{
    const struct named_source *s = container_of(source, struct named_source, source);
    return s->user && (!s->inner || s->confirming);
}

static const struct source_ops source_ops = {
    .open = named_source_open,
    .cancel = named_source_cancel,
    .pause = named_source_pause,
    .resume = named_source_resume,
    .is_preparing = named_source_is_preparing,
};

/* ---- life ---- */

struct named_source *named_source_new(const struct api_server *server,
                                      const struct named_source_options *options)
{
    struct named_source *s = NEW(struct named_source);
    struct resource resource;
    s->source.ops = &source_ops;
    s->lookup.on_end = named_source_on_found;
    s->lookup.on_progress = named_source_on_progress;
    s->max_age_ms = DISCOVERY_CACHE_KEEP_MS;
    s->server = server;
    s->discovery_cache = options->discovery_cache;
    s->ns = xstrdup_or_null(options->scope.ns);
    s->label_selector = xstrdup_or_null(options->scope.label_selector);
    s->field_selector = xstrdup_or_null(options->scope.field_selector);
    s->shard = options->scope.shard;
    s->other_shards = options->other_shards;
    s->shape = options->shape;
    s->on_found = options->on_found;
    s->ctx = options->ctx;
    s->wanted = *options->wanted;
    *options->wanted = (struct resource_name){.text = NULL}; /* owned by s now */
    s->ns_is_default = options->ns_is_default;
    s->by_namespace = options->by_namespace;
    /* If the namespace is only a default, core resources that are cluster-scoped are looked up, so
     * that it is dropped. Other names are looked up after a 404 in the namespace. */
    if ((!s->ns_is_default || resource_name_scope(&s->wanted) != SCOPE_CLUSTER) &&
        resource_name_is_complete(&s->wanted, &resource))
        use_resource(s, &resource, NULL);
    return s;
}

struct source *named_source_source(struct named_source *source)
{
    return &source->source;
}

static void named_source_free_deferred(struct deferred_free *deferred_free)
{
    struct named_source *s = container_of(deferred_free, struct named_source, deferred_free);
    resource_name_free(&s->wanted);
    resource_free(&s->found);
    free(s->ns);
    free(s->label_selector);
    free(s->field_selector);
    free(s->version);
    free(s->token);
    free(s);
}

void named_source_close(struct named_source *source)
{
    lookup_stop(&source->lookup);
    close_inner(source);
    clock_free_later(source->server->clock, &source->deferred_free, named_source_free_deferred);
}
