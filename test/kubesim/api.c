/*
 * api.c - routes a request: parses its path, takes the fault that matches it, checks the token and
 * the rules, and passes it to the module that answers. Requests that no module knows get 404.
 */
#include "api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "table.h"

/* The next part of a path, or NULL at its end; @at is advanced past it. The caller frees it. */
static char *next_part(const char **at)
{
    size_t n;
    char *part;
    while (**at == '/')
        (*at)++;
    n = strcspn(*at, "/");
    if (n == 0)
        return NULL;
    part = xstrndup(*at, n);
    *at += n;
    return part;
}

static void replace_part(char **part, const char **at)
{
    char *next = next_part(at);
    free(*part);
    *part = next ? next : xstrdup("");
}

/* Leaves the resource NULL for unknown resources and for subresources. */
static void read_route(struct route *route, const struct store *store, const char *path)
{
    char *root = next_part(&path), *group, *version, *plural, *rest;
    bool core = root && strcmp(root, "api") == 0, fits;
    group = core ? xstrdup("") : next_part(&path);
    version = next_part(&path);
    plural = next_part(&path);
    *route = (struct route){.ns = xstrdup(""), .name = xstrdup("")};
    replace_part(&route->name, &path);
    if (plural && strcmp(plural, "namespaces") == 0 && *path == '/') {
        str_replace(&route->ns, route->name);
        replace_part(&plural, &path);
        replace_part(&route->name, &path);
    }
    rest = next_part(&path);
    fits = group && version && plural && !rest && (core || strcmp(root, "apis") == 0);
    if (fits)
        route->resource = store_find(store, group, version, plural);
    if (route->resource && route->resource->hidden)
        route->resource = NULL;
    free(root);
    free(group);
    free(version);
    free(plural);
    free(rest);
}

static void route_free(struct route *route)
{
    free(route->ns);
    free(route->name);
}

static const char *verb_of(const struct request *q, const struct route *route)
{
    if (!route->resource)
        return "other";
    if (strcmp(q->method, "POST") == 0)
        return "create";
    if (strcmp(q->method, "PUT") == 0)
        return "update";
    if (strcmp(q->method, "DELETE") == 0)
        return "delete";
    if (route->name[0])
        return "get";
    if (!params_true(&q->query, "watch"))
        return "list";
    return params_true(&q->query, "sendInitialEvents") ? "watchlist" : "watch";
}

bool token_known(const struct kubesim *sim, const char *token)
{
    for (size_t i = 0; i < sim->tokens.count; i++) {
        if (strcmp(sim->tokens.items[i], token) == 0)
            return true;
    }
    return false;
}

void token_add(struct kubesim *sim, const char *token)
{
    struct tokens *t = &sim->tokens;
    t->items = xrealloc(t->items, (t->count + 1) * sizeof(char *));
    t->items[t->count++] = xstrdup(token);
}

void tokens_clear(struct kubesim *sim)
{
    for (size_t i = 0; i < sim->tokens.count; i++)
        free(sim->tokens.items[i]);
    free(sim->tokens.items);
    sim->tokens = (struct tokens){0};
}

static bool authenticate(struct conn *c, const struct route *route, const char *verb)
{
    const struct kubesim *sim = c->sim;
    const char *token = c->request.token;
    struct status s;
    if (token ? sim->tokens.count == 0 || token_known(sim, token)
              : sim->settings.anonymous == ANONYMOUS_ALLOW)
        return true;
    if (token || sim->settings.anonymous == ANONYMOUS_REFUSE || !route->resource) {
        status_set(&s, 401, "Unauthorized", "Unauthorized");
    } else {
        const struct resource *r = route->resource;
        status_set(&s, 403, "Forbidden",
                   "%s%s%s is forbidden: User \"system:anonymous\" cannot %s resource \"%s\" in "
                   "API group \"%s\" at the cluster scope",
                   r->plural, r->group[0] ? "." : "", r->group, verb, r->plural, r->group);
        snprintf(s.group, sizeof(s.group), "%s", r->group);
        snprintf(s.kind, sizeof(s.kind), "%s", r->plural);
    }
    reply_status(c, &s);
    return false;
}

