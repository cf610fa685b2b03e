#include "daemon/watcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/kinds.h"

/* ---- what records call it ---- */

/* What the word of the conf means may be known only later, and can change: so it is asked for each
 * time. */
static struct journal_watch *named(struct watcher *w)
{
    struct inf_resource r = {.name = w->conf->resource};
    if (w->feeds && w->feeds[0].informer)
        inf_informer_resource(w->feeds[0].informer, &r);
    w->told.id = (struct watch_id){
        .cluster = w->cluster->conf->name,
        .name = w->conf->name,
        .group = r.group,
        .version = r.version,
        .resource = r.name,
        .kind = r.kind ? r.kind : kinds_find(r.group ? r.group : "", r.name),
        .selection = &w->selection,
    };
    return &w->told;
}

/* ---- from the informers to the journal ---- */

static struct feed *feed_of(struct inf_handler *handler)
{
    return container_of(handler, struct feed, handler);
}

static void on_event(struct inf_handler *handler, const struct inf_event *event)
{
    struct watcher *w = feed_of(handler)->watcher;
    journal_event(w->journal, named(w), event);
}

static void on_gap(struct inf_handler *handler, const struct inf_gap *gap)
{
    struct watcher *w = feed_of(handler)->watcher;
    journal_gap(w->journal, named(w), gap);
}

/* Several streams have no version in common, and a resource that is not there has none. */
static const char *version_of(const struct watcher *w)
{
    const char *version = inf_store_resource_version(inf_informer_store(w->feeds[0].informer));
    return w->n_feeds > 1 || !version[0] ? NULL : version;
}

static void on_synced(struct inf_handler *handler)
{
    struct watcher *w = feed_of(handler)->watcher;
    size_t objects = 0;
    if (++w->n_synced < w->n_feeds)
        return;
    for (size_t i = 0; i < w->n_feeds; i++)
        objects += inf_store_count(inf_informer_store(w->feeds[i].informer));
    journal_synced(w->journal, named(w), objects, version_of(w));
}

static void on_freshness(struct inf_handler *handler, const struct inf_freshness *freshness)
{
    struct feed *feed = feed_of(handler);
    struct inf_freshness told = *freshness;
    char *text = feed->ns ? xasprintf("%s, in namespace %s", freshness->text, feed->ns) : NULL;
    told.text = text ? text : freshness->text;
    journal_freshness(feed->watcher->journal, named(feed->watcher), &told);
    free(text);
}

static void on_batch_end(struct inf_handler *handler)
{
    journal_flush(feed_of(handler)->watcher->journal);
}

static void on_hold(struct journal_watch *told, bool hold)
{
    struct watcher *w = container_of(told, struct watcher, told);
    for (size_t i = 0; i < w->n_feeds; i++)
        if (hold)
            inf_handler_pause(&w->feeds[i].handler);
        else
            inf_handler_resume(&w->feeds[i].handler);
}

/* ---- life ---- */

