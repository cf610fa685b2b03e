/*
 * conf_settle.c - completes and checks a configuration after all files are read.
 *
 * Normal path: set default names and the default of `ignore`, then check that names are unique,
 * that references exist, and that options do not contradict each other. Every error is reported at
 * the position of the option or entry that causes it.
 */
#include "daemon/conf/conf_settle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "informer/informer.h"

#include "base/alloc.h"
#include "base/base.h"
#include "base/glob.h"
#include "base/nearest.h"
#include "base/str.h"
#include "daemon/conf/conf_logs.h"
#include "daemon/pool.h"

/* ---- position of an entry ---- */

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

/* The node of @key in @entry, or the entry if the key is missing. */
static const struct yaml_node *node_of_key(const struct yaml_node *entry, const char *key)
{
    const struct yaml_node *node = yaml_get(entry, key);
    return node ? node : entry;
}

static void error_in(struct conf_reader *reader, const struct conf *conf, const char *list,
                     const struct yaml_node *entry, const char *key, const char *sentence)
{
    size_t before = enter_entry(reader, list, entry, conf);
    if (yaml_get(entry, key))
        conf_reader_enter(reader, key);
    conf_reader_error(reader, node_of_key(entry, key), "%s", sentence);
    conf_reader_leave(reader, before);
}

void conf_settle_error(struct conf_reader *reader, const struct conf *conf, const char *list,
                       const struct yaml_node *entry, const char *key, const char *sentence)
{
    error_in(reader, conf, list, entry, key, sentence);
}

/* ---- names: clashes and references ---- */

/* A list whose entries have a unique key. */
struct named {
    const char *list;
    const char *key;
    const char *what;   /* name of an entry in messages */
    const char *remedy; /* for duplicates */
};

static const struct named clusters = {"clusters", "name", "cluster", "choose another name"};
static const struct named watches = {"watches", "name", "watch",
                                     "choose another name, for example 'name: more'"};
static const struct named event_logs = {"event_logs", "path", "event log",
                                        "each event log needs its own file"};

/* The entries of such a list in a configuration. */
struct roll {
    const struct named *named;
    const struct conf_option *list;
    const struct conf_option *key;
    const struct conf *conf;
    size_t count;
};

static struct roll roll_of(const struct named *named, const struct conf *conf)
{
    const struct conf_option *list = conf_option_find(&conf_table, named->list);
    return (struct roll){
        .named = named,
        .list = list,
        .key = conf_option_find(list->table, named->key),
        .conf = conf,
        .count = conf_entry_count(list, conf),
    };
}

/* The name of the n-th entry; NULL: missing, which is already reported. */
static const char *name_of(const struct roll *roll, size_t n)
{
    return *(char **)conf_member(roll->key, conf_entry(roll->list, roll->conf, n));
}

static const struct yaml_node *node_of(const struct roll *roll, size_t n)
{
    const struct conf_head *head = conf_entry(roll->list, roll->conf, n);
    return head->node;
}

/* The first entry before the n-th that is named @name; the count if there is none. */
static size_t find_name(const struct roll *roll, const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *other = name_of(roll, i);
        if (other && strcmp(other, name) == 0)
            return i;
    }
    return roll->count;
}

static void report_duplicate(struct conf_reader *reader, const struct roll *roll, size_t first,
                             size_t second)
{
    const struct named *named = roll->named;
    const struct yaml_node *at = node_of_key(node_of(roll, first), named->key);
    char *shown = conf_show(name_of(roll, second));
    char *sentence = xasprintf("duplicate %s %s %s, first used at %s:%zu:%zu; %s", named->what,
                               named->key, shown, at->file, at->line, at->column, named->remedy);
    error_in(reader, roll->conf, named->list, node_of(roll, second), named->key, sentence);
    free(sentence);
    free(shown);
}

static void check_unique(struct conf_reader *reader, const struct conf *conf,
                         const struct named *named)
{
    struct roll roll = roll_of(named, conf);
    for (size_t i = 0; i < roll.count; i++) {
        const char *name = name_of(&roll, i);
        size_t before = name ? find_name(&roll, name, i) : roll.count;
        if (before < roll.count)
            report_duplicate(reader, &roll, before, i);
    }
}

