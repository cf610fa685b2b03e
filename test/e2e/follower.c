/*
 * follower.c - the library in the end-to-end tests: prints the events of a handler, and on request the
 * contents of the store, as JSON lines.
 *
 *     follower kubeconfig=FILE resource=pods [namespace=NS] [labels=SEL] [fields=SEL] [metadata=yes]
 *              [optional=yes] [stale_after=SECONDS] [coalesce=yes] [backlog=N] [late=yes]
 *
 * backlog=N: if more than N events wait, the handler gets only the newest state of each object. late:
 * the handler is added by the command `listen`, paused. Each command on stdin is answered by one line:
 * `store` by STORE with every object in canonical form, to be compared with the server's list;
 * `pause`, `resume` and `listen` by DONE. SIGTERM ends the program. Its stdout may block: the test
 * always reads it.
 */
#include <informer/informer.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#define APP_OF(pointer) ((struct app *)(void *)((char *)(pointer)-offsetof(struct app, handler)))

struct app {
    char **words;
    uv_loop_t *loop;
    uv_signal_t terminated;
    uv_pipe_t requests;
    char request[64];
    struct inf_client *client;
    struct inf_informer *informer;
    struct inf_handler handler;
};

/* ---- events ---- */

/* Names, uids and versions of Kubernetes need no escapes. */
static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    const struct inf_object *object = inf_event_object(event);
    (void)informer;
    (void)handler;
    printf("{\"type\":\"%s\",\"origin\":\"%s\",\"namespace\":\"%s\",\"name\":\"%s\",\"uid\":\"%s\","
           "\"rv\":\"%s\",\"final\":%s}\n",
           inf_verb_name(event->verb), inf_origin_name(event->origin), inf_object_namespace(object),
           inf_object_name(object), inf_object_uid(object), inf_object_resource_version(object),
           event->final ? "true" : "false");
}

static void on_gap(struct inf_handler *handler, struct inf_informer *informer,
                   const struct inf_gap *gap)
{
    (void)informer;
    (void)handler;
    printf("{\"type\":\"%s\"}\n", gap->reason == INF_GAP_RELIST ? "RELIST" : "GAP");
}

static void on_synced(struct inf_handler *handler, struct inf_informer *informer)
{
    const struct inf_store *store = inf_informer_store(APP_OF(handler)->informer);
    (void)informer;
    printf("{\"type\":\"SYNCED\",\"count\":%zu}\n", inf_store_count(store));
}

static void on_freshness(struct inf_handler *handler, struct inf_informer *informer,
                         const struct inf_freshness *freshness)
{
    (void)informer;
    (void)handler;
    printf("{\"type\":\"%s\"}\n", freshness->stale ? "STALE" : "RECOVERED");
}

static void on_batch_end(struct inf_handler *handler, struct inf_informer *informer)
{
    (void)informer;
    (void)handler;
    fflush(stdout);
}

/* ---- the store ---- */

static void print_store(const struct inf_store *store)
{
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *object;
    const char *separator = "";
    printf("{\"type\":\"STORE\",\"rv\":\"%s\",\"items\":[", inf_store_resource_version(store));
    while ((object = inf_store_next(store, &cursor))) {
        printf("%s%s", separator, inf_object_json(object, NULL));
        separator = ",";
    }
    inf_cursor_end(&cursor);
    printf("]}\n");
    fflush(stdout);
}

static void lend_request(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    struct app *app = handle->data;
    (void)suggested;
    *ret = uv_buf_init(app->request, sizeof(app->request));
}

/* One command at a time: the test waits for the answer. */
static void answer_command(struct app *app, const char *request)
{
    if (strncmp(request, "store", 5) == 0) {
        print_store(inf_informer_store(app->informer));
        return;
    }
    if (strncmp(request, "listen", 6) == 0)
        inf_handler_add(app->informer, &app->handler);
    if (strncmp(request, "resume", 6) == 0)
        inf_handler_resume(&app->handler);
    else
        inf_handler_pause(&app->handler);
    printf("{\"type\":\"DONE\"}\n");
    fflush(stdout);
}

