/*
 * test_conf.c - the options of a configuration, their defaults, and every kind of error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "conf_world.h"
#include "daemon/pool.h"
#include "daemon/record/context.h"

/* ---- values ---- */

static void an_empty_file_has_all_defaults(void **state)
{
    struct conf conf = conf_world_text("");
    (void)state;
    assert_null(conf.state_dir); /* of a text; see conf_dirs.h */
    assert_null(conf.socket.path);
    assert_int_equal(conf.socket.mode, 0660);
    assert_null(conf.socket.group);
    assert_null(conf.http.listen);
    assert_int_equal(conf.log.level, INF_LOG_INFO);
    assert_int_equal(conf.log.format, CONF_LOGFMT);
    assert_false(conf.core_dumps);
    assert_int_equal(conf.drain_timeout_ms, 10000);
    assert_int_equal(conf.latency_ms, 8);
    assert_int_equal(conf.n_clusters, 1);
    assert_string_equal(conf.clusters[0].name, "default");
    assert_null(conf.clusters[0].kubeconfig);
    assert_null(conf.clusters[0].context);
    assert_int_equal(conf.clusters[0].stale_after_ms, 150000);
    assert_int_equal(conf.n_watches, 0);
    assert_int_equal(conf.n_event_logs, 0);
    conf_free(&conf);
    conf_free(&conf); /* allowed */
}

static void entries_have_defaults(void **state)
{
    struct conf conf = conf_world_text("watches: [{resource: pods}]\nevent_logs: [{path: stdout}]");
    const struct conf_watch *watch = &conf.watches[0];
    const struct conf_event_log *log = &conf.event_logs[0];
    (void)state;
    assert_int_equal(conf.n_watches, 1);
    assert_string_equal(watch->name, "pods");
    assert_string_equal(watch->cluster, "default");
    assert_int_equal(watch->namespaces.count, 0);
    assert_null(watch->label_selector);
    assert_null(watch->field_selector);
    assert_int_equal(watch->keep, CONF_KEEP_ALL);
    assert_int_equal(watch->drop.count, 1);
    assert_string_equal(watch->drop.items[0], "metadata.managedFields");
    assert_int_equal(watch->redact.count, 0);
    assert_false(watch->reveal);
    assert_int_equal(watch->ignore.count, 1);
    assert_string_equal(watch->ignore.items[0], "unchanged");
    assert_int_equal(watch->indexes.count, 0);
    assert_false(watch->coalesce);
    assert_int_equal(conf.n_event_logs, 1);
    assert_string_equal(log->path, "stdout");
    assert_int_equal(log->filter.watches.count, 0);
    assert_int_equal(log->filter.namespaces.count, 0);
    assert_int_equal(log->filter.verbs, 1 << INF_ADDED | 1 << INF_MODIFIED | 1 << INF_DELETED);
    assert_int_equal(log->filter.changed.count, 0);
    assert_null(log->filter.label_selector);
    assert_int_equal(log->object, CONF_OBJECT_DIFF);
    assert_int_equal(log->object_verbs, 1 << INF_DELETED);
    assert_int_equal(log->context, CONTEXT_LABELS | CONTEXT_OWNER | CONTEXT_NODE);
    assert_int_equal(log->fields.count, 0);
    assert_int_equal(log->max_line, 16 * 1024);
    assert_int_equal(log->rotate.size, 0);
    assert_int_equal(log->rotate.keep, 5);
    assert_true(log->filter.initial);
    assert_string_equal(log->format, "jsonl");
    assert_int_equal(log->stuck_after_ms, 30000);
    conf_free(&conf);
}

