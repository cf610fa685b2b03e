/*
 * watch.c - a client, an informer, a handler that writes a line, and the manners of a process.
 *
 * SIGINT or SIGTERM closes the client; when the last line is out, nothing keeps the loop and it
 * returns. A second signal ends at once, for a reader that never takes those lines.
 */
#include "daemon/watch.h"

#include <signal.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include <uv.h>

#include "informer/informer.h"

#include "base/base.h"
#include "daemon/eventlog.h"
#include "daemon/output.h"
#include "daemon/ownlog.h"

struct watch {
    uv_loop_t *uv;
    uv_signal_t signals[2];    /* SIGINT, SIGTERM */
    struct inf_client *client; /* NULL once it is closed */
    struct inf_informer *informer;
    struct inf_handler handler;
    struct output output;
    bool stopping;
    int exit_code;
};

/* ---- the end ---- */

static void close_signals(struct watch *w)
{
    for (size_t i = 0; i < ARRAY_LEN(w->signals); i++)
        if (!uv_is_closing((uv_handle_t *)&w->signals[i]))
            uv_close((uv_handle_t *)&w->signals[i], NULL);
}

static void stop(struct watch *w)
{
    w->stopping = true;
    inf_client_close(w->client);
    w->client = NULL;
    w->informer = NULL;
    output_flush(&w->output);
    if (output_idle(&w->output))
        close_signals(w);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct watch *w = handle->data;
    if (w->stopping)
        _exit(128 + number);
    stop(w);
}

/* ---- output ---- */

static void on_hold(struct output *output, bool hold)
{
    struct watch *w = container_of(output, struct watch, output);
    if (hold)
        inf_handler_pause(&w->handler);
    else
        inf_handler_resume(&w->handler);
}

/* A reader that went away (| head) has seen enough: no failure. */
static void output_failed(struct watch *w)
{
    if (w->output.error != UV_EPIPE) {
        fprintf(stderr, "informerd: stdout: %s\n", uv_strerror(w->output.error));
        w->exit_code = EX_IOERR;
    }
    stop(w);
}

static void on_idle(struct output *output)
{
    struct watch *w = container_of(output, struct watch, output);
    if (w->stopping)
        close_signals(w);
    else if (output->error)
        output_failed(w);
}

/* ---- events ---- */

static void on_event(struct inf_handler *handler, const struct inf_event *event)
{
    struct watch *w = container_of(handler, struct watch, handler);
    eventlog_put(&w->output.collected, event);
}

static void on_gap(struct inf_handler *handler, const struct inf_gap *gap)
{
    struct watch *w = container_of(handler, struct watch, handler);
    eventlog_put_gap(&w->output.collected, gap);
}

static void on_batch_end(struct inf_handler *handler)
{
    struct watch *w = container_of(handler, struct watch, handler);
    output_flush(&w->output);
}

static void on_synced(struct inf_handler *handler)
{
    struct watch *w = container_of(handler, struct watch, handler);
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
    w->client = inf_client_open(w->uv,
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
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        uv_signal_init(w->uv, &w->signals[i]);
        w->signals[i].data = w;
        uv_signal_start(&w->signals[i], on_signal, numbers[i]);
    }
}

int watch_run(const struct options *options)
{
    struct watch w = {.handler = {.on_event = on_event,
                                  .on_synced = on_synced,
                                  .on_gap = on_gap,
                                  .on_batch_end = on_batch_end}};
    struct inf_error err;
    uv_loop_t loop;
    uv_loop_init(&loop);
    w.uv = &loop;
    output_init(&w.output, &loop, STDOUT_FILENO);
    w.output.on_hold = on_hold;
    w.output.on_idle = on_idle;
    catch_signals(&w);
    if (open_informer(&w, options, &err)) {
        say_start(&w, options);
    } else {
        fprintf(stderr, "informerd: %s\n", err.text);
        w.exit_code = exit_code_for(&err);
        stop(&w);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    output_free(&w.output);
    uv_loop_close(&loop);
    return w.exit_code;
}
