/*
 * kubesim: a simulated Kubernetes API server, for tests, and for behaviour that can't be provoked
 * with a real one.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "api.h"
#include "base/alloc.h"
#include "base/base.h"
#include "base/text/json_string.h"
#include "control.h"
#include "demo.h"
#include "fill.h"

static void close_handle(uv_handle_t *handle, void *unused)
{
    (void)unused;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

/* Closes everything; the loop ends when all handles are closed. */
static void end_now(struct kubesim *sim)
{
    if (sim->ending)
        return;
    sim->ending = true;
    list_for_each_safe(n, &sim->conns)
        conn_close(container_of(n, struct conn, node));
    jobs_end(sim);
    listener_close(sim);
    uv_walk(&sim->loop, close_handle, NULL);
}

static void on_end(uv_timer_t *timer)
{
    end_now(timer->data);
}

void kubesim_end_soon(struct kubesim *sim)
{
    enum {
        MOMENT_MS = 50
    };
    listener_close(sim);
    uv_timer_start(&sim->reopen, on_end, MOMENT_MS, 0);
}

static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    end_now(handle->data);
}

static void on_alloc(uv_handle_t *handle, size_t hint, uv_buf_t *ret)
{
    (void)handle;
    *ret = uv_buf_init(xmalloc(hint), (unsigned)hint);
}

static void on_stdin(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    free(buf->base);
    if (count < 0)
        end_now(stream->data);
}

static void on_bookmark(uv_timer_t *timer)
{
    watches_bookmark(timer->data);
}

static void start_handles(struct kubesim *sim)
{
    uint64_t every = sim->settings.bookmark_ms;
    uv_timer_init(&sim->loop, &sim->reopen);
    uv_timer_init(&sim->loop, &sim->bookmark);
    uv_timer_init(&sim->loop, &sim->soon);
    uv_signal_init(&sim->loop, &sim->term);
    uv_signal_init(&sim->loop, &sim->interrupt);
    sim->reopen.data = sim->bookmark.data = sim->soon.data = sim;
    sim->term.data = sim->interrupt.data = sim;
    uv_timer_start(&sim->bookmark, on_bookmark, every, every);
    uv_signal_start(&sim->term, on_signal, SIGTERM);
    uv_signal_start(&sim->interrupt, on_signal, SIGINT);
    if (sim->settings.until_eof) {
        uv_pipe_init(&sim->loop, &sim->input, 0);
        sim->input.data = sim;
        uv_pipe_open(&sim->input, STDIN_FILENO);
        uv_read_start((uv_stream_t *)&sim->input, on_alloc, on_stdin);
    }
}

static void print_ready(const struct kubesim *sim)
{
    struct buf line = {0};
    buf_printf(&line, "{\"url\":\"http%s://127.0.0.1:%d\",\"kubeconfig\":", sim->tls ? "s" : "",
               sim->settings.port);
    if (sim->settings.kubeconfig)
        json_put_string(&line, str_of(sim->settings.kubeconfig));
    else
        buf_puts(&line, "null");
    printf("%.*s,\"pid\":%d}\n", (int)line.len, line.bytes, (int)getpid());
    fflush(stdout);
    buf_free(&line);
}

static int start(struct kubesim *sim)
{
    struct settings *s = &sim->settings;
    int port;
    sim->faults.rng.state = s->seed;
    if (s->seeded)
        sim->store.rng.state = s->seed;
    else
        rng_init(&sim->store.rng); /* a second server must not generate the same uids */
    sim->faults.chance = s->chance;
    if (s->window != sim->store.window) {
        sim->store.window = (size_t)s->window;
        list_for_each(n, &sim->store.resources)
            history_resize(&container_of(n, struct resource, node)->history, (size_t)s->window);
    }
    if (identity_load(sim) < 0)
        return EX_CONFIG;
    start_handles(sim);
    port = listener_open(sim, s->port);
    if (port < 0) {
        fprintf(stderr, "kubesim: cannot listen: %s\n", uv_strerror(port));
        return EX_OSERR;
    }
    if (s->self_signed && !sim->tokens.count)
        identity_add_token(sim);
    if (s->kubeconfig && identity_write_kubeconfig(sim) < 0)
        return EX_CANTCREAT;
    if (s->script && script_start(sim, s->script) < 0)
        return EX_NOINPUT;
    if (s->demo)
        demo_start(sim, rng_next(&sim->store.rng), s->pace);
    print_ready(sim);
    return EX_OK;
}

int main(int argc, char **argv)
{
    enum {
        WINDOW = 10000,
        BOOKMARK_MS = 60000
    };
    struct kubesim *sim = NEW(struct kubesim);
    char *kubeconfig = NULL;
    int rc;
    signal(SIGPIPE, SIG_IGN);
    sim->settings = (struct settings){.window = WINDOW, .bookmark_ms = BOOKMARK_MS, .pace = 1};
    sim->settings.watch_list = sim->settings.gzip = true;
    list_init(&sim->conns);
    list_init(&sim->dirty);
    list_init(&sim->jobs);
    faults_init(&sim->faults);
    store_init(&sim->store, WINDOW);
    sim->store.on_change = watches_notify;
    store_add_builtins(&sim->store);
    rc = settings_parse(sim, argc, argv);
    if (rc < 0) {
        if (sim->settings.self_signed && !sim->settings.kubeconfig)
            sim->settings.kubeconfig = kubeconfig =
                xasprintf("%s/kubeconfig", sim->settings.self_signed);
        uv_loop_init(&sim->loop);
        sim->started = uv_now(&sim->loop);
        rc = start(sim);
        if (rc != EX_OK)
            end_now(sim);
        uv_run(&sim->loop, UV_RUN_DEFAULT);
        uv_loop_close(&sim->loop);
    }
    SSL_CTX_free(sim->tls);
    faults_clear(&sim->faults);
    journal_free(&sim->journal);
    tokens_clear(sim);
    rules_clear(sim);
    store_free(&sim->store);
    free(kubeconfig);
    free(sim);
    return rc;
}
