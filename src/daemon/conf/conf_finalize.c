/*
 * conf_finalize.c - completes and validates a configuration after all files are read.
 *
 * Normal path: conf_finalize() sets default names and the defaults that depend on other options, then
 * checks that names are unique, that references exist, and that options do not contradict each other. Every
 * error is reported at the position of the option or entry that causes it.
 */
#include "daemon/conf/conf_finalize.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "informer/informer.h"

#include "base/alloc.h"
#include "base/base.h"
#include "base/str.h"
#include "base/text/glob.h"
#include "base/text/nearest.h"
#include "daemon/conf/conf_api.h"
#include "daemon/conf/conf_levels.h"
#include "daemon/conf/conf_logs.h"
#include "daemon/conf/conf_replica.h"
#include "daemon/format/record_format.h"
#include "daemon/handler/handler_kind.h"
#include "daemon/output/sink.h"
#include "daemon/pool.h"

enum {
    CANDIDATES_MAX = 10,    /* names listed for an unknown one */
    STALE_AFTER_MIN_S = 90, /* API servers send a bookmark about once a minute */
};

/* ---- errors of an entry ---- */

/* Enters "watches[1]". Entries are counted within their file, not over all files. */
static size_t enter_entry(struct conf_reader *reader, const char *list,
                          const struct yaml_node *entry, const struct conf *conf)
{
    size_t before = conf_reader_enter(reader, list);
    for (size_t i = 0; i < conf->n_files; i++) {
        const struct yaml_node *all = yaml_get(conf->files[i], list);
        size_t n = 0;
        for (const struct yaml_node *e = all ? all->first : NULL; e; e = e->next, n++)
            if (e == entry)
                conf_reader_enter_nth(reader, n);
    }
    return before;
}

void conf_key_error(struct conf_reader *reader, size_t before, const struct yaml_node *section,
                    const char *key, const char *fmt, va_list args)
{
    const struct yaml_node *node = yaml_get(section, key);
    char message[INF_ERROR_TEXT_MAX];
    vsnprintf(message, sizeof(message), fmt, args);
    if (node)
        conf_reader_enter(reader, key);
    conf_reader_error(reader, node ? node : section, "%s", message);
    conf_reader_leave(reader, before);
}

void conf_entry_error(struct conf_reader *reader, const struct conf *conf, const char *list,
                      const struct yaml_node *entry, const char *key, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    conf_key_error(reader, enter_entry(reader, list, entry, conf), entry, key, fmt, args);
    va_end(args);
}

/* ---- names: duplicates and references ---- */

/* A list whose entries have a unique key. */
struct keyed_list {
    const char *list;
    const char *key;
    const char *entry;  /* name of an entry in messages */
    const char *remedy; /* for duplicates */
};

static const struct keyed_list clusters = {"clusters", "name", "cluster", "choose another name"};
static const struct keyed_list watches = {"watches", "name", "watch",
                                          "choose another name, for example 'name: more'"};
static const struct keyed_list event_logs = {"event_logs", "path", "event log",
                                             "each event log needs its own file"};
static const struct keyed_list handlers = {"handlers", "name", "handler", "choose another name"};
static const struct keyed_list sinks = {"sinks", "name", "sink", "choose another name"};
static const struct keyed_list levels = {"levels", "name", "rule", "choose another name"};

/* The entries of such a list in a configuration. */
struct keyed_entries {
    const struct conf_option *list;
    const struct conf_option *key;
    const struct conf *conf;
    size_t count;
};

static struct keyed_entries entries_of(const struct keyed_list *keyed, const struct conf *conf)
{
    const struct conf_option *list = conf_option_find(&conf_table, keyed->list);
    return (struct keyed_entries){
        .list = list,
        .key = conf_option_find(list->table, keyed->key),
        .conf = conf,
        .count = conf_entry_count(list, conf),
    };
}

/* The key of the n-th entry; NULL: missing, which is already reported. */
static const char *key_of(const struct keyed_entries *entries, size_t n)
{
    return *(char **)conf_member(entries->key, conf_entry(entries->list, entries->conf, n));
}

/* The index of the entry named @name among the first @n. If there is none, the number of
 * entries. */
static size_t find_key(const struct keyed_entries *entries, const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *other = key_of(entries, i);
        if (other && strcmp(other, name) == 0)
            return i;
    }
    return entries->count;
}

