/*
 * handler_client.c - handlers with `client: true`: a program of the user connects, gets records as lines of JSON,
 * and acknowledges them. The program may be stopped, replaced or absent: the records wait in the queue.
 *
 * Normal path: handler_client_open() takes over a response of the local API. Each run sends the lines of up to
 * CLIENT_RUN_RECORDS records, until CLIENT_FLIGHT records or CLIENT_FLIGHT_BYTES are in flight. An acknowledgement has the number of lines
 * that the client has processed since it connected. Runs end in the order in which they were sent.
 *
 * When the client disconnects, records that it has not acknowledged return to the queue, in order, and are sent
 * to the next one. A client that does not acknowledge keeps what it has; the further records wait, and `overflow`
 * decides when the queue is full. There is no timeout: the process at the other end of the socket is alive, and what
 * it waits for may take hours.
 */
#include "daemon/handler/handler_client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/handler/handlers.h"

#define NO_CLIENT "no client is connected"

enum {
    CLIENT_FLIGHT = 4096, /* from this number of records on no further ones are taken */
    CLIENT_FLIGHT_BYTES = 16 * 1024 * 1024, /* likewise */
    CLIENT_RUN_RECORDS = 512,
    CLIENT_UNSENT_MAX = 1024 * 1024, /* above it no further records are taken */
};

/* The part of a handler. */
struct client_part {
    struct http_exchange_user user;
    struct handler *handler;
    char *reader;                   /* owned; NULL: only those that control the daemon */
    struct http_exchange *exchange; /* NULL: no client is connected */
    char id[HANDLER_CLIENT_ID_MAX + 1];
    uint64_t sent, acknowledged; /* lines of this connection */
    size_t in_flight;            /* bytes of the runs */
};

struct client_run {
    struct handler_run run;
    size_t done; /* records that are acknowledged, the first ones */
    size_t bytes;
};

static struct client_part *part_of(const struct handler *handler)
{
    return handler->part;
}

static struct client_run *first_run(const struct client_part *p)
{
    return list_empty(&p->handler->runs)
               ? NULL
               : container_of(p->handler->runs.next, struct client_run, run.node);
}

/* ---- the end of a connection ---- */

/* The first `done` records are delivered, the others are sent again. */
static void return_run(struct client_run *r)
{
    enum handler_outcome *outcomes = xcalloc(r->run.n_records, sizeof(*outcomes));
    struct handler_result result = {
        .outcome = HANDLER_AGAIN, .why = NO_CLIENT, .outcomes = outcomes};
    for (size_t i = 0; i < r->run.n_records; i++)
        outcomes[i] = i < r->done ? HANDLER_DONE : HANDLER_AGAIN;
    handler_run_result(&r->run, &result);
    free(outcomes);
}

/* The exchange is no longer valid. */
static void client_disconnected(struct client_part *p)
{
    struct handler *h = p->handler;
    uint64_t in_flight = p->sent - p->acknowledged;
    p->exchange = NULL;
    p->in_flight = 0;
    handler_log(h, in_flight ? INF_LOG_WARN : INF_LOG_INFO,
                "the client has disconnected; %" PRIu64 " records that it has not acknowledged are "
                "sent to the next one",
                in_flight);
    list_for_each_safe(node, &h->runs)
        return_run(container_of(node, struct client_run, run.node));
    snprintf(h->last_error, sizeof(h->last_error), "%s", NO_CLIENT);
}

static void client_on_abort(struct http_exchange_user *user)
{
    client_disconnected(container_of(user, struct client_part, user));
}

static void client_on_drain(struct http_exchange_user *user)
{
    struct client_part *p = container_of(user, struct client_part, user);
    task_schedule(p->handler->host->clock, &p->handler->pump);
}

static const struct http_exchange_user_ops user_ops = {client_on_drain, client_on_abort};

static void client_stop(struct handler *handler)
{
    struct client_part *p = part_of(handler);
    if (!p->exchange)
        return;
    http_exchange_cut(p->exchange);
    client_disconnected(p);
}

void handler_clients_close(struct handlers *handlers)
{
    list_for_each_safe(node, &handlers->handlers) {
        struct handler *h = container_of(node, struct handler, node);
        if (handler_is_client(h) && part_of(h)->exchange)
            client_disconnected(part_of(h));
    }
}

/* ---- the connection ---- */

