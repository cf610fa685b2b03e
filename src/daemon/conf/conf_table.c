/*
 * conf_table.c - every option of the conf file, a row each: name, type, where it goes, default, and
 * what it does.
 */
#include "daemon/conf/conf_table.h"

#include "base/base.h"
#include "daemon/conf/conf.h"
#include "daemon/journal/record.h"

static const char *const levels[] = {"debug", "info", "warn", "error", NULL};
static const char *const log_formats[] = {"logfmt", "json", NULL};
static const char *const keeps[] = {"all", "metadata", NULL};
static const char *const noises[] = {"heartbeats", "unchanged", NULL};
static const char *const verbs[] = {"ADDED", "MODIFIED", "DELETED", NULL};
static const char *const objects[] = {"none", "diff", "full", NULL};
static const char *const lines[] = {"jsonl", "short", NULL};

_Static_assert(INF_LOG_DEBUG == 0 && INF_LOG_ERROR == 3, "levels counts enum inf_log_level");
_Static_assert(INF_ADDED == 0 && INF_DELETED == 2, "verbs counts enum inf_verb");

enum {
    SECOND = 1000, /* as durations are kept */
    MINUTE = 60 * SECOND,
    HOUR = 60 * MINUTE,
    KIB = 1024,
    MIB = 1024 * KIB,
    RULES_MAX = 24,      /* of each kind, so that with the library's own it has room for them all */
    NAMESPACES_MAX = 64, /* each is a watch of its own at the server */
    HOSTS_MAX = 100,     /* each is compared with that of every request */
    KEEP_MAX = 100,      /* each is renamed whenever a file is full */
};

#define BACKLOG_MAX (UINT64_C(1) << 40)

/* clang-format off */
#define TABLE(struct_name, rows) {rows, ARRAY_LEN(rows), sizeof(struct struct_name)}

#define AT(member) offsetof(struct conf_socket, member)
static const struct conf_option socket_options[] = {
    {"path", CONF_FILE, AT(path), "(off)",
     .help = "serve /livez, /readyz and /metrics on a Unix socket at this path",
     .example = "/run/informerd/informerd.sock"},
    {"mode", CONF_MODE, AT(mode), "0660", .help = "the permissions of the socket, in octal"},
    {"group", CONF_TEXT, AT(group), "(the daemon's own)", .help = "the group that owns the socket",
     .example = "informerd"},
};
static const struct conf_table socket_table = TABLE(conf_socket, socket_options);
#undef AT

#define AT(member) offsetof(struct conf_http, member)
static const struct conf_option http_options[] = {
    {"listen", CONF_ADDRESS, AT(listen), "(off)",
     .help = "serve /livez, /readyz and /metrics at this address and port",
     .example = "127.0.0.1:9470"},
    {"allowed_hosts", CONF_LIST, AT(allowed_hosts), "(none)",
     .help = "host names by which clients may address it, beside IP addresses and localhost",
     .of = CONF_HOST, .taken_over = true, .example = "[metrics.example.com]", .max = HOSTS_MAX},
};
static const struct conf_table http_table = TABLE(conf_http, http_options);
#undef AT

#define AT(member) offsetof(struct conf_memory, member)
static const struct conf_option memory_options[] = {
    {"backlog", CONF_SIZE, AT(backlog), "256M",
     .help = "limit for all changes and lines that wait; above it, the watches with the largest backlogs are held",
     .min = 16 * MIB, .max = BACKLOG_MAX},
};
static const struct conf_table memory_table = TABLE(conf_memory, memory_options);
#undef AT

#define AT(member) offsetof(struct conf_log, member)
static const struct conf_option log_options[] = {
    {"level", CONF_WORD, AT(level), "info",
     .help = "tell what is at least this important", .words = levels},
    {"format", CONF_WORD, AT(format), "logfmt",
     .help = "how a line is written", .words = log_formats},
};
static const struct conf_table log_table = TABLE(conf_log, log_options);
#undef AT

