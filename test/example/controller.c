/*
 * controller.c - a small controller: it prints the number of pods of a node when that changes. It also compiles as C++.
 *
 *     pods ──> handler ──> work queue ──> worker, which reads the cache
 *
 * The handler only adds the name of the node to the queue. The queue combines a burst of adds to one run, never runs one
 * node twice at the same time, and retries failures with back-off. The worker reads the current state from the cache,
 * not the event: its result is correct however late or often it runs.
 */
#include <informer/informer.h>
#include <informer/path.h>
#include <informer/queue.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#define APP_OF(member, pointer) \
    ((struct app *)(void *)((char *)(pointer)-offsetof(struct app, member)))

struct app {
    uv_loop_t *loop;
    uv_signal_t interrupt;
    struct inf_client *client;
    struct inf_informer *pods;
    struct inf_queue *queue;
    struct inf_handler handler;
    struct inf_worker worker;
    struct inf_path *node_name;
};

/* ---- events ---- */

static void queue_node_of(struct app *app, const struct inf_object *pod)
{
    char node[INF_QUEUE_KEY_MAX];
    if (pod && inf_path_string(app->node_name, pod, node, sizeof(node)) > 0)
        inf_queue_add(app->queue, node);
}

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    struct app *app = APP_OF(handler, handler);
    (void)informer;
    queue_node_of(app, event->old_object); /* if the pod moved, both nodes change */
    queue_node_of(app, event->new_object);
}

/* ---- work ---- */

/* A run that takes some time, like a call to another service. */
struct run {
    uv_timer_t timer;
    struct app *app;
    char node[];
};

static bool count(void *ctx, const struct inf_object *pod)
{
    (void)pod;
    ++*(size_t *)ctx;
    return true;
}

static void on_run_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_run_end(uv_timer_t *timer)
{
    struct run *run = (struct run *)timer->data;
    const struct inf_store *store = inf_informer_store(run->app->pods);
    size_t pods = 0;
    inf_store_by_index(store, "node", run->node, count, &pods);
    printf("node %s: %zu pods\n", run->node, pods);
    inf_queue_done(run->app->queue, run->node, INF_WORK_OK); /* or INF_WORK_RETRY */
    uv_close((uv_handle_t *)timer, on_run_closed);
}

static void work(struct inf_worker *worker, struct inf_queue *queue, const char *node)
{
    struct run *run = (struct run *)calloc(1, sizeof(*run) + strlen(node) + 1);
    (void)queue;
    run->app = APP_OF(worker, worker);
    run->timer.data = run;
    strcpy(run->node, node);
    uv_timer_init(run->app->loop, &run->timer);
    uv_timer_start(&run->timer, on_run_end, 10, 0);
}

/* ---- start and stop ---- */

/* The work that had started is finished: close everything. */
static void on_drained(struct inf_worker *worker, struct inf_queue *queue)
{
    struct app *app = APP_OF(worker, worker);
    (void)queue;
    inf_client_close(app->client, NULL); /* with its informers and its queues */
    uv_close((uv_handle_t *)&app->interrupt, NULL);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct app *app = (struct app *)signal->data;
    (void)number;
    inf_handler_remove(&app->handler);
    inf_queue_drain(app->queue);
}

static int set_up(struct app *app, struct inf_error *err)
{
    struct inf_index by_node = {.name = "node", .path = "spec.nodeName"};
    struct inf_watch watch = {.resource = "pods", .indexes = &by_node, .n_indexes = 1};
    struct inf_queue_options queue = {.workers = 4};
    app->node_name = inf_path_parse("spec.nodeName", err);
    app->client = inf_client_open(app->loop, NULL, err);
    if (!app->client)
        return -1;
    app->pods = inf_informer_open(app->client, &watch, err);
    app->worker = (struct inf_worker){.work = work, .on_drained = on_drained};
    app->queue = inf_queue_open(app->client, &app->worker, &queue, err);
    app->handler = (struct inf_handler){.on_event = on_event};
    return app->pods && app->queue ? inf_handler_add(app->pods, &app->handler) : -1;
}

int main(void)
{
    struct app app = {.loop = uv_default_loop()};
    struct inf_error err;
    if (set_up(&app, &err) < 0) {
        fprintf(stderr, "controller: %s\n", err.text);
        inf_path_free(app.node_name);
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    uv_signal_init(app.loop, &app.interrupt);
    app.interrupt.data = &app;
    uv_signal_start(&app.interrupt, on_signal, SIGINT);
    uv_run(app.loop, UV_RUN_DEFAULT);
    inf_path_free(app.node_name);
    return uv_loop_close(app.loop);
}
