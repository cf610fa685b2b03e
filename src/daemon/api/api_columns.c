/*
 * api_columns.c - requests the columns of resources from their API servers. See api_columns.h.
 *
 *     no built-in printer:  GET customresourcedefinitions/NAME  -> the columns of its version
 *                           not found, forbidden, failed: as below
 *     otherwise:            GET the resource as a Table with one row -> compare the names
 *
 * When columns change, the feeds that print the former ones are closed: their watches end as they do at a
 * server whose definition has changed, and clients begin again.
 */
#include "daemon/api/api_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "daemon/api/api.h"
#include "daemon/api/api_feed.h"
#include "daemon/api/api_park.h"
#include "daemon/daemon.h"
#include "daemon/watch/cluster.h"

enum {
    AGAIN_MS = 10 * 60 * 1000, /* columns are read again after this time */
    FAILED_MS = 60 * 1000,     /* the same after a failure */
};

#define TABLE_TYPE "application/json;as=Table;v=v1;g=meta.k8s.io"

static const char name_and_age[] = "[]"; /* no further columns: as a definition without them */

/* ---- printers ---- */

/* The printer is @printer from now on, or made from @definition if that is given. */
static void set_printer(struct api_columns *c, const struct table_printer *printer,
                        struct table_printer *custom, const char *definition)
{
    struct table_printer *former = c->custom;
    if (c->printer)
        api_feed_close_tables(c->api, c->printer);
    c->printer = custom ? custom : printer;
    c->custom = custom;
    free(c->definition);
    c->definition = definition ? xstrdup(definition) : NULL;
    table_printer_free(former);
}

static void use_builtin(struct api_columns *c)
{
    const struct table_printer *printer = table_printer_find(c->group, c->resource);
    if (c->printer != printer)
        set_printer(c, printer, NULL, NULL);
}

/* Makes the printer from the JSON of additionalPrinterColumns. */
static void use_definition(struct api_columns *c, const char *definition)
{
    struct table_printer *custom;
    struct inf_error err;
    if (c->definition && strcmp(c->definition, definition) == 0)
        return;
    custom = table_printer_from_json(str_of(definition), &err);
    if (custom) {
        set_printer(c, NULL, custom, definition);
        return;
    }
    daemon_log_printf(&c->api->d->log, INF_LOG_WARN,
                      "api: tables of %s.%s have only the columns Name and Age: %s", c->resource,
                      c->group, err.text);
    use_definition(c, name_and_age);
}

/* ---- documents of the server ---- */

static struct str member(struct str object, const char *name)
{
    struct str value = {NULL, 0};
    return json_member_get(object, str_of(name), &value) ? value : (struct str){"", 0};
}

/* The columns of the watched version in a CustomResourceDefinition; the caller frees them. NULL: it does
 * not have this version. */
static char *find_definition(const struct api_columns *c, struct str document)
{
    struct json_walk walk;
    struct str version, columns;
    json_items_start(&walk, member(member(document, "spec"), "versions"));
    while (json_items_next(&walk, &version)) {
        if (!json_value_is(member(version, "name"), str_of(c->version)))
            continue;
        columns = member(version, "additionalPrinterColumns");
        return columns.len && columns.at[0] == '[' ? xstrndup(columns.at, columns.len)
                                                   : xstrdup(name_and_age);
    }
    return NULL;
}

/* Whether the Table of the server has the columns of @printer. A response that is no Table has none, and says
 * nothing against them. */
static bool has_columns_of(struct str document, const struct table_printer *printer)
{
    struct buf own = {0};
    struct json_walk theirs, ours;
    struct str column, expected;
    bool same = true, is_table;
    table_put_columns(printer, &own);
    json_items_start(&ours, (struct str){own.bytes, own.len});
    is_table = json_items_start(&theirs, member(document, "columnDefinitions"));
    while (is_table && same && json_items_next(&ours, &expected))
        same = json_items_next(&theirs, &column) &&
               str_eq(member(column, "name"), member(expected, "name"));
    same = same && !(is_table && json_items_next(&theirs, &column));
    buf_free(&own);
    return same;
}

/* ---- requests ---- */

static void columns_free(struct api_columns *c)
{
    list_remove(&c->node);
    table_printer_free(c->custom);
    free(c->cluster);
    free(c->group);
    free(c->version);
    free(c->resource);
    free(c->ns);
    free(c->definition);
    free(c);
}