static const char everything[] =
    "state_dir: /srv/state\n"
    "socket: {path: /run/i.sock, mode: \"0600\", group: ops}\n"
    "http: {listen: \"[::1]:9470\"}\n"
    "log: {level: debug, format: json}\n"
    "core_dumps: yes\n"
    "latency: 20ms\n"
    "drain_timeout: 500ms\n"
    "memory: {backlog: 1G}\n"
    "clusters:\n"
    "  - name: prod\n"
    "    kubeconfig: prod.kubeconfig\n"
    "    context: prod-ro\n"
    "    stale_after: 5m\n"
    "  - name: test\n"
    "watches:\n"
    "  - name: web\n"
    "    cluster: test\n"
    "    resource: pods\n"
    "    namespaces: [shop, billing]\n"
    "    label_selector: app in (web, api), !canary\n"
    "    field_selector: spec.nodeName!=\n"
    "    keep: metadata\n"
    "    drop: []\n"
    "    redact: ['metadata.annotations[\"a.b/c\"]']\n"
    "    reveal: true\n"
    "    ignore: [heartbeats]\n"
    "    indexes: {owner: 'metadata.ownerReferences[*].uid', all: metadata}\n"
    "    coalesce: on\n"
    "  - {resource: widgets.example.com/v1, cluster: prod}\n"
    "event_logs:\n"
    "  - path: /var/log/events.jsonl\n"
    "    watches: [widgets.example.com/v1, web]\n"
    "    namespaces: [shop]\n"
    "    verbs: [DELETED, ADDED]\n"
    "    changed: [spec, 'status.conditions[type=Ready].status']\n"
    "    label_selector: a=b\n"
    "    object: full\n"
    "    object_verbs: [DELETED]\n"
    "    context: [node, labels]\n"
    "    fields: {image: 'spec.containers[*].image', namespace: metadata.namespace}\n"
    "    max_line: 1M\n"
    "    rotate: {size: 64M, keep: 0}\n"
    "    initial: no\n"
    "    format: short\n";

static void reads_every_option_of_the_top_level(void **state)
{
    struct conf conf = conf_world_text(everything);
    char *beside = xasprintf("%s/prod.kubeconfig", (char *)*state);
    assert_string_equal(conf.state_dir, "/srv/state");
    assert_string_equal(conf.socket.path, "/run/i.sock");
    assert_int_equal(conf.socket.mode, 0600);
    assert_string_equal(conf.socket.group, "ops");
    assert_string_equal(conf.http.listen, "[::1]:9470");
    assert_int_equal(conf.log.level, INF_LOG_DEBUG);
    assert_int_equal(conf.log.format, CONF_JSON);
    assert_true(conf.core_dumps);
    assert_int_equal(conf.drain_timeout_ms, 500);
    assert_int_equal(conf.latency_ms, 20);
    assert_int_equal(conf.memory.backlog, 1 << 30);
    assert_int_equal(conf.n_clusters, 2);
    assert_string_equal(conf.clusters[0].name, "prod");
    assert_string_equal(conf.clusters[0].kubeconfig, beside);
    assert_string_equal(conf.clusters[0].context, "prod-ro");
    assert_int_equal(conf.clusters[0].stale_after_ms, 300000);
    free(beside);
    conf_free(&conf);
}

static void reads_every_option_of_a_watch(void **state)
{
    struct conf conf = conf_world_text(everything);
    const struct conf_watch *watch = &conf.watches[0];
    (void)state;
    assert_int_equal(conf.n_watches, 2);
    assert_string_equal(watch->name, "web");
    assert_string_equal(watch->cluster, "test");
    assert_string_equal(watch->resource, "pods");
    assert_int_equal(watch->namespaces.count, 2);
    assert_string_equal(watch->namespaces.items[1], "billing");
    assert_string_equal(watch->label_selector, "app in (web, api), !canary");
    assert_string_equal(watch->field_selector, "spec.nodeName!=");
    assert_int_equal(watch->keep, CONF_KEEP_METADATA);
    assert_int_equal(watch->drop.count, 0);
    assert_non_null(watch->drop.items); /* NULL would be the default */
    assert_int_equal(watch->redact.count, 1);
    assert_string_equal(watch->redact.items[0], "metadata.annotations[\"a.b/c\"]");
    assert_true(watch->reveal);
    assert_int_equal(watch->ignore.count, 1);
    assert_string_equal(watch->ignore.items[0], "heartbeats");
    assert_int_equal(watch->indexes.count, 2);
    assert_string_equal(watch->indexes.items[0].name, "owner");
    assert_string_equal(watch->indexes.items[0].path, "metadata.ownerReferences[*].uid");
    assert_true(watch->coalesce);
    assert_string_equal(conf.watches[1].name, "widgets.example.com/v1");
    conf_free(&conf);
}

