/*
 * resource_name.c - splits the name at its dots, then searches the discovery table: by name, then
 * by short name. If there is no match, the error suggests the same name in another group, or a
 * similar one.
 */
#include "kube/discovery/resource_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/builtin_resource.h"
#include "base/err.h"
#include "base/text/nearest.h"

enum {
    RESOURCE_NAME_MAX = 384, /* LIMIT: characters of a name with its group and version */
    CANDIDATES_MAX = 5,      /* LIMIT: candidates in a message */
};

/* ---- parsing ---- */

/* "v1", "v2beta3": distinguishes a version from the first label of a group. */
static bool is_version_label(const char *text, size_t len)
{
    size_t i = 1;
    if (len < 2 || text[0] != 'v' || !isdigit((unsigned char)text[1]))
        return false;
    while (i < len && isdigit((unsigned char)text[i]))
        i++;
    if (i == len)
        return true;
    if (len - i > 5 && strncmp(text + i, "alpha", 5) == 0)
        i += 5;
    else if (len - i > 4 && strncmp(text + i, "beta", 4) == 0)
        i += 4;
    else
        return false;
    while (i < len && isdigit((unsigned char)text[i]))
        i++;
    return i == len;
}

/* The text after the first dot: "group", "version.group", "version." or "group/version". */
static void parse_qualifiers(const char *rest, struct resource_name *w)
{
    size_t first = strcspn(rest, ".");
    const char *slash = strchr(rest, '/');
    if (slash) {
        w->group = xstrndup(rest, (size_t)(slash - rest));
        w->version = xstrdup(slash + 1);
    } else if (rest[first] == '.' && is_version_label(rest, first)) {
        w->version = xstrndup(rest, first);
        w->group = xstrdup(rest + first + 1);
    } else {
        w->group = xstrdup(rest);
    }
}

int resource_name_parse(const char *text, struct resource_name *ret, struct inf_error *err)
{
    struct resource_name w = {.text = NULL};
    bool core, valid;
    char *lower;
    size_t len;
    if (strlen(text) > RESOURCE_NAME_MAX)
        return err_set(err, INF_EINVAL, "resource name exceeds %d characters", RESOURCE_NAME_MAX);
    lower = xstrdup(text);
    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    len = strcspn(lower, "./");
    w.text = xstrdup(text);
    w.name = xstrndup(lower, len);
    if (lower[len] == '.')
        parse_qualifiers(lower + len + 1, &w);
    free(lower);
    core = w.group && !w.group[0] && w.version; /* "pods.v1.", but not "pods." */
    valid = text[len] != '/' && resource_is_label(w.name, len) &&
            (!w.group || core || resource_is_group(w.group, strlen(w.group))) &&
            (!w.version || resource_is_label(w.version, strlen(w.version)));
    if (!valid) {
        resource_name_free(&w);
        return err_set(err, INF_EINVAL,
                       "resource '%s': invalid name; use a form such as 'pods', "
                       "'deployments.apps' or 'deployments.apps/v1'",
                       text);
    }
    *ret = w;
    return 0;
}

void resource_name_free(struct resource_name *name)
{
    free(name->text);
    free(name->name);
    free(name->group);
    free(name->version);
    *name = (struct resource_name){.text = NULL};
}

/* ---- without a server ---- */

/* The resource of the core group with this plural; NULL if there is none, or if another group is
 * given. */
static const struct builtin_resource *find_core(const struct resource_name *name)
{
    bool core = !name->group || !name->group[0];
    return core ? builtin_resource_find("", name->name) : NULL;
}

bool resource_name_is_complete(const struct resource_name *name, struct resource *ret)
{
    bool full = name->group && name->version;
    bool core = !name->group && find_core(name);
    if (!full && !core)
        return false;
    *ret = (struct resource){.group = xstrdup(full ? name->group : ""),
                             .version = xstrdup(full ? name->version : "v1"),
                             .name = xstrdup(name->name)};
    return true;
}

enum resource_scope_kind resource_name_scope(const struct resource_name *name)
{
    const struct builtin_resource *builtin = find_core(name);
    if (!builtin)
        return SCOPE_UNKNOWN;
    return builtin->namespaced ? SCOPE_NAMESPACE : SCOPE_CLUSTER;
}

int resource_name_refuse_scope(const struct resource_name *name, const char *plural,
                               struct inf_error *err)
{
    return err_set(err, INF_EINVAL,
                   "resource '%s': %s are cluster-scoped and cannot be limited to namespaces",
                   name->text, plural);
}

