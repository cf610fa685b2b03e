/*
 * library.c - the library as a client of the benchmark:  library CACHE KUBECONFIG WATCHES
 *
 * Watches pods in all namespaces, or with several watches each in one namespace, and only counts
 * changes. CACHE is plain, compact, plain-indexed or compact-indexed, with an index by node. The protocol with the driver is in tally.h, the command
 * `reads` in reads.h.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "informer/informer.h"
#include "informer/path.h"

#include "reads.h"
#include "tally.h"

enum {
    WATCHES_MAX = 1000,
    FIRST_NAMESPACE = 100,
};

struct client {
    uv_loop_t loop;
    uv_pipe_t input;
    char line[64];
    struct inf_client *cluster;
    struct inf_informer *first;
    struct inf_handler handlers[WATCHES_MAX];
    int unsynced;
    struct inf_path *sent;
    struct tally tally;
};

/* One for all handlers. */
static struct client client;

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    char sent[64];
    (void)informer;
    (void)handler;
    if (event->verb != INF_MODIFIED)
        return;
    inf_path_string(client.sent, event->new_object, sent, sizeof(sent));
    tally_add(&client.tally, sent);
}

static void on_synced(struct inf_handler *handler, struct inf_informer *informer)
{
    (void)informer;
    (void)handler;
    if (--client.unsynced == 0)
        printf("synced\n");
}

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *ret)
{
    (void)handle;
    (void)size;
    *ret = uv_buf_init(client.line, sizeof(client.line) - 1);
}

static void on_line(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    if (n >= 0) {
        bytes->base[n] = '\0';
        if (strncmp(bytes->base, "reads", 5) == 0)
            reads_print((struct inf_store *)(uintptr_t)inf_informer_store(client.first));
        else
            tally_run_command(&client.tally, bytes->base);
        return;
    }
    inf_client_close(client.cluster, NULL);
    uv_close((uv_handle_t *)stream, NULL);
}

static int open_watches(int n, const char *cache, struct inf_error *err)
{
    static const struct inf_index node = {.name = READS_INDEX, .path = "spec.nodeName"};
    client.unsynced = n;
    for (int i = 0; i < n; i++) {
        char ns[32];
        struct inf_watch watch = {.resource = "pods",
                                  .ns = n > 1 ? ns : NULL,
                                  .indexes = &node,
                                  .n_indexes = strstr(cache, "indexed") != NULL,
                                  .compact = strncmp(cache, "compact", 7) == 0};
        struct inf_informer *informer;
        snprintf(ns, sizeof(ns), "ns-%d", FIRST_NAMESPACE + i);
        informer = inf_informer_open(client.cluster, &watch, err);
        if (!informer)
            return -1;
        client.first = client.first ? client.first : informer;
        client.handlers[i] = (struct inf_handler){.on_event = on_event, .on_synced = on_synced};
        inf_handler_add(informer, &client.handlers[i]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct inf_client_options options = {.kubeconfig = argc == 4 ? argv[2] : NULL};
    struct inf_error err = {.text = "usage: library CACHE KUBECONFIG WATCHES"};
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    uv_loop_init(&client.loop);
    client.sent = inf_path_parse("status.message", NULL);
    if (argc != 4 || !(client.cluster = inf_client_open(&client.loop, &options, &err)) ||
        open_watches(atoi(argv[3]), argv[1], &err) < 0) {
        fprintf(stderr, "library: %s\n", err.text);
        return EXIT_FAILURE;
    }
    uv_pipe_init(&client.loop, &client.input, 0);
    uv_pipe_open(&client.input, STDIN_FILENO);
    uv_read_start((uv_stream_t *)&client.input, on_room, on_line);
    uv_run(&client.loop, UV_RUN_DEFAULT);
    inf_path_free(client.sent);
    free(client.tally.late_ns);
    return uv_loop_close(&client.loop) ? EXIT_FAILURE : EXIT_SUCCESS;
}