static void check_unique(struct conf_reader *reader, const struct conf *conf,
                         const struct keyed_list *keyed)
{
    struct keyed_entries entries = entries_of(keyed, conf);
    for (size_t i = 0; i < entries.count; i++) {
        const char *name = key_of(&entries, i);
        size_t earlier = name ? find_key(&entries, name, i) : entries.count;
        const struct conf_head *first, *second = conf_entry(entries.list, conf, i);
        const struct yaml_node *at;
        char *shown;
        if (earlier == entries.count)
            continue;
        first = conf_entry(entries.list, conf, earlier);
        at = yaml_get(first->node, keyed->key) ? yaml_get(first->node, keyed->key) : first->node;
        shown = conf_show(name);
        conf_entry_error(reader, conf, keyed->list, second->node, keyed->key,
                         "duplicate %s %s %s, first used at %s:%zu:%zu; %s", keyed->entry,
                         keyed->key, shown, at->file, at->line, at->column, keyed->remedy);
        free(shown);
    }
}

/* Appends the keys of the first entries: "prod, test, ...". Returns whether there are any. */
static bool put_keys(const struct keyed_entries *entries, struct buf *out)
{
    for (size_t i = 0, shown = 0; i < entries->count; i++) {
        const char *key = key_of(entries, i);
        if (key && shown++ < CANDIDATES_MAX)
            buf_printf(out, "%s%s", out->len ? ", " : "", key);
        else if (key && shown == CANDIDATES_MAX + 1)
            buf_puts(out, ", ...");
    }
    return out->len > 0;
}

/* Reports an error at @node unless @name is the key of an entry. */
static void check_reference(struct conf_reader *reader, const struct conf *conf,
                            const struct yaml_node *node, const struct keyed_list *keyed,
                            const char *name)
{
    struct keyed_entries entries = entries_of(keyed, conf);
    struct nearest nearest = {0};
    struct buf keys = {0};
    char *shown;
    if (find_key(&entries, name, entries.count) < entries.count || conf_reader_is_full(reader))
        return;
    for (size_t i = 0; i < entries.count; i++)
        if (key_of(&entries, i))
            nearest_try(&nearest, name, key_of(&entries, i));
    shown = conf_show(name);
    if (nearest.word)
        conf_reader_error(reader, node, "unknown %s %s; did you mean '%s'?", keyed->entry, shown,
                          nearest.word);
    else if (put_keys(&entries, &keys))
        conf_reader_error(reader, node, "unknown %s %s; configured: %.*s", keyed->entry, shown,
                          (int)keys.len, keys.bytes);
    else
        conf_reader_error(reader, node, "unknown %s %s; none is configured", keyed->entry, shown);
    buf_free(&keys);
    free(shown);
}

void conf_check_watch_name(struct conf_reader *reader, const struct conf *conf,
                           const struct yaml_node *node, const char *name)
{
    check_reference(reader, conf, node, &watches, name);
}

/* ---- checks of a watch ---- */

static void check_cluster_of(struct conf_reader *reader, const struct conf *conf,
                             const struct conf_watch *watch)
{
    const struct yaml_node *node = yaml_get(watch->head.node, "cluster");
    size_t before;
    if (!node && conf->n_clusters > 1)
        conf_entry_error(reader, conf, "watches", watch->head.node, "cluster",
                         "missing key 'cluster'; it is required when several clusters are "
                         "configured");
    if (!node || !watch->cluster)
        return;
    before = enter_entry(reader, "watches", watch->head.node, conf);
    conf_reader_enter(reader, "cluster");
    check_reference(reader, conf, node, &clusters, watch->cluster);
    conf_reader_leave(reader, before);
}

static void check_indexes(struct conf_reader *reader, const struct conf *conf,
                          const struct conf_watch *watch)
{
    size_t len = strlen("metadata");
    for (size_t i = 0; watch->keep == CONF_KEEP_METADATA && i < watch->indexes.count; i++) {
        const char *path = watch->indexes.items[i].path;
        if (strncmp(path, "metadata", len) == 0 && (!path[len] || strchr(".[", path[len])))
            continue;
        conf_entry_error(reader, conf, "watches", watch->head.node, "indexes",
                         "with 'keep: metadata' only fields below metadata can be indexed");
        return;
    }
}