static void reads_every_option_of_an_event_log(void **state)
{
    struct conf conf = conf_world_text(everything);
    const struct conf_event_log *log = &conf.event_logs[0];
    (void)state;
    assert_string_equal(log->path, "/var/log/events.jsonl");
    assert_int_equal(log->filter.watches.count, 2);
    assert_string_equal(log->filter.watches.items[1], "web");
    assert_string_equal(log->filter.namespaces.items[0], "shop");
    assert_int_equal(log->filter.verbs, 1 << INF_ADDED | 1 << INF_DELETED);
    assert_int_equal(log->filter.changed.count, 2);
    assert_string_equal(log->filter.label_selector, "a=b");
    assert_int_equal(log->object, CONF_OBJECT_FULL);
    assert_int_equal(log->object_verbs, 1 << INF_DELETED);
    assert_int_equal(log->context, CONTEXT_LABELS | CONTEXT_NODE);
    assert_int_equal(log->fields.count, 2);
    assert_string_equal(log->fields.items[0].name, "image");
    assert_string_equal(log->fields.items[1].path, "metadata.namespace");
    assert_int_equal(log->max_line, 1024 * 1024);
    assert_int_equal(log->rotate.size, 64 * 1024 * 1024);
    assert_int_equal(log->rotate.keep, 0);
    assert_false(log->filter.initial);
    assert_string_equal(log->format, "short");
    conf_free(&conf);
}

/* ---- errors ---- */

#define POD      "watches: [{resource: pods}]\n"      /* one line */
#define OF_WATCH "watches:\n  - resource: pods\n    " /* continues on line 3, column 5 */
#define OF_LOG   "event_logs:\n  - path: stdout\n    "

struct bad {
    const char *text;
    const char *errors;
};

static const struct bad bad_keys[] = {
    {"stat_dir: /x\n", "x.conf:1:1: unknown key 'stat_dir'; did you mean 'state_dir'?\n"},
    {OF_WATCH "lable_selector: a=b\n",
     "x.conf:3:5: watches[0]: unknown key 'lable_selector'; did you mean 'label_selector'?\n"},
    {"log: {levl: info}\n", "x.conf:1:7: log: unknown key 'levl'; did you mean 'level'?\n"},
    {"log: {colour: red}\n", "x.conf:1:7: log: unknown key 'colour'; valid keys: level, format\n"},
    {"max_line: 16K\n",
     "x.conf:1:1: unknown key 'max_line'; it belongs to event_logs[], handlers[], sinks[]\n"},
    {OF_WATCH "keep: all\n    size: 5\n",
     "x.conf:4:5: watches[0]: unknown key 'size'; it belongs to event_logs[].rotate\n"},
    {"log: {state_dir: /x}\n",
     "x.conf:1:7: log: unknown key 'state_dir'; it belongs to the top level\n"},
    {"path: /x\n", "x.conf:1:1: unknown key 'path'; it belongs to socket, event_logs[]\n"},
    {"resync: 5m\n",
     "x.conf:1:1: unknown key 'resync'; valid keys: state_dir, socket, http, api, log, "
     "core_dumps, state, memory, cache, shard, replica, latency, drain_timeout, clusters, watches, "
     "event_logs, handlers, sinks, levels\n"},
    {OF_WATCH "optional: perhaps\n",
     "x.conf:3:15: watches[0].optional: 'perhaps' is neither true nor false\n"},
    {"state_dir: /a\nstate_dir: /b\n", "x.conf:2:1: duplicate key 'state_dir'; first at 1:1\n"},
    {"watches: [{name: a}]\n",
     "x.conf:1:11: watches[0]: missing key 'resource'; for example 'resource: pods'\n"},
    {"event_logs: [{}]\n",
     "x.conf:1:14: event_logs[0]: missing key 'path'; for example 'path: stdout'\n"},
    {"\"a\\eb\": 1\n",
     "x.conf:1:1: unknown key 'a\\u001bb'; valid keys: state_dir, socket, "
     "http, api, log, core_dumps, state, memory, cache, shard, replica, latency, drain_timeout, clusters, watches, "
     "event_logs, handlers, sinks, levels\n"},
};

