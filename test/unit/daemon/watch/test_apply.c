/*
 * test_apply.c - applying a changed conf: which clusters, watches and event logs continue, start and
 * stop. A conf that can't be applied changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon_world.h"

#define PODS  "  - {resource: pods, cluster: a, namespaces: [shop, billing]}\n"
#define NODES "  - {resource: nodes, cluster: b}\n"

/* All borrowed pointers into a conf point into the one in use. */
static void assert_borrowed_from_conf(const struct daemon *d)
{
    size_t i = 0;
    list_for_each(node, &d->clusters)
        assert_ptr_equal(container_of(node, struct cluster, node)->conf, &d->conf.clusters[i++]);
    assert_int_equal(i, d->conf.n_clusters);
    i = 0;
    list_for_each(node, &d->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        const struct conf_watch *conf = &d->conf.watches[i++];
        assert_ptr_equal(w->conf, conf);
        assert_ptr_equal(w->channel.info.id.name, conf->name);
        assert_ptr_equal(w->channel.info.id.cluster, w->cluster->conf->name);
    }
    assert_int_equal(i, d->conf.n_watches);
}

static size_t count_streams(const struct watcher *watcher)
{
    size_t n = 0;
    list_for_each(node, &watcher->streams)
        n++;
    return n;
}

static void unchanged_watches_continue(void **state)
{
    struct daemon_world *w = *state;
    struct watcher *pods, *nodes;
    world_apply_expect(w, "watches:\n" PODS NODES, "2 watches started");
    pods = world_watcher(w, "pods");
    nodes = world_watcher(w, "nodes");
    assert_borrowed_from_conf(&w->d);
    world_apply_expect(w, "log: {level: debug}\nwatches:\n" NODES PODS, "2 watches unchanged");
    assert_ptr_equal(world_watcher(w, "pods"), pods);
    assert_ptr_equal(world_watcher(w, "nodes"), nodes);
    assert_borrowed_from_conf(&w->d);
    assert_int_equal(w->d.log.level, INF_LOG_DEBUG);
    w->d.log.level = INF_LOG_ERROR;
}

static void the_option_ignore_changes_without_a_relist(void **state)
{
    struct daemon_world *w = *state;
    struct watcher *nodes;
    world_apply_expect(w, "watches:\n  - {resource: nodes, cluster: b, ignore: []}\n",
                       "1 watch started");
    nodes = world_watcher(w, "nodes");
    assert_false(nodes->channel.info.ignore_heartbeats);
    assert_false(nodes->channel.info.ignore_unchanged);
    world_apply_expect(w, "watches:\n  - {resource: nodes, cluster: b, ignore: [heartbeats]}\n",
                       "1 watch unchanged");
    assert_ptr_equal(world_watcher(w, "nodes"), nodes);
    assert_true(nodes->channel.info.ignore_heartbeats);
}

static const struct inf_store *store_of(struct daemon_world *w, const char *name)
{
    return inf_informer_store(watcher_first(world_watcher(w, name))->informer);
}

static void a_renamed_watch_continues(void **state)
{
    struct daemon_world *w = *state;
    const struct inf_store *store;
    world_apply_expect(w, "watches:\n" NODES, "1 watch started");
    store = store_of(w, "nodes");
    world_apply_expect(w, "watches:\n  - {name: machines, resource: nodes, cluster: b}\n",
                       "1 watch unchanged");
    assert_ptr_equal(store_of(w, "machines"), store);
    assert_borrowed_from_conf(&w->d);
    world_apply_expect(w, /* either of them may be the previous watch */
                       "watches:\n  - {name: x, resource: nodes, cluster: b}\n"
                       "  - {name: y, resource: nodes, cluster: b}\n",
                       "1 watch unchanged, 1 watch started");
    assert_borrowed_from_conf(&w->d);
}

