/*
 * event_printer.c - prints all callbacks of the library to stdout, one JSON object per line:
 * event_printer key=value ...
 *
 *     {"type":"ADDED","origin":"live","final":true,"object":{...}}    events
 *     {"type":"synced"}  {"type":"gap","reason":...}  {"type":"stale","stale":true}
 *     {"type":"log","level":2,"text":...}
 *     {"type":"flushed"}             with state=DIRECTORY, or recorded=DIRECTORY: by the client itself
 *
 * Each line on stdin is answered by {"type":"store",...}: the objects of the store and the status
 * of the informer. The end of stdin closes the client; handles and memory that are left then are
 * found by libuv and the leak checker.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "informer/informer.h"
#include "informer/state.h"

#include "base/base.h"
#include "base/text/json_string.h"

struct printer {
    uv_loop_t loop;
    uv_pipe_t input;
    char bytes[64];
    struct inf_client *client;
    struct inf_informer *informer;
    struct inf_handler handler;
    struct inf_watch watch;
    struct inf_state *state; /* NULL: none */
    struct inf_state_stream *stream;
    bool asked;          /* for the store, before the state was loaded */
    const char *relabel; /* the label selector after on_synced; NULL: stays */
    const char *changed; /* why the watch is not that of the saved objects; NULL: it is */
    struct buf out;
};

/* ---- lines ---- */

static void put_key(struct printer *t, const char *key, const char *value)
{
    buf_printf(&t->out, ",\"%s\":", key);
    json_put_string(&t->out, str_of(value));
}

static void begin_line(struct printer *t, const char *what)
{
    buf_puts(&t->out, "{\"type\":");
    json_put_string(&t->out, str_of(what));
}

static void end_line(struct printer *t)
{
    buf_puts(&t->out, "}\n");
    fwrite(t->out.bytes, 1, t->out.len, stdout);
    fflush(stdout);
    t->out.len = 0;
}

/* ---- callbacks of the library ---- */

static struct printer *printer_of(struct inf_handler *handler)
{
    return container_of(handler, struct printer, handler);
}

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    struct printer *t = printer_of(handler);
    if (t->stream)
        inf_state_note(t->stream, informer, event);
    begin_line(t, inf_verb_name(event->verb));
    put_key(t, "origin", inf_origin_name(event->origin));
    buf_printf(&t->out, ",\"final\":%s,\"object\":%s", event->final ? "true" : "false",
               inf_object_json(inf_event_object(event), NULL));
    end_line(t);
}

static void on_synced(struct inf_handler *handler, struct inf_informer *informer)
{
    struct printer *t = printer_of(handler);
    begin_line(t, "synced");
    end_line(t);
    if (!t->relabel)
        return;
    t->watch.label_selector = t->relabel;
    if (inf_informer_change(informer, &t->watch, "relabelled", NULL) < 0)
        abort();
}

static void on_gap(struct inf_handler *handler, struct inf_informer *informer,
                   const struct inf_gap *gap)
{
    (void)informer;
    begin_line(printer_of(handler), "gap");
    put_key(printer_of(handler), "reason", inf_gap_reason_name(gap->reason));
    put_key(printer_of(handler), "text", gap->text);
    end_line(printer_of(handler));
}

static void on_freshness(struct inf_handler *handler, struct inf_informer *informer,
                         const struct inf_freshness *freshness)
{
    (void)informer;
    begin_line(printer_of(handler), "stale");
    buf_printf(&printer_of(handler)->out, ",\"stale\":%s", freshness->stale ? "true" : "false");
    put_key(printer_of(handler), "text", freshness->text);
    end_line(printer_of(handler));
}

static void on_log(void *ctx, enum inf_log_level level, const char *line)
{
    begin_line(ctx, "log");
    buf_printf(&((struct printer *)ctx)->out, ",\"level\":%d", (int)level);
    put_key(ctx, "text", line);
    end_line(ctx);
}

static void on_batch_end(struct inf_handler *handler, struct inf_informer *informer)
{
    struct printer *t = printer_of(handler);
    const char *position = inf_handler_checkpoint(handler);
    (void)informer;
    if (!t->stream)
        return;
    if (position)
        inf_state_position(t->stream, position);
    inf_state_flush(t->state);
}

/* ---- callbacks of the state ---- */

static void on_flushed(struct inf_state *state, uint64_t flush)
{
    (void)flush;
    begin_line(inf_state_data(state), "flushed");
    end_line(inf_state_data(state));
}

/* ---- the store and the status ---- */

static void put_counts(struct printer *t, const char *key, const uint64_t counts[INF_ERRORS])
{
    uint64_t sum = 0;
    for (size_t i = 0; i < INF_ERRORS; i++)
        sum += counts[i];
    buf_printf(&t->out, ",\"%s\":%llu", key, (unsigned long long)sum);
}