static void status_fault(struct conn *c, const struct fault *f)
{
    int code = f->kind == FAULT_HTML ? 200 : (int)f->code;
    struct head head = {.code = code, .retry_after = (int)f->retry_after};
    bool has_message = f->text[0] && strcmp(f->text, "json") != 0;
    struct buf body = {0};
    struct status s;
    if (strcmp(f->text, "plain") == 0) {
        head.type = "text/plain; charset=utf-8";
        buf_printf(&body, "%s, please try again later.\n", status_phrase(code));
    } else if (strcmp(f->text, "html") == 0 || f->kind == FAULT_HTML) {
        head.type = "text/html";
        buf_printf(&body, "<html><body><h1>%d %s</h1></body></html>\n", code, status_phrase(code));
    } else if (strcmp(f->text, "empty") != 0) {
        if (has_message)
            status_set(&s, code, status_reason(code), "%s", f->text);
        else
            status_set(&s, code, status_reason(code), "kubesim injects status %d", code);
        s.retry_after = (int)f->retry_after;
        reply_status(c, &s);
        return;
    }
    reply_whole(c, &head, &body);
}

/* Faults that replace the answer. False: the request is answered, perhaps with another fault. */
static bool inject_instead_of_answer(struct conn *c, const struct fault *f)
{
    static const char noise[] = "\x16\x03\xff this is not HTTP at all \r\n\r\n\xfe\xff";
    struct head away = {.code = 302, .location = c->reply.fault.text};
    struct buf empty = {0};
    bool whole = f->at != AT_BODY;
    if (f->kind == FAULT_RESET && whole) {
        conn_end(c, END_RESET);
    } else if (f->kind == FAULT_HOLE && whole) {
        conn_go_silent(c);
    } else if (f->kind == FAULT_REFUSE) {
        listener_refuse(c->sim, f->ms);
        conn_end(c, END_RESET);
    } else if (f->kind == FAULT_STATUS || f->kind == FAULT_HTML) {
        status_fault(c, f);
    } else if (f->kind == FAULT_REDIRECT) {
        reply_whole(c, &away, &empty);
    } else if (f->kind == FAULT_GARBAGE && strcmp(f->text, "http") == 0) {
        conn_send(c, noise, sizeof(noise) - 1);
        conn_end(c, END_NICE);
    } else {
        return false;
    }
    return true;
}

static void dispatch(struct conn *c, const struct route *route, const char *verb)
{
    if (!route->resource) {
        if (!review_answer(c))
            discovery_answer(c);
    } else if (strcmp(verb, "list") == 0)
        list_answer(c, route);
    else if (strncmp(verb, "watch", 5) == 0)
        watch_answer(c, route);
    else
        object_answer(c, route);
}

void api_answer(struct conn *c)
{
    struct route route;
    const char *verb;
    if (strncmp(c->request.path, "/kubesim/", 9) == 0) {
        control_answer(c);
        return;
    }
    read_route(&route, &c->sim->store, c->request.path);
    verb = verb_of(&c->request, &route);
    journal_add(&c->sim->journal, verb, c->request.method, c->request.target,
                uv_now(&c->sim->loop) - c->sim->started);
    c->reply.fault = faults_take(&c->sim->faults, verb, c->request.target);
    if (!inject_instead_of_answer(c, &c->reply.fault) && authenticate(c, &route, verb) &&
        access_check(c, &route, verb))
        dispatch(c, &route, verb);
    route_free(&route);
}

enum form accepted_form(const struct request *r, enum form plain)
{
    if (prefers_table(r))
        return FORM_TABLE;
    return strstr(r->accept, "as=PartialObjectMetadata") ? FORM_METADATA : plain;
}

bool requests_pretty(const struct conn *c)
{
    return c->reply.fault.kind == FAULT_PRETTY || params_true(&c->request.query, "pretty");
}