static const struct bad bad_kinds[] = {
    {"just words\n", "x.conf:1:1: must be a mapping of options, as in 'state_dir: "
                     "/var/lib/informerd'\n"},
    {"[1, 2\n", "x.conf:2:1: did not find expected ',' or ']', while parsing a flow sequence that "
                "begins on line 1\n"},
    {"socket: /run/x\n", "x.conf:1:9: socket: must be a mapping of options, as in 'path: "
                         "/run/informerd/informerd.sock'\n"},
    {"watches: {resource: pods}\n",
     "x.conf:1:10: watches: must be a list of entries, each beginning with '- '\n"},
    {"watches: [pods]\n",
     "x.conf:1:11: watches[0]: must be a mapping of options, as in 'resource: pods'\n"},
    {"watches:\n", "x.conf:1:1: watches: has no value; set one or remove the key\n"},
    {"state_dir: [a]\n", "x.conf:1:12: state_dir: must be a single value, not a list\n"},
    {"state_dir: {a: b}\n", "x.conf:1:12: state_dir: must be a single value, not a mapping\n"},
    {"state_dir: ''\n", "x.conf:1:12: state_dir: has no value; set one or remove the key\n"},
    {"state_dir: ~\n", "x.conf:1:1: state_dir: has no value; set one or remove the key\n"},
    {OF_WATCH "namespaces: shop\n",
     "x.conf:3:17: watches[0].namespaces: must be a list, as in [shop, billing]\n"},
    {OF_WATCH "redact: spec\n", "x.conf:3:13: watches[0].redact: must be a list, as in [a, b]\n"},
    {OF_WATCH "namespaces: []\n",
     "x.conf:3:17: watches[0].namespaces: is an empty list; remove the key to select all\n"},
    {OF_LOG "verbs: []\n",
     "x.conf:3:12: event_logs[0].verbs: is an empty list; remove the key to use the default\n"},
    {OF_WATCH "namespaces: [a]\n    exclude_namespaces: [b]\n",
     "x.conf:4:25: watches[0].exclude_namespaces: cannot be combined with 'namespaces'; use only "
     "one of them\n"},
    {OF_WATCH "namespaces: [a]\n    namespace_selector: team=x\n",
     "x.conf:4:25: watches[0].namespace_selector: cannot be combined with 'namespaces'; use only "
     "one of them\n"},
    {OF_WATCH "exclude_namespaces: [kube-*, A, '**']\n",
     "x.conf:3:34: watches[0].exclude_namespaces[1]: 'A' is not a valid namespace or pattern; use "
     "at most 63 lower case letters, digits, '*', '?' and '-', without '-' at either end\n"
     "x.conf:3:25: watches[0].exclude_namespaces: '*' excludes every namespace\n"},
    {"watches:\n  - resource: nodes\n    namespaces: [a]\n",
     "x.conf:3:17: watches[0].namespaces: 'nodes' is cluster-scoped and cannot be limited to namespaces\n"},
    {OF_WATCH "namespaces: [a, [b]]\n",
     "x.conf:3:21: watches[0].namespaces[1]: must be a single value, not a list\n"},
    {OF_WATCH "indexes: [spec.nodeName]\n",
     "x.conf:3:14: watches[0].indexes: must be a mapping, as in {node: spec.nodeName}\n"},
};