static void a_changed_watch_keeps_its_cache(void **state)
{
    struct daemon_world *w = *state;
    const struct inf_store *store;
    world_apply_expect(w, "watches:\n" NODES, "1 watch started");
    store = store_of(w, "nodes");
    world_apply_expect(w, "watches:\n  - {resource: nodes, cluster: b, label_selector: a=b}\n",
                       "1 watch changed");
    assert_ptr_equal(store_of(w, "nodes"), store);
    assert_true(world_watcher(w, "nodes")->selection.selects);
    assert_borrowed_from_conf(&w->d);
    world_apply_expect(w,
                       "watches:\n  - {resource: nodes, cluster: b, indexes: {role: "
                       "metadata.labels.role}, drop: [status]}\n",
                       "1 watch changed");
    assert_ptr_equal(store_of(w, "nodes"), store);
    world_apply_expect(w, "watches:\n  - {name: nodes, resource: pods, cluster: b}\n",
                       "1 watch started, 1 watch stopped");
}

static void namespaces_can_be_added_and_removed(void **state)
{
    struct daemon_world *w = *state;
    world_apply_expect(w, "watches:\n" PODS, "1 watch started");
    world_apply_expect(w, "watches:\n  - {resource: pods, cluster: a, namespaces: [shop, lab]}\n",
                       "1 watch changed");
    assert_int_equal(count_streams(world_watcher(w, "pods")),
                     3); /* billing stays until its objects are reported as deleted */
    assert_borrowed_from_conf(&w->d);
}

static void only_changed_watches_restart(void **state)
{
    struct daemon_world *w = *state;
    struct watcher *nodes;
    world_apply_expect(w, "watches:\n" PODS NODES, "2 watches started");
    nodes = world_watcher(w, "nodes");
    world_apply_expect(w, "watches:\n" NODES "  - {resource: pods, cluster: a}\n",
                       "1 watch unchanged, 1 watch started, 1 watch stopped");
    assert_ptr_equal(world_watcher(w, "nodes"), nodes);
    assert_int_equal(count_streams(world_watcher(w, "pods")), 1);
    assert_borrowed_from_conf(&w->d);
    world_apply_expect(w, "watches: []\n", "2 watches stopped");
    world_apply_expect(w, "watches: []\n", "no watches");
}

static void a_watch_can_move_to_another_cluster(void **state)
{
    struct daemon_world *w = *state;
    world_apply_expect(w, "watches:\n" NODES, "1 watch started");
    world_apply_expect(w, "watches:\n  - {resource: nodes, cluster: a}\n",
                       "1 watch started, 1 watch stopped");
    assert_string_equal(world_watcher(w, "nodes")->channel.info.id.cluster, "a");
    assert_borrowed_from_conf(&w->d);
}

static void another_server_url_is_another_cluster(void **state)
{
    struct daemon_world *w = *state;
    struct watcher *pods;
    struct cluster *a;
    world_apply_expect(w, "watches:\n" PODS NODES, "2 watches started");
    pods = world_watcher(w, "pods");
    a = pods->cluster;
    world_put_cluster(w, "b", 3);
    world_apply_expect(w, "watches:\n" PODS NODES,
                       "1 watch unchanged, 1 watch started, 1 watch stopped");
    assert_ptr_equal(world_watcher(w, "pods"), pods);
    assert_ptr_equal(pods->cluster, a);
    assert_string_equal(inf_client_server(world_watcher(w, "nodes")->cluster->client),
                        "http://127.0.0.1:3");
    assert_borrowed_from_conf(&w->d);
}

static void a_renamed_cluster_is_another_cluster(void **state)
{
    struct daemon_world *w = *state;
    world_apply_expect(w,
                       "clusters: [{name: a, kubeconfig: a.kubeconfig}]\n"
                       "watches: [{resource: nodes}]\n",
                       "1 watch started");
    world_apply_expect(w,
                       "clusters: [{name: z, kubeconfig: a.kubeconfig}]\n"
                       "watches: [{resource: nodes}]\n",
                       "1 watch started, 1 watch stopped");
    assert_string_equal(world_watcher(w, "nodes")->channel.info.id.cluster, "z");
    assert_borrowed_from_conf(&w->d);
}