#define AT(member) offsetof(struct conf_cluster, member)
static const struct conf_option cluster_options[] = {
    {"name", CONF_NAME, AT(name), "(default, if it is the only one)",
     .help = "what watches and records call the cluster", .example = "default"},
    {"kubeconfig", CONF_FILE, AT(kubeconfig), "(as kubectl finds it)",
     .help = "the file that says how to reach the cluster",
     .example = "/etc/informerd/prod.kubeconfig"},
    {"context", CONF_TEXT, AT(context), "(the file's current one)",
     .help = "the context of that file", .example = "prod-ro"},
    {"cluster", CONF_TEXT, AT(cluster), "(the context's)",
     .help = "the cluster of that file", .example = "prod"},
    {"user", CONF_TEXT, AT(user), "(the context's)",
     .help = "the user of that file", .example = "reader"},
    {"as", CONF_TEXT, AT(as), "(the user itself)",
     .help = "the user to act as, if the server allows it", .example = "jane"},
    {"server", CONF_TEXT, AT(server), "(the kubeconfig's)",
     .help = "the URL of the API server, if there is no kubeconfig",
     .example = "https://10.0.0.1:6443"},
    {"ca", CONF_FILE, AT(ca), "(the system's)",
     .help = "with server: the file of the certificate authorities to trust",
     .example = "/etc/informerd/ca.crt"},
    {"token_file", CONF_FILE, AT(token_file), "(no credentials)",
     .help = "with server: the file of the token; read again as it changes",
     .example = "/etc/informerd/token"},
    {"exec_allow", CONF_LIST, AT(exec_allow), "(any)",
     .help = "the only credential plugins that a kubeconfig may have us run; [] is none",
     .of = CONF_TEXT, .example = "[aws]", .max = RULES_MAX},
    {"proxy", CONF_PROXY, AT(proxy), "(proxy-url of the kubeconfig, else the environment)",
     .help = "http, https or socks5://[user:password@]host:port; none; or env: as HTTPS_PROXY and NO_PROXY say",
     .example = "http://egress.example.com:3128"},
    {"stale_after", CONF_DURATION, AT(stale_after_ms), "150s",
     .help = "a watch that has been silent for so long is stale: said so, and connected anew; under 90s quiet "
             "watches get stale between two bookmarks",
     .min = SECOND, .max = 24 * HOUR},
};
static const struct conf_table cluster_table = TABLE(conf_cluster, cluster_options);
#undef AT

#define AT(member) offsetof(struct conf_watch, member)
static const struct conf_option watch_options[] = {
    {"resource", CONF_RESOURCE, AT(resource), NULL,
     .help = "what to watch, as kubectl takes it: pods, po, deployments.apps; or name.group/version",
     .example = "pods", .identifies = true},
    {"name", CONF_NAME, AT(name), "(the resource)",
     .help = "what event logs and records call the watch",
     .example = "pods", .taken_over = true},
    {"cluster", CONF_NAME, AT(cluster), "(the only one)", .help = "the name of one of clusters",
     .example = "default", .identifies = true},
    {"namespaces", CONF_LIST, AT(namespaces), "(all)", .help = "watch these namespaces only",
     .of = CONF_NAMESPACE, .example = "[shop, billing]", .min = 1, .max = NAMESPACES_MAX},
    {"exclude_namespaces", CONF_LIST, AT(exclude_namespaces), "(none)",
     .help = "watch all namespaces but these; * stands for any text, ? for one character",
     .of = CONF_NAMESPACES, .example = "[kube-*, '*-test']", .max = NAMESPACES_MAX},
    {"namespace_selector", CONF_LABELS, AT(namespace_selector), "(all)",
     .help = "watch namespaces with such labels only, as they come and go",
     .example = "team=shop"},
    {"label_selector", CONF_LABELS, AT(label_selector), "(all objects)",
     .help = "watch objects with such labels only", .example = "app in (web, api), !canary"},
    {"field_selector", CONF_FIELDS, AT(field_selector), "(all objects)",
     .help = "watch objects with such fields only; which fields, the server decides",
     .example = "spec.nodeName=node-1"},
    {"keep", CONF_WORD, AT(keep), "all",
     .help = "ask the server for whole objects, or for their metadata",
     .words = keeps},
    {"drop", CONF_LIST, AT(drop), "[metadata.managedFields]",
     .help = "fields that are cut from each object before anything sees it",
     .of = CONF_FIELD_PATH, .max = RULES_MAX},
    {"redact", CONF_LIST, AT(redact), "[]",
     .help = "fields whose values are hashed: a change shows, the value doesn't",
     .of = CONF_FIELD_PATH, .max = RULES_MAX},
    {"reveal", CONF_BOOL, AT(reveal), "false",
     .help = "keep the values of Secrets instead of hashing them"},
    {"ignore", CONF_WORDS, AT(ignore), "([heartbeats] for nodes and leases, [unchanged] for others)",
     .help = "updates to count but not report: unchanged are those that change no kept field, heartbeats are these "
             "and those that only renew times; [] reports all updates",
     .words = noises, .taken_over = true, .example = "[heartbeats]"},
    {"indexes", CONF_INDEXES, AT(indexes), "{}",
     .help = "names for field paths by whose values objects are found; a state dump counts them",
     .max = 16},
    {"coalesce", CONF_BOOL, AT(coalesce), "false",
     .help = "of changes that come faster than they are told, tell each object's newest state only"},
    {"resync", CONF_LATER, 0, NULL, .help = "replay the copy to handlers this often"},
    {"optional", CONF_BOOL, AT(optional), "false",
     .help = "the server may not have the resource yet: wait for it, and tell no objects meanwhile; it is "
             "looked for every 3s to 6s"},
};
static const struct conf_table watch_table = TABLE(conf_watch, watch_options);
#undef AT

