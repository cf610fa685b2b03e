/*
 * api_discovery.c - writes discovery documents. See api_discovery.h.
 *
 * Normal path: the watched resources are collected, each once, and written in the requested form:
 * APIVersions, APIGroupList, APIGroup and APIResourceList, or APIGroupDiscoveryList in the version that
 * the client accepts. The first request waits for the discovery documents of the cluster, at most
 * FACTS_MS.
 */
#include "daemon/api/api_discovery.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/builtin_resource.h"
#include "base/text/json_string.h"
#include "daemon/api/api_facts.h"
#include "daemon/api/api_view.h"
#include "daemon/daemon.h"
#include "daemon/watch/watcher.h"

enum {
    FACTS_MS = 3 * 1000,
    RESOURCES_MAX = 1024, /* LIMIT: watches of a conf: CONF_ENTRIES_MAX */
};

/* A watched resource. Strings are borrowed until control returns to the loop. */
struct known_resource {
    struct inf_resource resource; /* `kind` is not NULL */
    bool namespaced;
    const char *short_names; /* JSON arrays */
    const char *categories;
};

struct known_resources {
    struct known_resource *items;
    size_t count;
    bool missing; /* the facts lack one of them */
};

/* ---- the watched resources ---- */

static bool is_known(const struct known_resources *all, const struct inf_resource *resource)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].resource.name, resource->name) == 0 &&
            strcmp(all->items[i].resource.group, resource->group) == 0 &&
            strcmp(all->items[i].resource.version, resource->version) == 0)
            return true;
    return false;
}

static void add_resource(struct known_resources *all, const struct watch_stream *stream,
                         const struct api_facts *facts)
{
    struct inf_resource resource;
    const struct builtin_resource *builtin;
    const struct api_fact *fact;
    if (!inf_informer_resource(stream->informer, &resource) || is_known(all, &resource) ||
        all->count == RESOURCES_MAX)
        return;
    builtin = builtin_resource_find(resource.group, resource.name);
    fact = api_facts_find(facts, &resource);
    all->missing |= !fact;
    resource.kind = api_kind_of(stream, &resource);
    all->items[all->count++] = (struct known_resource){
        .resource = resource,
        .namespaced = fact      ? fact->namespaced
                      : builtin ? builtin->namespaced
                                : true,
        .short_names = fact ? fact->short_names : "[]",
        .categories = fact ? fact->categories : "[]",
    };
}

static int by_group(const void *a, const void *b)
{
    const struct inf_resource *x = &((const struct known_resource *)a)->resource;
    const struct inf_resource *y = &((const struct known_resource *)b)->resource;
    int order = strcmp(x->group, y->group);
    order = order ? order : strcmp(x->version, y->version);
    return order ? order : strcmp(x->name, y->name);
}

/* In order of group, version and name. The caller frees the items. */
static struct known_resources collect(struct daemon *d, const struct api_reader *reader,
                                      const struct cluster *cluster, const struct api_facts *facts)
{
    struct known_resources all = {.items = xcalloc(RESOURCES_MAX, sizeof(*all.items))};
    list_for_each(w_node, &d->watchers) {
        const struct watcher *w = container_of(w_node, struct watcher, node);
        if (w->cluster != cluster || !api_reader_has_watch(reader, w->conf->name))
            continue;
        list_for_each(node, &w->streams) {
            const struct watch_stream *stream = container_of(node, struct watch_stream, node);
            if (watch_stream_is_current(stream) && !api_is_absent(stream))
                add_resource(&all, stream, facts);
        }
    }
    qsort(all.items, all.count, sizeof(*all.items), by_group);
    return all;
}

/* ---- parts ---- */

static void put_singular(struct buf *out, const char *kind)
{
    buf_putc(out, '"');
    for (; *kind; kind++)
        buf_putc(out, (char)tolower((unsigned char)*kind));
    buf_putc(out, '"');
}

static void put_arrays(struct buf *out, const struct known_resource *k)
{
    if (strcmp(k->short_names, "[]") != 0)
        buf_printf(out, ",\"shortNames\":%s", k->short_names);
    if (strcmp(k->categories, "[]") != 0)
        buf_printf(out, ",\"categories\":%s", k->categories);
}