/* Reports an error at @node unless @text is the name of an entry. */
static void check_reference(struct conf_reader *reader, const struct conf *conf,
                            const struct yaml_node *node, const struct named *named,
                            const char *text)
{
    struct roll roll = roll_of(named, conf);
    struct nearest nearest = {0};
    char *shown;
    if (find_name(&roll, text, roll.count) < roll.count || conf_reader_is_full(reader))
        return;
    for (size_t i = 0; i < roll.count; i++)
        if (name_of(&roll, i))
            nearest_try(&nearest, text, name_of(&roll, i));
    shown = conf_show(text);
    if (nearest.word)
        conf_reader_error(reader, node, "unknown %s %s; did you mean '%s'?", named->what, shown,
                          nearest.word);
    else
        conf_reader_error(reader, node, "unknown %s %s", named->what, shown);
    free(shown);
}

static void check_cluster_of(struct conf_reader *reader, const struct conf *conf,
                             const struct conf_watch *watch)
{
    const struct yaml_node *node = yaml_get(watch->head.node, "cluster");
    size_t before;
    if (!node && conf->n_clusters > 1)
        error_in(reader, conf, "watches", watch->head.node, "cluster",
                 "missing key 'cluster'; it is required when several clusters are configured");
    if (!node || !watch->cluster)
        return;
    before = enter_entry(reader, "watches", watch->head.node, conf);
    conf_reader_enter(reader, "cluster");
    check_reference(reader, conf, node, &clusters, watch->cluster);
    conf_reader_leave(reader, before);
}

/* The n-th name of the list always corresponds to the n-th node: see read_item() in
 * conf_value.c. */
static void check_watches_of(struct conf_reader *reader, const struct conf *conf,
                             const struct conf_event_log *log)
{
    const struct yaml_node *list = yaml_get(log->head.node, "watches");
    const struct yaml_node *node = list ? list->first : NULL;
    size_t before = enter_entry(reader, "event_logs", log->head.node, conf);
    conf_reader_enter(reader, "watches");
    for (size_t i = 0; i < log->watches.count; i++, node = node->next) {
        size_t within = conf_reader_enter_nth(reader, i);
        if (log->watches.items[i][0])
            check_reference(reader, conf, node, &watches, log->watches.items[i]);
        conf_reader_leave(reader, within);
    }
    conf_reader_leave(reader, before);
}

/* ---- contradicting options ---- */

static bool is_metadata(const char *path)
{
    static const char metadata[] = "metadata";
    size_t len = sizeof(metadata) - 1;
    return strncmp(path, metadata, len) == 0 && (!path[len] || strchr(".[", path[len]));
}

static void check_kept(struct conf_reader *reader, const struct conf *conf,
                       const struct conf_watch *watch)
{
    if (watch->keep != CONF_KEEP_METADATA)
        return;
    for (size_t i = 0; i < watch->indexes.count; i++)
        if (!is_metadata(watch->indexes.items[i].path)) {
            error_in(reader, conf, "watches", watch->head.node, "indexes",
                     "with 'keep: metadata' only fields below metadata can be indexed");
            return;
        }
}

static bool excludes_all(const struct conf_list *excluded)
{
    for (size_t i = 0; i < excluded->count; i++)
        if (glob_matches(excluded->items[i], "") && excluded->items[i][0])
            return true;
    return false;
}

static void check_namespaces(struct conf_reader *reader, const struct conf *conf,
                             const struct conf_watch *watch)
{
    const struct yaml_node *at = watch->head.node;
    const struct conf_list *excluded = &watch->exclude_namespaces;
    if (watch->namespaces.count && watch->namespace_selector)
        error_in(reader, conf, "watches", at, "namespace_selector",
                 "cannot be combined with 'namespaces'; use only one of them");
    if (watch->namespaces.count && excluded->count)
        error_in(reader, conf, "watches", at, "exclude_namespaces",
                 "cannot be combined with 'namespaces'; use only one of them");
    if (excludes_all(excluded))
        error_in(reader, conf, "watches", at, "exclude_namespaces", "'*' excludes every namespace");
}

