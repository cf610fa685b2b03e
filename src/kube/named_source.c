/*
 * named_source.c - the lookup, and passing through what comes after it.
 *
 * Documents are asked for one after the other, on one connection, and only as many as it takes:
 *
 *     po                  /api/v1; if it isn't there /apis, then each version of each group
 *     deployments.apps    /apis/apps, then each version of it
 *
 * A group that does not answer (an extension server that is down) hides only its own resources.
 */
#include "kube/named_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"

enum step {
    IN_CORE,   /* /api/v1 is asked for */
    IN_GROUPS, /* /apis, or one of its groups */
    IN_LISTS,  /* the resources of a version */
};

struct named_source {
    struct source source;
    struct source_user inner_user;
    struct source_user finder_user;
    struct corpse corpse;
    const struct api_server *server;
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

    /* the lookup under way */
    struct api_source *finder; /* NULL: there is none */
    enum step step;
    struct discovery table;
    size_t asked;         /* versions of the table whose resources were asked for */
    unsigned silent;      /* of them, those that did not answer */
    struct inf_error bad; /* what is wrong with the last document; code 0: nothing */
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

static void end_lookup(struct named_source *s)
{
    if (s->finder)
        api_source_close(s->finder);
    s->finder = NULL;
    discovery_free(&s->table);
}

static void finish(struct named_source *s, const struct inf_error *why)
{
    struct source_user *user = s->user;
    struct inf_error told = *why; /* what @why is in may go */
    end_lookup(s);
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

static void mention_silent(const struct named_source *s, struct inf_error *why)
{
    struct inf_error plain = *why;
    err_set(why, INF_ENOTFOUND, "%s; of its groups, %u did not answer", plain.text, s->silent);
}

/* All that could be asked for was; what does the word mean? */
static void settle(struct named_source *s)
{
    const struct api_resource *r;
    struct resource resource;
    struct inf_error why;
    int rc = resource_word_find(&s->word, &s->table, &r, &why);
    if (rc == -INF_ENOTFOUND && s->silent)
        mention_silent(s, &why);
    if (rc == 0)
        rc = check_scope(s, r, &why);
    if (rc < 0) {
        finish(s, &why);
        return;
    }
    s->whole = !r->namespaced;
    resource = (struct resource){xstrdup(r->group), xstrdup(r->version), xstrdup(r->name)};
    found(s, &resource, r->kind);
    end_lookup(s);
    open_inner(s);
}

static void ask(struct named_source *s, enum step step, char *path)
{
    s->step = step;
    s->bad.code = 0;
    source_open(api_source_source(s->finder),
                &(struct source_request){.want = SOURCE_DOCUMENT, .path = path}, &s->finder_user);
    free(path);
}

static void ask_next_list(struct named_source *s)
{
    const struct api_version *v;
    if (s->asked == s->table.n_versions) {
        settle(s);
        return;
    }
    v = &s->table.versions[s->asked++];
    ask(s, IN_LISTS, xasprintf("/apis/%s/%s", v->group, v->version));
}

/* The core group goes before all others: if it is there, they need not be asked. */
static void look_beyond_core(struct named_source *s)
{
    const struct api_resource *r;
    bool only_core = s->word.group && !s->word.group[0];
    if (only_core || resource_word_find(&s->word, &s->table, &r, NULL) != -INF_ENOTFOUND)
        settle(s);
    else
        ask(s, IN_GROUPS, xstrdup("/apis"));
}

static void go_on(struct named_source *s)
{
    switch (s->step) {
    case IN_CORE: look_beyond_core(s); break;
    case IN_GROUPS:
    case IN_LISTS: ask_next_list(s); break;
    }
}

static void start_lookup(struct named_source *s)
{
    const struct resource_word *w = &s->word;
    struct resource none = {xstrdup(""), xstrdup(""), xstrdup("")};
    s->finder = api_source_new(s->server, &(struct api_source_options){.resource = &none});
    s->asked = s->silent = 0;
    if (s->paused)
        source_pause(api_source_source(s->finder));
    if (w->group && w->group[0])
        ask(s, IN_GROUPS, xasprintf("/apis/%s", w->group));
    else
        ask(s, IN_CORE, xasprintf("/api/%s", w->version ? w->version : "v1"));
}

/* ---- what documents bring ---- */

static void finder_on_open(struct source_user *user)
{
    (void)user;
}

static void finder_on_event(struct source_user *user, const struct source_event *event)
{
    struct named_source *s = container_of(user, struct named_source, finder_user);
    s->user->ops->on_progress(s->user);
    if (s->finder && !s->bad.code)
        discovery_add(&s->table, str_of(event->text), &s->bad);
}

static void finder_on_progress(struct source_user *user)
{
    struct named_source *s = container_of(user, struct named_source, finder_user);
    s->user->ops->on_progress(s->user);
}

/* One version of one group may be missing; the way to the server and who we are may not. */
static bool can_do_without(const struct named_source *s, int code)
{
    return s->step == IN_LISTS && (code == INF_ESERVER || code == INF_ENOTFOUND ||
                                   code == INF_EFORBIDDEN || code == INF_EDECODE);
}

static void finder_on_end(struct source_user *user, const struct inf_error *why)
{
    struct named_source *s = container_of(user, struct named_source, finder_user);
    if (why->code == INF_EEOF && s->bad.code)
        why = &s->bad;
    if (why->code == INF_EEOF) {
        go_on(s);
    } else if (can_do_without(s, why->code)) {
        s->silent++;
        go_on(s);
    } else if (why->code == INF_ENOTFOUND) {
        settle(s); /* no such group: says so in the words of who asked */
    } else {
        finish(s, why);
    }
}

static const struct source_user_ops finder_ops = {
    .on_open = finder_on_open,
    .on_event = finder_on_event,
    .on_progress = finder_on_progress,
    .on_end = finder_on_end,
};

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

static void inner_on_end(struct source_user *user, const struct inf_error *why)
{
    struct named_source *s = container_of(user, struct named_source, inner_user);
    if (why->code == INF_ENOTFOUND)
        forget_inner(s);
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
    end_lookup(s);
    if (s->inner)
        source_cancel(api_source_source(s->inner));
    s->user = NULL;
}

static void named_source_pause(struct source *source)
{
    struct named_source *s = container_of(source, struct named_source, source);
    s->paused = true;
    if (s->finder)
        source_pause(api_source_source(s->finder));
    if (s->inner)
        source_pause(api_source_source(s->inner));
}

static void named_source_resume(struct source *source)
{
    struct named_source *s = container_of(source, struct named_source, source);
    s->paused = false;
    if (s->finder)
        source_resume(api_source_source(s->finder));
    if (s->inner)
        source_resume(api_source_source(s->inner));
}

static const struct source_ops source_ops = {
    .open = named_source_open,
    .cancel = named_source_cancel,
    .pause = named_source_pause,
    .resume = named_source_resume,
};

/* ---- life ---- */

/* If the namespace matters only to what is in one, that has to be known. */
static bool needs_no_server(const struct named_source *s, struct resource *ret)
{
    bool known = !s->ns_is_default || resource_word_scope(&s->word) == SCOPE_NAMESPACE;
    return known && resource_word_is_complete(&s->word, ret);
}

struct named_source *named_source_new(const struct api_server *server,
                                      const struct named_source_options *options)
{
    struct named_source *s = NEW(struct named_source);
    struct resource resource;
    s->source.ops = &source_ops;
    s->inner_user.ops = &inner_ops;
    s->finder_user.ops = &finder_ops;
    s->server = server;
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
    end_lookup(source);
    forget_inner(source);
    clock_bury(source->server->clock, &source->corpse, named_source_bury);
}
