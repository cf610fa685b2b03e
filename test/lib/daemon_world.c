#include "daemon_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/consumers.h"
#include "daemon/handler/handlers_apply.h"

static void on_log_line(void *owner, enum inf_log_level level, const char *line)
{
    struct daemon_world *w = owner;
    buf_printf(&w->said, "%d %s\n", (int)level, line);
}

static void on_loop_closed(struct loop *loop)
{
    container_of(container_of(loop, struct daemon, loop), struct daemon_world, d)->closed = true;
}

/* As in daemon.c: disk operations may be in flight when everything else is closed. */
static void on_journal_closed(struct journal *journal)
{
    struct daemon *d = container_of(journal, struct daemon, journal);
    loop_disk_close(&d->disk);
    loop_close(&d->loop, on_loop_closed);
}

int daemon_world_setup(void **state)
{
    struct daemon_world *w = calloc(1, sizeof(*w));
    struct daemon *d = &w->d;
    uv_loop_init(&d->uv);
    loop_init(&d->loop, &d->uv);
    loop_disk_init(&d->disk, &d->loop);
    d->state_lock = -1;
    d->log.level = INF_LOG_ERROR;
    d->started_us = d->reloaded_us = 1767225600000000;
    assert_int_equal(seq_open(&d->seq, &d->loop.clock, &d->disk.disk, NULL, NULL), 0);
    journal_init(&d->journal, &d->loop.clock, &d->disk.disk, &d->seq);
    d->journal.budget = d->budget =
        inf_budget_new(&(struct inf_budget_options){.bytes = 256 * 1024 * 1024});
    d->journal.owner = w;
    d->journal.log = on_log_line;
    d->journal.on_closed = on_journal_closed;
    handlers_apply_open(d);
    consumers_open(d);
    list_init(&d->clusters);
    list_init(&d->watchers);
    web_init(&d->web, d);
    folder_make(&w->folder);
    world_put_cluster(w, "a", 1);
    world_put_cluster(w, "b", 2);
    *state = w;
    return 0;
}

int daemon_world_teardown(void **state)
{
    struct daemon_world *w = *state;
    struct daemon *d = &w->d;
    list_for_each_safe(node, &d->watchers)
        watcher_close(container_of(node, struct watcher, node));
    list_for_each_safe(node, &d->clusters)
        cluster_close(container_of(node, struct cluster, node));
    consumers_close(d);
    web_close(&d->web);
    journal_close(&d->journal);
    uv_run(&d->uv, UV_RUN_DEFAULT);
    assert_true(w->closed);
    assert_int_equal(uv_loop_close(&d->uv), 0);
    inf_budget_free(d->budget);
    conf_free(&d->conf);
    buf_free(&w->what);
    buf_free(&w->said);
    daemon_log_free(&w->d.log);
    folder_remove(&w->folder);
    free(w);
    return 0;
}

void world_put_cluster(struct daemon_world *w, const char *name, int port)
{
    char file[64], text[512];
    snprintf(file, sizeof(file), "%s.kubeconfig", name);
    snprintf(text, sizeof(text),
             "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}]\n"
             "contexts: [{name: x, context: {cluster: c}}]\n"
             "current-context: x\n",
             port);
    folder_write(&w->folder, file, text);
}

struct conf world_conf(struct daemon_world *w, const char *text)
{
    static const char clusters[] = "clusters:\n"
                                   "  - {name: a, kubeconfig: a.kubeconfig}\n"
                                   "  - {name: b, kubeconfig: b.kubeconfig}\n";
    char *name = folder_file(&w->folder, "x.conf");
    char *all = xasprintf("%s%s", strstr(text, "clusters:") ? "" : clusters, text);
    struct conf_errors errors = {0};
    struct conf conf = {0};
    if (conf_load_text(name, all, strlen(all), &conf, &errors) < 0)
        fail_msg("%.*s", (int)errors.text.len, errors.text.bytes);
    conf_errors_free(&errors);
    free(all);
    free(name);
    return conf;
}

int world_apply(struct daemon_world *w, const char *text)
{
    struct conf conf = world_conf(w, text);
    int rc;
    buf_clear(&w->what);
    buf_putc(&w->what, ' ');
    w->err = (struct inf_error){0};
    rc = daemon_apply(&w->d, &conf, &w->what, &w->err);
    buf_putc(&w->what, '\0');
    conf_free(&conf); /* empty, unless it was refused */
    return rc;
}

void world_apply_expect(struct daemon_world *w, const char *text, const char *what)
{
    if (world_apply(w, text) < 0)
        fail_msg("%s", w->err.text);
    assert_string_equal(w->what.bytes + 1, what);
}

struct watcher *world_watcher(struct daemon_world *w, const char *name)
{
    list_for_each(node, &w->d.watchers) {
        struct watcher *watcher = container_of(node, struct watcher, node);
        if (strcmp(watcher->conf->name, name) == 0)
            return watcher;
    }
    return NULL;
}
