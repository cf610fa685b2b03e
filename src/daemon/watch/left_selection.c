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

static bool same_resource(const struct watch_stream *a, const struct watch_stream *b)
{
    struct inf_resource of_a, of_b;
    return inf_informer_resource(a->informer, &of_a) && inf_informer_resource(b->informer, &of_b) &&
           strcmp(of_a.group, of_b.group) == 0 && strcmp(of_a.name, of_b.name) == 0;
}

/* Whether the cache of a stream of @other proves that the object of @gone still exists. */
static bool watcher_still_has(const struct watcher *other, const struct watch_stream *stream,
                              const struct inf_event *gone)
{
    const struct inf_object *last = inf_event_object(gone);
    const char *ns = inf_object_namespace(last), *name = inf_object_name(last);
    const char *version = inf_store_resource_version(inf_informer_store(stream->informer));
    list_for_each(node, &other->streams) {
        const struct watch_stream *s = container_of(node, struct watch_stream, node);
        const struct inf_store *all;
        if (!watch_stream_is_current(s) || (s->ns && strcmp(s->ns, ns) != 0) ||
            !same_resource(s, stream))
            continue;
        all = inf_informer_store(s->informer);
        if (selection_was_left(&stream->watcher->selection, gone, version,
                               inf_store_get(all, ns, name), inf_store_resource_version(all)))
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
        bool has_everything = !other->selection.selects && selection_keeps_labels(other->conf);
        if (other != w && other->cluster == w->cluster && has_everything &&
            watcher_still_has(other, stream, gone))
            return true;
    }
    return false;
}
