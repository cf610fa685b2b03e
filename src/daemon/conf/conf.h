/*
 * conf.h - the configuration as plain structs.
 *
 *     struct conf conf;
 *     struct conf_errors errors = {0};
 *     if (conf_load("/etc/informerd/informerd.conf", &conf, &errors) < 0)
 *         ... errors.text: a line for each error, with file, line, column and key
 *
 * Options, their defaults and their documentation are defined only in conf_table.c. After
 * conf_load() all values are set: defaults are filled in, names are unique, references are valid,
 * and selectors, field paths and addresses are well formed. An unset string, list or map is NULL or
 * empty; the comment at the member says what that means.
 */
#ifndef DAEMON_CONF_H
#define DAEMON_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"
#include "informer/event.h"
#include "informer/informer.h"

#include "base/buf.h"

struct yaml_node;

/* The position of a value in the files. */
struct conf_origin {
    const struct yaml_node *node; /* NULL: default value */
    const struct yaml_node *over; /* the value of an earlier file that this one replaced */
    const char *env;              /* variable that a default value comes from, or NULL */
};

/*
 * The first member of each struct below, so that errors found later can still refer to the position
 * of a value, as in yaml_error(watch->head.node, err, "...").
 */
struct conf_head {
    const struct yaml_node *node; /* the entry; NULL: not in any file */
    struct conf_origin *origins;  /* one per option, in the order of the table */
};

struct conf_list {
    char **items; /* NULL: not given; an explicit empty list is not NULL */
    size_t count;
};

/* Names with field paths. */
struct conf_indexes {
    struct inf_index *items;
    size_t count;
};

/* ---- the parts ---- */

struct conf_socket {
    struct conf_head head;
    char *path; /* NULL: no socket */
    uint64_t mode;
    char *group; /* NULL: the group of the daemon */
};

struct conf_http {
    struct conf_head head;
    char *listen; /* "127.0.0.1:9470", "[::1]:9470"; NULL: do not listen */
    struct conf_list allowed_hosts;
};

/* An entry of api.readers: exactly one of uid, group and token_file is set. */
struct conf_api_reader {
    struct conf_head head;
    char *name;
    char *uid; /* decimal */
    char *group;
    char *token_file;
    struct conf_list watches;    /* names; none: all */
    struct conf_list namespaces; /* none: all */
};

enum conf_gzip {
    CONF_GZIP_REMOTE, /* for clients of other hosts */
    CONF_GZIP_ALWAYS,
    CONF_GZIP_NEVER,
};

struct conf_api {
    struct conf_head head;
    char *listen;     /* "127.0.0.1:6444"; NULL: only the Unix socket */
    uint64_t history; /* events per resource */
    enum conf_gzip gzip;
    struct conf_api_reader *readers; /* besides the daemon's own user and root */
    size_t n_readers;
};

enum conf_log_format {
    CONF_LOGFMT,
    CONF_JSON,
    CONF_LOG_TEXT, /* like the record format `short`; only for `informerd watch` on a terminal */
};

struct conf_memory {
    struct conf_head head;
    uint64_t backlog; /* bytes */
};

struct conf_state {
    struct conf_head head;
    bool enabled;
    uint64_t max_disk; /* bytes */
};

struct conf_log {
    struct conf_head head;
    enum inf_log_level level;
    enum conf_log_format format;
};

struct conf_cluster {
    struct conf_head head;
    char *name;
    char *kubeconfig; /* NULL: same search as kubectl */
    char *context;    /* NULL: the current context */
    char *cluster;    /* NULL: the cluster of the context; likewise for the user */
    char *user;
    char *as; /* NULL: no impersonation */
    struct conf_list as_groups;
    char *server; /* instead of a kubeconfig */
    char *ca;
    char *token_file;
    const char *token; /* borrowed; set by `informerd watch --token`, not by a conf file */
    struct conf_list exec_allow; /* items NULL: any */
    char *proxy;                 /* NULL: same search as kubectl */
    uint64_t stale_after_ms;
};

enum conf_keep {
    CONF_KEEP_ALL,
    CONF_KEEP_METADATA,
};

enum conf_cache {
    CONF_CACHE_PLAIN,
    CONF_CACHE_COMPACT,
};

enum {
    CONF_SHARDS_MAX = 1024, /* LIMIT: as in struct inf_watch */
};

struct conf_shard {
    struct conf_head head;
    uint64_t index;
    uint64_t count;
};

