#include "daemon/watch/watch_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/watch/left_selection.h"
#include "daemon/watch/watcher.h"

/* ---- from the informer to the journal ---- */

static struct feed *feed_of(struct inf_handler *handler)
{
    return container_of(handler, struct feed, handler);
}

/* Of a namespace that came late the first list is no beginning: its objects are new to the watch. */
static struct inf_event as_news(const struct feed *feed, const struct inf_event *event)
{
    struct inf_event told = *event;
    if (feed->late && told.origin == INF_INITIAL)
        told.origin = INF_RELIST;
    return told;
}

/* Whether its object is in no namespace that is watched any more. */
static bool is_elsewhere(const struct feed *feed, const struct inf_event *event)
{
    const char *ns = inf_object_namespace(inf_event_object(event));
    return feed->ended || (feed->ns && strcmp(feed->ns, ns) != 0);
}

static void on_event(struct inf_handler *handler, const struct inf_event *event)
{
    struct feed *feed = feed_of(handler);
    struct watcher *w = feed->watcher;
    struct inf_event told = as_news(feed, event);
    struct journal_watch *watch = watcher_named(w);
    if (event->origin == INF_RELIST && is_elsewhere(feed, event))
        watch->id.why = SELECTION_NS_LEFT;
    else if (event->verb == INF_DELETED && left_for_certain(feed, event))
        watch->id.why = SELECTION_LEFT;
    journal_event(w->journal, watch, &told);
    watch->id.why = NULL;
    if (!feed->followed)
        return;
    told_note(&feed->told, event);
    if (feed->ending && told_is_empty(&feed->told))
        follower_adjust(&w->follower);
}

/* The watch, for a record about this stream. */
static struct journal_watch *named_stream(const struct feed *feed)
{
    struct journal_watch *watch = watcher_named(feed->watcher);
    watch->id.ns = feed->ns;
    return watch;
}

/* For people; the caller frees it. */
static char *in_namespace(const struct feed *feed, const char *text)
{
    return feed->ns ? xasprintf("%s, in namespace %s", text, feed->ns) : xstrdup(text);
}

void feed_gap(const struct feed *feed, const struct inf_gap *gap)
{
    struct inf_gap told = *gap;
    char *text = in_namespace(feed, gap->text);
    told.text = text;
    journal_gap(feed->watcher->journal, named_stream(feed), &told);
    free(text);
}

static void on_gap(struct inf_handler *handler, const struct inf_gap *gap)
{
    feed_gap(feed_of(handler), gap);
}

static void on_synced(struct inf_handler *handler)
{
    struct feed *feed = feed_of(handler);
    feed->synced = true;
    watcher_check_synced(feed->watcher);
}

static void on_freshness(struct inf_handler *handler, const struct inf_freshness *freshness)
{
    struct feed *feed = feed_of(handler);
    struct inf_freshness told = *freshness;
    char *text = in_namespace(feed, freshness->text);
    told.text = text;
    journal_freshness(feed->watcher->journal, named_stream(feed), &told);
    free(text);
}

/* Another watch of the same objects would wait for our event log. */
static void on_blocking(struct inf_handler *handler)
{
    struct feed *feed = feed_of(handler);
    struct watcher *w = feed->watcher;
    struct inf_watch watch = feed_watch(w->conf, feed->ns);
    char *line;
    if (inf_informer_separate(feed->informer, &watch, NULL) == 0) {
        line =
            xasprintf("watch %s: its event log can't be written; it gets a stream of its own, so "
                      "that other watches of the same objects go on",
                      w->conf->name);
        w->journal->log(w->journal->owner, INF_LOG_INFO, line);
        free(line);
    }
}

static void on_batch_end(struct inf_handler *handler)
{
    const struct feed *feed = feed_of(handler);
    journal_flush(feed->watcher->journal);
    if (feed_is_over(feed))
        watcher_tidy(feed->watcher);
}

/* ---- life ---- */

