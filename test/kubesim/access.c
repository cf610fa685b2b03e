/*
 * Authorization: everything is allowed until a rule is set; then only the listed resources may be
 * listed and watched. The rule "pods" allows a resource in all namespaces, "deployments.apps@shop"
 * in one; other requests get 403. SelfSubjectReview and SelfSubjectAccessReview answer by the same
 * rules.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "api.h"
#include "base/alloc.h"
#include "base/base.h"
#include "base/text/json_string.h"

void rule_add(struct kubesim *sim, const char *text)
{
    struct rules *r = &sim->rules;
    r->items = xrealloc(r->items, (r->count + 1) * sizeof(char *));
    r->items[r->count++] = xstrdup(text);
}

void rules_clear(struct kubesim *sim)
{
    for (size_t i = 0; i < sim->rules.count; i++)
        free(sim->rules.items[i]);
    free(sim->rules.items);
    sim->rules = (struct rules){0};
}

static bool rule_allows(const char *rule, const char *name, const char *ns)
{
    size_t len = strcspn(rule, "@");
    return strncmp(rule, name, len) == 0 && !name[len] &&
           (!rule[len] || strcmp(rule + len + 1, ns) == 0);
}

static bool is_read(const char *verb)
{
    return strcmp(verb, "list") == 0 || strncmp(verb, "watch", 5) == 0;
}

static bool is_allowed(const struct kubesim *sim, const char *verb, const char *group,
                       const char *plural, const char *ns)
{
    char *name = xasprintf("%s%s%s", plural, group[0] ? "." : "", group);
    bool allowed = sim->rules.count == 0 || !is_read(verb);
    for (size_t i = 0; !allowed && i < sim->rules.count; i++)
        allowed = rule_allows(sim->rules.items[i], name, ns);
    free(name);
    return allowed;
}

static const char *user_of(const struct conn *c)
{
    return c->request.token ? "system:serviceaccount:kubesim:client" : "system:anonymous";
}

bool access_check(struct conn *c, const struct route *route, const char *verb)
{
    const struct resource *r = route->resource;
    struct status s;
    char *where;
    if (!r || is_allowed(c->sim, verb, r->group, r->plural, route->ns))
        return true;
    where = route->ns[0] ? xasprintf("in the namespace \"%s\"", route->ns)
                         : xstrdup("at the cluster scope");
    status_set(&s, 403, "Forbidden",
               "%s%s%s is forbidden: User \"%s\" cannot %s resource \"%s\" in API group \"%s\" %s",
               r->plural, r->group[0] ? "." : "", r->group, user_of(c),
               strncmp(verb, "watch", 5) == 0 ? "watch" : verb, r->plural, r->group, where);
    snprintf(s.group, sizeof(s.group), "%s", r->group);
    snprintf(s.kind, sizeof(s.kind), "%s", r->plural);
    reply_status(c, &s);
    free(where);
    return false;
}

/* ---- reviews ---- */

static const char *text_of(yyjson_val *object, const char *field)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, field));
    return text ? text : "";
}

static void reply_created(struct conn *c, struct buf *body)
{
    struct head head = {.code = 201};
    buf_putc(body, '\n');
    reply_whole(c, &head, body);
}

static void answer_self(struct conn *c)
{
    struct buf out = {0};
    buf_puts(&out, "{\"kind\":\"SelfSubjectReview\",\"apiVersion\":\"authentication.k8s.io/v1\","
                   "\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:00:00Z\"},"
                   "\"status\":{\"userInfo\":{\"username\":");
    json_put_string(&out, str_of(user_of(c)));
    buf_printf(&out, ",\"groups\":[%s]}}}",
               c->request.token ? "\"system:serviceaccounts\",\"system:authenticated\""
                                : "\"system:unauthenticated\"");
    reply_created(c, &out);
}

static void answer_access(struct conn *c)
{
    yyjson_doc *doc = yyjson_read(c->request.body, c->request.body_len, 0);
    yyjson_val *spec = yyjson_obj_get(yyjson_doc_get_root(doc), "spec");
    yyjson_val *attributes = yyjson_obj_get(spec, "resourceAttributes");
    char *text = yyjson_val_write(spec, 0, NULL);
    bool allowed = is_allowed(c->sim, text_of(attributes, "verb"), text_of(attributes, "group"),
                              text_of(attributes, "resource"), text_of(attributes, "namespace"));
    struct buf out = {0};
    buf_printf(&out,
               "{\"kind\":\"SelfSubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/v1\","
               "\"metadata\":{},\"spec\":%s,\"status\":{\"allowed\":%s}}",
               text ? text : "{}", allowed ? "true" : "false");
    reply_created(c, &out);
    free(text);
    yyjson_doc_free(doc);
}

bool review_answer(struct conn *c)
{
    static const char self[] = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    static const char access[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    if (strcmp(c->request.method, "POST") != 0)
        return false;
    if (strcmp(c->request.path, access) == 0)
        answer_access(c);
    else if (strcmp(c->request.path, self) == 0 && !c->sim->settings.no_reviews)
        answer_self(c);
    else
        return false;
    return true;
}
