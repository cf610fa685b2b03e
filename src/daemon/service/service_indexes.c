/*
 * service_indexes.c - translates requests for an index into lists with a field selector.
 *
 * Normal path: the watch with the index is found, then the request is answered as the list of its
 * resource that selects the value at the path of the index. An index that no watch of the reader has is
 * 404; one that several watches have needs the parameter `watch`.
 */
#include "daemon/service/service_indexes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/str.h"
#include "base/text/json_string.h"
#include "daemon/api/api.h"
#include "daemon/api/api_accept.h"
#include "daemon/api/api_body.h"
#include "daemon/api/api_status.h"
#include "daemon/daemon.h"
#include "daemon/http/endpoints.h"
#include "daemon/watch/watcher.h"
#include "wire/http/http_target.h"

#define INDEXES_PREFIX "/informerd/v1/indexes/"

/* ---- all indexes ---- */

static void put_member(struct buf *out, const char *separator, const char *name, const char *value)
{
    buf_puts(out, separator);
    json_put_key(out, name);
    json_put_string(out, str_of(value));
}

static void put_indexes(struct buf *out, const struct watcher *w)
{
    for (size_t i = 0; i < w->conf->indexes.count; i++) {
        const struct inf_index *index = &w->conf->indexes.items[i];
        put_member(out, out->bytes[out->len - 1] == '}' ? ",{" : "{", "index", index->name);
        put_member(out, ",", "watch", w->conf->name);
        put_member(out, ",", "path", index->path);
        buf_putc(out, '}');
    }
}

void service_indexes_respond(struct daemon *d, const struct api_reader *reader,
                             const struct http_server_request *request,
                             struct http_exchange *exchange)
{
    struct buf body = {0};
    (void)request;
    buf_puts(&body, "{\"indexes\":[");
    list_for_each(node, &d->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        if (api_reader_has_watch(reader, w->conf->name))
            put_indexes(&body, w);
    }
    buf_puts(&body, "]}\n");
    endpoint_reply_body(exchange, 200, "application/json", &body);
}

/* ---- one value ---- */

/* What is requested. Strings are owned. */
struct index_request {
    char *name;
    const char *value; /* in the path of the request */
    char *watch;       /* NULL: the only one with this index */
    char *ns;          /* NULL: all */
    char *labels;      /* NULL: any */
};

static int read_request(const struct http_server_request *http, struct index_request *ret,
                        struct api_fault *fault)
{
    const char *name = http->path + strlen(INDEXES_PREFIX), *slash = strchr(name, '/');
    *ret = (struct index_request){0};
    if (!slash || slash == name)
        return api_fault_set(fault, 404, "use " INDEXES_PREFIX "NAME/VALUE");
    ret->name = xstrndup(name, (size_t)(slash - name));
    ret->value = slash + 1;
    if (http_query_get(http->query, "watch", &ret->watch) < 0 ||
        http_query_get(http->query, "namespace", &ret->ns) < 0 ||
        http_query_get(http->query, "labelSelector", &ret->labels) < 0)
        return api_fault_set(fault, 400, "the query contains a malformed escape");
    if (ret->ns && (!*ret->ns || strchr(ret->ns, '/'))) /* it becomes a part of a path */
        return api_fault_set(fault, 400, "namespace: '%.253s' can't be the name of a namespace",
                             ret->ns);
    return 0;
}

static void free_request(struct index_request *r)
{
    free(r->name);
    free(r->watch);
    free(r->ns);
    free(r->labels);
}

static const struct inf_index *find_index(const struct watcher *w, const char *name)
{
    for (size_t i = 0; i < w->conf->indexes.count; i++)
        if (strcmp(w->conf->indexes.items[i].name, name) == 0)
            return &w->conf->indexes.items[i];
    return NULL;
}

/* The watch of the request. */
static const struct watcher *find_watcher(const struct daemon *d, const struct api_reader *reader,
                                          const struct index_request *r, struct api_fault *fault)
{
    const struct watcher *found = NULL;
    list_for_each(node, &d->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        if (!api_reader_has_watch(reader, w->conf->name) || !find_index(w, r->name) ||
            (r->watch && strcmp(r->watch, w->conf->name) != 0))
            continue;
        if (found) {
            api_fault_set(fault, 400,
                          "the watches \"%s\" and \"%s\" have an index \"%s\"; choose one with "
                          "the parameter watch",
                          found->conf->name, w->conf->name, r->name);
            return NULL;
        }
        found = w;
    }
    if (!found)
        api_fault_set(fault, 404, "%s%s%s no index \"%s\"; see `indexes` in the configuration",
                      r->watch ? "the watch \"" : "", r->watch ? r->watch : "there is",
                      r->watch ? "\" has" : "", r->name);
    else if (!found->resource.name)
        api_fault_set(fault, 429, "the watch \"%s\" is not synced yet", found->conf->name);
    return found && found->resource.name ? found : NULL;
}

/* "/clusters/prod/apis/apps/v1/namespaces/shop/deployments" */
static void put_path(struct buf *out, const struct watcher *w, const char *ns)
{
    buf_printf(out, "/clusters/%s", w->conf->cluster);
    if (w->resource.group[0])
        buf_printf(out, "/apis/%s/%s", w->resource.group, w->resource.version);
    else
        buf_printf(out, "/api/%s", w->resource.version);
    if (ns)
        buf_printf(out, "/namespaces/%s", ns);
    buf_printf(out, "/%s", w->resource.name);
    buf_putc(out, '\0');
}

static void put_escaped(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        buf_printf(out, "%%%02X", (unsigned char)text.at[i]);
}

/* "fieldSelector=spec.nodeName=node-3" */
static void put_query(struct buf *out, const struct inf_index *index, const struct index_request *r)
{
    struct buf selector = {0};
    buf_printf(&selector, "%s=", index->path);
    for (const char *c = r->value; *c; c++) {
        if (strchr("\\,=", *c))
            buf_putc(&selector, '\\');
        buf_putc(&selector, *c);
    }
    buf_puts(out, "fieldSelector=");
    put_escaped(out, (struct str){selector.bytes, selector.len});
    if (r->labels) {
        buf_puts(out, "&labelSelector=");
        put_escaped(out, str_of(r->labels));
    }
    buf_putc(out, '\0');
    buf_free(&selector);
}

/* Tables are not available here: the request is answered in the form that a client gets without its Accept
 * header. */
static void avoid_table(struct http_server_request *list)
{
    struct api_request form = {.page = API_LIST};
    if (api_accept_choose(http_server_request_get(list, "Accept"), /* discovery= */ false, &form) &&
        api_form_is_table(form.form))
        list->n_headers = 0;
}

void service_indexes_respond_value(struct daemon *d, const struct api_reader *reader,
                                   const struct http_server_request *request,
                                   struct http_exchange *exchange)
{
    struct http_server_request list = *request;
    struct buf path = {0}, query = {0};
    struct api_fault fault = {.code = 0};
    const struct watcher *w = NULL;
    struct index_request r;
    if (read_request(request, &r, &fault) == 0)
        w = find_watcher(d, reader, &r, &fault);
    if (w) {
        put_path(&path, w, r.ns);
        put_query(&query, find_index(w, r.name), &r);
        list.path = path.bytes;
        list.query = query.bytes;
        avoid_table(&list);
        api_respond_at_once(d, reader, &list, exchange); /* the translated request ends here */
    } else {
        fault.retry_after = fault.code == 429;
        api_fault_reply(&fault, exchange);
    }
    free_request(&r);
    buf_free(&path);
    buf_free(&query);
}