static void put_group_version(struct buf *out, const struct inf_resource *r)
{
    buf_printf(out, "{\"groupVersion\":\"%s/%s\",\"version\":\"%s\"}", r->group, r->version,
               r->version);
}

/* The first index after @i with another group. */
static size_t group_end(const struct known_resources *all, size_t i)
{
    size_t end = i + 1;
    while (end < all->count &&
           strcmp(all->items[end].resource.group, all->items[i].resource.group) == 0)
        end++;
    return end;
}

static bool is_new_version(const struct known_resources *all, size_t from, size_t i)
{
    return i == from ||
           strcmp(all->items[i].resource.version, all->items[i - 1].resource.version) != 0;
}

static void put_group(struct buf *out, const struct known_resources *all, size_t from, size_t end)
{
    buf_printf(out, "\"name\":\"%s\",\"versions\":[", all->items[from].resource.group);
    for (size_t i = from; i < end; i++) {
        if (!is_new_version(all, from, i))
            continue;
        if (i > from)
            buf_putc(out, ',');
        put_group_version(out, &all->items[i].resource);
    }
    buf_puts(out, "],\"preferredVersion\":");
    put_group_version(out, &all->items[from].resource);
    buf_putc(out, '}');
}

/* ---- documents ---- */

static void put_groups(struct buf *out, const struct known_resources *all)
{
    const char *separator = "";
    buf_puts(out, "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[");
    for (size_t i = 0, end; i < all->count; i = end) {
        end = group_end(all, i);
        if (!*all->items[i].resource.group)
            continue;
        buf_printf(out, "%s{", separator);
        put_group(out, all, i, end);
        separator = ",";
    }
    buf_puts(out, "]}");
}

