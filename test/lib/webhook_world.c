#include "webhook_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "changes.h"

static char url[] = "http://127.0.0.1:8080/hook?x=1", jsonl[] = "jsonl";

static void on_log(void *owner, enum inf_log_level level, const char *line)
{
    struct journal_world *w = owner;
    w->journal.log(w, level, line);
}

void webhook_world_drained(struct handlers *handlers)
{
    container_of(handlers, struct webhook_world, handlers)->drained++;
}

/* Of one endpoint: its connections are pipes of the world. */
struct counted_dialer {
    struct dialer dialer;
    struct webhook_world *world;
};

static struct stream *counted_dial(struct dialer *dialer, const char *host, uint16_t port,
                                   struct stream_user *user)
{
    struct counted_dialer *counted = container_of(dialer, struct counted_dialer, dialer);
    return dialer_dial(&counted->world->pipes.dialer, host, port, user);
}

static struct dialer *open_dialer(struct handler_host *host)
{
    struct counted_dialer *counted = NEW(struct counted_dialer);
    counted->dialer.dial = counted_dial;
    counted->world = container_of(host, struct webhook_world, handlers.host);
    counted->world->dialers++;
    counted->world->dialers_open++;
    return &counted->dialer;
}

static void close_dialer(struct dialer *dialer)
{
    struct counted_dialer *counted = container_of(dialer, struct counted_dialer, dialer);
    counted->world->dialers_open--;
    free(counted);
}

int webhook_world_set_up(void **state)
{
    struct webhook_world *t = NEW(struct webhook_world);
    journal_world_set_up((void **)&t->journal);
    pipe_dialer_init(&t->pipes, &t->journal->sim);
    folder_make(&t->folder);
    handlers_init(&t->handlers);
    t->handlers.host.clock = &t->journal->sim.clock;
    t->handlers.host.open_dialer = open_dialer;
    t->handlers.host.close_dialer = close_dialer;
    t->handlers.host.journal = &t->journal->journal;
    t->handlers.host.owner = t->journal;
    t->handlers.host.log = on_log;
    t->conf.webhook = (struct conf_webhook){.url = url, .preset = jsonl};
    t->settings = (struct handler_settings){.name = "h",
                                            .kind = &handler_webhook,
                                            .conf = &t->conf,
                                            .record.max_line = 16 * 1024,
                                            .queue_bytes = 1024 * 1024,
                                            .concurrency = 1,
                                            .timeout_ms = WEBHOOK_TIMEOUT_MS,
                                            .retry_max = 2,
                                            .backoff_min_ms = WEBHOOK_BACKOFF_MS,
                                            .backoff_max_ms = 4 * WEBHOOK_BACKOFF_MS};
    *state = t;
    return 0;
}

int webhook_world_tear_down(void **state)
{
    struct webhook_world *t = *state;
    handlers_drain(&t->handlers, 1, webhook_world_drained);
    sim_advance(&t->journal->sim, 10);
    assert_true(t->drained);
    sim_run(&t->journal->sim);
    assert_int_equal(t->dialers_open, 0);
    pipe_dialer_done(&t->pipes);
    folder_remove(&t->folder);
    journal_world_tear_down((void **)&t->journal);
    free(t);
    return 0;
}

void webhook_world_apply(struct webhook_world *t, size_t n)
{
    handlers_set(&t->handlers, &t->settings, n);
    sim_run(&t->journal->sim);
}

/* A change of the pod shop/@name. */
void webhook_world_change(struct webhook_world *t, const char *name)
{
    char *after = xasprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'shop','name':"
                            "'%s','uid':'u','resourceVersion':'%d'}}",
                            name, ++t->version);
    struct sample sample;
    sample_make(&sample, NULL, after);
    journal_event(&t->journal->journal, &t->journal->pods, &sample.event, NULL);
    sample_free(&sample);
    free(after);
    journal_world_flush(t->journal);
}

struct handler_status webhook_world_status(struct webhook_world *t)
{
    struct handler_status s;
    handler_status(container_of(t->handlers.handlers.next, struct handler, node), &s);
    return s;
}

/* The request that was sent last, as text; it is taken. */
char *webhook_world_request(struct webhook_world *t)
{
    struct buf *written = &t->pipes.last->written;
    char *text = xstrndup(written->bytes, written->len);
    buf_clear(written);
    return text;
}

void webhook_world_respond(struct webhook_world *t, const char *wire)
{
    buf_clear(&t->pipes.last->written);
    pipe_sends(t->pipes.last, wire);
    sim_run(&t->journal->sim);
}
