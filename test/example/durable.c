/*
 * durable.c - prints every change of a pod at least once, whatever happens to the program:  durable DIRECTORY
 *
 *     pods ──> handler ──> state on disk: the pod, and a record ──> one job at a time
 *
 * The state has the pods that the handler has seen, and the records that were not printed. After a crash the program
 * continues with both: changes while it was down are reported, and a record whose job was not finished is printed again.
 */
#include <informer/consumer.h>
#include <informer/informer.h>
#include <informer/state.h>
#include <signal.h>
#include <stdio.h>

#include <uv.h>

struct app {
    uv_loop_t *loop;
    uv_signal_t interrupt;
    uv_timer_t job; /* takes some time, like a request to another service */
    bool working;
    uint64_t id; /* of the record that it works on */
    struct inf_client *client;
    struct inf_handler handler;
    struct inf_state *state;
    struct inf_state_stream *stream;
    struct inf_consumer *consumer;
};

/* ---- work ---- */

static void on_job_end(uv_timer_t *timer);

static void work(struct app *app)
{
    struct inf_consumer_record record;
    if (app->working || !app->consumer || !inf_consumer_next(app->consumer, &record))
        return;
    app->working = true;
    app->id = record.id;
    printf("%s%.*s\n", record.repeated ? "again: " : "", (int)record.len, record.bytes);
    uv_timer_start(&app->job, on_job_end, 20, 0);
}

static void on_job_end(uv_timer_t *timer)
{
    struct app *app = (struct app *)timer->data;
    app->working = false;
    inf_consumer_done(app->consumer, app->id); /* or inf_consumer_return(), to try it again */
    inf_state_flush(app->state);
    work(app);
}

static void on_flushed(struct inf_state *state, uint64_t flush)
{
    (void)flush;
    work((struct app *)inf_state_data(state));
}

/* ---- events ---- */

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    struct app *app = (struct app *)handler->data;
    const struct inf_object *pod = inf_event_object(event);
    char text[600];
    int len = snprintf(text, sizeof(text), "%s %s/%s", inf_verb_name(event->verb),
                       inf_object_namespace(pod), inf_object_name(pod));
    inf_state_note(app->stream, informer, event);
    if (inf_consumer_add(app->consumer, text, (size_t)len) < 0)
        fprintf(stderr, "durable: too many records; '%s' is lost\n", text);
}

static void on_batch_end(struct inf_handler *handler, struct inf_informer *informer)
{
    struct app *app = (struct app *)handler->data;
    const char *version = inf_handler_checkpoint(handler);
    (void)informer;
    if (version)
        inf_state_position(app->stream, version);
    inf_state_flush(app->state);
}

/* ---- start and stop ---- */

static void on_loaded(struct inf_state *state)
{
    struct app *app = (struct app *)inf_state_data(state);
    struct inf_watch watch = {.resource = "pods"};
    struct inf_error err;
    app->stream = inf_state_stream(state, "pods");
    app->consumer = inf_consumer_open(state, "printer", NULL, &err);
    app->handler =
        (struct inf_handler){.data = app, .on_event = on_event, .on_batch_end = on_batch_end};
    if (!app->consumer ||
        !inf_informer_restore(app->client, &watch, app->stream, &app->handler, &err))
        fprintf(stderr, "durable: %s\n", err.text);
    work(app);
}

static void on_client_closed(struct inf_client *client)
{
    struct app *app = (struct app *)inf_client_data(client);
    inf_consumer_close(app->consumer);
    app->consumer = NULL;
    inf_state_close(app->state, NULL, NULL);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct app *app = (struct app *)signal->data;
    (void)number;
    inf_client_close(app->client, on_client_closed);
    uv_close((uv_handle_t *)&app->job, NULL);
    uv_close((uv_handle_t *)&app->interrupt, NULL);
}

int main(int argc, char **argv)
{
    struct app app = {.loop = uv_default_loop()};
    struct inf_state_settings settings = {.dir = argc > 1 ? argv[1] : ".",
                                          .data = &app,
                                          .on_loaded = on_loaded,
                                          .on_flushed = on_flushed};
    struct inf_error err;
    app.client = inf_client_open(app.loop, NULL, &err);
    app.state = app.client ? inf_state_open(app.loop, &settings, &err) : NULL;
    if (!app.state) {
        fprintf(stderr, "durable: %s\n", err.text);
        return 1;
    }
    inf_client_set_data(app.client, &app);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    uv_timer_init(app.loop, &app.job);
    app.job.data = &app;
    uv_signal_init(app.loop, &app.interrupt);
    app.interrupt.data = &app;
    uv_signal_start(&app.interrupt, on_signal, SIGINT);
    uv_run(app.loop, UV_RUN_DEFAULT);
    return uv_loop_close(app.loop);
}
