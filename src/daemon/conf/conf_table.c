/*
 * conf_table.c - all options of the configuration file, one row each: name, type, member, default
 * and help text.
 */
#include "daemon/conf/conf_table.h"

#include "base/base.h"
#include "daemon/conf/conf.h"
#include "daemon/journal/record_format.h"

static const char *const levels[] = {"debug", "info", "warn", "error", NULL};
static const char *const log_formats[] = {"logfmt", "json", NULL};
static const char *const keeps[] = {"all", "metadata", NULL};
static const char *const noises[] = {"heartbeats", "unchanged", NULL};
static const char *const verbs[] = {"ADDED", "MODIFIED", "DELETED", NULL};
static const char *const objects[] = {"none", "diff", "full", NULL};

_Static_assert(INF_LOG_DEBUG == 0 && INF_LOG_ERROR == 3, "levels counts enum inf_log_level");
_Static_assert(INF_ADDED == 0 && INF_DELETED == 2, "verbs counts enum inf_verb");

enum {
    SECOND = 1000, /* durations are in milliseconds */
    MINUTE = 60 * SECOND,
    HOUR = 60 * MINUTE,
    KIB = 1024,
    MIB = 1024 * KIB,
    RULES_MAX = 24,      /* per list; leaves room for the rules that the library adds */
    NAMESPACES_MAX = 64, /* each needs its own watch on the server */
    HOSTS_MAX = 100,     /* each is compared with the Host header of every request */
    KEEP_MAX = 100,      /* each is renamed at every rotation */
};

#define BACKLOG_MAX (UINT64_C(1) << 40)

/* clang-format off */
#define TABLE(type, rows, reserved) {rows, ARRAY_LEN(rows), sizeof(struct type), reserved}