static const struct bad bad_values[] = {
    {"drain_timeout: ten\n", "x.conf:1:16: drain_timeout: 'ten' is not a duration; write it "
                             "like 30s, 5m or 500ms\n"},
    {"drain_timeout: 10\n", "x.conf:1:16: drain_timeout: '10' is not a duration; write it "
                            "like 30s, 5m or 500ms\n"},
    {"drain_timeout: 18446744073709551615h\n",
     "x.conf:1:16: drain_timeout: '18446744073709551615h' is not a duration; write it like 30s, "
     "5m or 500ms\n"},
    {"shard: {index: 4, count: 4}\n",
     "x.conf:1:16: shard.index: there is no shard 4 of 4; use 0 to 3\n"},
    {"sinks: [{name: a}]\n",
     "x.conf:1:9: sinks[0]: missing key 'nats'; write nats: {url: ..., stream: ...}\n"},
    {"shard: {index: 1}\n",
     "x.conf:1:16: shard.index: there is one shard, 0; set shard.count to the number of processes\n"},
    {"replica: {group: My Group}\n",
     "x.conf:1:18: replica.group: 'My Group' is not a valid name; use at most 63 lower case letters, "
     "digits and '-', with a letter or digit at both ends\n"},
    {"replica: {group: a, lease_duration: 2500ms, renew_deadline: 2500ms, retry_period: 2500ms}\n",
     "x.conf:1:37: replica.lease_duration: is not a whole number of seconds\n"
     "x.conf:1:61: replica.renew_deadline: must be shorter than lease_duration: otherwise two replicas may "
     "deliver at the same time\n"
     "x.conf:1:83: replica.retry_period: must be shorter than renew_deadline\n"},
    {"replica: {group: a, cluster: other}\n",
     "x.conf:1:30: replica.cluster: unknown cluster 'other'\n"},
    {"replica: {cluster: other}\n", "x.conf:1:20: replica.cluster: needs the key 'group'\n"},
    {"replica: {group: a, mode: active}\n"
     "handlers: [{name: h, exec: [/bin/true]}]\n",
     "x.conf:2:28: handlers[0].exec: with replica.mode: active each replica would deliver each change, "
     "and exec does not remove duplicates; use mode: leader\n"},
    {"shard: {index: 0, count: 0}\n",
     "x.conf:1:26: shard.count: '0' is out of range (1 to 1024)\n"},
    {"latency: 2s\n", "x.conf:1:10: latency: '2s' is out of range (0s to 1s)\n"},
    {"drain_timeout: 2h\n", "x.conf:1:16: drain_timeout: '2h' is out of range (0s to 1h)\n"},
    {"memory: {backlog: 1M}\n",
     "x.conf:1:19: memory.backlog: '1M' is out of range (16M to 1024G)\n"},
    {OF_LOG "max_line: 16KB\n",
     "x.conf:3:15: event_logs[0].max_line: '16KB' is not a size; write it like 64K or 16M\n"},
    {OF_LOG "max_line: 10\n",
     "x.conf:3:15: event_logs[0].max_line: '10' is out of range (4K to 16M)\n"},
    {OF_LOG "rotate: {keep: -1}\n",
     "x.conf:3:20: event_logs[0].rotate.keep: '-1' is not a number; write it in digits\n"},
    {OF_LOG "rotate: {keep: 101}\n",
     "x.conf:3:20: event_logs[0].rotate.keep: '101' is out of range (0 to 100)\n"},
    {"socket: {mode: 0680}\n", "x.conf:1:16: socket.mode: '0680' is not a set of permissions; "
                               "write it in octal, like \"0660\"\n"},
    {"socket: {mode: 7777}\n", "x.conf:1:16: socket.mode: '7777' is out of range (0000 to 0777)\n"},
    {"core_dumps: maybe\n", "x.conf:1:13: core_dumps: 'maybe' is neither true nor false\n"},
    {"log: {level: inof}\n",
     "x.conf:1:14: log.level: unknown value 'inof'; did you mean 'info'?\n"},
    {"log: {level: loud}\n",
     "x.conf:1:14: log.level: unknown value 'loud'; valid values: debug, info, warn, error\n"},
    {OF_LOG "verbs: [added, ADDED, ADDED]\n",
     "x.conf:3:13: event_logs[0].verbs[0]: unknown value 'added'; did you mean 'ADDED'?\n"
     "x.conf:3:27: event_logs[0].verbs[2]: 'ADDED' is listed twice\n"},
    {"http: {listen: localhost}\n",
     "x.conf:1:16: http.listen: 'localhost' is not an address and port; write it like "
     "127.0.0.1:9470 or [::1]:9470\n"},
    {"http: {listen: \"1.2.3.4:65536\"}\n",
     "x.conf:1:16: http.listen: '1.2.3.4:65536' is not an address and port; write it like "
     "127.0.0.1:9470 or [::1]:9470\n"},
    {"http: {listen: \"::1:80\"}\n",
     "x.conf:1:16: http.listen: '::1:80' is not an address and port; write it like "
     "127.0.0.1:9470 or [::1]:9470\n"},
    {"watches: [{resource: pods/log}]\n",
     "x.conf:1:22: watches[0].resource: resource 'pods/log': invalid name; use a form such as "
     "'pods', 'deployments.apps' or 'deployments.apps/v1'\n"},
    {OF_WATCH "name: My Pods\n",
     "x.conf:3:11: watches[0].name: 'My Pods' is not a valid name; use lower case letters, "
     "digits, '-', '_', '.' and '/', with a letter or digit at both ends\n"},
    {OF_WATCH "namespaces: [shop, -x, shop]\n",
     "x.conf:3:24: watches[0].namespaces[1]: '-x' is not a valid namespace; use at most 63 lower "
     "case letters, digits and '-', with a letter or digit at both ends\n"
     "x.conf:3:28: watches[0].namespaces[2]: 'shop' is listed twice\n"},
    {OF_WATCH "label_selector: app in web\n",
     "x.conf:3:21: watches[0].label_selector: label selector 'app in web': column 8: "},
    {OF_WATCH "field_selector: phase\n",
     "x.conf:3:21: watches[0].field_selector: field selector 'phase': column 6: "},
    {OF_WATCH "drop: [$.spec]\n", "x.conf:3:12: watches[0].drop[0]: path '$.spec': column 1: "},
    {OF_WATCH "indexes: {node: spec., namespace: spec}\n",
     "x.conf:3:21: watches[0].indexes.node: path 'spec.': column "},
    {OF_WATCH "indexes: {namespace: spec}\n",
     "x.conf:3:15: watches[0].indexes.namespace: is a built-in index; use another name\n"},
    {OF_WATCH "indexes: {\"a\\e\": spec.}\n",
     "x.conf:3:15: watches[0].indexes: 'a\\u001b' is not a valid name; use lower case letters, "
     "digits, '-', '_', '.' and '/', with a letter or digit at both ends\n"
     "x.conf:3:22: watches[0].indexes: path 'spec.': column "},
    {OF_LOG "fields: [spec]\n",
     "x.conf:3:13: event_logs[0].fields: must be a mapping, as in {image: "
     "\"spec.containers[*].image\"}\n"},
    {OF_LOG "fields: {a: spec.}\n", "x.conf:3:17: event_logs[0].fields.a: path 'spec.': column "},
    {OF_LOG "context: [labels, nodes]\n",
     "x.conf:3:23: event_logs[0].context[1]: unknown value 'nodes'; did you mean 'node'?\n"},
    {OF_WATCH "indexes: {a: spec, a: spec}\n",
     "x.conf:3:24: watches[0].indexes.a: is a duplicate name\n"},
    {"state_dir: \"/a\\nb\"\n",
     "x.conf:1:12: state_dir: contains an invalid character: a line break, a control character or "
     "invalid UTF-8\n"},
    {"state_dir: \"\\uFEFF\"\n",
     "x.conf:1:12: state_dir: contains an invalid character: a line break, a control character or "
     "invalid UTF-8\n"},
    /* long values are not shown */
    {"core_dumps: aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbb12345\n",
     "x.conf:1:13: core_dumps: a value of 65 bytes is neither true nor false\n"},
    {OF_WATCH "drop: [aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaa.]\n",
     "x.conf:3:12: watches[0].drop[0]: column "},
};

