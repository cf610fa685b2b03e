/*
 * conf_table_handlers.c - the options of an entry of `handlers` or of `sinks`, as rows of conf_table.c.
 */
#include "base/base.h"
#include "daemon/conf/conf.h"
#include "daemon/conf/conf_table_parts.h"
#include "daemon/format/record_format.h"
#include "daemon/handler/webhook_files.h"
#include "daemon/nats/nats_record.h"

static const char *const modes[] = {"run", "stream", NULL};
static const char *const delivers[] = {"each", "latest", NULL};
const char *const conf_overflows[] = {"gap", "coalesce", "wait", NULL};

enum {
    ARGUMENTS_MAX = 100, /* of a program */
    BATCH_MAX = 10000,   /* records of a request */
};

/* clang-format off */
#define AT(member) offsetof(struct conf_retry, member)
static const struct conf_option retry_options[] = {
    {"max", &conf_type_number, AT(max), "5",
     .help = "how often a run that failed is repeated before its record is parked; exit code 75 does "
             "not count",
     .max = 1000 * 1000},
    {"backoff", &conf_type_duration_range, AT(backoff), "1s..5m",
     .help = "delay before the first repetition, doubled for each further one, and its maximum",
     .min = 1, .max = 24 * HOUR},
};
static const struct conf_table retry_table = TABLE(conf_retry, retry_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_limits, member)
static const struct conf_option limits_options[] = {
    {"cpu", &conf_type_duration, AT(cpu_ms), "0s",
     .help = "CPU time of a process, in whole seconds", .max = 24 * HOUR},
    {"memory", &conf_type_size, AT(memory), "0",
     .help = "address space of a process", .max = UINT64_C(1) << 50},
    {"files", &conf_type_number, AT(files), "0",
     .help = "open files of a process", .max = 1000 * 1000},
    {"processes", &conf_type_number, AT(processes), "0",
     .help = "processes and threads of its user, all programs together", .max = 1000 * 1000},
};
static const struct conf_table limits_table = TABLE(conf_limits, limits_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_webhook, member)
static const struct conf_option webhook_options[] = {
    {"url", &conf_type_url, AT(url), "(none)",
     .help = "http or https URL that records are sent to with POST; redirects are not followed",
     .example = "https://logs.example.com/hook"},
    {"url_file", &conf_type_file, AT(url_file), "(none)",
     .help = "file that contains the URL, if it is a secret, instead of url",
     .example = "/etc/informerd/webhook.url"},
    {"preset", &conf_type_webhook_preset, AT(preset), "jsonl",
     .help = "form of the body: jsonl, cloudevents, loki, elastic-bulk, otlp-json or slack; see "
             "informerd(8), HANDLERS"},
    {"headers", &conf_type_headers, AT(headers), "{}",
     .help = "further headers of requests, with their values",
     .of = &conf_type_text, .example = "{X-Scope-OrgID: shop}", .max = WEBHOOK_HEADERS_MAX},
    {"header_files", &conf_type_headers, AT(header_files), "{}",
     .help = "headers whose values are secret, with the files that contain the values; read again "
             "when they change; sent only over https or to this machine",
     .of = &conf_type_file, .example = "{Authorization: /etc/informerd/webhook.token}",
     .max = WEBHOOK_HEADER_FILES_MAX},
    {"signature_key_file", &conf_type_file, AT(signature_key_file), "(not signed)",
     .help = "file with the key of the header Informerd-Signature, sha256=HMAC of the body in hex",
     .example = "/etc/informerd/webhook.key"},
    {"ca_file", &conf_type_file, AT(ca_file), "(those of the system)",
     .help = "certificate authorities that may have issued the certificate of the server",
     .example = "/etc/informerd/ca.pem"},
    {"cert_file", &conf_type_file, AT(cert_file), "(none)",
     .help = "client certificate, together with key_file", .example = "/etc/informerd/client.pem"},
    {"key_file", &conf_type_file, AT(key_file), "(none)",
     .help = "key of the client certificate", .example = "/etc/informerd/client.key"},
    {"proxy", &conf_type_proxy, AT(proxy), "(env)",
     .help = "proxy, written as that of a cluster", .example = "http://egress.example.com:3128"},
};
static const struct conf_table webhook_table = TABLE(conf_webhook, webhook_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_batch, member)
static const struct conf_option batch_options[] = {
    {"max", &conf_type_number, AT(max), "1",
     .help = "how many records a request may have; only for webhook",
     .min = 1, .max = BATCH_MAX},
    {"within", &conf_type_duration, AT(within_ms), "1s",
     .help = "how long the first record of a request waits for further ones",
     .max = HOUR},
};
static const struct conf_table batch_table = TABLE(conf_batch, batch_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_handler, member)
/* What handlers and sinks have in common. */
#define SELECTION_OPTIONS \
    {"watches", &conf_type_list, AT(filter.watches), "(all)", \
     .help = "only changes of the watches with these names", \
     .of = &conf_type_name, .example = "[pods]", .min = 1}, \
    {"namespaces", &conf_type_list, AT(filter.namespaces), "(all)", \
     .help = "only objects in these namespaces", \
     .of = &conf_type_namespace, .example = "[shop]", .min = 1}, \
    {"names", &conf_type_list, AT(filter.names), "(all)", \
     .help = "only objects whose name matches one of these regular expressions, as in " \
             "event_logs", \
     .of = &conf_type_regex, .example = "['^web-[0-9]+$']", .min = 1, .max = RULES_MAX}, \
    {"verbs", &conf_type_choices, AT(filter.verbs), "[ADDED, MODIFIED, DELETED]", \
     .help = "only these types of change", \
     .choices = conf_verbs, .min = 1}, \
    {"level", &conf_type_choice, AT(filter.level), "info", \
     .help = "only changes of this level or a higher one", \
     .choices = conf_record_levels}, \
    {"changed", &conf_type_list, AT(filter.changed), "[]", \
     .help = "MODIFIED only if one of these fields changed; [] is any field", \
     .of = &conf_type_field_path, .max = RULES_MAX}, \
    {"label_selector", &conf_type_label_selector, AT(filter.label_selector), "(all objects)", \
     .help = "only objects that match this label selector", .example = "app=web"}, \
    {"when", &conf_type_when, AT(filter.when), "(no condition)", \
     .help = "condition that must begin with a MODIFIED, and hold for ADDED and DELETED; written as in " \
             "levels, with level>=warn or level>=error before it or instead of it", \
     .example = "status.phase=Failed"}