/* Returns false if no resource of the group is watched. */
static bool put_one_group(struct buf *out, const struct known_resources *all, const char *group)
{
    for (size_t i = 0, end; i < all->count; i = end) {
        end = group_end(all, i);
        if (strcmp(all->items[i].resource.group, group) != 0)
            continue;
        buf_puts(out, "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",");
        put_group(out, all, i, end);
        return true;
    }
    return false;
}

static bool put_resources(struct buf *out, const struct known_resources *all,
                          const struct api_request *r)
{
    const char *separator = "";
    buf_printf(out, "{\"kind\":\"APIResourceList\",%s\"groupVersion\":\"%s%s%s\",\"resources\":[",
               *r->group ? "\"apiVersion\":\"v1\"," : "", r->group, *r->group ? "/" : "",
               r->version);
    for (size_t i = 0; i < all->count; i++) {
        const struct known_resource *k = &all->items[i];
        if (strcmp(k->resource.group, r->group) != 0 ||
            strcmp(k->resource.version, r->version) != 0)
            continue;
        buf_printf(out, "%s{\"name\":\"%s\",\"singularName\":", separator, k->resource.name);
        put_singular(out, k->resource.kind);
        buf_printf(out, ",\"namespaced\":%s,\"kind\":\"%s\",\"verbs\":[\"get\",\"list\",\"watch\"]",
                   k->namespaced ? "true" : "false", k->resource.kind);
        put_arrays(out, k);
        buf_putc(out, '}');
        separator = ",";
    }
    buf_puts(out, "]}");
    return *separator || (!*r->group && strcmp(r->version, "v1") == 0);
}

static void put_aggregated_resource(struct buf *out, const struct known_resource *k)
{
    const struct inf_resource *r = &k->resource;
    buf_printf(out,
               "{\"resource\":\"%s\",\"responseKind\":{\"group\":\"%s\",\"version\":\"%s\","
               "\"kind\":\"%s\"},\"scope\":\"%s\",\"singularResource\":",
               r->name, r->group, r->version, r->kind, k->namespaced ? "Namespaced" : "Cluster");
    put_singular(out, r->kind);
    buf_puts(out, ",\"verbs\":[\"get\",\"list\",\"watch\"]");
    put_arrays(out, k);
    buf_putc(out, '}');
}

/* The core group, or all others. */
static void put_aggregated(struct buf *out, const struct known_resources *all, bool core,
                           const char *version)
{
    const char *separator = "";
    buf_printf(out,
               "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/%s\","
               "\"metadata\":{},\"items\":[",
               version);
    for (size_t i = 0, end; i < all->count; i = end) {
        const char *group = all->items[i].resource.group;
        end = group_end(all, i);
        if ((*group == '\0') != core)
            continue;
        buf_printf(out, "%s{\"metadata\":{", separator);
        if (*group)
            buf_printf(out, "\"name\":\"%s\",", group);
        buf_puts(out, "\"creationTimestamp\":null},\"versions\":[");
        for (size_t n = i; n < end; n++) {
            if (is_new_version(all, i, n))
                buf_printf(out, "%s{\"version\":\"%s\",\"freshness\":\"Current\",\"resources\":[",
                           n > i ? "]}," : "", all->items[n].resource.version);
            else
                buf_putc(out, ',');
            put_aggregated_resource(out, &all->items[n]);
        }
        buf_puts(out, "]}]}");
        separator = ",";
    }
    buf_puts(out, "]}");
}

/* Returns false if there is no such document. */
static bool put_document(struct buf *out, const struct known_resources *all,
                         const struct api_request *r)
{
    bool aggregated = r->aggregation != API_LEGACY;
    const char *version = r->aggregation == API_AGGREGATED_V2 ? "v2" : "v2beta1";
    switch (r->page) {
    case API_CORE:
        if (aggregated)
            put_aggregated(out, all, /* core= */ true, version);
        else
            buf_puts(out, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
                          "\"serverAddressByClientCIDRs\":[]}");
        return true;
    case API_GROUPS:
        if (aggregated)
            put_aggregated(out, all, /* core= */ false, version);
        else
            put_groups(out, all);
        return true;
    case API_GROUP: return put_one_group(out, all, r->group);
    case API_RESOURCES: return put_resources(out, all, r);
    case API_GET:
    case API_LIST:
    case API_WATCH:
    case API_DOCUMENT:
    case API_UNKNOWN: break;
    }
    return false;
}

/* ---- responses ---- */

static const char *content_type(const struct api_request *r)
{
    if (r->aggregation == API_LEGACY || (r->page != API_CORE && r->page != API_GROUPS))
        return "application/json";
    return r->aggregation == API_AGGREGATED_V2
               ? "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
               : "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
}

/* @all is freed, and the contents of @r. */
static void respond(struct known_resources *all, struct api_request *r, struct http_exchange *x)
{
    struct buf body = {0};
    struct api_fault fault = {.code = 0};
    if (put_document(&body, all, r)) {
        buf_putc(&body, '\n');
        http_exchange_reply(x, 200, content_type(r), body.bytes, body.len);
    } else {
        api_fault_set(&fault, 404,
                      "the server could not find the requested resource: informerd watches "
                      "nothing in %s%s%s",
                      r->group, r->version ? "/" : "", r->version ? r->version : "");
        api_fault_reply(&fault, x);
    }
    buf_free(&body);
    free(all->items);
    api_request_free(r);
}

void api_discovery_go(const struct api_call *call, struct api_request *r)
{
    struct api *api = call->api;
    struct api_fault fault = {.code = 0};
    const struct cluster *cluster = api_cluster_of(api->d, r, &fault);
    struct api_facts *facts;
    struct known_resources all;
    if (!cluster) {
        api_fault_reply(&fault, call->x);
        api_request_free(r);
        return;
    }
    facts = api_facts_get(api, cluster);
    all = collect(api->d, call->reader, cluster, facts);
    if (call->waited || api_facts_read(facts, cluster, all.missing)) {
        respond(&all, r, call->x);
        return;
    }
    free(all.items);
    api_request_free(r);
    api_park(call, &facts->waiters, FACTS_MS);
}

void api_discovery_close(struct api *api)
{
    list_for_each_safe(node, &api->facts)
        api_facts_close(container_of(node, struct api_facts, node));
}