enum conf_replica_mode {
    CONF_REPLICA_LEADER,
    CONF_REPLICA_ACTIVE,
};

enum {
    CONF_LEASE_MIN_MS = 2000, /* the API counts whole seconds */
    CONF_LEASE_MAX_MS = 3600 * 1000,
};

/* One of several daemons with the same configuration. */
struct conf_replica {
    struct conf_head head;
    char *group; /* the name of the Lease; NULL: this is the only one */
    enum conf_replica_mode mode;
    char *cluster; /* of the Lease */
    char *ns;
    uint64_t lease_duration_ms;
    uint64_t renew_deadline_ms;
    uint64_t retry_period_ms;
};

struct conf_watch {
    struct conf_head head;
    char *name;
    char *cluster;
    char *resource;
    struct conf_list namespaces; /* none: all */
    bool ns_is_default;          /* set by `informerd watch`: see inf_watch */
    struct conf_list exclude_namespaces;
    char *namespace_selector; /* NULL: all */
    char *label_selector;     /* NULL: all objects */
    char *field_selector;     /* NULL: all objects */
    enum conf_keep keep;
    struct conf_list drop;   /* field paths */
    struct conf_list redact; /* field paths */
    bool reveal;
    struct conf_list ignore; /* presets and field paths: journal/noise.h */
    struct conf_indexes indexes;
    enum conf_cache cache;
    bool coalesce;
    bool optional;
    struct conf_shard shard; /* that of the whole configuration */
};

enum conf_object {
    CONF_OBJECT_NONE,
    CONF_OBJECT_DIFF,
    CONF_OBJECT_FULL,
};

struct conf_rotate {
    struct conf_head head;
    uint64_t size; /* 0: never */
    uint64_t keep;
};

enum conf_level_value { /* from INF_LOG_INFO on, as in enum inf_log_level */
    CONF_LEVEL_INFO,
    CONF_LEVEL_WARN,
    CONF_LEVEL_ERROR,
};

/* The changes that an event log or a handler gets: see conf_filter.h. */
struct conf_filter {
    struct conf_list watches;    /* names; none: all */
    struct conf_list namespaces; /* none: all */
    struct conf_list names;      /* regular expressions; none: all */
    unsigned verbs;              /* bit 1 << verb, of enum inf_verb */
    enum conf_level_value level; /* the minimum */
    struct conf_list changed;    /* field paths; none: any change */
    char *label_selector;        /* NULL: all objects */
    char *when;                  /* a condition, only of handlers; NULL: none */
    bool initial;
};

struct conf_event_log {
    struct conf_head head;
    char *path; /* absolute, or "stdout" */
    struct conf_filter filter;
    enum conf_object object;
    unsigned object_verbs; /* bits as in `verbs`: the records that have the whole object */
    unsigned context;      /* bits of enum context_part */
    struct conf_indexes fields;
    uint64_t max_line;
    struct conf_rotate rotate;
    char *format;            /* NAME or NAME=ARGUMENT: see record_format_find() */
    uint64_t stuck_after_ms; /* 0: never */
};

struct conf_level {
    struct conf_head head;
    char *name;    /* NULL: none */
    char *kind;    /* NULL: that of the built-in rule with this name */
    char *when;    /* a condition; NULL: see `changed` */
    char *changed; /* a field path; NULL and no `when`: as in the built-in rule */
    enum conf_level_value level;
};

/* "1s..5m" */
struct conf_duration_range {
    uint64_t min_ms, max_ms;
};

struct conf_retry {
    struct conf_head head;
    uint64_t max;
    struct conf_duration_range backoff;
};

/* Resource limits of a program; 0: those of the daemon. */
struct conf_limits {
    struct conf_head head;
    uint64_t cpu_ms;
    uint64_t memory;
    uint64_t files;
    uint64_t processes;
};

enum conf_exec_mode {
    CONF_EXEC_RUN,
    CONF_EXEC_STREAM,
};

enum {
    CONF_CONCURRENCY_MAX = 64, /* LIMIT: runs of a handler at a time; programs: see CHILDREN_MAX */
    CONF_STREAM_CONCURRENCY_MAX = 4096, /* LIMIT: records in flight with mode: stream */
    CONF_UMASK = 0027,                  /* the default of `umask` */
};