/* Both use one cache. It is kept when one of them is removed. */
static void identical_watches_share_one_cache(void **state)
{
    static const char one[] = "  - {name: one, resource: nodes, cluster: b}\n";
    static const char two[] = "  - {name: two, resource: nodes, cluster: b}\n";
    struct daemon_world *w = *state;
    char *both = xasprintf("watches:\n%s%s", one, two);
    char *second = xasprintf("watches:\n%s", two);
    struct watcher_status status;
    const struct inf_store *store;
    world_apply_expect(w, both, "2 watches started");
    store = inf_informer_store(watcher_first(world_watcher(w, "one"))->informer);
    assert_ptr_equal(inf_informer_store(watcher_first(world_watcher(w, "two"))->informer), store);
    world_apply_expect(w, second, "1 watch unchanged, 1 watch stopped");
    assert_ptr_equal(inf_informer_store(watcher_first(world_watcher(w, "two"))->informer), store);
    watcher_status(world_watcher(w, "two"), &status);
    assert_int_equal(status.streams, 1);
    free(both);
    free(second);
}

/* Objects of a metadata-only watch do not have their real kind. */
static void builtin_resources_have_a_kind_before_discovery(void **state)
{
    struct daemon_world *w = *state;
    world_apply_expect(w,
                       "watches:\n" NODES "  - {resource: deployments.apps/v1, cluster: a}\n"
                       "  - {resource: deployments.example.com/v1, cluster: a}\n",
                       "3 watches started");
    assert_string_equal(world_watcher(w, "nodes")->channel.info.id.kind, "Node");
    assert_string_equal(world_watcher(w, "deployments.apps/v1")->channel.info.id.kind,
                        "Deployment");
    assert_null(world_watcher(w, "deployments.example.com/v1")->channel.info.id.kind);
}

/* ---- refused ---- */

static void assert_refused(struct daemon_world *w, const char *text, const char *part)
{
    struct watcher *nodes = world_watcher(w, "nodes");
    size_t watches = w->d.conf.n_watches;
    if (world_apply(w, text) == 0)
        fail_msg("it was applied");
    if (!strstr(w->err.text, part))
        fail_msg("'%s' is not in: %s", part, w->err.text);
    assert_ptr_equal(world_watcher(w, "nodes"), nodes);
    assert_int_equal(w->d.conf.n_watches, watches);
    assert_borrowed_from_conf(&w->d);
}

static void an_unreadable_kubeconfig_changes_nothing(void **state)
{
    struct daemon_world *w = *state;
    world_apply_expect(w, "watches:\n" NODES, "1 watch started");
    assert_refused(w,
                   "clusters:\n"
                   "  - {name: b, kubeconfig: b.kubeconfig}\n"
                   "  - {name: c, kubeconfig: nowhere}\n"
                   "watches:\n" NODES "  - {resource: pods, cluster: b}\n",
                   "cluster 'c': ");
    world_apply_expect(w, "watches:\n" NODES, "1 watch unchanged");
}

static void an_address_in_use_changes_nothing(void **state)
{
    struct daemon_world *w = *state;
    char text[256];
    world_apply_expect(w, "http: {listen: '127.0.0.1:0'}\nwatches:\n" NODES, "1 watch started");
    assert_non_null(w->d.web.tcp.current);
    snprintf(text, sizeof(text), "http: {listen: 'localhost:%d'}\nwatches:\n" NODES PODS,
             (int)listener_port(w->d.web.tcp.current));
    assert_refused(w, text, "http: listen address 'localhost:");
    assert_non_null(w->d.web.tcp.current);
    assert_null(w->d.web.tcp.next);
    world_apply_expect(w, "watches:\n" NODES, "1 watch unchanged");
    assert_null(w->d.web.tcp.current);
}