static void check_namespaces(struct conf_reader *reader, const struct conf *conf,
                             const struct conf_watch *watch)
{
    static const char *const keys[] = {"namespaces", "exclude_namespaces", "namespace_selector"};
    const struct yaml_node *entry = watch->head.node;
    const struct conf_list *excluded = &watch->exclude_namespaces;
    if (watch->namespaces.count && watch->namespace_selector)
        conf_entry_error(reader, conf, "watches", entry, "namespace_selector",
                         "cannot be combined with 'namespaces'; use only one of them");
    if (watch->namespaces.count && excluded->count)
        conf_entry_error(reader, conf, "watches", entry, "exclude_namespaces",
                         "cannot be combined with 'namespaces'; use only one of them");
    for (size_t i = 0; i < excluded->count; i++)
        if (glob_matches(excluded->items[i], "") && excluded->items[i][0]) {
            conf_entry_error(reader, conf, "watches", entry, "exclude_namespaces",
                             "'*' excludes every namespace");
            break;
        }
    if (watch->resource && inf_resource_is_cluster_scoped(watch->resource))
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
            if (yaml_get(entry, keys[i]))
                conf_entry_error(reader, conf, "watches", entry, keys[i],
                                 "'%s' is cluster-scoped and cannot be limited to namespaces",
                                 watch->resource);
}

/* ---- checks of event logs and handlers ---- */

/* The n-th name of the list always corresponds to the n-th node: see conf_type_list.c. */
static void check_watches_of(struct conf_reader *reader, const struct conf *conf,
                             const char *list_name, const struct yaml_node *entry,
                             const struct conf_list *names)
{
    const struct yaml_node *list = yaml_get(entry, "watches");
    const struct yaml_node *node = list ? list->first : NULL;
    size_t before = enter_entry(reader, list_name, entry, conf);
    conf_reader_enter(reader, "watches");
    for (size_t i = 0; i < names->count; i++, node = node->next) {
        size_t within = conf_reader_enter_nth(reader, i);
        if (names->items[i][0])
            check_reference(reader, conf, node, &watches, names->items[i]);
        conf_reader_leave(reader, within);
    }
    conf_reader_leave(reader, before);
}

static void check_event_logs(struct conf_reader *reader, const struct conf *conf)
{
    size_t files = 0;
    for (size_t i = 0; i < conf->n_event_logs; i++) {
        const struct conf_event_log *log = &conf->event_logs[i];
        const struct sink_type *sink = log->path ? sink_type_for(log->path) : NULL;
        check_watches_of(reader, conf, "event_logs", log->head.node, &log->filter.watches);
        if (sink && !sink->rotate && log->rotate.size)
            conf_entry_error(reader, conf, "event_logs", log->head.node, "rotate",
                             "%s cannot be rotated; remove the key or write to a file", log->path);
        /* each file may block a thread while its disk hangs: see daemon/pool.h */
        if (sink && sink->on_pool && ++files == POOL_LOGS_MAX + 1)
            conf_entry_error(reader, conf, "event_logs", log->head.node, "path",
                             "more than %d event logs are files; use fewer files or run a second "
                             "informerd",
                             POOL_LOGS_MAX);
    }
}

static bool has_limits(const struct conf_limits *limits)
{
    return limits->cpu_ms || limits->memory || limits->files || limits->processes;
}

/* Keys that would have no effect. Defaults are accepted: --print-config writes them. */
static void check_kind_keys(struct conf_reader *reader, const struct conf *conf,
                            const struct conf_handler *h, const struct handler_kind *kind)
{
    bool runs_program = strcmp(kind->name, "exec") == 0;
    const struct {
        const char *key;
        bool unused;
    } rows[] = {
        {"mode", h->mode != CONF_EXEC_RUN && !runs_program},
        {"user", h->user && !runs_program},
        {"group", h->group && !runs_program},
        {"directory", h->directory && strcmp(h->directory, "/") != 0 && !runs_program},
        {"umask", h->umask != CONF_UMASK && !runs_program},
        {"limits", has_limits(&h->limits) && !runs_program},
        {"reader", h->reader && kind != &handler_client},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].unused)
            conf_entry_error(reader, conf, "handlers", h->head.node, rows[i].key,
                             "cannot be used with %s; remove the key", kind->name);
}

static void check_handler_reader(struct conf_reader *reader, const struct conf *conf,
                                 const struct conf_handler *h)
{
    for (size_t i = 0; h->reader && i < conf->api.n_readers; i++)
        if (conf->api.readers[i].name && strcmp(conf->api.readers[i].name, h->reader) == 0)
            return;
    if (h->reader)
        conf_entry_error(reader, conf, "handlers", h->head.node, "reader",
                         "no entry of api.readers has the name '%s'; add it", h->reader);
}