static const struct bad bad_names[] = {
    {"watches:\n  - resource: pods\n  - resource: pods\n",
     "x.conf:3:5: watches[1]: duplicate watch name 'pods', first used at x.conf:2:5; choose "
     "another name, for example 'name: more'\n"},
    {"watches:\n  - {resource: pods, name: a}\n  - {resource: nodes, name: a}\n",
     "x.conf:3:29: watches[1].name: duplicate watch name 'a', first used at x.conf:2:28; choose "
     "another name, for example 'name: more'\n"},
    {"clusters: [{name: a}, {name: a}]\n",
     "x.conf:1:30: clusters[1].name: duplicate cluster name 'a', first used at x.conf:1:19; "
     "choose another name\n"},
    {"clusters: [{name: a}, {context: b}]\n",
     "x.conf:1:23: clusters[1]: missing key 'name'; it is required when several clusters are "
     "configured\n"},
    {"event_logs: [{path: stdout}, {path: stdout}]\n",
     "x.conf:1:37: event_logs[1].path: duplicate event log path 'stdout', first used at "
     "x.conf:1:21; each event log needs its own file\n"},
    {"event_logs: [{path: a}, {path: ./a}, {path: .//./b}, {path: b}]\n",
     "x.conf:1:32: event_logs[1].path: is the same file as the event log at x.conf:1:21; each "
     "event log needs its own file\n"
     "x.conf:1:61: event_logs[3].path: is the same file as the event log at x.conf:1:45; each "
     "event log needs its own file\n"},
    {"event_logs: [{path: a.3}, {path: a.2}, {path: a, rotate: {size: 1M, keep: 2}}]\n",
     "x.conf:1:34: event_logs[1].path: is a rotated file of the event log at "
     "x.conf:1:47; each event log needs its own file\n"},
    {"event_logs: [{path: a, rotate: {size: 1M, keep: 0}}, {path: a.1}, {path: ./a.oldest}]\n",
     "x.conf:1:61: event_logs[1].path: is a rotated file of the event log at "
     "x.conf:1:21; each event log needs its own file\n"
     "x.conf:1:74: event_logs[2].path: is a rotated file of the event log at "
     "x.conf:1:21; each event log needs its own file\n"},
    {POD "event_logs: [{path: stdout, watches: [pod]}]\n",
     "x.conf:2:39: event_logs[0].watches[0]: unknown watch 'pod'; did you mean 'pods'?\n"},
    {POD "event_logs: [{path: stdout, watches: [nodes]}]\n",
     "x.conf:2:39: event_logs[0].watches[0]: unknown watch 'nodes'; configured: pods\n"},
    {"clusters: [{name: a}, {name: b}]\nwatches: [{resource: pods, cluster: prod}]\n",
     "x.conf:2:37: watches[0].cluster: unknown cluster 'prod'; configured: a, b\n"},
    {"event_logs: [{path: stdout, watches: [nodes]}]\n",
     "x.conf:1:39: event_logs[0].watches[0]: unknown watch 'nodes'; none is configured\n"},
    {"clusters: [{name: prod}]\nwatches: [{resource: pods, cluster: prd}]\n",
     "x.conf:2:37: watches[0].cluster: unknown cluster 'prd'; did you mean 'prod'?\n"},
    {"clusters: [{name: a}, {name: b}]\n" POD,
     "x.conf:2:11: watches[0]: missing key 'cluster'; it is required when several clusters are "
     "configured\n"},
    {OF_WATCH "keep: metadata\n    indexes: {a: metadata.name, node: spec.nodeName}\n",
     "x.conf:4:14: watches[0].indexes: with 'keep: metadata' only fields below metadata can be "
     "indexed\n"},
    {OF_LOG "rotate: {size: 1M}\n",
     "x.conf:3:13: event_logs[0].rotate: stdout cannot be rotated; remove the key or write to a "
     "file\n"},
};