#define RECORD_OPTIONS \
    {"object", &conf_type_choice, AT(object), "diff", \
     .help = "part of the object in a record: none, the changed fields, or the full object", \
     .choices = conf_objects}, \
    {"max_line", &conf_type_size, AT(max_line), "256K", \
     .help = "maximum length of a record; in longer ones values are replaced by their size, names are " \
             "kept", \
     .min = RECORD_LINE_MIN, .max = 16 * MIB}

static const struct conf_option handler_options[] = {
    {"name", &conf_type_name, AT(name), NULL,
     .help = "name of the handler in metrics, in the log of the daemon and in the state on disk: a "
             "handler keeps its queue as long as it keeps its name",
     .example = "syslog"},
    {"exec", &conf_type_command, AT(exec), "(none)",
     .help = "program to run for each change, an absolute path, and its arguments; no shell is "
             "involved. It gets the record as one line of JSON on stdin. See informerd(8), HANDLERS",
     .of = &conf_type_text, .example = "[/usr/bin/logger, -t, informerd]",
     .min = 1, .max = ARGUMENTS_MAX, .shown = true},
    {"mode", &conf_type_choice, AT(mode), "run",
     .help = "how the program gets records; run: it is run for each change; stream: one program runs "
             "all the time, reads records as lines on stdin and acknowledges them on stdout. See "
             "informerd(8), HANDLERS",
     .choices = modes},
    {"user", &conf_type_text, AT(user), "(that of informerd)",
     .help = "name of the user that runs the program, with all groups of that user. Needs the "
             "capabilities in informerd-handlers.conf",
     .example = "alerts"},
    {"group", &conf_type_text, AT(group), "(that of the user)",
     .help = "name or number of the group that runs the program", .example = "alerts"},
    {"directory", &conf_type_file, AT(directory), "/",
     .help = "working directory of the program"},
    {"umask", &conf_type_mode, AT(umask), "\"0027\"",
     .help = "permissions that files of the program do not get, in octal"},
    {"limits", NULL, AT(limits), NULL,
     .help = "resource limits of the program; 0: those of informerd", .table = &limits_table},
    {"webhook", NULL, AT(webhook), NULL,
     .help = "server to send each change to, instead of exec. See informerd(8), HANDLERS",
     .table = &webhook_table},
    {"client", &conf_type_bool, AT(client), "false",
     .help = "keep the changes for a program that takes them over the local API, instead of exec; for "
             "informerd-kafka(8). See informerd(8), HANDLERS"},
    {"reader", &conf_type_name, AT(reader), "(none)",
     .help = "name of an entry of api.readers that may take them, besides root and the user of informerd",
     .example = "kafka"},
    SELECTION_OPTIONS,
    {"initial", &conf_type_bool, AT(filter.initial), "false",
     .help = "also act on the objects that exist when a watch starts without saved state"},
    RECORD_OPTIONS,
    {"deliver", &conf_type_choice, AT(deliver), "each",
     .help = "each: every change, those of one object in order; latest: only the newest change of each "
             "object that waits",
     .choices = delivers},
    {"concurrency", &conf_type_number, AT(concurrency), "1",
     .help = "how many objects are worked on at the same time, at most 64; with mode: stream, how many "
             "records may wait for their acknowledgement, at most 4096",
     .min = 1, .max = CONF_STREAM_CONCURRENCY_MAX},
    {"batch", NULL, AT(batch), NULL,
     .help = "several changes in one request", .table = &batch_table},
    {"rate", &conf_type_rate, AT(rate), "0/s",
     .help = "how many runs are started a second (50/s) or minute (30/m) at most; a request with "
             "several changes is one run; 0/s is no limit"},
    {"timeout", &conf_type_duration, AT(timeout_ms), "30s",
     .help = "how long a run may take; then a request is closed, and the process group of a program "
             "gets SIGTERM, 2s later SIGKILL",
     .min = 100, .max = 24 * HOUR},
    {"retry", NULL, AT(retry), NULL,
     .help = "what follows a run that failed", .table = &retry_table},
    {"queue", &conf_type_size, AT(queue), "16M",
     .help = "memory for records that are not delivered yet; they are also saved in state_dir, if "
             "state is enabled, and delivered after a restart",
     .min = MIB, .max = 1024 * MIB},
    {"overflow", &conf_type_choice, AT(overflow), "gap",
     .help = "what happens when the queue is full: gap skips the oldest records, coalesce first those "
             "that have a newer one of the same object, wait holds the watches of the handler",
     .choices = conf_overflows},
};
const struct conf_table conf_handler_table = TABLE(conf_handler, handler_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_nats, member)
static const struct conf_option nats_options[] = {
    {"url", &conf_type_text, AT(url), NULL,
     .help = "servers, separated by commas: tls://host[:port], or nats:// without TLS. Credentials are sent "
             "only over TLS, or to this machine",
     .example = "tls://nats.example.com:4222"},
    {"stream", &conf_type_text, AT(stream), NULL,
     .help = "name of the stream, which must exist and take the subjects", .example = "K8S"},
    {"subject", &conf_type_text, AT(subject), "\"" NATS_SUBJECT_PRESET "\"",
     .help = "subject of the messages about an object; {group}, {watch} and {kind} are possible, too. Other "
             "characters of names than letters, digits, '_' and '-' are percent-encoded; an empty name is '_'"},
    {"credentials", &conf_type_file, AT(credentials), "(none)",
     .help = "file with a JWT and its seed (.creds)", .example = "/etc/informerd/nats.creds"},
    {"nkey_file", &conf_type_file, AT(nkey_file), "(none)",
     .help = "file with the seed of an nkey", .example = "/etc/informerd/nats.nk"},
    {"user", &conf_type_text, AT(user), "(none)",
     .help = "name of a user, together with password_file", .example = "informerd"},
    {"password_file", &conf_type_file, AT(password_file), "(none)",
     .help = "file with the password of the user", .example = "/etc/informerd/nats.password"},
    {"token_file", &conf_type_file, AT(token_file), "(none)",
     .help = "file with a token", .example = "/etc/informerd/nats.token"},
    {"ca_file", &conf_type_file, AT(ca_file), "(those of the system)",
     .help = "certificate authorities that may have issued the certificate of the server",
     .example = "/etc/informerd/ca.pem"},
    {"cert_file", &conf_type_file, AT(cert_file), "(none)",
     .help = "client certificate, together with key_file", .example = "/etc/informerd/client.pem"},
    {"key_file", &conf_type_file, AT(key_file), "(none)",
     .help = "key of the client certificate", .example = "/etc/informerd/client.key"},
    {"tls_first", &conf_type_bool, AT(tls_first), "false",
     .help = "the server expects TLS before it sends anything (handshake_first in its configuration)"},
    {"inbox", &conf_type_text, AT(inbox), "(_INBOX)",
     .help = "beginning of the subjects of replies, if the user may not subscribe to _INBOX.>",
     .example = "_INBOX.informerd"},
    {"domain", &conf_type_text, AT(domain), "(that of the server)",
     .help = "JetStream domain of the stream", .example = "hub"},
};
static const struct conf_table nats_table = TABLE(conf_nats, nats_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_retry, member)
static const struct conf_option sink_retry_options[] = {
    {"max", &conf_type_number, AT(max), "5",
     .help = "how often a record that failed by itself is repeated before it is parked; failures of the server "
             "do not count",
     .max = 1000 * 1000},
    {"backoff", &conf_type_duration_range, AT(backoff), "1s..1m",
     .help = "delay before the first repetition, doubled for each further one, and its maximum",
     .min = 1, .max = 24 * HOUR},
};
static const struct conf_table sink_retry_table = TABLE(conf_retry, sink_retry_options, NULL);
#undef AT