#define AT(member) offsetof(struct conf_socket, member)
static const struct conf_option socket_options[] = {
    {"path", &conf_type_file, AT(path), "(off)",
     .help = "serve /livez, /readyz and /metrics on a Unix socket at this path",
     .example = "/run/informerd/informerd.sock"},
    {"mode", &conf_type_mode, AT(mode), "\"0660\"", .help = "permissions of the socket, in octal"},
    {"group", &conf_type_text, AT(group), "(the group of the daemon)",
     .help = "group that owns the socket",
     .example = "informerd"},
};
static const struct conf_table socket_table = TABLE(conf_socket, socket_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_http, member)
static const struct conf_option http_options[] = {
    {"listen", &conf_type_address, AT(listen), "(off)",
     .help = "serve /livez, /readyz and /metrics at this address and port",
     .example = "127.0.0.1:9470"},
    {"allowed_hosts", &conf_type_list, AT(allowed_hosts), "(none)",
     .help = "accept these names in the Host header, in addition to IP addresses and localhost",
     .of = &conf_type_host, .taken_over = true, .example = "[metrics.example.com]",
     .max = HOSTS_MAX},
};
static const struct conf_table http_table = TABLE(conf_http, http_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_memory, member)
static const struct conf_option memory_options[] = {
    {"backlog", &conf_type_size, AT(backlog), "256M",
     .help = "memory limit for queued changes and unwritten lines; above it, the watches with the "
             "largest backlogs are held",
     .min = 16 * MIB, .max = BACKLOG_MAX},
};
static const struct conf_table memory_table = TABLE(conf_memory, memory_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_log, member)
static const struct conf_option log_options[] = {
    {"level", &conf_type_choice, AT(level), "info",
     .help = "minimum level to log", .choices = levels},
    {"format", &conf_type_choice, AT(format), "logfmt",
     .help = "format of log lines", .choices = log_formats},
};
static const struct conf_table log_table = TABLE(conf_log, log_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_cluster, member)
static const struct conf_option cluster_options[] = {
    {"name", &conf_type_name, AT(name), "(default, for a single cluster)",
     .help = "name of the cluster in watches and records", .example = "default"},
    {"kubeconfig", &conf_type_file, AT(kubeconfig), "(the same search as kubectl)",
     .help = "kubeconfig file with the address and credentials of the cluster",
     .example = "/etc/informerd/prod.kubeconfig"},
    {"context", &conf_type_text, AT(context), "(the current context)",
     .help = "context of the kubeconfig", .example = "prod-ro"},
    {"cluster", &conf_type_text, AT(cluster), "(the cluster of the context)",
     .help = "cluster of the kubeconfig", .example = "prod"},
    {"user", &conf_type_text, AT(user), "(the user of the context)",
     .help = "user of the kubeconfig", .example = "reader"},
    {"as", &conf_type_text, AT(as), "(no impersonation)",
     .help = "user to impersonate; the server must allow it", .example = "jane"},
    {"server", &conf_type_text, AT(server), "(from the kubeconfig)",
     .help = "URL of the API server, instead of a kubeconfig",
     .example = "https://10.0.0.1:6443"},
    {"ca", &conf_type_file, AT(ca), "(the system's certificate authorities)",
     .help = "with server: file with the certificate authorities to trust",
     .example = "/etc/informerd/ca.crt"},
    {"token_file", &conf_type_file, AT(token_file), "(no credentials)",
     .help = "with server: file with the bearer token; reread when it changes",
     .example = "/etc/informerd/token"},
    {"exec_allow", &conf_type_list, AT(exec_allow), "(any)",
     .help = "credential plugins that a kubeconfig may run; [] allows none",
     .of = &conf_type_text, .example = "[aws]", .max = RULES_MAX},
    {"proxy", &conf_type_proxy, AT(proxy), "(proxy-url of the kubeconfig, otherwise env)",
     .help = "proxy URL (http, https or socks5://[user:password@]host:port), none, or env for "
             "HTTPS_PROXY and NO_PROXY",
     .example = "http://egress.example.com:3128"},
    {"stale_after", &conf_type_duration, AT(stale_after_ms), "150s",
     .help = "reconnect and mark the watch stale after this long without data; below 90s idle "
             "watches become stale between two bookmarks",
     .min = SECOND, .max = 24 * HOUR},
};
static const struct conf_table cluster_table = TABLE(conf_cluster, cluster_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_watch, member)
static const struct conf_option watch_options[] = {
    {"resource", &conf_type_resource, AT(resource), NULL,
     .help = "resource to watch, as in kubectl (pods, po, deployments.apps) or as "
             "name.group/version",
     .example = "pods", .identifies = true},
    {"name", &conf_type_name, AT(name), "(the resource)",
     .help = "name of the watch in event logs and records",
     .example = "pods", .taken_over = true},
    {"cluster", &conf_type_name, AT(cluster), "(the only cluster)",
     .help = "name of an entry in clusters",
     .example = "default", .identifies = true},
    {"namespaces", &conf_type_list, AT(namespaces), "(all)", .help = "watch only these namespaces",
     .of = &conf_type_namespace, .example = "[shop, billing]", .min = 1, .max = NAMESPACES_MAX},
    {"exclude_namespaces", &conf_type_list, AT(exclude_namespaces), "(none)",
     .help = "watch all namespaces except these; * matches any text, ? one character",
     .of = &conf_type_namespace_pattern, .example = "[kube-*, '*-test']", .max = NAMESPACES_MAX},
    {"namespace_selector", &conf_type_label_selector, AT(namespace_selector), "(all)",
     .help = "watch only namespaces that match this label selector; namespaces are followed as "
             "they change",
     .example = "team=shop"},
    {"label_selector", &conf_type_label_selector, AT(label_selector), "(all objects)",
     .help = "watch only objects that match this label selector",
     .example = "app in (web, api), !canary"},
    {"field_selector", &conf_type_field_selector, AT(field_selector), "(all objects)",
     .help = "watch only objects that match this field selector; the server decides which fields "
             "it supports",
     .example = "spec.nodeName=node-1"},
    {"keep", &conf_type_choice, AT(keep), "all",
     .help = "request whole objects, or only their metadata",
     .choices = keeps},
    {"drop", &conf_type_list, AT(drop), "[metadata.managedFields]",
     .help = "remove these fields from each object when it is received",
     .of = &conf_type_field_path, .max = RULES_MAX},
    {"redact", &conf_type_list, AT(redact), "[]",
     .help = "replace the values of these fields with a hash: changes are visible, values are not",
     .of = &conf_type_field_path, .max = RULES_MAX},
    {"reveal", &conf_type_bool, AT(reveal), "false",
     .help = "keep the values of Secrets instead of hashing them"},
    {"ignore", &conf_type_choices, AT(ignore),
     "([heartbeats] for nodes and leases, [unchanged] for others)",
     .help = "updates to count but not report: unchanged updates change no kept field, heartbeats "
             "also include updates that only renew timestamps; [] reports all updates",
     .choices = noises, .taken_over = true, .example = "[heartbeats]"},
    {"indexes", &conf_type_indexes, AT(indexes), "{}",
     .help = "index objects by the values of these field paths; a state dump counts the values",
     .max = 16},
    {"coalesce", &conf_type_bool, AT(coalesce), "false",
     .help = "when changes arrive faster than they are delivered, deliver only the newest state "
             "of each object"},
    {"optional", &conf_type_bool, AT(optional), "false",
     .help = "if the server does not have the resource, wait until it appears; it is checked "
             "every 3s to 6s"},
};
static const char *const watch_reserved[] = {"resync", NULL};
static const struct conf_table watch_table = TABLE(conf_watch, watch_options, watch_reserved);
#undef AT