/* ---- with a server's discovery table ---- */

static bool has_name(const struct api_resource *r, const char *name)
{
    return strcmp(r->name, name) == 0 || strcmp(r->singular, name) == 0 ||
           strcasecmp(r->kind, name) == 0;
}

static bool has_short_name(const struct api_resource *r, const char *name)
{
    for (char **short_name = r->short_names; *short_name; short_name++)
        if (strcmp(*short_name, name) == 0)
            return true;
    return false;
}

/* One match for each group that has the resource. */
struct matches {
    const struct api_resource *found[CANDIDATES_MAX];
    size_t count;
};

static void add_match(struct matches *m, const struct discovery *d, const struct api_resource *r)
{
    const char *preferred = discovery_preferred(d, r->group);
    for (size_t i = 0; i < m->count; i++) {
        const struct api_resource *other = m->found[i];
        if (strcmp(other->group, r->group) != 0)
            continue;
        /* Of two versions of one resource the preferred one is used, else the first. */
        if (preferred && strcmp(r->version, preferred) == 0 &&
            strcmp(other->version, preferred) != 0)
            m->found[i] = r;
        return;
    }
    if (m->count < CANDIDATES_MAX)
        m->found[m->count++] = r;
}

static void find_matches(struct matches *m, const struct resource_name *w,
                         const struct discovery *d,
                         bool (*matches)(const struct api_resource *r, const char *name))
{
    for (size_t i = 0; i < d->n_resources; i++) {
        const struct api_resource *r = &d->resources[i];
        if (matches(r, w->name) && (!w->group || strcmp(r->group, w->group) == 0) &&
            (!w->version || strcmp(r->version, w->version) == 0))
            add_match(m, d, r);
    }
}

static int set_not_found(const struct resource_name *w, const char *instead, struct inf_error *err)
{
    return err_set(err, INF_ENOTFOUND, "resource '%s' is not known to the server%s%s%s", w->text,
                   instead ? "; did you mean '" : "", instead ? instead : "", instead ? "'?" : "");
}

/* All matches, fully qualified. */
static char *list_matches(const struct matches *m)
{
    struct buf out = {0};
    for (size_t i = 0; i < m->count; i++) {
        const struct api_resource *r = m->found[i];
        buf_printf(&out, "%s%s", i ? ", " : "", r->name);
        if (r->group[0])
            buf_printf(&out, ".%s/%s", r->group, r->version);
    }
    buf_putc(&out, '\0');
    return out.bytes;
}

/* Suggests the same name in another group or version, or a similar name. */
static int set_unknown_error(const struct resource_name *w, const struct discovery *d,
                             struct inf_error *err)
{
    struct resource_name anywhere = {.name = w->name};
    struct matches m = {.count = 0};
    struct nearest nearest = {0};
    char *others;
    int rc;
    find_matches(&m, &anywhere, d, has_name);
    for (size_t i = 0; m.count == 0 && i < d->n_resources; i++) {
        nearest_try(&nearest, w->name, d->resources[i].name);
        nearest_try(&nearest, w->name, d->resources[i].singular);
    }
    if (m.count == 0)
        return set_not_found(w, nearest.word, err);
    others = list_matches(&m);
    rc = set_not_found(w, others, err);
    free(others);
    return rc;
}

int resource_name_find(const struct resource_name *name, const struct discovery *d,
                       const struct api_resource **ret, struct inf_error *err)
{
    struct matches m = {.count = 0};
    const struct api_resource *r = NULL;
    find_matches(&m, name, d, has_name);
    if (m.count == 0)
        find_matches(&m, name, d, has_short_name);
    if (m.count == 0)
        return set_unknown_error(name, d, err);
    for (size_t i = 0; i < m.count; i++)
        if (m.count == 1 || !m.found[i]->group[0]) /* the core group takes precedence */
            r = m.found[i];
    if (!r) {
        char *all = list_matches(&m);
        err_set(err, INF_EINVAL, "resource '%s' is ambiguous; use one of: %s", name->text, all);
        free(all);
        return -INF_EINVAL;
    }
    if (!r->watchable)
        return err_set(err, INF_EINVAL,
                       "resource '%s': the server does not support list and watch for %s",
                       name->text, r->name);
    *ret = r;
    return 0;
}