#define AT(member) offsetof(struct conf_rotate, member)
static const struct conf_option rotate_options[] = {
    {"size", CONF_SIZE, AT(size), "0",
     .help = "begin a new file when this one has reached so many bytes; 0 is never"},
    {"keep", CONF_NUMBER, AT(keep), "5", .help = "how many old files stay", .max = KEEP_MAX},
};
static const struct conf_table rotate_table = TABLE(conf_rotate, rotate_options);
#undef AT

#define AT(member) offsetof(struct conf_event_log, member)
static const struct conf_option event_log_options[] = {
    {"path", CONF_LOG_FILE, AT(path), NULL, .help = "the file that records are added to, or stdout",
     .example = "stdout"},
    {"watches", CONF_LIST, AT(watches), "(all)",
     .help = "write what these watches tell, by their names",
     .of = CONF_NAME, .example = "[pods]", .min = 1},
    {"namespaces", CONF_LIST, AT(namespaces), "(all)",
     .help = "write objects of these namespaces only",
     .of = CONF_NAMESPACE, .example = "[shop]", .min = 1},
    {"verbs", CONF_WORDS, AT(verbs), "[ADDED, MODIFIED, DELETED]",
     .help = "write these changes only",
     .words = verbs, .min = 1},
    {"changed", CONF_LIST, AT(changed), "[]",
     .help = "of MODIFIED, write only what changes one of these fields; [] is any",
     .of = CONF_FIELD_PATH, .max = RULES_MAX},
    {"label_selector", CONF_LABELS, AT(label_selector), "(all objects)",
     .help = "write objects with such labels only", .example = "app=web"},
    {"object", CONF_WORD, AT(object), "diff",
     .help = "how much of an object is in a record: nothing, what changed, or all of it",
     .words = objects},
    {"max_line", CONF_SIZE, AT(max_line), "16K",
     .help = "how long a line may be; in a longer one values give way to their sizes, names never",
     .min = RECORD_LINE_MIN, .max = 16 * MIB},
    {"rotate", CONF_TABLE, AT(rotate), NULL,
     .help = "start over with a new file", .table = &rotate_table},
    {"initial", CONF_BOOL, AT(initial), "true",
     .help = "write also the objects that exist when a watch begins; a log that a reload adds begins with the next change"},
    {"format", CONF_WORD, AT(format), "jsonl",
     .help = "one JSON object a line, or a short text to read",
     .words = lines},
    {"stuck_after", CONF_DURATION, AT(stuck_after_ms), "30s",
     .help = "report not ready when lines could not be written for this long; 0s disables it",
     .max = 24 * HOUR},
};
static const struct conf_table event_log_table = TABLE(conf_event_log, event_log_options);
#undef AT

#define AT(member) offsetof(struct conf, member)
static const struct conf_option options[] = {
    {"state_dir", CONF_FILE, AT(state_dir), "/var/lib/informerd",
     .help = "the directory for what must survive a restart"},
    {"socket", CONF_TABLE, AT(socket), NULL, .help = "health and metrics, for this host alone", .table = &socket_table},
    {"http", CONF_TABLE, AT(http), NULL,
     .help = "health and metrics, over TCP", .table = &http_table},
    {"log", CONF_TABLE, AT(log), NULL,
     .help = "the daemon's log about itself, on stderr; never mixed with events",
     .table = &log_table},
    {"core_dumps", CONF_BOOL, AT(core_dumps), "false",
     .help = "allow core dumps, which contain every object that is watched; to allow them, restart"},
    {"memory", CONF_TABLE, AT(memory), NULL, .help = "limits of memory",
     .table = &memory_table},
    {"drain_timeout", CONF_DURATION, AT(drain_timeout_ms), "10s",
     .help = "how long to go on writing after a signal to stop; 0s is until all is written",
     .max = HOUR},
    {"clusters", CONF_ENTRIES, AT(clusters), "(one, found as kubectl finds it)",
     .help = "the clusters to watch", .table = &cluster_table, .count = AT(n_clusters)},
    {"watches", CONF_ENTRIES, AT(watches), "[]",
     .help = "what to keep a copy of", .table = &watch_table, .count = AT(n_watches)},
    {"event_logs", CONF_ENTRIES, AT(event_logs), "[]",
     .help = "where changes are written; at most 32 of them may be files", .table = &event_log_table, .count = AT(n_event_logs)},
    {"handlers", CONF_LATER, 0, NULL, .help = "what to run when something changes"},
};
const struct conf_table conf_table = TABLE(conf, options);
#undef AT
/* clang-format on */