struct feed *feed_new(struct watcher *watcher, const char *ns)
{
    struct feed *feed = NEW(struct feed);
    list_init(&feed->node);
    told_init(&feed->told);
    feed->watcher = watcher;
    feed->ns = ns ? xstrdup(ns) : NULL;
    return feed;
}

/* What a conf excludes from the namespaces that it selects never becomes a feed. */
struct inf_watch feed_watch(const struct conf_watch *c, const char *ns)
{
    static const char *const nothing[] = {NULL};
    return (struct inf_watch){
        .resource = c->resource,
        .log_name = c->name,
        .ns = ns,
        .ns_is_default = c->ns_is_default,
        .exclude_ns = (const char *const *)c->exclude_namespaces.items,
        .n_exclude_ns = ns ? 0 : c->exclude_namespaces.count,
        .label_selector = c->label_selector,
        .field_selector = c->field_selector,
        /* `drop: []` is not the library's default */
        .drop = c->drop.items ? (const char *const *)c->drop.items : nothing,
        .n_drop = c->drop.count,
        .redact = (const char *const *)c->redact.items,
        .n_redact = c->redact.count,
        .reveal = c->reveal,
        .metadata_only = c->keep == CONF_KEEP_METADATA,
        .indexes = c->indexes.items,
        .n_indexes = c->indexes.count,
        .coalesce = c->coalesce,
        .optional = c->optional,
    };
}

static const struct inf_handler journal_handler = {
    .on_event = on_event,
    .on_gap = on_gap,
    .on_synced = on_synced,
    .on_freshness = on_freshness,
    .on_batch_end = on_batch_end,
    .on_blocking = on_blocking,
};

int feed_open(struct feed *feed, struct inf_error *err)
{
    struct inf_watch watch = feed_watch(feed->watcher->conf, feed->ns);
    feed->informer = inf_informer_open(feed->watcher->cluster->client, &watch, err);
    feed->handler = journal_handler;
    return feed->informer ? 0 : -err->code;
}

void feed_begin(struct feed *feed)
{
    inf_handler_add(feed->informer, &feed->handler);
}

void feed_change(struct feed *feed, const char *ns, const char *why)
{
    struct inf_watch watch;
    struct inf_error err;
    char *copy = ns ? xstrdup(ns) : NULL;
    free(feed->ns);
    feed->ns = copy;
    watch = feed_watch(feed->watcher->conf, feed->ns);
    if (feed->informer && inf_informer_change(feed->informer, &watch, why, &err) < 0)
        abort(); /* UNTESTED: watcher_check() has found it good */
}

void feed_merge(struct feed *feed, struct feed *other)
{
    watcher_stream_leaves(other->watcher, other->informer);
    inf_informer_merge(feed->informer, other->informer);
    other->informer = NULL; /* closed */
    feed_free(other);
}

struct feed *feed_carve(struct feed *feed, const char *ns, const char *why)
{
    struct feed *part = feed_new(feed->watcher, ns);
    struct inf_watch watch = feed_watch(feed->watcher->conf, part->ns);
    struct inf_error err;
    part->handler = journal_handler;
    part->synced = true;
    part->informer = inf_informer_carve(feed->informer, &watch, &part->handler, why, &err);
    if (!part->informer)
        abort(); /* UNTESTED: watcher_check() has found it good */
    return part;
}

void feed_end(struct feed *feed, const char *why)
{
    feed->ended = true;
    inf_informer_end(feed->informer, why);
}

bool feed_is_over(const struct feed *feed)
{
    return feed->ended && !inf_handler_backlog(&feed->handler) &&
           !inf_store_count(inf_informer_store(feed->informer));
}

void feed_close(struct feed *feed)
{
    watcher_stream_leaves(feed->watcher, feed->informer);
    inf_informer_close(feed->informer);
    feed->informer = NULL;
    feed->synced = false;
}

void feed_free(struct feed *feed)
{
    list_remove(&feed->node);
    feed_close(feed);
    told_free(&feed->told);
    free(feed->ns);
    free(feed);
}
