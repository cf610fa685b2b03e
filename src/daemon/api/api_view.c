/*
 * api_view.c - chooses a stream for a request, and says why none can be used. See api_view.h.
 *
 * Normal path: the first stream of the resource that has everything is used. Otherwise the refusal of
 * the stream that came closest is reported: one that is not synced yet before one with restrictions,
 * before one of other namespaces, before one that the client may not read.
 */
#include "daemon/api/api_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/builtin_resource.h"
#include "base/text/glob.h"
#include "daemon/api/api_selector.h"
#include "daemon/daemon.h"
#include "daemon/watch/watcher.h"

/* How close a stream comes; the greater, the closer. */
enum rank {
    RANK_NONE,
    RANK_READER,
    RANK_NAMESPACE,
    RANK_RESTRICTED,
    RANK_NOT_SYNCED,
    RANK_USABLE,
};

/* The state of a search. */
struct search {
    const struct api_request *r;
    const struct api_reader *reader;
    struct api_view *ret;
    struct api_fault *fault;
    enum rank best;
};

struct cluster *api_cluster_of(struct daemon *d, const struct api_request *r,
                               struct api_fault *fault)
{
    struct cluster *found = r->cluster ? cluster_find(&d->clusters, r->cluster)
                            : list_empty(&d->clusters)
                                ? NULL
                                : container_of(d->clusters.next, struct cluster, node);
    if (!found)
        api_fault_set(fault, 404, "cluster \"%s\" is not configured", r->cluster ? r->cluster : "");
    return found;
}

const char *api_kind_of(const struct watch_stream *stream, const struct inf_resource *resource)
{
    const struct builtin_resource *builtin = builtin_resource_find(resource->group, resource->name);
    const struct inf_object *first;
    struct inf_cursor cursor = INF_CURSOR_START;
    const char *kind = resource->kind ? resource->kind : builtin ? builtin->kind : NULL;
    if (kind)
        return kind;
    first = inf_store_next(inf_informer_store(stream->informer), &cursor);
    kind = first ? inf_object_kind(first) : ""; /* the store keeps it */
    inf_cursor_end(&cursor);
    return kind;
}

/* ---- one stream ---- */

/* Notes why a stream can't be used, unless another one came closer. Returns its rank. */
#define REFUSE(s, rank, code, ...)                                                                 \
    ((s)->best < (rank) ? ((s)->best = (rank), (void)api_fault_set((s)->fault, code, __VA_ARGS__)) \
                        : (void)0)

static bool is_cluster_scoped(const struct inf_resource *resource)
{
    const struct builtin_resource *builtin = builtin_resource_find(resource->group, resource->name);
    return builtin && !builtin->namespaced;
}

static bool is_excluded(const struct conf_watch *conf, const char *ns)
{
    return glob_any((const char *const *)conf->exclude_namespaces.items,
                    conf->exclude_namespaces.count, ns);
}

static void put_namespaces(const struct watcher *w, struct buf *out)
{
    const char *separator = "";
    list_for_each(node, &w->streams) {
        const struct watch_stream *s = container_of(node, struct watch_stream, node);
        if (watch_stream_is_current(s) && s->ns) {
            buf_printf(out, "%s%s", separator, s->ns);
            separator = ", ";
        }
    }
    buf_putc(out, '\0');
}

/* Whether @stream has all objects of the requested namespaces. */
static bool has_namespace(struct search *s, const struct watcher *w,
                          const struct watch_stream *stream, const struct inf_resource *resource)
{
    const char *wanted = s->r->ns;
    struct buf watched = {0};
    if (is_cluster_scoped(resource))
        return true;
    if (!stream->ns && !wanted && !w->conf->exclude_namespaces.count)
        return true;
    if (!stream->ns && wanted && !is_excluded(w->conf, wanted))
        return true;
    if (stream->ns && wanted && strcmp(stream->ns, wanted) == 0)
        return true;
    put_namespaces(w, &watched);
    if (!stream->ns && wanted)
        REFUSE(s, RANK_NAMESPACE, 403, "%s in namespace \"%s\" are not watched: it is excluded",
               s->r->resource, wanted);
    else if (!stream->ns)
        REFUSE(s, RANK_NAMESPACE, 403,
               "%s of all namespaces are not watched: some are excluded; request one namespace",
               s->r->resource);
    else if (wanted)
        REFUSE(s, RANK_NAMESPACE, 403,
               "%s in namespace \"%s\" are not watched; watched namespaces: %s", s->r->resource,
               wanted, watched.bytes);
    else
        REFUSE(s, RANK_NAMESPACE, 403,
               "%s are watched only in the namespaces %s; request one of them", s->r->resource,
               watched.bytes);
    buf_free(&watched);
    return false;
}

/* Whether the copy has the fields by which the request selects, as the server has them. */
static bool has_fields(struct search *s, const struct conf_watch *conf)
{
    const struct conf_list *lists[] = {&conf->drop, &conf->redact};
    bool metadata = conf->keep == CONF_KEEP_METADATA;
    bool complete = !metadata || api_selector_is_metadata(s->r->fields);
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        for (size_t i = 0; i < lists[l]->count; i++)
            complete &= !api_selector_uses(s->r->fields, lists[l]->items[i]);
    if (!complete)
        REFUSE(s, RANK_RESTRICTED, 403,
               "the watch \"%s\" does not keep a field of the fieldSelector (%s)", conf->name,
               metadata ? "keep: metadata" : "drop, redact");
    return complete;
}