#define AT(member) offsetof(struct conf_handler, member)
static const struct conf_option sink_options[] = {
    {"name", &conf_type_name, AT(name), NULL,
     .help = "name of the sink in metrics, in the log of the daemon and in the state on disk: a sink keeps its "
             "queue as long as it keeps its name. Handlers and sinks share their names",
     .example = "stream"},
    {"nats", NULL, AT(nats), NULL,
     .help = "stream of NATS JetStream. See informerd(8), SINKS", .table = &nats_table},
    SELECTION_OPTIONS,
    {"initial", &conf_type_bool, AT(filter.initial), "true",
     .help = "also publish the objects that exist when a watch starts without saved state"},
    RECORD_OPTIONS,
    {"deliver", &conf_type_choice, AT(deliver), "each",
     .help = "each: every change, those of one object in order; latest: only the newest change of each "
             "object that waits",
     .choices = delivers},
    {"rate", &conf_type_rate, AT(rate), "0/s",
     .help = "how many records are published a second (50/s) or minute (30/m) at most; 0/s is no limit"},
    {"timeout", &conf_type_duration, AT(timeout_ms), "10s",
     .help = "how long the acknowledgement of a record may take",
     .min = 100, .max = HOUR},
    {"retry", NULL, AT(retry), NULL,
     .help = "what follows a record that failed", .table = &sink_retry_table},
    {"queue", &conf_type_size, AT(queue), "64M",
     .help = "memory for records that are not stored by the server yet; they are also saved in state_dir, if "
             "state is enabled, and published after a restart",
     .min = MIB, .max = 1024 * MIB},
    {"overflow", &conf_type_choice, AT(overflow), "gap",
     .help = "what happens when the queue is full: gap skips the oldest records, coalesce first those "
             "that have a newer one of the same object, wait holds the watches of the sink",
     .choices = conf_overflows},
};
const struct conf_table conf_sink_table = TABLE(conf_handler, sink_options, NULL);
#undef AT
/* clang-format on */
