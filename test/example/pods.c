/*
 * pods.c - prints the existing pods, then every change until Ctrl-C. It also compiles as C++.
 *
 *     cc pods.c -o pods $(pkg-config --cflags --libs informer) && ./pods
 */
#include <informer/informer.h>
#include <signal.h>
#include <stdio.h>

#include <uv.h>

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    const struct inf_object *pod = inf_event_object(event);
    (void)informer;
    (void)handler;
    printf("%-8s %s/%s\n", inf_verb_name(event->verb), inf_object_namespace(pod),
           inf_object_name(pod));
}

static void on_synced(struct inf_handler *handler, struct inf_informer *informer)
{
    (void)informer;
    (void)handler;
    printf("all existing pods were printed; changes follow until Ctrl-C\n");
}

static void on_log(void *data, enum inf_log_level level, const char *line)
{
    (void)data;
    (void)level;
    fprintf(stderr, "%s\n", line);
}

static void on_signal(uv_signal_t *signal, int number)
{
    (void)number;
    inf_client_close((struct inf_client *)signal->data, NULL); /* and its informers */
    uv_close((uv_handle_t *)signal, NULL);
}

int main(void)
{
    struct inf_client_options options = {.log = on_log, .log_level = INF_LOG_WARN};
    struct inf_watch watch = {.resource = "pods"};
    struct inf_handler printer = {.on_event = on_event, .on_synced = on_synced};
    uv_loop_t *loop = uv_default_loop();
    uv_signal_t interrupt;
    struct inf_error err;
    struct inf_client *client = inf_client_open(loop, &options, &err);
    struct inf_informer *pods = client ? inf_informer_open(client, &watch, &err) : NULL;
    if (!pods) {
        fprintf(stderr, "pods: %s\n", err.text);
        return 1;
    }
    inf_handler_add(pods, &printer);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    uv_signal_init(loop, &interrupt);
    interrupt.data = client;
    uv_signal_start(&interrupt, on_signal, SIGINT);
    uv_run(loop, UV_RUN_DEFAULT);
    return uv_loop_close(loop);
}