#define AT(member) offsetof(struct conf_rotate, member)
static const struct conf_option rotate_options[] = {
    {"size", &conf_type_size, AT(size), "0",
     .help = "rotate the file when it reaches this size; 0 disables rotation"},
    {"keep", &conf_type_number, AT(keep), "5", .help = "number of rotated files to keep",
     .max = KEEP_MAX},
};
static const struct conf_table rotate_table = TABLE(conf_rotate, rotate_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_event_log, member)
static const struct conf_option event_log_options[] = {
    {"path", &conf_type_log_file, AT(path), NULL, .help = "file to append records to, or stdout",
     .example = "stdout"},
    {"watches", &conf_type_list, AT(watches), "(all)",
     .help = "write only records of the watches with these names",
     .of = &conf_type_name, .example = "[pods]", .min = 1},
    {"namespaces", &conf_type_list, AT(namespaces), "(all)",
     .help = "write only objects in these namespaces",
     .of = &conf_type_namespace, .example = "[shop]", .min = 1},
    {"verbs", &conf_type_choices, AT(verbs), "[ADDED, MODIFIED, DELETED]",
     .help = "write only these types of change",
     .choices = verbs, .min = 1},
    {"changed", &conf_type_list, AT(changed), "[]",
     .help = "write MODIFIED only if one of these fields changed; [] is any field",
     .of = &conf_type_field_path, .max = RULES_MAX},
    {"label_selector", &conf_type_label_selector, AT(label_selector), "(all objects)",
     .help = "write only objects that match this label selector", .example = "app=web"},
    {"object", &conf_type_choice, AT(object), "diff",
     .help = "part of the object in a record: none, the changed fields, or the full object",
     .choices = objects},
    {"max_line", &conf_type_size, AT(max_line), "16K",
     .help = "maximum length of a line; in longer lines values are replaced by their size, names "
             "are kept",
     .min = RECORD_LINE_MIN, .max = 16 * MIB},
    {"rotate", NULL, AT(rotate), NULL,
     .help = "log rotation", .table = &rotate_table},
    {"initial", &conf_type_bool, AT(initial), "true",
     .help = "also write the objects that exist when a watch starts; a log added by a reload "
             "starts with the next change"},
    {"format", &conf_type_choice, AT(format), "jsonl",
     .help = "one JSON object per line, or a short readable line",
     .choices = record_format_names},
    {"stuck_after", &conf_type_duration, AT(stuck_after_ms), "30s",
     .help = "report not ready when lines could not be written for this long; 0s disables the "
             "check",
     .max = 24 * HOUR},
};
static const struct conf_table event_log_table = TABLE(conf_event_log, event_log_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf, member)
static const struct conf_option options[] = {
    {"state_dir", &conf_type_file, AT(state_dir), "/var/lib/informerd",
     .help = "directory for state that must survive a restart"},
    {"socket", NULL, AT(socket), NULL, .help = "health and metrics on a Unix socket",
     .table = &socket_table},
    {"http", NULL, AT(http), NULL,
     .help = "health and metrics over TCP", .table = &http_table},
    {"log", NULL, AT(log), NULL,
     .help = "log of the daemon on stderr, separate from event logs",
     .table = &log_table},
    {"core_dumps", &conf_type_bool, AT(core_dumps), "false",
     .help = "allow core dumps, which contain all watched objects; enabling them needs a restart"},
    {"memory", NULL, AT(memory), NULL, .help = "memory limits",
     .table = &memory_table},
    {"drain_timeout", &conf_type_duration, AT(drain_timeout_ms), "10s",
     .help = "how long to write pending records after a stop signal; 0s waits until all are "
             "written",
     .max = HOUR},
    {"clusters", NULL, AT(clusters), "(one, found with the same search as kubectl)",
     .help = "clusters to watch", .table = &cluster_table, .count = AT(n_clusters)},
    {"watches", NULL, AT(watches), "[]",
     .help = "resources to watch", .table = &watch_table, .count = AT(n_watches)},
    {"event_logs", NULL, AT(event_logs), "[]",
     .help = "where to write changes; at most 32 of them can be files",
     .table = &event_log_table, .count = AT(n_event_logs)},
};
static const char *const reserved[] = {"handlers", NULL};
const struct conf_table conf_table = TABLE(conf, options, reserved);
#undef AT
/* clang-format on */
