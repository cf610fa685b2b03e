/*
 * resource.c - checks names and builds request targets.
 *
 * Groups, versions and names are checked before they get here; all query parameters are escaped.
 */
#include "kube/discovery/resource.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

enum {
    LABEL_MAX = 63, /* LIMIT: characters of a DNS label */
    GROUP_MAX = 253,
};

bool resource_is_label(const char *text, size_t len)
{
    if (!len || len > LABEL_MAX || text[0] == '-' || text[len - 1] == '-')
        return false;
    for (size_t i = 0; i < len; i++)
        if (!(text[i] >= 'a' && text[i] <= 'z') && !(text[i] >= '0' && text[i] <= '9') &&
            text[i] != '-')
            return false;
    return true;
}

bool resource_is_group(const char *text, size_t len)
{
    const char *end = text + len;
    if (len > GROUP_MAX)
        return false;
    while (text < end) {
        const char *dot = memchr(text, '.', (size_t)(end - text));
        if (!resource_is_label(text, (size_t)((dot ? dot : end) - text)))
            return false;
        if (!dot)
            return true;
        text = dot + 1;
    }
    return false;
}

void resource_free(struct resource *resource)
{
    free(resource->group);
    free(resource->version);
    free(resource->name);
    *resource = (struct resource){0};
}

int resource_check_namespace(const char *ns, struct inf_error *err)
{
    if (resource_is_label(ns, strlen(ns)))
        return 0;
    return err_set(err, INF_EINVAL,
                   "namespace '%s': use lower case letters, digits and '-', at most %d characters",
                   ns, LABEL_MAX);
}

/* Versions and tokens are opaque, and selectors are user input; escaped, they can't change the rest
 * of the query. */
static void put_parameter(struct buf *out, const char *name, const char *value)
{
    if (!value || !value[0])
        return;
    buf_printf(out, "&%s=", name);
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
            strchr("-._~", c))
            buf_putc(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
}

/* Servers that do not know the parameter ignore it and send all objects. */
static void put_shard(struct buf *out, struct shard shard)
{
    struct buf text = {0};
    shard_put_selector(&text, shard);
    buf_putc(&text, '\0');
    put_parameter(out, "shardSelector", text.bytes);
    buf_free(&text);
}

void resource_target(struct buf *out, const char *prefix, const struct resource *resource,
                     const struct resource_scope *scope, const struct source_request *request)
{
    bool has_version = true;
    size_t query;
    buf_puts(out, prefix);
    if (request->want == SOURCE_DOCUMENT) {
        buf_puts(out, request->path);
        return;
    }
    if (resource->group[0])
        buf_printf(out, "/apis/%s/%s", resource->group, resource->version);
    else
        buf_printf(out, "/api/%s", resource->version);
    if (scope->ns)
        buf_printf(out, "/namespaces/%s", scope->ns);
    buf_printf(out, "/%s", resource->name);
    query = out->len;
    if (request->want == SOURCE_LIST) {
        if (request->limit)
            buf_printf(out, "&limit=%u", request->limit);
        put_parameter(out, "continue", request->continue_token);
        /* A continue token includes a version; the server rejects both together. */
        has_version = !request->continue_token || !request->continue_token[0];
    } else {
        buf_printf(out, "&watch=true&allowWatchBookmarks=true&timeoutSeconds=%u",
                   request->timeout_s);
        if (request->want == SOURCE_WATCH_LIST)
            buf_puts(out, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    }
    put_parameter(out, "resourceVersion", has_version ? request->resource_version : NULL);
    put_parameter(out, "labelSelector", scope->label_selector);
    put_parameter(out, "fieldSelector", scope->field_selector);
    if (shard_is_part(scope->shard))
        put_shard(out, scope->shard);
    if (out->len > query)
        out->bytes[query] = '?';
}
