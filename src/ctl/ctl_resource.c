/*
 * ctl_resource.c - looks up a resource in the aggregated discovery documents of informerd.
 *
 * The core group comes first, then the others in the order of the server; the first match counts, as in
 * kubectl. Two requests, on the local socket: nothing is cached between runs.
 */
#include "ctl/ctl_resource.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "ctl/ctl_json.h"

#define DISCOVERY_TYPE \
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

/* "deployments.v1.apps": the word up to the first dot, and the rest. */
struct wanted {
    char *name;
    const char *rest; /* "": any group */
    struct ctl_resource *ret;
    bool found;
};

static bool is_name(const struct json_node *resource, const char *key, const char *name)
{
    char *text = ctl_json_text(resource, key);
    bool same = text[0] && strcasecmp(text, name) == 0;
    free(text);
    return same;
}

static bool has_name(const struct json_node *resource, const char *name)
{
    const struct json_node *names = ctl_json_get(resource, "shortNames");
    for (const struct json_node *n = names ? names->first : NULL; n; n = n->next)
        if (str_eq(n->text, str_of(name)))
            return true;
    return is_name(resource, "resource", name) || is_name(resource, "singularResource", name) ||
           is_name(ctl_json_get(resource, "responseKind"), "kind", name);
}

/* Whether "apps", "v1.apps" or "v1." is this group and version. */
static bool has_group(const char *group, const char *version, const char *rest)
{
    size_t len = strlen(version);
    if (!rest[0] || strcmp(rest, group) == 0)
        return true;
    return strncmp(rest, version, len) == 0 && rest[len] == '.' &&
           strcmp(rest + len + 1, group) == 0;
}

/* ---- discovery ---- */

int ctl_discovery_load(struct client *client, struct ctl_discovery *ret, struct inf_error *err)
{
    static const char *const targets[] = {"/api", "/apis"};
    int rc = 0;
    *ret = (struct ctl_discovery){0};
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(targets); i++) {
        struct client_reply *reply = &ret->replies[i];
        struct str body;
        rc = client_get(client, targets[i], DISCOVERY_TYPE, reply, err);
        if (rc < 0)
            break;
        body = (struct str){reply->body.bytes, reply->body.len};
        if (reply->status == 200)
            ret->documents[i] = json_tree_make(&ret->arena, body);
        else
            rc = ctl_json_error(reply->status, body, err);
    }
    if (rc < 0)
        ctl_discovery_free(ret);
    return rc;
}

void ctl_discovery_free(struct ctl_discovery *d)
{
    for (size_t i = 0; i < ARRAY_LEN(d->replies); i++)
        buf_free(&d->replies[i].body);
    arena_free(&d->arena);
    *d = (struct ctl_discovery){0};
}

static const struct json_node *first_of(const struct json_node *node, const char *key)
{
    const struct json_node *array = ctl_json_get(node, key);
    return array ? array->first : NULL;
}

static bool each_of_version(const struct json_node *node, const char *group, ctl_discovery_fn *each,
                            void *ctx)
{
    char *version = ctl_json_text(node, "version");
    bool more = true;
    for (const struct json_node *r = first_of(node, "resources"); r && more; r = r->next)
        more = each(ctx, group, version, r);
    free(version);
    return more;
}

void ctl_discovery_each(const struct ctl_discovery *d, ctl_discovery_fn *each, void *ctx)
{
    bool more = true;
    for (size_t i = 0; more && i < ARRAY_LEN(d->documents); i++)
        for (const struct json_node *g = first_of(d->documents[i], "items"); g && more;
             g = g->next) {
            char *group = ctl_json_text(ctl_json_get(g, "metadata"), "name");
            for (const struct json_node *v = first_of(g, "versions"); v && more; v = v->next)
                more = each_of_version(v, group, each, ctx);
            free(group);
        }
}

static struct ctl_resource resource_of(const char *group, const char *version,
                                       const struct json_node *node)
{
    return (struct ctl_resource){
        .group = xstrdup(group),
        .version = xstrdup(version),
        .name = ctl_json_text(node, "resource"),
        .kind = ctl_json_text(ctl_json_get(node, "responseKind"), "kind"),
        .namespaced = ctl_json_is(node, "scope", "Namespaced"),
    };
}

static bool on_resource(void *ctx, const char *group, const char *version,
                        const struct json_node *node)
{
    struct wanted *wanted = ctx;
    if (!has_name(node, wanted->name) || !has_group(group, version, wanted->rest))
        return true;
    *wanted->ret = resource_of(group, version, node);
    wanted->found = true;
    return false;
}

int ctl_discovery_find(const struct ctl_discovery *d, const char *word, struct ctl_resource *ret,
                       struct inf_error *err)
{
    const char *dot = strchr(word, '.');
    struct wanted wanted = {xstrndup(word, dot ? (size_t)(dot - word) : strlen(word)),
                            dot ? dot + 1 : "", ret, false};
    ctl_discovery_each(d, on_resource, &wanted);
    free(wanted.name);
    if (wanted.found)
        return 0;
    return err_set(
        err, INF_ENOTFOUND,
        "informerd does not watch \"%s\", or you may not read it; see 'informerctl status', and "
        "`watches` and `api.readers` in its configuration",
        word);
}

struct category {
    const char *word;
    struct ctl_resource *ret;
    size_t count, max;
};

static bool on_member(void *ctx, const char *group, const char *version,
                      const struct json_node *node)
{
    struct category *c = ctx;
    for (const struct json_node *n = first_of(node, "categories"); n; n = n->next)
        if (str_eq(n->text, str_of(c->word)) && c->count < c->max)
            c->ret[c->count++] = resource_of(group, version, node);
    return true;
}

size_t ctl_discovery_category(const struct ctl_discovery *d, const char *word,
                              struct ctl_resource *ret, size_t max)
{
    struct category category = {word, ret, 0, max};
    ctl_discovery_each(d, on_member, &category);
    return category.count;
}

int ctl_resource_find(struct client *client, const char *word, struct ctl_resource *ret,
                      struct inf_error *err)
{
    struct ctl_discovery discovery;
    int rc = ctl_discovery_load(client, &discovery, err);
    if (rc < 0)
        return rc;
    rc = ctl_discovery_find(&discovery, word, ret, err);
    ctl_discovery_free(&discovery);
    return rc;
}

void ctl_resource_free(struct ctl_resource *r)
{
    free(r->group);
    free(r->version);
    free(r->name);
    free(r->kind);
    *r = (struct ctl_resource){0};
}

void ctl_resource_put_prefix(const struct ctl_resource *r, struct buf *out)
{
    for (const char *c = r->kind; *c; c++)
        buf_putc(out, (char)tolower((unsigned char)*c));
    if (r->group[0])
        buf_printf(out, ".%s", r->group);
}

void ctl_resource_put_path(const struct ctl_resource *r, const char *ns, const char *name,
                           struct buf *out)
{
    if (r->group[0])
        buf_printf(out, "/apis/%s/%s", r->group, r->version);
    else
        buf_printf(out, "/api/%s", r->version);
    if (r->namespaced && ns) {
        buf_puts(out, "/namespaces/");
        client_put_escaped(out, ns);
    }
    buf_printf(out, "/%s", r->name);
    if (name) {
        buf_putc(out, '/');
        client_put_escaped(out, name);
    }
}
