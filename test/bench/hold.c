/*
 * hold.c - keeps caches and does nothing else, to measure their memory:  hold KUBECONFIG RESOURCE N
 *
 * Watches the resource in the namespaces ns-00 to ns-(N-1), or in all namespaces if N is 0. Answers each line on stdin
 * with a line of JSON: the number of synced watches, objects, bytes and version of their stores, and the memory of the
 * process as the kernel reports it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "informer/informer.h"

enum {
    WATCHES_MAX = 1000,
};

struct hold {
    uv_loop_t loop;
    uv_pipe_t input;
    char bytes[64];
    struct inf_client *client;
    struct inf_informer *watches[WATCHES_MAX];
    struct inf_handler handlers[WATCHES_MAX];
    size_t n;
};

/* "VmHWM:    1234 kB" as bytes. */
static unsigned long long memory(const char *what)
{
    FILE *f = fopen("/proc/self/status", "r");
    unsigned long long kib = 0;
    char line[256];
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, what, strlen(what)) == 0)
            kib = strtoull(line + strlen(what), NULL, 10);
    if (f)
        fclose(f);
    return kib * 1024;
}

/* The version of all stores; "" while they differ. */
static const char *common_version(const struct hold *h)
{
    const char *version = inf_store_resource_version(inf_informer_store(h->watches[0]));
    for (size_t i = 1; i < h->n; i++)
        if (strcmp(version, inf_store_resource_version(inf_informer_store(h->watches[i]))) != 0)
            return "";
    return version;
}

static void print_status(const struct hold *h)
{
    size_t synced = 0, objects = 0, bytes = 0;
    for (size_t i = 0; i < h->n; i++) {
        const struct inf_store *store = inf_informer_store(h->watches[i]);
        synced += inf_informer_synced(h->watches[i]);
        objects += inf_store_count(store);
        bytes += inf_store_bytes(store);
    }
    printf("{\"synced\":%zu,\"objects\":%zu,\"bytes\":%zu,", synced, objects, bytes);
    printf("\"version\":\"%s\",\"rss\":%llu,\"peak\":%llu}\n", common_version(h), memory("VmRSS:"),
           memory("VmHWM:"));
    fflush(stdout);
}

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    (void)informer;
    (void)handler;
    (void)event;
}

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *ret)
{
    struct hold *h = handle->data;
    (void)size;
    *ret = uv_buf_init(h->bytes, sizeof(h->bytes));
}

static void on_input(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    struct hold *h = stream->data;
    for (ssize_t i = 0; i < n; i++)
        if (bytes->base[i] == '\n')
            print_status(h);
    if (n >= 0)
        return;
    inf_client_close(h->client, NULL);
    uv_close((uv_handle_t *)stream, NULL);
}

static int open_watch(struct hold *h, const char *resource, bool all, struct inf_error *err)
{
    size_t i = h->n++;
    char ns[32];
    struct inf_watch watch = {.resource = resource, .ns = all ? NULL : ns};
    snprintf(ns, sizeof(ns), "ns-%02zu", i);
    h->watches[i] = inf_informer_open(h->client, &watch, err);
    h->handlers[i] = (struct inf_handler){.on_event = on_event};
    return h->watches[i] ? inf_handler_add(h->watches[i], &h->handlers[i]) : -1;
}

static int set_up(struct hold *h, char **argv, struct inf_error *err)
{
    struct inf_client_options options = {.kubeconfig = argv[1]};
    size_t n = strtoul(argv[3], NULL, 10), i = 0;
    int rc;
    h->client = inf_client_open(&h->loop, &options, err);
    if (!h->client)
        return -1;
    do
        rc = open_watch(h, argv[2], n == 0, err);
    while (rc == 0 && ++i < n && i < WATCHES_MAX);
    return rc;
}

int main(int argc, char **argv)
{
    static struct hold h;
    struct inf_error err = {.text = "usage: hold KUBECONFIG RESOURCE N"};
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&h.loop);
    if (argc != 4 || set_up(&h, argv, &err) < 0) {
        fprintf(stderr, "hold: %s\n", err.text);
        return EXIT_FAILURE;
    }
    uv_pipe_init(&h.loop, &h.input, 0);
    h.input.data = &h;
    uv_pipe_open(&h.input, STDIN_FILENO);
    uv_read_start((uv_stream_t *)&h.input, on_room, on_input);
    uv_run(&h.loop, UV_RUN_DEFAULT);
    return uv_loop_close(&h.loop) ? EXIT_FAILURE : EXIT_SUCCESS;
}