/* Whether the fields and objects that the watch has are enough. */
static bool is_unrestricted(struct search *s, const struct conf_watch *conf,
                            const struct inf_resource *resource)
{
    const struct api_request *r = s->r;
    bool full = r->form != API_METADATA;
    bool secret = !*resource->group && strcmp(resource->name, "secrets") == 0;
    if (!api_selector_implies(r->labels, conf->label_selector, /* by_labels= */ true) ||
        !api_selector_implies(r->fields, conf->field_selector, /* by_labels= */ false)) {
        REFUSE(s, RANK_RESTRICTED, 403,
               "the watch \"%s\" has only the %s with %s=%s; request them with that selector",
               conf->name, r->resource, conf->label_selector ? "labelSelector" : "fieldSelector",
               conf->label_selector ? conf->label_selector : conf->field_selector);
        return false;
    }
    if (conf->shard.count > 1) {
        REFUSE(s, RANK_RESTRICTED, 403,
               "this informerd has only shard %" PRIu64 " of %" PRIu64
               " of the %s; read them from the API server",
               conf->shard.index, conf->shard.count, r->resource);
        return false;
    }
    if (!has_fields(s, conf))
        return false;
    if (full && conf->keep == CONF_KEEP_METADATA) {
        REFUSE(s, RANK_RESTRICTED, 403,
               "the watch \"%s\" has only metadata (keep: metadata); request it with "
               "as=PartialObjectMetadata",
               conf->name);
        return false;
    }
    if (secret && !conf->reveal && (r->form == API_FULL || r->form == API_TABLE_OBJECT)) {
        REFUSE(s, RANK_RESTRICTED, 403,
               "secrets are cached with hashed values: only tables and metadata can be read; the "
               "watch \"%s\" needs `reveal: true` for full objects",
               conf->name);
        return false;
    }
    return true;
}

bool api_is_absent(const struct watch_stream *stream)
{
    struct inf_status status;
    inf_informer_status(stream->informer, &status);
    return status.waiting;
}

static bool is_synced(struct search *s, const struct watch_stream *stream)
{
    struct inf_status status;
    inf_informer_status(stream->informer, &status);
    if (status.synced || status.restored)
        return true;
    REFUSE(s, RANK_NOT_SYNCED, 429, "%s are not synced yet: %s", s->r->resource,
           status.error.code ? status.error.text : inf_status_name(&status));
    return false;
}

static void try_stream(struct search *s, const struct watcher *w, const struct watch_stream *stream)
{
    struct inf_resource resource;
    if (s->best == RANK_USABLE || !watch_stream_is_current(stream) ||
        !inf_informer_resource(stream->informer, &resource) ||
        strcmp(resource.name, s->r->resource) != 0 || strcmp(resource.group, s->r->group) != 0 ||
        strcmp(resource.version, s->r->version) != 0 || api_is_absent(stream))
        return;
    if (!api_reader_may(s->reader, w->conf->name, s->r->ns)) {
        REFUSE(s, RANK_READER, 403, "%s may not read %s%s%s",
               s->reader->name ? s->reader->name : "you", s->r->resource,
               s->r->ns ? " in namespace " : " of all namespaces", s->r->ns ? s->r->ns : "");
        return;
    }
    if (!has_namespace(s, w, stream, &resource) || !is_unrestricted(s, w->conf, &resource) ||
        !is_synced(s, stream))
        return;
    s->best = RANK_USABLE;
    resource.kind = api_kind_of(stream, &resource);
    *s->ret = (struct api_view){w->cluster, stream, inf_informer_store(stream->informer), resource};
}

/* ---- all streams ---- */

/* kubectl reads the namespace of a request that found nothing: 404 would mean that it was deleted. */
static int refuse_unwatched(const struct api_request *r, struct api_fault *fault)
{
    if (!*r->group && strcmp(r->resource, "namespaces") == 0)
        return api_fault_set(fault, 403, "namespaces are not watched by informerd");
    return api_fault_set(fault, 404,
                         "the server could not find the requested resource: %s%s%s/%s are not "
                         "watched by informerd",
                         r->resource, *r->group ? "." : "", r->group, r->version);
}

int api_view_find(struct daemon *d, const struct api_reader *reader, const struct api_request *r,
                  struct api_view *ret, struct api_fault *fault)
{
    struct search s = {r, reader, ret, fault, RANK_NONE};
    const struct cluster *cluster = api_cluster_of(d, r, fault);
    if (!cluster)
        return -1;
    list_for_each(w_node, &d->watchers) {
        const struct watcher *w = container_of(w_node, struct watcher, node);
        if (w->cluster != cluster)
            continue;
        list_for_each(node, &w->streams)
            try_stream(&s, w, container_of(node, struct watch_stream, node));
    }
    if (s.best == RANK_USABLE)
        return 0;
    fault->group = r->group;
    fault->resource = r->resource;
    fault->retry_after = s.best == RANK_NOT_SYNCED;
    fault->denied = s.best == RANK_READER;
    return s.best == RANK_NONE ? refuse_unwatched(r, fault) : -1;
}

/* ---- freshness ---- */

void api_view_describe(const struct api_view *view, struct http_exchange *x)
{
    struct inf_status status;
    uint64_t age_ms;
    char text[160];
    inf_informer_status(view->stream->informer, &status);
    age_ms = status.restored                    ? status.restored_age_ms
             : status.heard_age_ms == INF_NEVER ? 0
                                                : status.heard_age_ms;
    (void)snprintf(text, sizeof(text), "%" PRIu64, age_ms / 1000);
    http_exchange_header(x, "Age", text);
    http_exchange_header(x, "Informerd-State", inf_status_name(&status));
    if (!status.stale && !status.restored && !status.failing_for_ms)
        return;
    (void)snprintf(text, sizeof(text),
                   "299 - \"informerd: this copy may be outdated: %s for %" PRIu64 " seconds\"",
                   inf_status_name(&status), age_ms / 1000);
    http_exchange_header(x, "Warning", text);
}
