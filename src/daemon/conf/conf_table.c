/*
 * conf_table.c - all options of the configuration file, one row each: name, type, member, default
 * and help text. The options of handlers are in conf_table_handlers.c.
 */
#include "daemon/conf/conf_table.h"

#include "base/base.h"
#include "daemon/conf/conf.h"
#include "daemon/conf/conf_table_parts.h"
#include "daemon/format/record_format.h"

static const char *const levels[] = {"debug", "info", "warn", "error", NULL};
const char *const conf_record_levels[] = {"info", "warn", "error", NULL};
static const char *const log_formats[] = {"logfmt", "json", NULL};
static const char *const keeps[] = {"all", "metadata", NULL};
static const char *const gzips[] = {"remote", "always", "never", NULL};
static const char *const caches[] = {"plain", "compact", NULL};
static const char *const replica_modes[] = {"leader", "active", NULL};
const char *const conf_verbs[] = {"ADDED", "MODIFIED", "DELETED", NULL};
const char *const conf_objects[] = {"none", "diff", "full", NULL};
static const char *const contexts[] = {"labels", "owner", "node", NULL};

_Static_assert(INF_LOG_DEBUG == 0 && INF_LOG_ERROR == 3, "levels counts enum inf_log_level");
_Static_assert(INF_ADDED == 0 && INF_DELETED == 2, "conf_verbs counts enum inf_verb");
_Static_assert(CONTEXT_LABELS == 1 && CONTEXT_OWNER == 2 && CONTEXT_NODE == 4,
               "contexts counts the bits of enum context_part");

enum {
    NAMESPACES_MAX = 64, /* each needs its own watch on the server */
    HOSTS_MAX = 100,     /* each is compared with the Host header of every request */
    KEEP_MAX = 100,      /* each is renamed at every rotation */
    FIELDS_MAX = 16,     /* each is evaluated for every record */
    HISTORY_MAX = 1000000,
};

#define BACKLOG_MAX (UINT64_C(1) << 40)
#define STATE_MAX   (UINT64_C(1) << 40)

