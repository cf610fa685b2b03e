/*
 * endpoints.c - the table of HTTP endpoints, and those that only write a report.
 *
 * They answer at once, from the current state: see report.c. An unknown path gets 404 with the list
 * of endpoints; on the Unix socket it is one of the local API.
 */
#include "daemon/http/endpoints.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "daemon/daemon.h"
#include "daemon/http/endpoint_metrics.h"
#include "daemon/http/report.h"
#include "wire/http/http_target.h"

#define TEXT_CONTENT_TYPE "text/plain; charset=utf-8"

void endpoint_reply_text(struct http_exchange *exchange, int status, const char *text)
{
    http_exchange_reply(exchange, status, TEXT_CONTENT_TYPE, text, strlen(text));
}

void endpoint_reply_body(struct http_exchange *exchange, int status, const char *type,
                         struct buf *body)
{
    http_exchange_reply(exchange, status, type, body->bytes, body->len);
    buf_free(body);
}

/* ---- endpoints ---- */

static void respond_livez(struct daemon *d, const struct http_server_request *request,
                          struct http_exchange *exchange)
{
    (void)d;
    (void)request;
    endpoint_reply_text(exchange, 200, "ok\n");
}

static void respond_readyz(struct daemon *d, const struct http_server_request *request,
                           struct http_exchange *exchange)
{
    struct buf body = {0};
    char *value = NULL;
    bool verbose = http_query_get(request->query, "verbose", &value) > 0;
    bool ready = report_ready(d, verbose, &body);
    if (ready && !verbose) {
        buf_clear(&body);
        buf_puts(&body, "ok\n");
    }
    endpoint_reply_body(exchange, ready ? 200 : 503, TEXT_CONTENT_TYPE, &body);
    free(value);
}

/* ---- table ---- */

static const struct endpoint {
    const char *path;
    const char *query; /* that it understands, for the list; "": none */
    void (*respond)(struct daemon *d, const struct http_server_request *request,
                    struct http_exchange *exchange);
} endpoints[] = {
    {"/livez", "", respond_livez},
    {"/readyz", "?verbose", respond_readyz},
    {"/metrics", "", endpoint_metrics_respond},
};

static const struct endpoint *find_endpoint(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(endpoints); i++)
        if (strcmp(path, endpoints[i].path) == 0)
            return &endpoints[i];
    return NULL;
}

bool endpoints_have(const char *path)
{
    return find_endpoint(path);
}

void endpoints_respond(struct daemon *d, const struct http_server_request *request,
                       struct http_exchange *exchange)
{
    const struct endpoint *found = find_endpoint(request->path);
    struct buf list = {0};
    if (found) {
        journal_collect(&d->journal);
        found->respond(d, request, exchange);
        return;
    }
    buf_puts(&list, "not found; the endpoints are ");
    for (size_t i = 0; i < ARRAY_LEN(endpoints); i++)
        buf_printf(&list, "%s%s%s",
                   i == 0                         ? ""
                   : i + 1 < ARRAY_LEN(endpoints) ? ", "
                                                  : " and ",
                   endpoints[i].path, endpoints[i].query);
    buf_putc(&list, '\n');
    endpoint_reply_body(exchange, 404, TEXT_CONTENT_TYPE, &list);
}