/* An expected text without a newline is only the beginning: the library words the rest. */
static void assert_rejected(const struct bad *bad, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *errors = conf_world_text_errors(bad[i].text);
        size_t len = strlen(bad[i].errors);
        if (bad[i].errors[len - 1] != '\n' && strlen(errors) > len)
            errors[len] = '\0';
        assert_string_equal(errors, bad[i].errors);
        free(errors);
    }
}

static void reports_unknown_and_missing_keys(void **state)
{
    (void)state;
    assert_rejected(bad_keys, ARRAY_LEN(bad_keys));
}

static void reports_values_of_the_wrong_kind(void **state)
{
    (void)state;
    assert_rejected(bad_kinds, ARRAY_LEN(bad_kinds));
}

static void reports_invalid_values(void **state)
{
    (void)state;
    assert_rejected(bad_values, ARRAY_LEN(bad_values));
}

static void reports_duplicates_and_broken_references(void **state)
{
    (void)state;
    assert_rejected(bad_names, ARRAY_LEN(bad_names));
}

/* An invalid name is reported once, not again where it is used. */
static void an_error_causes_no_further_errors(void **state)
{
    char *errors = conf_world_text_errors("watches: [{resource: pods, name: Mine}]\n"
                                          "event_logs: [{path: stdout, watches: [Mine]}]\n");
    (void)state;
    assert_non_null(strstr(errors, "x.conf:1:34: watches[0].name: 'Mine' is not a valid name"));
    assert_null(strstr(errors, "unknown watch"));
    free(errors);
}