/* A kind is set if its key has a value; the sample has keys without one. */
static void check_handler_kind(struct conf_reader *reader, const struct conf *conf,
                               const struct conf_handler *h)
{
    const struct handler_kind *kind = NULL;
    struct inf_error err;
    struct buf names = {0};
    size_t set = 0;
    for (size_t i = 0; handler_kinds[i]; i++) {
        bool is_set = handler_kinds[i]->is_set(h);
        if (handler_kinds[i]->is_sink)
            continue;
        if (!i || strcmp(handler_kinds[i]->name, handler_kinds[i - 1]->name) != 0)
            buf_printf(&names, "%s%s", i ? ", " : "", handler_kinds[i]->name);
        set += is_set;
        if (is_set || (!kind && yaml_get(h->head.node, handler_kinds[i]->name)))
            kind = handler_kinds[i];
    }
    if (!kind || set > 1)
        conf_entry_error(reader, conf, "handlers", h->head.node, "name",
                         "exactly one of the keys %.*s is required", (int)names.len, names.bytes);
    else if (kind->check && kind->check(h, &err) < 0)
        conf_entry_error(reader, conf, "handlers", h->head.node, kind->name, "%s", err.text);
    else if (kind != &handler_stream && h->concurrency > CONF_CONCURRENCY_MAX)
        conf_entry_error(reader, conf, "handlers", h->head.node, "concurrency",
                         "is more than %d, which needs mode: stream", CONF_CONCURRENCY_MAX);
    if (kind && set == 1 && !kind->batches && h->batch.max > 1)
        conf_entry_error(reader, conf, "handlers", h->head.node, "batch",
                         "cannot be used with %s; remove the key", kind->name);
    if (kind && set == 1)
        check_kind_keys(reader, conf, h, kind);
    buf_free(&names);
}

static void check_handlers(struct conf_reader *reader, const struct conf *conf)
{
    for (size_t i = 0; i < conf->n_handlers; i++) {
        const struct conf_handler *h = &conf->handlers[i];
        check_watches_of(reader, conf, "handlers", h->head.node, &h->filter.watches);
        check_handler_kind(reader, conf, h);
        check_handler_reader(reader, conf, h);
    }
}

/* A sink has its queue under the same name as a handler would. */
static void check_sink_name(struct conf_reader *reader, const struct conf *conf,
                            const struct conf_handler *sink)
{
    for (size_t i = 0; sink->name && i < conf->n_handlers; i++)
        if (cstr_eq(conf->handlers[i].name, sink->name))
            conf_entry_error(reader, conf, "sinks", sink->head.node, "name",
                             "a handler has the name '%s', too; choose another name", sink->name);
}

static void check_sinks(struct conf_reader *reader, const struct conf *conf)
{
    for (size_t i = 0; i < conf->n_sinks; i++) {
        const struct conf_handler *sink = &conf->sinks[i];
        const struct handler_kind *kind = handler_kind_of(sink);
        struct inf_error err;
        check_watches_of(reader, conf, "sinks", sink->head.node, &sink->filter.watches);
        check_sink_name(reader, conf, sink);
        if (!kind)
            conf_entry_error(reader, conf, "sinks", sink->head.node, "nats",
                             yaml_get(sink->head.node, "nats")
                                 ? "url and stream are required"
                                 : "missing key 'nats'; write nats: {url: ..., stream: ...}");
        else if (kind->check && kind->check(sink, &err) < 0)
            conf_entry_error(reader, conf, "sinks", sink->head.node, kind->name, "%s", err.text);
    }
}

/* ---- defaults that depend on other options ---- */

static void name_clusters(struct conf_reader *reader, struct conf *conf)
{
    if (!conf->n_clusters)
        conf_entry_add(reader, conf_option_find(&conf_table, "clusters"), conf);
    for (size_t i = 0; i < conf->n_clusters; i++) {
        struct conf_cluster *cluster = &conf->clusters[i];
        if (cluster->name || yaml_get(cluster->head.node, "name"))
            continue;
        if (conf->n_clusters == 1)
            cluster->name = xstrdup("default");
        else
            conf_entry_error(reader, conf, "clusters", cluster->head.node, "name",
                             "missing key 'name'; it is required when several clusters are "
                             "configured");
    }
}

static bool is_one_of(struct str word, const char *const *names)
{
    for (; *names; names++)
        if (strlen(*names) == word.len && strncasecmp(*names, word.at, word.len) == 0)
            return true;
    return false;
}

/* Nodes and Leases in any spelling (informer.h): over half of their changes are heartbeats. */
static bool has_heartbeats(const char *resource)
{
    static const char *const nodes[] = {"nodes", "node", "no", NULL};
    static const char *const leases[] = {"leases", "lease", NULL};
    struct str name = {resource, strcspn(resource, "./")};
    const char *rest = resource + name.len;
    if (is_one_of(name, nodes))
        return strspn(rest, ".v1/") == strlen(rest); /* only the core group */
    return is_one_of(name, leases) && (!*rest || strcasestr(rest, ".coordination.k8s.io"));
}