bool handler_client_permits(const struct handler *handler, const char *reader)
{
    const char *permitted = part_of(handler)->reader;
    return permitted && reader && strcmp(permitted, reader) == 0;
}

bool handler_client_open(struct handler *handler, const char *id, struct http_exchange *exchange)
{
    struct client_part *p = part_of(handler);
    if (p->exchange)
        return false;
    snprintf(p->id, sizeof(p->id), "%s", id);
    p->exchange = exchange;
    p->sent = p->acknowledged = 0;
    handler->last_error[0] = '\0';
    http_exchange_set_user(exchange, &p->user);
    http_exchange_start(exchange, 200, "application/jsonl");
    handler_log(handler, INF_LOG_INFO, "a client has connected; %zu records wait",
                handler_queue_length(&handler->queue));
    task_schedule(handler->host->clock, &handler->pump);
    return true;
}

bool handler_client_has(const struct handler *handler, const char *id)
{
    const struct client_part *p = part_of(handler);
    return p->exchange && strcmp(p->id, id) == 0;
}

bool handler_client_ack(struct handler *handler, uint64_t lines)
{
    struct client_part *p = part_of(handler);
    struct client_run *r;
    if (lines > p->sent)
        return false;
    while (lines > p->acknowledged && (r = first_run(p))) {
        size_t left = r->run.n_records - r->done;
        uint64_t more = lines - p->acknowledged;
        size_t n = more < left ? (size_t)more : left;
        p->acknowledged += n;
        r->done += n;
        if (n == left) {
            p->in_flight -= r->bytes;
            handler_run_end(&r->run, HANDLER_DONE, NULL);
        }
    }
    return true;
}

/* ---- sending ---- */

static bool client_is_ready(struct handler *handler)
{
    const struct client_part *p = part_of(handler);
    return p->exchange && p->sent - p->acknowledged < CLIENT_FLIGHT &&
           p->in_flight < CLIENT_FLIGHT_BYTES &&
           http_exchange_unsent(p->exchange) <= CLIENT_UNSENT_MAX;
}

static struct handler_run *client_start(struct handler *handler,
                                        struct handler_record *const *records, size_t n)
{
    struct client_part *p = part_of(handler);
    struct client_run *r = NEW(struct client_run);
    struct buf lines = {0};
    for (size_t i = 0; i < n; i++) {
        struct str line = handler_record_line(records[i]);
        buf_put(&lines, line.at, line.len);
    }
    http_exchange_write(p->exchange, lines.bytes, lines.len);
    p->sent += n;
    r->bytes = lines.len;
    p->in_flight += lines.len;
    buf_free(&lines);
    return &r->run;
}

static void client_cancel(struct handler_run *run)
{
    free(container_of(run, struct client_run, run));
}

/* ---- the settings ---- */

static const char *client_mode(const struct handler *handler)
{
    (void)handler;
    return "stream";
}

static bool client_is_set(const struct conf_handler *conf)
{
    return conf->client;
}

static int client_check(const struct conf_handler *conf, struct inf_error *err)
{
    return conf->concurrency > 1
               ? err_set(err, INF_ECONF, "cannot be used with concurrency; remove that key")
               : 0;
}

static void client_configure(struct handler *handler, const struct conf_handler *conf)
{
    struct client_part *p = part_of(handler);
    if (!p) {
        p = NEW(struct client_part);
        p->handler = handler;
        p->user.ops = &user_ops;
        snprintf(handler->last_error, sizeof(handler->last_error), "%s", NO_CLIENT);
    }
    free(p->reader);
    p->reader = conf->reader ? xstrdup(conf->reader) : NULL;
    handler->part = p;
}

static void client_close(struct handler *handler)
{
    struct client_part *p = part_of(handler);
    if (p->exchange)
        http_exchange_cut(p->exchange);
    free(p->reader);
    free(p);
    handler->part = NULL;
}

const struct handler_kind handler_client = {
    .name = "client",
    .runs = CLIENT_FLIGHT,
    .run_records = CLIENT_RUN_RECORDS,
    .mode = client_mode,
    .is_set = client_is_set,
    .check = client_check,
    .configure = client_configure,
    .stop = client_stop,
    .interrupt = client_stop,
    .close = client_close,
    .is_ready = client_is_ready,
    .start = client_start,
    .cancel = client_cancel,
};
