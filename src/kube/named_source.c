/*
 * named_source.c - the lookup (lookup.h), and passing through what comes after it.
 */
#include "kube/named_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"

struct named_source {
    struct source source;
    struct source_user inner_user;
    struct corpse corpse;
    const struct api_server *server;
    struct shelf *shelf;
    struct resource_word word;
    char *ns, *label_selector, *field_selector; /* NULL: none */
    bool ns_is_default, by_namespace;
    bool whole; /* what was found is in no namespace, and that is fine */
    const struct shape *shape;
    void (*on_found)(void *ctx, const struct resource *found, const char *kind);
    void *ctx;
    struct api_source *inner; /* of what was found; NULL: not known yet, or no more */
    bool paused;

    /* the request under way */
    struct source_user *user; /* NULL: there is none */
    struct source_request request;
    char *version, *token; /* its texts */

    struct lookup lookup;
    uint64_t max_age_ms; /* of the documents it reads */
};

/* ---- what was found ---- */

static struct api_source *new_source(const struct named_source *s, struct resource *resource)
{
    return api_source_new(
        s->server, &(struct api_source_options){
                       .resource = resource,
                       .scope = {s->whole ? NULL : s->ns, s->label_selector, s->field_selector},
                       .shape = s->shape,
                   });
}

/* Takes over what @resource owns. */
static void found(struct named_source *s, struct resource *resource, const char *kind)
{
    s->on_found(s->ctx, resource, kind);
    s->inner = new_source(s, resource);
    if (s->paused)
        source_pause(api_source_source(s->inner));
}

static void forget_inner(struct named_source *s)
{
    if (s->inner)
        api_source_close(s->inner);
    s->inner = NULL;
}

/* ---- the lookup ---- */

static void finish(struct named_source *s, const struct inf_error *why)
{
    struct source_user *user = s->user;
    struct inf_error told = *why; /* what @why is in may go */
    s->user = NULL;
    user->ops->on_end(user, &told);
}

static void open_inner(struct named_source *s)
{
    source_open(api_source_source(s->inner), &s->request, &s->inner_user);
}

static int check_scope(const struct named_source *s, const struct api_resource *r,
                       struct inf_error *err)
{
    bool asked = (s->ns && !s->ns_is_default) || s->by_namespace;
    return r->namespaced || !asked ? 0 : resource_word_refuse_scope(&s->word, r->name, err);
}

static void named_source_on_found(struct lookup *lookup, const struct api_resource *r,
                                  const struct inf_error *why)
{
    struct named_source *s = container_of(lookup, struct named_source, lookup);
    struct resource resource;
    struct inf_error wrong;
    if (r && check_scope(s, r, &wrong) < 0)
        why = &wrong;
    if (!r || why == &wrong) {
        finish(s, why);
        return;
    }
    s->whole = !r->namespaced;
    resource = (struct resource){xstrdup(r->group), xstrdup(r->version), xstrdup(r->name)};
    s->max_age_ms = SHELF_KEEP_MS;
    found(s, &resource, r->kind);
    open_inner(s);
}

static void named_source_on_progress(struct lookup *lookup)
{
    struct named_source *s = container_of(lookup, struct named_source, lookup);
    s->user->ops->on_progress(s->user);
}

/* Not while it is paused: it would tell its end. What it has read by then is on the shelf. */
static void start_lookup(struct named_source *s)
{
    if (!s->paused)
        lookup_start(&s->lookup, s->shelf, s->server->clock, &s->word, s->max_age_ms);
}

/* ---- what the objects bring ---- */

static void inner_on_open(struct source_user *user)
{
    struct named_source *s = container_of(user, struct named_source, inner_user);
    s->user->ops->on_open(s->user);
}

static void inner_on_event(struct source_user *user, const struct source_event *event)
{
    struct named_source *s = container_of(user, struct named_source, inner_user);
    s->user->ops->on_event(s->user, event);
}

static void inner_on_progress(struct source_user *user)
{
    struct named_source *s = container_of(user, struct named_source, inner_user);
    s->user->ops->on_progress(s->user);
}

/* That the server has no such resource, whatever it said before, makes it to be looked up anew. */
static void inner_on_end(struct source_user *user, const struct inf_error *why)
{
    struct named_source *s = container_of(user, struct named_source, inner_user);
    if (why->code == INF_ENOTFOUND) {
        forget_inner(s);
        s->max_age_ms = LOOKUP_FRESH_MS;
    }
    finish(s, why);
}

static const struct source_user_ops inner_ops = {
    .on_open = inner_on_open,
    .on_event = inner_on_event,
    .on_progress = inner_on_progress,
    .on_end = inner_on_end,
};

/* ---- seam/source.h ---- */

static char *copy_or_null(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static void keep_request(struct named_source *s, const struct source_request *request)
{
    free(s->version);
    free(s->token);
    s->request = *request;
    s->request.resource_version = s->version = copy_or_null(request->resource_version);
    s->request.continue_token = s->token = copy_or_null(request->continue_token);
}

static void named_source_open(struct source *source, const struct source_request *request,
                              struct source_user *user)
{
    struct named_source *s = container_of(source, struct named_source, source);
    s->user = user;
    keep_request(s, request);
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
    else if (s->user)
        start_lookup(s);
}

static const struct source_ops source_ops = {
    .open = named_source_open,
    .cancel = named_source_cancel,
    .pause = named_source_pause,
    .resume = named_source_resume,
};

/* ---- life ---- */

/* What is in no namespace is looked up, to be asked for as a whole; of what is not known to be, one
 * that is not found in the namespace is looked up then. */
static bool needs_no_server(const struct named_source *s, struct resource *ret)
{
    bool known = !s->ns_is_default || resource_word_scope(&s->word) != SCOPE_CLUSTER;
    return known && resource_word_is_complete(&s->word, ret);
}

struct named_source *named_source_new(const struct api_server *server,
                                      const struct named_source_options *options)
{
    struct named_source *s = NEW(struct named_source);
    struct resource resource;
    s->source.ops = &source_ops;
    s->inner_user.ops = &inner_ops;
    s->lookup.on_end = named_source_on_found;
    s->lookup.on_progress = named_source_on_progress;
    s->max_age_ms = SHELF_KEEP_MS;
    s->server = server;
    s->shelf = options->shelf;
    s->ns = copy_or_null(options->scope.ns);
    s->label_selector = copy_or_null(options->scope.label_selector);
    s->field_selector = copy_or_null(options->scope.field_selector);
    s->shape = options->shape;
    s->on_found = options->on_found;
    s->ctx = options->ctx;
    s->word = *options->word;
    *options->word = (struct resource_word){.text = NULL}; /* now ours */
    s->ns_is_default = options->ns_is_default;
    s->by_namespace = options->by_namespace;
    if (needs_no_server(s, &resource))
        found(s, &resource, NULL);
    return s;
}

struct source *named_source_source(struct named_source *source)
{
    return &source->source;
}

static void named_source_bury(struct corpse *corpse)
{
    struct named_source *s = container_of(corpse, struct named_source, corpse);
    resource_word_free(&s->word);
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
    forget_inner(source);
    clock_bury(source->server->clock, &source->corpse, named_source_bury);
}