/* With the former columns if it has failed. */
static void columns_end(struct api_columns *c, bool failed)
{
    c->known = true;
    c->again_ms = clock_now_ms(c->api->clock) + (failed ? FAILED_MS : AGAIN_MS);
    api_unpark_all(&c->waiters);
}

static void columns_on_document(struct inf_request *request, const char *json, size_t len,
                                const struct inf_error *err);

static void request_document(struct api_columns *c, const struct cluster *cluster, bool of_table)
{
    char *path = !of_table
                     ? xasprintf("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/%s.%s",
                                 c->resource, c->group)
                     : xasprintf("/%s%s/%s%s%s/%s?limit=1&includeObject=None",
                                 *c->group ? "apis/" : "api", c->group, c->version,
                                 c->ns ? "/namespaces/" : "", c->ns ? c->ns : "", c->resource);
    c->of_table = of_table;
    c->reading =
        cluster && inf_document_request(cluster->client, &c->request, path,
                                        of_table ? TABLE_TYPE : NULL, columns_on_document) == 0;
    free(path);
    if (!c->reading)
        columns_end(c, /* failed= */ true);
}

static void compare_table(struct api_columns *c, struct str document)
{
    if (has_columns_of(document, table_printer_find(c->group, c->resource)))
        use_builtin(c);
    else
        use_definition(c, name_and_age);
    columns_end(c, /* failed= */ false);
}

/* Without a definition the resource is not a custom one, or we may not know. */
static void read_definition(struct api_columns *c, struct str document)
{
    char *definition = find_definition(c, document);
    if (definition) {
        use_definition(c, definition);
        columns_end(c, /* failed= */ false);
    } else {
        request_document(c, cluster_find(&c->api->d->clusters, c->cluster), /* of_table= */ true);
    }
    free(definition);
}

static void columns_on_document(struct inf_request *request, const char *json, size_t len,
                                const struct inf_error *err)
{
    struct api_columns *c = container_of(request, struct api_columns, request);
    bool unavailable = err && (err->code == INF_ENOTFOUND || err->code == INF_EFORBIDDEN);
    struct str document = {json ? json : "", len};
    c->reading = false;
    if (c->closing)
        columns_free(c);
    else if (err && (c->of_table || !unavailable))
        columns_end(c, /* failed= */ true);
    else if (c->of_table)
        compare_table(c, document);
    else
        read_definition(c, document);
}

/* ---- life ---- */

static struct api_columns *columns_new(struct api *api, const struct cluster *cluster,
                                       const struct inf_resource *resource, const char *ns)
{
    struct api_columns *c = NEW(struct api_columns);
    c->api = api;
    c->cluster = xstrdup(cluster->conf->name);
    c->group = xstrdup(resource->group);
    c->version = xstrdup(resource->version);
    c->resource = xstrdup(resource->name);
    c->ns = ns ? xstrdup(ns) : NULL;
    list_init(&c->waiters);
    list_push(&api->columns, &c->node);
    if (table_printer_is_specific(table_printer_find(c->group, c->resource)))
        use_builtin(c);
    else
        use_definition(c, name_and_age);
    return c;
}

static struct api_columns *columns_find(const struct api *api, const struct cluster *cluster,
                                        const struct inf_resource *resource)
{
    list_for_each(node, &api->columns) {
        struct api_columns *c = container_of(node, struct api_columns, node);
        if (strcmp(c->resource, resource->name) == 0 && strcmp(c->group, resource->group) == 0 &&
            strcmp(c->version, resource->version) == 0 &&
            strcmp(c->cluster, cluster->conf->name) == 0)
            return c;
    }
    return NULL;
}

struct api_columns *api_columns_get(struct api *api, const struct cluster *cluster,
                                    const struct inf_resource *resource, const char *ns)
{
    struct api_columns *c = columns_find(api, cluster, resource);
    if (!c)
        c = columns_new(api, cluster, resource, ns);
    if (!c->reading && clock_now_ms(api->clock) >= c->again_ms)
        request_document(c, cluster,
                         /* of_table= */ !*c->group ||
                             table_printer_is_specific(table_printer_find(c->group, c->resource)));
    return c;
}

void api_columns_close(struct api *api)
{
    list_for_each_safe(node, &api->columns) {
        struct api_columns *c = container_of(node, struct api_columns, node);
        if (!c->reading) {
            columns_free(c);
            continue;
        }
        list_remove(&c->node);
        c->closing = true;
        inf_request_cancel(&c->request);
    }
}