/* Outputs are opened after listeners: the prepared listeners are closed again. */
static void invalid_event_logs_change_nothing(void **state)
{
    struct daemon_world *w = *state;
    struct conf conf;
    world_apply_expect(w, "watches:\n" NODES, "1 watch started");
    conf = world_conf(w, "http: {listen: '127.0.0.1:0'}\n"
                         "event_logs: [{path: e.jsonl, label_selector: a=b}]\n"
                         "watches:\n" NODES PODS);
    strcpy(conf.event_logs[0].filter.label_selector,
           "!!"); /* invalid; a configuration file with it would not load */
    assert_int_equal(daemon_apply(&w->d, &conf, NULL, &w->err), -INF_EINVAL);
    assert_non_null(strstr(w->err.text, "e.jsonl"));
    assert_null(w->d.web.tcp.current);
    assert_null(w->d.web.tcp.next);
    assert_non_null(world_watcher(w, "nodes"));
    assert_null(world_watcher(w, "pods"));
    assert_borrowed_from_conf(&w->d);
    conf_free(&conf);
}

/* ---- places ---- */

static void the_socket_can_move_and_be_removed(void **state)
{
    struct daemon_world *w = *state;
    char *one = folder_file(&w->folder, "one.sock"), *two = folder_file(&w->folder, "two.sock");
    struct stat st;
    world_apply_expect(w, "socket: {path: one.sock}\n", "no watches");
    assert_int_equal(access(one, F_OK), 0);
    world_apply_expect(w, "socket: {path: one.sock, mode: '0600'}\n", "no watches");
    assert_int_equal(stat(one, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    world_apply_expect(w, "socket: {path: two.sock, mode: '0600'}\n", "no watches");
    assert_int_equal(access(one, F_OK), -1);
    assert_int_equal(access(two, F_OK), 0);
    world_apply_expect(w, "", "no watches");
    assert_int_equal(access(two, F_OK), -1);
    free(one);
    free(two);
}

static void event_logs_follow_the_conf(void **state)
{
    struct daemon_world *w = *state;
    struct journal_stats stats;
    char *changed =
        xasprintf("1 watch unchanged, 1 event log removed, event log %s/f.jsonl changed (watches)",
                  w->folder.path);
    world_apply_expect(w, "event_logs: [{path: e.jsonl}, {path: f.jsonl}]\nwatches:\n" NODES,
                       "1 watch started, 2 event logs added");
    journal_stats(&w->d.journal, &stats);
    assert_int_equal(stats.logs, 2);
    world_apply_expect(w, "event_logs: [{path: f.jsonl, watches: [nodes]}]\nwatches:\n" NODES,
                       changed);
    journal_stats(&w->d.journal, &stats);
    assert_int_equal(stats.logs, 1);
    free(changed);
}

#define IN_WORLD(test) \
    cmocka_unit_test_setup_teardown(test, daemon_world_setup, daemon_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(unchanged_watches_continue),
        IN_WORLD(the_option_ignore_changes_without_a_relist),
        IN_WORLD(a_renamed_watch_continues),
        IN_WORLD(a_changed_watch_keeps_its_cache),
        IN_WORLD(namespaces_can_be_added_and_removed),
        IN_WORLD(only_changed_watches_restart),
        IN_WORLD(a_watch_can_move_to_another_cluster),
        IN_WORLD(another_server_url_is_another_cluster),
        IN_WORLD(a_renamed_cluster_is_another_cluster),
        IN_WORLD(identical_watches_share_one_cache),
        IN_WORLD(builtin_resources_have_a_kind_before_discovery),
        IN_WORLD(an_unreadable_kubeconfig_changes_nothing),
        IN_WORLD(an_address_in_use_changes_nothing),
        IN_WORLD(invalid_event_logs_change_nothing),
        IN_WORLD(the_socket_can_move_and_be_removed),
        IN_WORLD(event_logs_follow_the_conf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
