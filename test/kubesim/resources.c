/*
 * The resources: the usual ones of a cluster, and custom ones by name.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "store.h"

static const struct builtin {
    const char *group;
    const char *version;
    const char *plural;
    const char *kind;
    const char *short_name;
    bool cluster;
    const char *hollow;
} builtins[] = {
    {"", "v1", "configmaps", "ConfigMap", "cm", false, ""},
    {"", "v1", "endpoints", "Endpoints", "ep", false, ""},
    {"", "v1", "events", "Event", "ev", false, ",\"involvedObject\":{},\"source\":{}"},
    {"", "v1", "namespaces", "Namespace", "ns", true, ",\"spec\":{},\"status\":{}"},
    {"", "v1", "nodes", "Node", "no", true, ",\"spec\":{},\"status\":{}"},
    {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", "pvc", false,
     ",\"spec\":{\"resources\":{}},\"status\":{}"},
    {"", "v1", "persistentvolumes", "PersistentVolume", "pv", true, ",\"spec\":{},\"status\":{}"},
    {"", "v1", "pods", "Pod", "po", false, ",\"spec\":{\"containers\":null},\"status\":{}"},
    {"", "v1", "secrets", "Secret", NULL, false, ""},
    {"", "v1", "serviceaccounts", "ServiceAccount", "sa", false, ""},
    {"", "v1", "services", "Service", "svc", false,
     ",\"spec\":{},\"status\":{\"loadBalancer\":{}}"},
    {"apps", "v1", "daemonsets", "DaemonSet", "ds", false, ",\"spec\":{},\"status\":{}"},
    {"apps", "v1", "deployments", "Deployment", "deploy", false, ",\"spec\":{},\"status\":{}"},
    {"apps", "v1", "replicasets", "ReplicaSet", "rs", false, ",\"spec\":{},\"status\":{}"},
    {"apps", "v1", "statefulsets", "StatefulSet", "sts", false, ",\"spec\":{},\"status\":{}"},
    {"batch", "v1", "cronjobs", "CronJob", "cj", false, ",\"spec\":{},\"status\":{}"},
    {"batch", "v1", "jobs", "Job", NULL, false, ",\"spec\":{},\"status\":{}"},
    {"coordination.k8s.io", "v1", "leases", "Lease", NULL, false, ",\"spec\":{}"},
    {"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", NULL, false, ""},
    {"networking.k8s.io", "v1", "ingresses", "Ingress", "ing", false, ",\"spec\":{},\"status\":{}"},
};

static char *lower(const char *text)
{
    char *copy = xstrdup(text);
    for (char *c = copy; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

struct resource *store_add(struct store *store, const char *group, const char *version,
                           const char *plural, const char *kind, bool namespaced, bool custom)
{
    struct resource *r = NEW(struct resource);
    r->store = store;
    r->group = xstrdup(group);
    r->version = xstrdup(version);
    r->plural = xstrdup(plural);
    r->kind = xstrdup(kind);
    r->singular = lower(kind);
    r->namespaced = namespaced;
    r->custom = custom;
    r->api_version = group[0] ? xasprintf("%s/%s", group, version) : xstrdup(version);
    r->hollow = "";
    tree_init(&r->objects, object_order);
    history_init(&r->history, store->window, store->rv);
    list_init(&r->watches);
    list_push(&store->resources, &r->node);
    return r;
}

void store_add_builtins(struct store *store)
{
    for (size_t i = 0; i < ARRAY_LEN(builtins); i++) {
        const struct builtin *b = &builtins[i];
        struct resource *r =
            store_add(store, b->group, b->version, b->plural, b->kind, !b->cluster, false);
        r->short_name = b->short_name ? xstrdup(b->short_name) : NULL;
        r->hollow = b->hollow;
    }
}

struct resource *store_find(const struct store *store, const char *group, const char *version,
                            const char *plural)
{
    list_for_each(n, &store->resources) {
        struct resource *r = container_of(n, struct resource, node);
        if (strcmp(r->group, group) == 0 && strcmp(r->plural, plural) == 0 &&
            (!version || strcmp(r->version, version) == 0))
            return r;
    }
    return NULL;
}

/* Splits widgets.example.com/v1 into three parts; the version is NULL if absent. The caller
 * frees them. */
static void split_name(const char *name, size_t len, char **plural, char **group, char **version)
{
    const char *dot = memchr(name, '.', len), *slash = memchr(name, '/', len), *end = name + len;
    const char *stop = slash ? slash : end;
    *version = slash ? xstrndup(slash + 1, (size_t)(end - slash - 1)) : NULL;
    *plural = xstrndup(name, (size_t)((dot && dot < stop ? dot : stop) - name));
    *group = dot && dot < stop ? xstrndup(dot + 1, (size_t)(stop - dot - 1)) : xstrdup("");
}

struct resource *store_named(const struct store *store, const char *name)
{
    char *plural, *group, *version;
    struct resource *r;
    split_name(name, strlen(name), &plural, &group, &version);
    r = store_find(store, group, version, plural);
    free(plural);
    free(group);
    free(version);
    return r;
}

struct resource *store_add_custom(struct store *store, const char *spec)
{
    const char *equals = strchr(spec, '='), *comma = equals ? strchr(equals, ',') : NULL;
    char *plural, *group, *version, *kind;
    struct resource *r = NULL;
    if (!equals || (comma && strcmp(comma, ",cluster") != 0))
        return NULL;
    split_name(spec, (size_t)(equals - spec), &plural, &group, &version);
    kind = comma ? xstrndup(equals + 1, (size_t)(comma - equals - 1)) : xstrdup(equals + 1);
    if (plural[0] && group[0] && version && version[0] && kind[0]) {
        r = store_find(store, group, version, plural);
        if (!r)
            r = store_add(store, group, version, plural, kind, !comma, true);
    }
    free(plural);
    free(group);
    free(version);
    free(kind);
    return r;
}
