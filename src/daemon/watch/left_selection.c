/*
 * left_selection.c - looks for another watch whose cache proves that an object still exists.
 *
 * Such a watch belongs to the same cluster, has no selectors, keeps all labels, and has a stream of
 * the same resource that covers the object's namespace. If there is none, or none has
 * reached the version of the deletion, the result is "unknown".
 */
#include "daemon/watch/left_selection.h"

#include <string.h>

#include "base/base.h"
#include "daemon/watch/watcher.h"

/* Whether its cache has all objects of its namespaces, with their labels. */
static bool has_everything(const struct watcher *w)
{
    return !w->selection.selects && selection_keeps_labels(w->conf);
}

static bool same_resource(const struct watch_stream *a, const struct watch_stream *b)
{
    struct inf_resource of_a, of_b;
    return inf_informer_resource(a->informer, &of_a) && inf_informer_resource(b->informer, &of_b) &&
           strcmp(of_a.group, of_b.group) == 0 && strcmp(of_a.name, of_b.name) == 0;
}

static bool covers_namespace(const struct watch_stream *other, const struct watch_stream *stream,
                             const char *ns)
{
    return watch_stream_is_current(other) && (!other->ns || strcmp(other->ns, ns) == 0) &&
           same_resource(other, stream);
}

static bool still_has(const struct watch_stream *other, const struct watch_stream *stream,
                      const struct inf_event *gone)
{
    const struct inf_object *last = inf_event_object(gone);
    const struct inf_store *own = inf_informer_store(stream->informer);
    const struct inf_store *all = inf_informer_store(other->informer);
    return selection_was_left(&stream->watcher->selection, gone, inf_store_resource_version(own),
                              inf_store_get(all, inf_object_namespace(last), inf_object_name(last)),
                              inf_store_resource_version(all));
}

static bool watcher_still_has(const struct watcher *other, const struct watch_stream *stream,
                              const struct inf_event *gone)
{
    const char *ns = inf_object_namespace(inf_event_object(gone));
    list_for_each(node, &other->streams) {
        const struct watch_stream *of_other = container_of(node, struct watch_stream, node);
        if (covers_namespace(of_other, stream, ns) && still_has(of_other, stream, gone))
            return true;
    }
    return false;
}

bool left_selection_for_certain(const struct watch_stream *stream, const struct inf_event *gone)
{
    const struct watcher *w = stream->watcher;
    if (!w->selection.labels)
        return false;
    list_for_each(node, &w->channel.consumers->channels) {
        const struct event_channel *channel = container_of(node, struct event_channel, node);
        const struct watcher *other = container_of(channel, struct watcher, channel);
        if (other != w && other->cluster == w->cluster && has_everything(other) &&
            watcher_still_has(other, stream, gone))
            return true;
    }
    return false;
}
