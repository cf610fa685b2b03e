/*
 * handlers_apply.c - makes the settings of handlers from the configuration, and applies them.
 *
 * Checking comes first, with everything else of a configuration that can fail; applying can't.
 */
#include "daemon/handler/handlers_apply.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "daemon/conf/conf_filter.h"
#include "daemon/daemon.h"
#include "daemon/handler/handler_kind.h"

/* The order of the choices in conf_table.c. */
_Static_assert(HANDLER_EACH == 0 && HANDLER_LATEST == 1, "deliver: each, latest");
_Static_assert(HANDLER_GAP == 0 && HANDLER_COALESCE == 1 && HANDLER_WAIT == 2,
               "overflow: gap, coalesce, wait");

static struct handler_settings settings_of(const struct conf_handler *c)
{
    const struct handler_kind *kind = handler_kind_of(c);
    return (struct handler_settings){
        .name = c->name,
        .kind = kind,
        .conf = c,
        .filter = conf_filter_settings(&c->filter),
        .record = {.object = c->object == CONF_OBJECT_NONE ? RECORD_NONE : RECORD_DIFF,
                   .object_verbs = c->object == CONF_OBJECT_FULL   ? RECORD_ALL_VERBS
                                   : c->object == CONF_OBJECT_DIFF ? 1u << INF_DELETED
                                                                   : 0,
                   .context = CONTEXT_LABELS | CONTEXT_OWNER | CONTEXT_NODE,
                   .max_line = c->max_line},
        .deliver = (enum handler_deliver)c->deliver,
        .overflow = (enum handler_overflow)c->overflow,
        .queue_bytes = c->queue,
        .concurrency = kind->runs ? kind->runs : (uint32_t)c->concurrency,
        .timeout_ms = c->timeout_ms,
        .batch_max = kind->run_records ? kind->run_records : c->batch.max,
        .batch_within_ms = kind->run_records ? 0 : c->batch.within_ms,
        .rate = c->rate,
        .retry_max = (uint32_t)c->retry.max,
        .backoff_min_ms = (uint32_t)c->retry.backoff.min_ms,
        .backoff_max_ms = (uint32_t)c->retry.backoff.max_ms,
    };
}

static size_t count_of(const struct conf *conf)
{
    return conf->n_handlers + conf->n_sinks;
}

static struct handler_settings *make_settings(const struct conf *conf)
{
    struct handler_settings *settings = xcalloc(count_of(conf) + 1, sizeof(*settings));
    for (size_t i = 0; i < conf->n_handlers; i++)
        settings[i] = settings_of(&conf->handlers[i]);
    for (size_t i = 0; i < conf->n_sinks; i++)
        settings[conf->n_handlers + i] = settings_of(&conf->sinks[i]);
    return settings;
}

int handlers_apply_check(const struct conf *conf, struct inf_error *err)
{
    struct handler_settings *settings = make_settings(conf);
    int rc = handlers_check(settings, count_of(conf), err);
    free(settings);
    return rc;
}

void handlers_apply(struct daemon *d, const struct conf *conf)
{
    struct handler_settings *settings = make_settings(conf);
    handlers_set(&d->handlers, settings, count_of(conf));
    free(settings);
}

static struct dialer *open_dialer(struct handler_host *host)
{
    struct daemon *d = container_of(host, struct daemon, handlers.host);
    struct tcp_dialer *dialer = NEW(struct tcp_dialer);
    tcp_dialer_init(dialer, &d->loop);
    return &dialer->dialer;
}

static void close_dialer(struct dialer *dialer)
{
    struct tcp_dialer *tcp = container_of(dialer, struct tcp_dialer, dialer);
    tcp_dialer_close(tcp);
    free(tcp);
}

void handlers_apply_open(struct daemon *d)
{
    struct handler_host *host = &d->handlers.host;
    handlers_init(&d->handlers);
    child_spawner_init(&d->spawner, &d->loop);
    rng_init(&d->rng);
    host->clock = &d->loop.clock;
    host->spawner = &d->spawner.spawner;
    host->open_dialer = open_dialer;
    host->close_dialer = close_dialer;
    host->journal = &d->journal;
    host->hash_key = (struct siphash_key){rng_next(&d->rng), rng_next(&d->rng)};
    host->rng = &d->rng;
    host->owner = &d->log;
    host->log = daemon_log_line;
}