struct conf_webhook {
    struct conf_head head;
    char *url;
    char *url_file;                   /* instead of url */
    char *preset;                     /* see webhook_preset_find() */
    struct conf_indexes headers;      /* names and values */
    struct conf_indexes header_files; /* names and files with their values */
    char *signature_key_file;
    char *ca_file, *cert_file, *key_file;
    char *proxy; /* NULL: that of the environment */
};

struct conf_batch {
    struct conf_head head;
    uint64_t max;
    uint64_t within_ms;
};

struct conf_nats {
    struct conf_head head;
    char *url;    /* one or several, separated by commas */
    char *stream; /* its name */
    char *subject;
    char *credentials; /* a .creds file */
    char *nkey_file;
    char *user, *password_file;
    char *token_file;
    char *ca_file, *cert_file, *key_file;
    bool tls_first;
    char *inbox;  /* NULL: _INBOX */
    char *domain; /* of JetStream; NULL: that of the server */
};

/* An entry of `handlers` or of `sinks`, which differ in their options and defaults. */
struct conf_handler {
    struct conf_head head;
    char *name;
    struct conf_filter filter;
    enum conf_object object;
    uint64_t max_line;
    struct conf_list exec;
    enum conf_exec_mode mode;
    char *user;      /* NULL: that of the daemon */
    char *group;     /* NULL: that of the user */
    char *directory; /* NULL: / */
    uint64_t umask;
    struct conf_limits limits;
    struct conf_webhook webhook;
    bool client;
    char *reader;          /* NULL: none */
    struct conf_nats nats; /* only of sinks */
    struct conf_batch batch;
    uint64_t rate;     /* runs a minute; 0: no limit */
    unsigned deliver;  /* enum handler_deliver */
    unsigned overflow; /* enum handler_overflow */
    uint64_t queue;    /* bytes */
    uint64_t concurrency;
    uint64_t timeout_ms;
    struct conf_retry retry;
};

struct conf {
    struct conf_head head;
    char *state_dir; /* NULL: none, for conf_load_text() */
    struct conf_socket socket;
    struct conf_http http;
    struct conf_api api;
    struct conf_log log;
    bool core_dumps;
    struct conf_memory memory;
    struct conf_state state;
    enum conf_cache cache; /* the default of watches */
    struct conf_shard shard;
    struct conf_replica replica;
    uint64_t latency_ms;
    uint64_t drain_timeout_ms;
    struct conf_cluster *clusters; /* at least one */
    size_t n_clusters;
    struct conf_watch *watches;
    size_t n_watches;
    struct conf_event_log *event_logs;
    size_t n_event_logs;
    struct conf_handler *handlers;
    size_t n_handlers;
    struct conf_handler *sinks;
    size_t n_sinks;
    struct conf_level *levels;
    size_t n_levels;

    struct yaml_node **files; /* parsed files: the main file, then those in conf.d */
    size_t n_files;
};

/* ---- loading ---- */

enum {
    CONF_ERRORS_MAX = 50, /* LIMIT: errors reported; more are counted */
    CONF_FILES_MAX = 256, /* LIMIT: files in conf.d */
    CONF_ENTRIES_MAX =
        1024, /* LIMIT: entries of a list; each name is compared with all earlier ones */
};

/* A zeroed struct has no errors. */
struct conf_errors {
    struct buf text; /* lines, each with its newline; not NUL-terminated */
    size_t count;
};

/*
 * Reads the file at @path and, in the order of their names, the files *.conf in the directory
 * conf.d next to it. Mappings are merged key by key, and a later value replaces an earlier one;
 * lists of entries are appended. A relative path is relative to the file that contains it.
 *
 * Returns 0, or -INF_ECONF with all errors in @errors; @ret is untouched then. The caller frees
 * both.
 */
int conf_load(const char *path, struct conf *ret, struct conf_errors *errors);

/* The same for one text, without the defaults that depend on the environment (conf_dirs.h). @name
 * is the file name in errors; relative paths are relative to its directory. */
int conf_load_text(const char *name, const char *text, size_t len, struct conf *ret,
                   struct conf_errors *errors);

/* Both may be called for a zeroed or an already freed struct. */
void conf_free(struct conf *conf);
void conf_errors_free(struct conf_errors *errors);

/* Appends the effective configuration to @out, as YAML that loads to the same values (except the
 * password of a proxy), each with its origin in a comment. */
void conf_print(const struct conf *conf, struct buf *out);

#endif