/* clang-format off */
#define AT(member) offsetof(struct conf_socket, member)
static const struct conf_option socket_options[] = {
    {"path", &conf_type_file, AT(path), "($RUNTIME_DIRECTORY/informerd.sock if that is set, otherwise off)",
     .help = "serve /livez, /readyz, /metrics and the local API on a Unix socket at this path",
     .example = "/run/informerd/informerd.sock"},
    {"mode", &conf_type_mode, AT(mode), "\"0660\"", .help = "permissions of the socket, in octal"},
    {"group", &conf_type_text, AT(group), "(the group of the daemon)",
     .help = "name or number of the group that owns the socket",
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
     .help = "accept these names in the Host header, in addition to IP addresses and localhost; "
             "also at api.listen, whose certificate has them",
     .of = &conf_type_host, .taken_over = true, .example = "[metrics.example.com]",
     .max = HOSTS_MAX},
};
static const struct conf_table http_table = TABLE(conf_http, http_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_api_reader, member)
static const struct conf_option reader_options[] = {
    {"uid", &conf_type_uid, AT(uid), "(none)",
     .help = "number of the user that may read over the Unix socket", .example = "1000"},
    {"name", &conf_type_name, AT(name), NULL,
     .help = "name of the reader in the log of the daemon", .example = "ops"},
    {"group", &conf_type_text, AT(group), "(none)",
     .help = "name or number of the group whose members may read over the Unix socket", .example = "operators"},
    {"token_file", &conf_type_file, AT(token_file), "(none)",
     .help = "file with a bearer token; a reload reads it again",
     .example = "/etc/informerd/ci.token"},
    {"watches", &conf_type_list, AT(watches), "(all)",
     .help = "allow only the objects of the watches with these names",
     .of = &conf_type_name, .example = "[pods]", .min = 1, .max = RULES_MAX},
    {"namespaces", &conf_type_list, AT(namespaces), "(all)",
     .help = "allow only objects in these namespaces; cluster-scoped objects are then not allowed",
     .of = &conf_type_namespace, .example = "[shop]", .min = 1, .max = NAMESPACES_MAX},
};
static const struct conf_table reader_table = TABLE(conf_api_reader, reader_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_api, member)
static const struct conf_option api_options[] = {
    {"listen", &conf_type_address, AT(listen), "(only the Unix socket)",
     .help = "serve Kubernetes clients at this address and port over TLS; every request needs the "
             "token of a reader. `informerctl kubeconfig` prints a kubeconfig for it",
     .example = "127.0.0.1:6444"},
    {"history", &conf_type_number, AT(history), "10000",
     .help = "changes of each resource to resume a watch from; a client that was away for more of "
             "them lists again. At most 64M of objects are kept for each resource",
     .min = 100, .max = HISTORY_MAX},
    {"gzip", &conf_type_choice, AT(gzip), "remote",
     .help = "compress responses over 128K for clients that accept gzip; remote: only for clients of "
             "other hosts",
     .choices = gzips},
    {"readers", NULL, AT(readers), "[]",
     .help = "users that may read; each has one of uid, group and token_file. The user of the daemon "
             "and root may read everything, unless they have an entry",
     .table = &reader_table, .count = AT(n_readers)},
};
static const struct conf_table api_table = TABLE(conf_api, api_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_memory, member)
static const struct conf_option memory_options[] = {
    {"backlog", &conf_type_size, AT(backlog), "256M",
     .help = "memory limit for queued changes, unwritten lines and the local API; above it, the "
             "watches with the largest backlogs are held",
     .min = 16 * MIB, .max = BACKLOG_MAX},
};
static const struct conf_table memory_table = TABLE(conf_memory, memory_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_state, member)
static const struct conf_option state_options[] = {
    {"enabled", &conf_type_bool, AT(enabled), "true",
     .help = "save the reported objects in state_dir, so that a restart reports only what has "
             "changed meanwhile; a change needs a restart"},
    {"max_disk", &conf_type_size, AT(max_disk), "2G",
     .help = "disk space for the saved objects; if it is not enough, nothing is saved: changes are "
             "still logged, and saving is tried again every hour; a change needs a restart",
     .min = 64 * MIB, .max = STATE_MAX},
};
static const struct conf_table state_table = TABLE(conf_state, state_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_shard, member)
static const struct conf_option shard_options[] = {
    {"index", &conf_type_number, AT(index), "0",
     .help = "number of this process, from 0 to count - 1; a change needs a restart",
     .max = CONF_SHARDS_MAX - 1},
    {"count", &conf_type_number, AT(count), "1",
     .help = "into how many parts the objects are split; a change needs a restart",
     .min = 1, .max = CONF_SHARDS_MAX},
};
static const struct conf_table shard_table = TABLE(conf_shard, shard_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_replica, member)
static const struct conf_option replica_options[] = {
    {"group", &conf_type_label, AT(group), "(none: this is the only one)",
     .help = "name of the group of replicas, and of its Lease; a change of this section needs a restart",
     .example = "informerd"},
    {"mode", &conf_type_choice, AT(mode), "leader",
     .help = "leader: one replica, the holder of the Lease, delivers to handlers, and another one continues "
             "when it ends. active: all deliver; only for handlers that remove duplicates",
     .choices = replica_modes},
    {"cluster", &conf_type_name, AT(cluster), "(the only cluster)",
     .help = "entry of clusters where the Lease is", .example = "default"},
    {"namespace", &conf_type_namespace, AT(ns), "informerd",
     .help = "namespace of the Lease"},
    {"lease_duration", &conf_type_duration, AT(lease_duration_ms), "15s",
     .help = "another replica takes over when the Lease was not renewed for this time, in whole seconds",
     .min = CONF_LEASE_MIN_MS, .max = CONF_LEASE_MAX_MS},
    {"renew_deadline", &conf_type_duration, AT(renew_deadline_ms), "10s",
     .help = "the leader stops delivering when it could not renew the Lease for this time; shorter than "
             "lease_duration",
     .min = 100, .max = CONF_LEASE_MAX_MS},
    {"retry_period", &conf_type_duration, AT(retry_period_ms), "2s",
     .help = "how often the leader renews the Lease and the others read it; shorter than renew_deadline",
     .min = 50, .max = CONF_LEASE_MAX_MS},
};
static const struct conf_table replica_table = TABLE(conf_replica, replica_options, NULL);
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
    {"as_groups", &conf_type_list, AT(as_groups), "(none)",
     .help = "with as: groups to impersonate",
     .of = &conf_type_text, .example = "[readers]", .min = 1, .max = RULES_MAX},
    {"server", &conf_type_text, AT(server), "(from the kubeconfig)",
     .help = "URL of the API server, instead of a kubeconfig",
     .example = "https://10.0.0.1:6443"},
    {"ca", &conf_type_file, AT(ca), "(those of the kubeconfig; with server those of the system)",
     .help = "file with the certificate authorities to trust",
     .example = "/etc/informerd/ca.crt"},
    {"token_file", &conf_type_file, AT(token_file), "(the credentials of the kubeconfig)",
     .help = "file with a bearer token, instead of other credentials; reread when it changes",
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
    {"ignore", &conf_type_list, AT(ignore),
     "([heartbeats] for nodes and leases, [unchanged] for others)",
     .help = "updates to count but not report, if they change nothing but these: field paths, and "
             "the presets heartbeats (timestamps renewed in leases and under status), "
             "status-timestamps (any time under status), observed-generation (generation and "
             "observedGeneration), resource-quota (status.used of a ResourceQuota), "
             "leader-election (renewals in leases and annotations), managed-metadata "
             "(managedFields, last-applied and revision annotations) and unchanged (no kept field; "
             "the others include it); [] reports all updates",
     .of = &conf_type_noise, .taken_over = true, .example = "[heartbeats, status.lastScaleTime]",
     .max = RULES_MAX},
    {"indexes", &conf_type_indexes, AT(indexes), "{}",
     .help = "index objects by the values of these field paths, for /informerd/v1/indexes and field "
             "selectors of the local API; a state dump counts the values",
     .max = 16},
    {"cache", &conf_type_choice, AT(cache), "(the top-level option cache)",
     .help = "how the objects of this watch are held in memory", .choices = caches,
     .example = "plain"},
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
    {"watches", &conf_type_list, AT(filter.watches), "(all)",
     .help = "write only records of the watches with these names",
     .of = &conf_type_name, .example = "[pods]", .min = 1},
    {"namespaces", &conf_type_list, AT(filter.namespaces), "(all)",
     .help = "write only objects in these namespaces",
     .of = &conf_type_namespace, .example = "[shop]", .min = 1},
    {"names", &conf_type_list, AT(filter.names), "(all)",
     .help = "write only objects whose name matches one of these regular expressions (POSIX "
             "extended, matched anywhere in the name; ^ and $ match its ends)",
     .of = &conf_type_regex, .example = "['^web-[0-9]+$']", .min = 1, .max = RULES_MAX},
    {"verbs", &conf_type_choices, AT(filter.verbs), "[ADDED, MODIFIED, DELETED]",
     .help = "write only these types of change",
     .choices = conf_verbs, .min = 1},
    {"level", &conf_type_choice, AT(filter.level), "info",
     .help = "write only changes of this level or a higher one; records about informerd itself are "
             "always written",
     .choices = conf_record_levels},
    {"changed", &conf_type_list, AT(filter.changed), "[]",
     .help = "write MODIFIED only if one of these fields changed; [] is any field",
     .of = &conf_type_field_path, .max = RULES_MAX},
    {"label_selector", &conf_type_label_selector, AT(filter.label_selector), "(all objects)",
     .help = "write only objects that match this label selector", .example = "app=web"},
    {"object", &conf_type_choice, AT(object), "diff",
     .help = "part of the object in a record: none, the changed fields, or the full object",
     .choices = conf_objects},
    {"object_verbs", &conf_type_choices, AT(object_verbs),
     "([DELETED] with object: diff, all with full, [] with none)",
     .help = "types of change whose records contain the full object; for DELETED it is the last "
             "known state",
     .choices = conf_verbs, .example = "[ADDED, DELETED]"},
    {"context", &conf_type_choices, AT(context), "[labels, owner, node]",
     .help = "what records say about the object: its labels, its controller and workload, the node "
             "of a Pod; [] writes none",
     .choices = contexts},
    {"fields", &conf_type_fields, AT(fields), "{}",
     .help = "add the values of these field paths to each record, in its object `fields`",
     .example = "{image: \"spec.containers[*].image\"}", .max = FIELDS_MAX},
    {"max_line", &conf_type_size, AT(max_line), "16K",
     .help = "maximum length of a line; in longer lines values are replaced by their size, names "
             "are kept",
     .min = RECORD_LINE_MIN, .max = 16 * MIB},
    {"rotate", NULL, AT(rotate), NULL,
     .help = "log rotation", .table = &rotate_table},
    {"initial", &conf_type_bool, AT(filter.initial), "true",
     .help = "also write the objects that exist when a watch starts; a log added by a reload "
             "starts with the next change"},
    {"format", &conf_type_record_format, AT(format), "jsonl",
     .help = "form of the records: jsonl, short, wide, diff, json, yaml, name, "
             "jsonpath=TEMPLATE or custom-columns=SPEC; see informerd(8), OUTPUT FORMATS"},
    {"stuck_after", &conf_type_duration, AT(stuck_after_ms), "30s",
     .help = "report not ready when lines could not be written for this long; 0s disables the "
             "check",
     .max = 24 * HOUR},
};
static const struct conf_table event_log_table = TABLE(conf_event_log, event_log_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_level, member)
static const struct conf_option level_options[] = {
    {"name", &conf_type_name, AT(name), "(none)",
     .help = "name of the rule in records; a built-in rule of this name is replaced, its kind and "
             "condition are the defaults",
     .example = "crash-loop"},
    {"kind", &conf_type_kind, AT(kind), "(that of the built-in rule with this name)",
     .help = "kind of the objects", .example = "Pod"},
    {"when", &conf_type_condition, AT(when), "(no condition)",
     .help = "condition that must begin with the change: PATH OPERATOR VALUE, where OPERATOR is "
             "=, !=, >, >=, <, <= or ~ (contains), or PATH in (a, b); several are separated by "
             "commas; for ADDED it must hold",
     .example = "status.phase=Failed"},
    {"changed", &conf_type_field_path, AT(changed), "(no path)",
     .help = "field whose value must differ, instead of a condition; never holds for ADDED",
     .example = "status.containerStatuses[*].restartCount"},
    {"level", &conf_type_choice, AT(level), NULL,
     .help = "level of records for which the rule holds; info switches off a built-in rule of the "
             "same name",
     .choices = conf_record_levels, .example = "error"},
};
static const struct conf_table level_table = TABLE(conf_level, level_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf, member)
static const struct conf_option options[] = {
    {"state_dir", &conf_type_file, AT(state_dir),
     "($STATE_DIRECTORY, /var/lib/informerd or ~/.local/state/informerd; see informerd(8))",
     .help = "directory for state that must survive a restart; created if its parent exists",
     .example = "/var/lib/informerd"},
    {"socket", NULL, AT(socket), NULL, .help = "health, metrics and the local API on a Unix socket",
     .table = &socket_table},
    {"http", NULL, AT(http), NULL,
     .help = "health and metrics over TCP", .table = &http_table},
    {"api", NULL, AT(api), NULL,
     .help = "the watched objects for Kubernetes clients, on the Unix socket and over TLS",
     .table = &api_table},
    {"log", NULL, AT(log), NULL,
     .help = "log of the daemon on stderr, separate from event logs",
     .table = &log_table},
    {"core_dumps", &conf_type_bool, AT(core_dumps), "false",
     .help = "allow core dumps, which contain all watched objects; enabling them needs a restart"},
    {"state", NULL, AT(state), NULL, .help = "the state on disk", .table = &state_table},
    {"memory", NULL, AT(memory), NULL, .help = "memory limits",
     .table = &memory_table},
    {"cache", &conf_type_choice, AT(cache), "compact",
     .help = "how objects are held in memory: compact, compressed one by one, or plain, as JSON text; "
             "plain needs less CPU per change and about six times the memory",
     .choices = caches},
    {"shard", NULL, AT(shard), NULL,
     .help = "the part of the objects that this process watches, by a hash of their uid; each object "
             "is in one part. Run one informerd for each index, with its own state_dir. API servers "
             "with the feature gate ShardedListAndWatch (Kubernetes 1.36) send only that part",
     .table = &shard_table},
    {"replica", NULL, AT(replica), NULL,
     .help = "one of several daemons with the same configuration, each with its own state_dir; see "
             "informerd(8), REPLICAS",
     .table = &replica_table},
    {"latency", &conf_type_duration, AT(latency_ms), "8ms",
     .help = "while changes arrive in quick succession, read and write them at this interval; with "
             "8ms, that is more than 160 times a second. Slower changes are never delayed. 0s "
             "handles each change at once, which takes more CPU",
     .max = 1000},
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
    {"handlers", NULL, AT(handlers), "[]",
     .help = "programs to run and servers to call on changes",
     .table = &conf_handler_table, .count = AT(n_handlers)},
    {"sinks", NULL, AT(sinks), "[]",
     .help = "streams of other systems to publish changes into",
     .table = &conf_sink_table, .count = AT(n_sinks)},
    {"levels", NULL, AT(levels), "[]",
     .help = "rules for the level of records, in addition to the built-in ones of "
             "informerd-events(5); the highest level counts",
     .table = &level_table, .count = AT(n_levels)},
};
const struct conf_table conf_table = TABLE(conf, options, NULL);
#undef AT
/* clang-format on */
