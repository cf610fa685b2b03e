/*
 * watch.c - a client, an informer, a handler that feeds the journal, and the manners of a process.
 *
 * SIGINT or SIGTERM closes the client; when the last line is out, nothing keeps the loop and it
 * returns. A second signal ends at once, for a reader that never takes those lines.
 */
#include "daemon/watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include <uv.h>

#include "informer/informer.h"

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/journal.h"
#include "daemon/ownlog.h"
#include "loop/loop.h"

struct watch {
    uv_loop_t uv;
    struct loop loop;
    uv_signal_t signals[2];    /* SIGINT, SIGTERM */
    struct inf_client *client; /* NULL once it is closed */
    struct inf_informer *informer;
    struct inf_handler handler;
    struct disk disk;
    struct seq seq;
    struct journal journal;
    struct journal_watch feed;
    char *resource; /* without its group */
    bool stopping;
    int exit_code;
};

/* ---- the end ---- */

static void stop(struct watch *w)
{
    w->stopping = true;
    inf_client_close(w->client);
    w->client = NULL;
    w->informer = NULL;
    journal_drain(&w->journal);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct watch *w = handle->data;
    if (w->stopping)
        _exit(128 + number);
    stop(w);
}

static void on_drained(struct journal *journal)
{
    journal_close(journal);
}

static void on_loop_closed(struct loop *loop)
{
    (void)loop; /* on our stack */
}

static void on_journal_closed(struct journal *journal)
{
    struct watch *w = container_of(journal, struct watch, journal);
    for (size_t i = 0; i < ARRAY_LEN(w->signals); i++)
        uv_close((uv_handle_t *)&w->signals[i], NULL);
    loop_close(&w->loop, on_loop_closed);
}

/* ---- output ---- */

static void on_hold(struct journal_watch *feed, bool hold)
{
    struct watch *w = container_of(feed, struct watch, feed);
    if (!w->client)
        return;
    if (hold)
        inf_handler_pause(&w->handler);
    else
        inf_handler_resume(&w->handler);
}

/* A reader that went away (| head) has seen enough: no failure. */
static void on_lost(struct journal *journal, int error)
{
    struct watch *w = container_of(journal, struct watch, journal);
    if (error != UV_EPIPE) {
        fprintf(stderr, "informerd: stdout: %s\n", disk_error_text(error));
        w->exit_code = EX_IOERR;
    }
    if (!w->stopping)
        stop(w);
}

/* ---- events ---- */

static struct watch *watch_of(struct inf_handler *handler)
{
    return container_of(handler, struct watch, handler);
}

static void on_event(struct inf_handler *handler, const struct inf_event *event)
{
    struct watch *w = watch_of(handler);
    journal_event(&w->journal, &w->feed, event);
}

static void on_gap(struct inf_handler *handler, const struct inf_gap *gap)
{
    struct watch *w = watch_of(handler);
    journal_gap(&w->journal, &w->feed, gap);
}

static void on_freshness(struct inf_handler *handler, const struct inf_freshness *freshness)
{
    struct watch *w = watch_of(handler);
    journal_freshness(&w->journal, &w->feed, freshness);
}

static void on_batch_end(struct inf_handler *handler)
{
    journal_flush(&watch_of(handler)->journal);
}

static void on_synced(struct inf_handler *handler)
{
    struct watch *w = watch_of(handler);
    const struct inf_store *store = inf_informer_store(w->informer);
    char line[128];
    snprintf(line, sizeof(line), "synced: %zu objects at version %s", inf_store_count(store),
             inf_store_resource_version(store));
    ownlog_line(NULL, INF_LOG_INFO, line);
}

/* ---- the beginning ---- */

static int exit_code_for(const struct inf_error *err)
{
    switch (err->code) {
    case INF_EINVAL: return EX_USAGE;
    case INF_EIO: return EX_IOERR;
    default: return EX_CONFIG;
    }
}

static bool open_informer(struct watch *w, const struct options *options, struct inf_error *err)
{
    struct inf_watch what = {.resource = options->resource, .ns = options->ns};
    w->client = inf_client_open(&w->uv,
                                &(struct inf_client_options){
                                    .kubeconfig = options->kubeconfig,
                                    .context = options->context,
                                    .log = ownlog_line,
                                    .log_level = options->verbose ? INF_LOG_DEBUG : INF_LOG_INFO,
                                },
                                err);
    if (!w->client)
        return false;
    if (!what.ns && !options->all_namespaces)
        what.ns = inf_client_namespace(w->client);
    w->informer = inf_informer_open(w->client, &what, err);
    return w->informer && inf_handler_add(w->informer, &w->handler) == 0;
}

static void say_start(const struct watch *w, const struct options *options)
{
    char line[512];
    snprintf(line, sizeof(line), "informerd %s watches %s %s%s at %s", inf_version(),
             options->resource, options->all_namespaces ? "in all namespaces" : "in namespace ",
             options->all_namespaces ? ""
             : options->ns           ? options->ns
                                     : inf_client_namespace(w->client),
             inf_client_server(w->client));
    ownlog_line(NULL, INF_LOG_INFO, line);
}

static void catch_signals(struct watch *w)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit is an error like any other */
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        uv_signal_init(&w->uv, &w->signals[i]);
        w->signals[i].data = w;
        uv_signal_start(&w->signals[i], on_signal, numbers[i]);
    }
}

/* What a pipe wants to know between changes: where there is a hole, and whether it is alive. */
static void open_journal(struct watch *w, const struct options *options)
{
    const struct journal_output_settings output = {
        .file = {.fd = STDOUT_FILENO},
        .record = {.object = RECORD_DIFF},
        .filter = {.initial = true},
        .notes = 1u << NOTE_RELIST | 1u << NOTE_GAP | 1u << NOTE_STALE | 1u << NOTE_RECOVERED,
    };
    disk_init(&w->disk, &w->uv);
    seq_open(&w->seq, &w->loop.clock, &w->disk, NULL, NULL); /* in memory: can't fail */
    journal_init(&w->journal, &w->loop.clock, &w->disk, &w->seq);
    w->journal.log = ownlog_line;
    w->journal.on_lost = on_lost;
    w->journal.on_drained = on_drained;
    w->journal.on_closed = on_journal_closed;
    journal_set_outputs(&w->journal, &output, 1, NULL);
    w->resource = xstrndup(options->resource, strcspn(options->resource, "."));
    w->feed = (struct journal_watch){.id = {.name = options->resource, .resource = w->resource},
                                     .on_hold = on_hold};
    journal_watch_add(&w->journal, &w->feed);
}

int watch_run(const struct options *options)
{
    struct watch w = {.handler = {.on_event = on_event,
                                  .on_synced = on_synced,
                                  .on_gap = on_gap,
                                  .on_freshness = on_freshness,
                                  .on_batch_end = on_batch_end}};
    struct inf_error err;
    uv_loop_init(&w.uv);
    loop_init(&w.loop, &w.uv);
    catch_signals(&w);
    open_journal(&w, options);
    if (open_informer(&w, options, &err)) {
        say_start(&w, options);
    } else {
        fprintf(stderr, "informerd: %s\n", err.text);
        w.exit_code = exit_code_for(&err);
        stop(&w);
    }
    uv_run(&w.uv, UV_RUN_DEFAULT);
    uv_loop_close(&w.uv);
    free(w.resource);
    return w.exit_code;
}