static struct inf_informer *open_stream(const struct watcher *w, const char *ns,
                                        struct inf_error *err)
{
    const struct conf_watch *c = w->conf;
    struct inf_watch watch = {
        .resource = c->resource,
        .ns = ns,
        .ns_is_default = c->ns_is_default,
        .exclude_ns = (const char *const *)c->exclude_namespaces.items,
        .n_exclude_ns = c->exclude_namespaces.count,
        .label_selector = c->label_selector,
        .field_selector = c->field_selector,
        .drop = (const char *const *)c->drop.items,
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
    static const char *const nothing[] = {NULL};
    if (!watch.drop)
        watch.drop = nothing; /* `drop: []` is not the library's default */
    return inf_informer_open(w->cluster->client, &watch, err);
}

static int open_feed(struct watcher *w, size_t i, struct inf_error *err)
{
    struct feed *feed = &w->feeds[i];
    const char *ns = w->conf->namespaces.count ? w->conf->namespaces.items[i] : NULL;
    feed->watcher = w;
    feed->ns = ns;
    feed->informer = open_stream(w, ns, err);
    feed->handler = (struct inf_handler){
        .on_event = on_event,
        .on_gap = on_gap,
        .on_synced = on_synced,
        .on_freshness = on_freshness,
        .on_batch_end = on_batch_end,
    };
    return feed->informer ? 0 : -err->code;
}

/* What a reload may change without a new beginning: `taken_over` in the table. */
static void take_over(struct watcher *w)
{
    w->told.ignore_heartbeats = w->conf->ignore & CONF_IGNORE_HEARTBEATS;
}

struct watcher *watcher_open(const struct conf_watch *conf, struct cluster *cluster,
                             struct journal *journal, struct inf_error *err)
{
    struct watcher *w = NEW(struct watcher);
    list_init(&w->node);
    w->conf = conf;
    w->cluster = cluster;
    w->journal = journal;
    take_over(w);
    w->opened_ms = clock_now_ms(journal->clock);
    selection_init(&w->selection, conf);
    w->told.on_hold = on_hold;
    list_init(&w->told.node);
    named(w);
    w->n_feeds = conf->namespaces.count ? conf->namespaces.count : 1;
    w->feeds = xcalloc(w->n_feeds, sizeof(*w->feeds));
    for (size_t i = 0; i < w->n_feeds; i++)
        if (open_feed(w, i, err) < 0) {
            err_wrap(err, "watch '%s'", conf->name);
            watcher_close(w);
            return NULL;
        }
    return w;
}

/* A full output may ask to hold at once: the handlers are there by then. */
void watcher_begin(struct watcher *w)
{
    for (size_t i = 0; i < w->n_feeds; i++)
        inf_handler_add(w->feeds[i].informer, &w->feeds[i].handler);
    journal_watch_add(w->journal, &w->told);
}

void watcher_move(struct watcher *w, const struct conf_watch *conf, struct cluster *cluster)
{
    w->conf = conf;
    w->cluster = cluster;
    take_over(w);
    for (size_t i = 0; i < conf->namespaces.count; i++)
        w->feeds[i].ns = conf->namespaces.items[i];
    named(w);
}

void watcher_close(struct watcher *w)
{
    if (!w)
        return;
    list_remove(&w->node);
    if (!list_empty(&w->told.node))
        journal_watch_remove(&w->told);
    for (size_t i = 0; i < w->n_feeds; i++)
        inf_informer_close(w->feeds[i].informer);
    selection_done(&w->selection);
    free(w->feeds);
    free(w);
}

/* ---- how it is doing ---- */

/* The age of what was seen last at the one where that is longest ago. */
static uint64_t older(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The error of the one that has failed the longest, which of several has to be named. */
static void take_error(struct inf_status *sum, const struct inf_status *one, const char *ns)
{
    if (!one->error.code || (sum->error.code && one->failing_for_ms <= sum->failing_for_ms))
        return;
    sum->error = one->error;
    sum->failing_for_ms = one->failing_for_ms;
    if (ns)
        err_wrap(&sum->error, "namespace '%s'", ns);
}

static void add_numbers(struct inf_status *sum, const struct inf_status *one)
{
    sum->requests += one->requests;
    sum->skipped += one->skipped;
    sum->coalesced += one->coalesced;
    sum->queued += one->queued;
    for (size_t code = 0; code < INF_ERRORS; code++) {
        sum->ends[code] += one->ends[code];
        sum->relists[code] += one->relists[code];
    }
}

static void add_ages(struct inf_status *sum, const struct inf_status *one)
{
    sum->event_age_ms =
        one->event_age_ms < sum->event_age_ms ? one->event_age_ms : sum->event_age_ms;
    sum->bookmark_age_ms = older(sum->bookmark_age_ms, one->bookmark_age_ms);
    sum->heard_age_ms = older(sum->heard_age_ms, one->heard_age_ms);
    sum->held_for_ms = older(sum->held_for_ms, one->held_for_ms);
}

const struct watcher_status watcher_status_none = {
    .sum = {.synced = true, .event_age_ms = INF_NEVER},
};

void watcher_status_add(struct watcher_status *s, const struct inf_status *one, const char *ns)
{
    s->sum.synced &= one->synced;
    s->sum.waiting |= one->waiting;
    s->sum.stale |= one->stale;
    s->sum.held |= one->held;
    take_error(&s->sum, one, ns);
    add_ages(&s->sum, one);
    add_numbers(&s->sum, one);
    s->streams++;
    s->live += one->synced && !one->stale && !one->held && !one->error.code;
}

void watcher_status(const struct watcher *w, struct watcher_status *ret)
{
    struct inf_status one;
    *ret = watcher_status_none;
    ret->age_ms = clock_now_ms(w->journal->clock) - w->opened_ms;
    for (size_t i = 0; i < w->n_feeds; i++) {
        const struct inf_store *store = inf_informer_store(w->feeds[i].informer);
        inf_informer_status(w->feeds[i].informer, &one);
        watcher_status_add(ret, &one, w->n_feeds > 1 ? w->feeds[i].ns : NULL);
        ret->objects += inf_store_count(store);
        ret->bytes += inf_store_bytes(store);
        ret->backlog += inf_handler_backlog(&w->feeds[i].handler);
    }
}

bool watcher_ready(const struct watcher_status *status)
{
    return status->sum.synced && !status->sum.stale && !status->sum.held;
}