static void complete_watches(struct conf *conf)
{
    for (size_t i = 0; i < conf->n_watches; i++) {
        struct conf_watch *watch = &conf->watches[i];
        if (!watch->name && watch->resource) {
            watch->name = xstrdup(watch->resource);
            for (char *c = watch->name; *c; c++) /* names have no upper case letters */
                *c = (char)tolower((unsigned char)*c);
        }
        if (!watch->cluster && conf->n_clusters == 1 && conf->clusters[0].name)
            watch->cluster = xstrdup(conf->clusters[0].name);
        if (!yaml_get(watch->head.node, "cache"))
            watch->cache = conf->cache;
        watch->shard = conf->shard;
        if (watch->resource && !yaml_get(watch->head.node, "ignore")) {
            watch->ignore.items = xcalloc(1, sizeof(char *));
            watch->ignore.items[watch->ignore.count++] =
                xstrdup(has_heartbeats(watch->resource) ? "heartbeats" : "unchanged");
        }
    }
}

static void complete_event_logs(struct conf *conf)
{
    static const unsigned presets[] = {
        [CONF_OBJECT_NONE] = 0,
        [CONF_OBJECT_DIFF] = 1u << INF_DELETED,
        [CONF_OBJECT_FULL] = RECORD_ALL_VERBS,
    };
    for (size_t i = 0; i < conf->n_event_logs; i++) {
        struct conf_event_log *log = &conf->event_logs[i];
        if (!yaml_get(log->head.node, "object_verbs"))
            log->object_verbs = presets[log->object];
    }
}

static void check_shard(struct conf_reader *reader, const struct conf *conf)
{
    size_t before;
    if (conf->shard.index < conf->shard.count)
        return;
    before = conf_reader_enter(reader, "shard");
    conf_reader_enter(reader, "index");
    if (conf->shard.count == 1)
        conf_reader_error(reader, yaml_get(conf->shard.head.node, "index"),
                          "there is one shard, 0; set shard.count to the number of processes");
    else
        conf_reader_error(reader, yaml_get(conf->shard.head.node, "index"),
                          "there is no shard %" PRIu64 " of %" PRIu64 "; use 0 to %" PRIu64,
                          conf->shard.index, conf->shard.count, conf->shard.count - 1);
    conf_reader_leave(reader, before);
}

void conf_finalize(struct conf_reader *reader, struct conf *conf)
{
    name_clusters(reader, conf);
    complete_watches(conf);
    complete_event_logs(conf);
    conf_replica_complete(conf);
    check_unique(reader, conf, &clusters);
    check_unique(reader, conf, &watches);
    check_unique(reader, conf, &event_logs);
    check_unique(reader, conf, &handlers);
    check_unique(reader, conf, &sinks);
    check_unique(reader, conf, &levels);
    conf_levels_check(reader, conf);
    conf_api_check(reader, conf);
    conf_logs_compare(reader, conf);
    for (size_t i = 0; i < conf->n_watches; i++) {
        check_cluster_of(reader, conf, &conf->watches[i]);
        check_indexes(reader, conf, &conf->watches[i]);
        check_namespaces(reader, conf, &conf->watches[i]);
    }
    check_event_logs(reader, conf);
    check_handlers(reader, conf);
    check_sinks(reader, conf);
    check_shard(reader, conf);
    conf_replica_check(reader, conf);
}

/* ---- warnings ---- */

void conf_warnings(const struct conf *conf, void (*warn)(void *ctx, const char *line), void *ctx)
{
    if (!conf->n_watches)
        warn(ctx, "the configuration has no watches; there is nothing to do");
    else if (!conf->n_event_logs && !conf->n_handlers && !conf->n_sinks)
        warn(ctx, "the configuration has no event_logs; changes are not logged");
    for (size_t i = 0; i < conf->n_clusters; i++) {
        const struct conf_cluster *cluster = &conf->clusters[i];
        uint64_t ms = cluster->stale_after_ms;
        char *line;
        if (ms >= STALE_AFTER_MIN_S * 1000)
            continue;
        line = xasprintf("cluster '%s': stale_after is %" PRIu64 ".%" PRIu64
                         "s. API servers send a bookmark about once a minute, so idle watches will "
                         "repeatedly become stale and recover; set it to at least %ds",
                         cluster->name, ms / 1000, ms % 1000 / 100, STALE_AFTER_MIN_S);
        warn(ctx, line);
        free(line);
    }
}