static void put_status(struct printer *t)
{
    struct inf_status status;
    inf_informer_status(t->informer, &status);
    put_key(t, "status", inf_status_name(&status));
    put_key(t, "error", status.error.code ? inf_error_name(status.error.code) : "");
    put_key(t, "text", status.error.code ? status.error.text : "");
    buf_printf(&t->out, ",\"restored\":%s,\"aged\":%s", status.restored ? "true" : "false",
               status.restored_age_ms ? "true" : "false");
    put_counts(t, "ends", status.ends);
    put_counts(t, "relists", status.relists);
    buf_printf(&t->out, ",\"bookmarked\":%s",
               status.bookmark_age_ms == INF_NEVER ? "false" : "true");
    buf_printf(&t->out, ",\"requests\":%llu,\"skipped\":%llu", (unsigned long long)status.requests,
               (unsigned long long)status.skipped);
}

static void put_store(struct printer *t)
{
    const struct inf_store *store = inf_informer_store(t->informer);
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *object;
    const char *comma = "";
    put_key(t, "version", inf_store_resource_version(store));
    buf_puts(&t->out, ",\"objects\":[");
    while ((object = inf_store_next(store, &cursor))) {
        buf_printf(&t->out, "%s%s", comma, inf_object_json(object, NULL));
        comma = ",";
    }
    inf_cursor_end(&cursor);
    buf_putc(&t->out, ']');
}

static void print_store(struct printer *t)
{
    begin_line(t, "store");
    put_status(t);
    put_store(t);
    end_line(t);
}

/* ---- input, options, main ---- */

static void on_loaded(struct inf_state *state)
{
    struct printer *t = inf_state_data(state);
    struct inf_error err;
    t->stream = inf_state_stream(state, "maps");
    t->informer = t->changed
                      ? inf_informer_restore_changed(t->client, &t->watch, t->stream, &t->handler,
                                                     t->changed, &err)
                      : inf_informer_restore(t->client, &t->watch, t->stream, &t->handler, &err);
    if (!t->informer)
        abort();
    if (t->asked)
        print_store(t);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *ret)
{
    struct printer *t = handle->data;
    (void)size;
    *ret = uv_buf_init(t->bytes, sizeof(t->bytes));
}

static void on_input(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    struct printer *t = stream->data;
    for (ssize_t i = 0; i < n; i++)
        if (bytes->base[i] == '\n' && t->informer)
            print_store(t);
        else
            t->asked = true; /* answered when the state is loaded */
    if (n >= 0)
        return;
    inf_client_close(t->client, NULL);
    inf_state_close(t->state, NULL, NULL);
    uv_close((uv_handle_t *)stream, NULL);
}

static const char *option(char **argv, const char *key)
{
    size_t n = strlen(key);
    for (; *argv; argv++)
        if (strncmp(*argv, key, n) == 0 && (*argv)[n] == '=')
            return *argv + n + 1;
    return NULL;
}

static uint32_t option_number(char **argv, const char *key)
{
    const char *text = option(argv, key);
    return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static bool set_up(struct printer *t, char **argv, struct inf_error *err)
{
    struct inf_client_options options = {
        .kubeconfig = option(argv, "kubeconfig"),
        .stale_after_ms = option_number(argv, "stale") * 1000,
        .log = on_log,
        .log_data = t,
        .log_level = INF_LOG_INFO,
    };
    const char *recorded = option(argv, "recorded");
    struct inf_state_settings settings = {.dir = recorded ? recorded : option(argv, "state"),
                                          .data = t,
                                          .on_loaded = recorded ? NULL : on_loaded,
                                          .on_flushed = on_flushed};
    t->watch = (struct inf_watch){.resource = option(argv, "resource"),
                                  .ns = option(argv, "ns"),
                                  .label_selector = option(argv, "labels"),
                                  .compact = option_number(argv, "compact")};
    t->changed = option(argv, "changed");
    t->relabel = option(argv, "relabel");
    if (settings.dir && !(t->state = inf_state_open(&t->loop, &settings, err)))
        return false;
    options.state = recorded ? t->state : NULL;
    t->client = inf_client_open(&t->loop, &options, err);
    t->handler = (struct inf_handler){.on_event = on_event,
                                      .on_synced = on_synced,
                                      .on_gap = on_gap,
                                      .on_freshness = on_freshness,
                                      .on_batch_end = on_batch_end};
    if (!t->client || (t->state && !recorded))
        return t->client; /* on_loaded() opens the informer */
    t->informer = inf_informer_open(t->client, &t->watch, err);
    return t->informer && inf_handler_add(t->informer, &t->handler) == 0;
}

int main(int argc, char **argv)
{
    struct printer t = {0};
    struct inf_error err;
    int rc;
    (void)argc;
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&t.loop);
    if (!set_up(&t, argv + 1, &err)) {
        fprintf(stderr, "event_printer: %s\n", err.text);
        return EXIT_FAILURE;
    }
    uv_pipe_init(&t.loop, &t.input, 0);
    t.input.data = &t;
    uv_pipe_open(&t.input, STDIN_FILENO);
    uv_read_start((uv_stream_t *)&t.input, on_alloc, on_input);
    uv_run(&t.loop, UV_RUN_DEFAULT);
    rc = uv_loop_close(&t.loop);
    buf_free(&t.out);
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
