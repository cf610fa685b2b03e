/*
 * ctl_resource.c - looks up a resource in the aggregated discovery documents of informerd.
 *
 * The core group comes first, then the others in the order of the server; the first match counts, as in
 * kubectl. Two requests, on the local socket: nothing is cached.
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

static bool find_in_version(const struct json_node *version, const char *group,
                            const struct wanted *wanted, struct ctl_resource *ret)
{
    const struct json_node *all = ctl_json_get(version, "resources");
    char *name = ctl_json_text(version, "version");
    bool found = false;
    for (const struct json_node *r = all ? all->first : NULL; r && !found; r = r->next) {
        found = has_name(r, wanted->name) && has_group(group, name, wanted->rest);
        if (found)
            *ret = (struct ctl_resource){
                .group = xstrdup(group),
                .version = xstrdup(name),
                .name = ctl_json_text(r, "resource"),
                .kind = ctl_json_text(ctl_json_get(r, "responseKind"), "kind"),
                .namespaced = ctl_json_is(r, "scope", "Namespaced"),
            };
    }
    free(name);
    return found;
}

static bool find_in_document(const struct json_node *root, const struct wanted *wanted,
                             struct ctl_resource *ret)
{
    const struct json_node *groups = ctl_json_get(root, "items");
    bool found = false;
    for (const struct json_node *g = groups ? groups->first : NULL; g && !found; g = g->next) {
        const struct json_node *versions = ctl_json_get(g, "versions");
        char *group = ctl_json_text(ctl_json_get(g, "metadata"), "name");
        for (const struct json_node *v = versions ? versions->first : NULL; v && !found;
             v = v->next)
            found = find_in_version(v, group, wanted, ret);
        free(group);
    }
    return found;
}

/* Returns 1 if it is there, 0 if not, or an error. */
static int find_at(struct client *client, const char *target, const struct wanted *wanted,
                   struct ctl_resource *ret, struct inf_error *err)
{
    struct client_reply reply;
    struct arena arena = {0};
    struct str body;
    int rc = client_get(client, target, DISCOVERY_TYPE, &reply, err);
    if (rc < 0)
        return rc;
    body = (struct str){reply.body.bytes, reply.body.len};
    if (reply.status != 200)
        rc = ctl_json_error(reply.status, body, err);
    else
        rc = find_in_document(json_tree_make(&arena, body), wanted, ret);
    arena_free(&arena);
    buf_free(&reply.body);
    return rc;
}

int ctl_resource_find(struct client *client, const char *word, struct ctl_resource *ret,
                      struct inf_error *err)
{
    const char *dot = strchr(word, '.');
    struct wanted wanted = {xstrndup(word, dot ? (size_t)(dot - word) : strlen(word)),
                            dot ? dot + 1 : ""};
    int rc = find_at(client, "/api", &wanted, ret, err);
    if (rc == 0)
        rc = find_at(client, "/apis", &wanted, ret, err);
    free(wanted.name);
    if (rc == 0)
        return err_set(
            err, INF_ENOTFOUND,
            "informerd does not watch \"%s\"; see 'informerctl status' and `watches` in its "
            "configuration",
            word);
    return rc < 0 ? rc : 0;
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
