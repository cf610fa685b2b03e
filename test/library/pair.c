/*
 * pair.c - two clusters in one process:  pair loop|threads KUBECONFIG VERSION KUBECONFIG VERSION
 *
 * Watches both, on one loop or on one loop per thread, until each store has reached its version. Then prints the
 * contents of the stores, one line per object: "0 NAMESPACE/NAME VERSION".
 */
#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "life.h"

struct follower {
    struct life life; /* must be the first member */
    const char *kubeconfig;
    const char *version;
    struct buf found; /* lines; printed after both loops have ended */
    int number;
    uv_timer_t look;
};

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    (void)informer;
    (void)handler;
    (void)event;
}

static void collect_objects(struct follower *f)
{
    const struct inf_store *store = inf_informer_store(f->life.informer);
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *o;
    while ((o = inf_store_next(store, &cursor)))
        buf_printf(&f->found, "%d %s/%s %s\n", f->number, inf_object_namespace(o),
                   inf_object_name(o), inf_object_resource_version(o));
    inf_cursor_end(&cursor);
}

static void check_version(uv_timer_t *timer)
{
    struct follower *f = timer->data;
    const struct inf_store *store = inf_informer_store(f->life.informer);
    if (strcmp(inf_store_resource_version(store), f->version) != 0)
        return;
    collect_objects(f);
    inf_client_close(f->life.client, NULL); /* the other one continues */
    uv_close((uv_handle_t *)timer, NULL);
}

static void follow(struct follower *f, uv_loop_t *loop)
{
    f->life.handler.on_event = on_event;
    life_open(&f->life, loop, f->kubeconfig);
    uv_timer_init(loop, &f->look);
    f->look.data = f;
    uv_timer_start(&f->look, check_version, 1, 1);
}

static void run_loop(void *arg)
{
    uv_loop_t loop;
    MUST(uv_loop_init(&loop) == 0);
    follow(arg, &loop);
    uv_run(&loop, UV_RUN_DEFAULT);
    MUST(uv_loop_close(&loop) == 0);
}

static void run_in_threads(struct follower two[2])
{
    uv_thread_t threads[2];
    for (int i = 0; i < 2; i++)
        MUST(uv_thread_create(&threads[i], run_loop, &two[i]) == 0);
    for (int i = 0; i < 2; i++)
        uv_thread_join(&threads[i]);
}

static void run_on_one_loop(struct follower two[2])
{
    uv_loop_t loop;
    MUST(uv_loop_init(&loop) == 0);
    for (int i = 0; i < 2; i++)
        follow(&two[i], &loop);
    uv_run(&loop, UV_RUN_DEFAULT);
    MUST(uv_loop_close(&loop) == 0);
}

int main(int argc, char **argv)
{
    struct follower two[2] = {{.number = 0}, {.number = 1}};
    MUST(argc == 6);
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < 2; i++) {
        two[i].kubeconfig = argv[2 + 2 * i];
        two[i].version = argv[3 + 2 * i];
    }
    if (strcmp(argv[1], "threads") == 0)
        run_in_threads(two);
    else
        run_on_one_loop(two);
    for (int i = 0; i < 2; i++) {
        fwrite(two[i].found.bytes, 1, two[i].found.len, stdout);
        buf_free(&two[i].found);
    }
    return EXIT_SUCCESS;
}