static void reports_errors_up_to_a_limit(void **state)
{
    struct buf text = {0};
    char *errors, *end;
    size_t lines = 0;
    (void)state;
    for (int i = 0; i < CONF_ERRORS_MAX + 7; i++)
        buf_printf(&text, "k%d: 1\n", i);
    buf_putc(&text, '\0');
    errors = conf_world_text_errors(text.bytes);
    for (const char *c = errors; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, CONF_ERRORS_MAX + 1);
    end = strstr(errors, "... and 7 more\n");
    assert_non_null(end);
    assert_string_equal(end, "... and 7 more\n");
    free(errors);
    buf_free(&text);
}

static void lists_have_limits(void **state)
{
    struct buf text = {0};
    char *errors;
    (void)state;
    buf_puts(&text, "watches:\n");
    for (int i = 0; i <= CONF_ENTRIES_MAX; i++)
        buf_printf(&text, "  - {resource: pods, name: p%d}\n", i);
    buf_putc(&text, '\0');
    errors = conf_world_text_errors(text.bytes);
    assert_string_equal(errors, "x.conf:2:3: watches: has more than 1024 entries\n");
    free(errors);
    text.len = 0;
    buf_puts(&text, OF_WATCH "drop: [");
    for (int i = 0; i < 25; i++)
        buf_printf(&text, "f%d, ", i);
    buf_puts(&text, "]\n");
    buf_putc(&text, '\0');
    errors = conf_world_text_errors(text.bytes);
    assert_string_equal(errors, "x.conf:3:11: watches[0].drop: has 25 items; the limit is 24\n");
    free(errors);
    buf_free(&text);
}

/* Each file may block a thread: see daemon/pool.h. stdout does not count. */
static void limits_the_number_of_log_files(void **state)
{
    struct buf text = {0};
    char *errors;
    struct conf conf;
    (void)state;
    buf_puts(&text, "event_logs:\n- {path: stdout}\n");
    for (int i = 1; i <= POOL_LOGS_MAX; i++)
        buf_printf(&text, "- {path: /var/log/%d}\n", i);
    buf_putc(&text, '\0');
    conf = conf_world_text(text.bytes);
    assert_int_equal(conf.n_event_logs, POOL_LOGS_MAX + 1);
    conf_free(&conf);
    text.len--;
    buf_puts(&text, "- {path: /var/log/more}\n- {path: /var/log/still-more}\n");
    buf_putc(&text, '\0');
    errors = conf_world_text_errors(text.bytes);
    assert_string_equal(errors,
                        "x.conf:35:10: event_logs[33].path: more than 32 event logs are files; "
                        "use fewer files or run a second informerd\n");
    free(errors);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_file_has_all_defaults),
        cmocka_unit_test(entries_have_defaults),
        cmocka_unit_test_setup_teardown(reads_every_option_of_the_top_level, conf_world_setup,
                                        conf_world_teardown),
        cmocka_unit_test(reads_every_option_of_a_watch),
        cmocka_unit_test(reads_every_option_of_an_event_log),
        cmocka_unit_test(reports_unknown_and_missing_keys),
        cmocka_unit_test(reports_values_of_the_wrong_kind),
        cmocka_unit_test(reports_invalid_values),
        cmocka_unit_test(reports_duplicates_and_broken_references),
        cmocka_unit_test(an_error_causes_no_further_errors),
        cmocka_unit_test(reports_errors_up_to_a_limit),
        cmocka_unit_test(lists_have_limits),
        cmocka_unit_test(limits_the_number_of_log_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