static void on_request(uv_stream_t *stream, ssize_t length, const uv_buf_t *text)
{
    struct app *app = stream->data;
    if (length > 0)
        answer_command(app, text->base);
    else if (length < 0)
        uv_read_stop(stream);
}

/* ---- life ---- */

static void on_terminated(uv_signal_t *signal, int number)
{
    struct app *app = signal->data;
    (void)number;
    inf_client_close(app->client, NULL);
    uv_close((uv_handle_t *)&app->terminated, NULL);
    uv_close((uv_handle_t *)&app->requests, NULL);
}

static void log_line(void *ctx, enum inf_log_level level, const char *line)
{
    (void)ctx;
    (void)level;
    fprintf(stderr, "%s\n", line);
}

/* The value of NAME=VALUE among the arguments; NULL if it is missing or empty. */
static const char *option(const struct app *app, const char *name)
{
    size_t length = strlen(name);
    for (char **word = app->words; *word; word++)
        if (strncmp(*word, name, length) == 0 && (*word)[length] == '=')
            return (*word)[length + 1] ? *word + length + 1 : NULL;
    return NULL;
}

static uint32_t number(const struct app *app, const char *name)
{
    const char *text = option(app, name);
    return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static struct inf_informer *open_informer(struct app *app, struct inf_error *err)
{
    struct inf_watch watch = {
        .resource = option(app, "resource"),
        .ns = option(app, "namespace"),
        .label_selector = option(app, "labels"),
        .field_selector = option(app, "fields"),
        .metadata_only = option(app, "metadata") != NULL,
        .optional = option(app, "optional") != NULL,
        .coalesce = option(app, "coalesce") != NULL,
        .reveal = true,
    };
    return inf_informer_open(app->client, &watch, err);
}

static int open_all(struct app *app, struct inf_error *err)
{
    struct inf_client_options options = {
        .kubeconfig = option(app, "kubeconfig"),
        .stale_after_ms = number(app, "stale_after") * 1000,
        .log = log_line,
        .log_level = INF_LOG_INFO,
    };
    app->client = inf_client_open(app->loop, &options, err);
    app->informer = app->client ? open_informer(app, err) : NULL;
    if (app->informer)
        return 0;
    inf_client_close(app->client, NULL);
    return -1;
}

static int set_up(struct app *app, struct inf_error *err)
{
    if (open_all(app, err) < 0)
        return -1;
    app->handler.max_events = number(app, "backlog");
    app->handler.overflow = app->handler.max_events ? INF_COALESCE : INF_WAIT;
    if (!option(app, "late"))
        inf_handler_add(app->informer, &app->handler);
    uv_signal_init(app->loop, &app->terminated);
    app->terminated.data = app;
    uv_signal_start(&app->terminated, on_terminated, SIGTERM);
    uv_pipe_init(app->loop, &app->requests, 0);
    app->requests.data = app;
    uv_pipe_open(&app->requests, 0);
    uv_read_start((uv_stream_t *)&app->requests, lend_request, on_request);
    return 0;
}

int main(int argc, char **argv)
{
    struct app app = {.words = argv + 1,
                      .handler = {.on_event = on_event,
                                  .on_gap = on_gap,
                                  .on_synced = on_synced,
                                  .on_freshness = on_freshness,
                                  .on_batch_end = on_batch_end}};
    struct inf_error err;
    int rc;
    if (argc < 3) {
        fprintf(stderr, "usage: follower kubeconfig=FILE resource=NAME [NAME=VALUE...]\n");
        return 64;
    }
    signal(SIGPIPE, SIG_IGN);
    app.loop = uv_default_loop();
    rc = set_up(&app, &err);
    if (rc < 0)
        fprintf(stderr, "follower: %s\n", err.text);
    uv_run(app.loop, UV_RUN_DEFAULT);
    uv_loop_close(app.loop);
    return rc < 0 ? 1 : 0;
}