static void check_scope(struct conf_reader *reader, const struct conf *conf,
                        const struct conf_watch *watch)
{
    static const char *const keys[] = {"namespaces", "exclude_namespaces", "namespace_selector"};
    if (!watch->resource || !inf_resource_is_cluster_wide(watch->resource))
        return;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (yaml_get(watch->head.node, keys[i])) {
            char *sentence = xasprintf("'%s' is cluster-scoped; remove this key", watch->resource);
            error_in(reader, conf, "watches", watch->head.node, keys[i], sentence);
            free(sentence);
        }
}

static void check_rotate(struct conf_reader *reader, const struct conf *conf,
                         const struct conf_event_log *log)
{
    if (log->path && strcmp(log->path, "stdout") == 0 && log->rotate.size)
        error_in(reader, conf, "event_logs", log->head.node, "rotate",
                 "stdout cannot be rotated; remove the key or write to a file");
}

/* Each file may block a thread while its disk hangs: see daemon/pool.h. */
static void check_log_count(struct conf_reader *reader, const struct conf *conf)
{
    size_t files = 0;
    for (size_t i = 0; i < conf->n_event_logs; i++) {
        const struct conf_event_log *log = &conf->event_logs[i];
        char *sentence;
        files += log->path && strcmp(log->path, "stdout") != 0;
        if (files <= POOL_LOGS_MAX)
            continue;
        sentence = xasprintf("more than %d event logs are files; use fewer files or run a second "
                             "informerd",
                             POOL_LOGS_MAX);
        error_in(reader, conf, "event_logs", log->head.node, "path", sentence);
        free(sentence);
        return;
    }
}

/* ---- default names ---- */

/* Resource names may have upper case letters, watch names may not. */
static char *lower_case(const char *text)
{
    char *lower = xstrdup(text);
    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return lower;
}

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
            error_in(reader, conf, "clusters", cluster->head.node, "name",
                     "missing key 'name'; it is required when several clusters are configured");
    }
}

static void name_watches(struct conf *conf)
{
    for (size_t i = 0; i < conf->n_watches; i++) {
        struct conf_watch *watch = &conf->watches[i];
        if (!watch->name && watch->resource)
            watch->name = lower_case(watch->resource);
        if (!watch->cluster && conf->n_clusters == 1 && conf->clusters[0].name)
            watch->cluster = xstrdup(conf->clusters[0].name);
    }
}

/* ---- default of `ignore` ---- */

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

static void settle_ignored(struct conf *conf)
{
    for (size_t i = 0; i < conf->n_watches; i++) {
        struct conf_watch *watch = &conf->watches[i];
        if (watch->resource && !yaml_get(watch->head.node, "ignore"))
            watch->ignore =
                has_heartbeats(watch->resource) ? CONF_IGNORE_HEARTBEATS : CONF_IGNORE_UNCHANGED;
    }
}

void conf_settle(struct conf_reader *reader, struct conf *conf)
{
    name_clusters(reader, conf);
    name_watches(conf);
    settle_ignored(conf);
    check_unique(reader, conf, &clusters);
    check_unique(reader, conf, &watches);
    check_unique(reader, conf, &event_logs);
    conf_logs_compare(reader, conf);
    check_log_count(reader, conf);
    for (size_t i = 0; i < conf->n_watches; i++) {
        check_cluster_of(reader, conf, &conf->watches[i]);
        check_kept(reader, conf, &conf->watches[i]);
        check_namespaces(reader, conf, &conf->watches[i]);
        check_scope(reader, conf, &conf->watches[i]);
    }
    for (size_t i = 0; i < conf->n_event_logs; i++) {
        check_watches_of(reader, conf, &conf->event_logs[i]);
        check_rotate(reader, conf, &conf->event_logs[i]);
    }
}
