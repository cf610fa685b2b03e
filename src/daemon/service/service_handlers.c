/*
 * service_handlers.c - answers about handlers as JSON, and commands to them.
 *
 * A parameter that is missing or malformed is a 400, an unknown handler or record a 404.
 */
#include "daemon/service/service_handlers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text/json_string.h"
#include "base/text/timestamp.h"
#include "daemon/api/api_status.h"
#include "daemon/daemon.h"
#include "daemon/handler/handler_control.h"
#include "daemon/handler/handler_kind.h"
#include "daemon/http/endpoints.h"
#include "wire/http/http_target.h"

#define JSON_TYPE "application/json"

static void put_text(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, ",\"%s\":", name);
    json_put_string(out, str_of(value));
}

static void put_number(struct buf *out, const char *name, uint64_t value)
{
    buf_printf(out, ",\"%s\":%" PRIu64, name, value);
}

/* Nothing if it is unknown. */
static void put_time(struct buf *out, const char *name, int64_t time_us)
{
    char text[TIMESTAMP_SIZE];
    if (!time_us)
        return;
    timestamp_format(time_us, text);
    put_text(out, name, text);
}

/* The parameter @name; NULL: missing or malformed. The caller frees it. */
static char *parameter_of(const struct http_server_request *request, const char *name)
{
    char *value = NULL;
    return http_query_get(request->query, name, &value) > 0 ? value : NULL;
}

/* ---- the state of all ---- */

/* All records of the handler up to this number are delivered, parked or dropped. */
static uint64_t position_of(struct daemon *d, const struct handler *handler)
{
    const struct handler_record *first = handler_queue_first(&handler->queue);
    struct journal_stats journal;
    journal_stats(&d->journal, &journal);
    return (first ? handler_record_seq(first) : journal.next_seq) - 1;
}

void service_handlers_put(struct buf *out, struct daemon *d, const struct handler *handler)
{
    struct handler_status s;
    handler_status(handler, &s);
    buf_puts(out, "\"name\":");
    json_put_string(out, str_of(s.name));
    put_text(out, "kind", handler->settings.kind->name);
    put_text(out, "mode", handler->settings.kind->mode(handler));
    put_text(out, "state", s.state);
    put_number(out, "position", position_of(d, handler));
    put_number(out, "records", s.length);
    put_number(out, "bytes", s.bytes);
    put_number(out, "oldest_ms", s.oldest_ms);
    put_number(out, "running", s.running);
    put_number(out, "parked", s.parked);
    put_number(out, "runs", s.counters.runs);
    put_number(out, "failures", s.counters.failures);
    put_number(out, "skipped", s.counters.skipped);
    if (s.reason)
        put_text(out, "error", s.reason);
}

struct handler_list {
    struct daemon *daemon;
    struct buf *out;
    const char *comma;
};

static void put_handler(void *ctx, const struct handler *handler)
{
    struct handler_list *list = ctx;
    buf_printf(list->out, "%s{", list->comma);
    service_handlers_put(list->out, list->daemon, handler);
    buf_putc(list->out, '}');
    list->comma = ",\n";
}

void service_handlers_respond(struct daemon *d, const struct api_reader *reader,
                              const struct http_server_request *request,
                              struct http_exchange *exchange)
{
    struct buf body = {0};
    struct handler_list list = {d, &body, "\n"};
    (void)reader, (void)request;
    buf_puts(&body, "{\"handlers\":[");
    handlers_each(&d->handlers, put_handler, &list);
    buf_puts(&body, "]}\n");
    endpoint_reply_body(exchange, 200, JSON_TYPE, &body);
}

/* ---- parked records ---- */

static void put_parked(struct buf *out, const struct handler_record *record)
{
    buf_printf(out, "{\"seq\":%" PRIu64, handler_record_seq(record));
    put_text(out, "log", handler_record_variable(record, "LOG"));
    put_text(out, "object", record->object->key);
    put_text(out, "type", handler_record_variable(record, "TYPE"));
    put_time(out, "time", record->time_us);
    put_time(out, "parked", record->parked_us);
    put_number(out, "attempts", record->runs);
    put_text(out, "reason", record->why ? record->why : "");
    put_number(out, "bytes", record->line_len);
    buf_putc(out, '}');
}

static void put_all_parked(struct buf *out, const struct handler *handler)
{
    size_t count = 0;
    buf_puts(out, "{\"records\":[");
    list_for_each(node, &handler->queue.records) {
        const struct handler_record *r = container_of(node, struct handler_record, node);
        if (r->state != RECORD_PARKED || ++count > SERVICE_PARKED_MAX)
            continue;
        buf_puts(out, count > 1 ? ",\n" : "\n");
        put_parked(out, r);
    }
    buf_printf(out, "],\"omitted\":%zu}\n",
               count > SERVICE_PARKED_MAX ? count - SERVICE_PARKED_MAX : 0);
}

void service_handlers_respond_parked(struct daemon *d, const struct api_reader *reader,
                                     const struct http_server_request *request,
                                     struct http_exchange *exchange)
{
    char *name = parameter_of(request, "name");
    const struct handler *handler = name ? handlers_find(&d->handlers, name) : NULL;
    struct buf body = {0};
    (void)reader;
    if (!name) {
        api_reply_fault(exchange, 400, "missing parameter 'name'");
    } else if (!handler) {
        char *what = xasprintf("no handler is named '%.200s'", name);
        api_reply_fault(exchange, 404, what);
        free(what);
    } else {
        put_all_parked(&body, handler);
        endpoint_reply_body(exchange, 200, JSON_TYPE, &body);
    }
    free(name);
}

/* ---- commands ---- */

/* A missing one is 0. Returns false if it is no number. */
static bool read_seq(const struct http_server_request *request, uint64_t *ret)
{
    char *text = parameter_of(request, "seq"), *end;
    bool ok = true;
    *ret = 0;
    if (text) {
        errno = 0;
        *ret = strtoull(text, &end, 10);
        ok = text[0] >= '1' && text[0] <= '9' && !*end && !errno;
    }
    free(text);
    return ok;
}

static void reply_done(struct http_exchange *exchange, const char *name, struct buf *result)
{
    struct buf body = {0}, message = {0};
    buf_printf(&message, "handler %s: %.*s", name, (int)result->len, result->bytes);
    buf_puts(&body, "{\"ok\":true,\"message\":");
    json_put_string(&body, (struct str){message.bytes, message.len});
    buf_puts(&body, "}\n");
    buf_free(&message);
    endpoint_reply_body(exchange, 200, JSON_TYPE, &body);
}

void service_handlers_respond_control(struct daemon *d, const struct api_reader *reader,
                                      const struct http_server_request *request,
                                      struct http_exchange *exchange)
{
    char *name = parameter_of(request, "name"), *command = parameter_of(request, "command");
    struct buf result = {0};
    struct inf_error err;
    uint64_t seq;
    int rc;
    (void)reader;
    if (!name || !command || !read_seq(request, &seq)) {
        api_reply_fault(exchange, 400, "parameters: name, command and, if it is a number, seq");
    } else {
        rc = handler_control(&d->handlers, command, name, seq, &result, &err);
        if (rc < 0)
            api_reply_fault(exchange, rc == -INF_ENOTFOUND ? 404 : 400, err.text);
        else
            reply_done(exchange, name, &result);
    }
    buf_free(&result);
    free(name);
    free(command);
}
