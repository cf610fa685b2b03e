/*
 * owner_lookup.c - reads the stores of other watches. An owner that no watch has, or that a watch has
 * without its owner references, is not known.
 */
#include "daemon/watch/owner_lookup.h"

#include <string.h>

#include "base/base.h"
#include "daemon/watch/watcher.h"

/* Whether the group of @api_version ("apps/v1", "v1") is @group. */
static bool is_in_group(const char *api_version, const char *group)
{
    const char *slash = strchr(api_version, '/');
    size_t len = slash ? (size_t)(slash - api_version) : 0;
    return strncmp(api_version, group, len) == 0 && !group[len];
}

static bool may_have(const struct watcher *w, const char *cluster, const struct inf_owner *owner)
{
    const struct watched_resource *r = &w->resource;
    return r->kind && strcmp(r->kind, owner->kind) == 0 &&
           strcmp(w->cluster->conf->name, cluster) == 0 &&
           is_in_group(owner->api_version, r->group) &&
           selection_keeps_labels(w->conf); /* then it keeps the owner references, too */
}

static const struct inf_object *find_in_watcher(const struct watcher *w, const char *ns,
                                                const struct inf_owner *owner)
{
    list_for_each(node, &w->streams) {
        const struct watch_stream *s = container_of(node, struct watch_stream, node);
        const struct inf_object *found =
            s->informer ? inf_store_get(inf_informer_store(s->informer), ns, owner->name) : NULL;
        if (found && strcmp(inf_object_uid(found), owner->uid) == 0)
            return found;
    }
    return NULL;
}

static const struct inf_object *find_owner(void *ctx, const char *cluster, const char *ns,
                                           const struct inf_owner *owner)
{
    const struct list *watchers = ctx;
    list_for_each(node, watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        const struct inf_object *found =
            may_have(w, cluster, owner) ? find_in_watcher(w, ns, owner) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

struct owner_lookup owner_lookup_in(struct list *watchers)
{
    return (struct owner_lookup){.ctx = watchers, .find = find_owner};
}
