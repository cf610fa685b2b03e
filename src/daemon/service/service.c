/*
 * service.c - the table of informerd's own endpoints, and those that answer at once.
 *
 * Each row says who may use it besides being a reader: any reader, users of the Unix socket, or only
 * those that may control the daemon. Other paths are passed on to health, metrics and the Kubernetes
 * API.
 */
#include "daemon/service/service.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/json_string.h"
#include "base/text/timestamp.h"
#include "daemon/api/api.h"
#include "daemon/api/api_status.h"
#include "daemon/daemon.h"
#include "daemon/http/endpoints.h"
#include "daemon/http/report.h"
#include "daemon/service/record_stream.h"
#include "daemon/service/service_client.h"
#include "daemon/service/service_handlers.h"
#include "daemon/service/service_indexes.h"

#define SERVICE_PREFIX "/informerd/v1/"
#define JSON_TYPE      "application/json"
#define NO_LISTEN      "api.listen is not set in the configuration of informerd"

enum service_access {
    FOR_READERS,
    FOR_UNLIMITED,   /* readers that may read everything: the answer names all watches */
    FOR_LOCAL_USERS, /* readers that are identified by their uid */
    FOR_CONTROL,     /* the user of the daemon and root */
};

/* ---- endpoints ---- */

static void respond_status(struct daemon *d, const struct api_reader *reader,
                           const struct http_server_request *request,
                           struct http_exchange *exchange)
{
    struct buf body = {0};
    (void)reader, (void)request;
    report_dump(d, api_access_may_control(exchange), &body);
    endpoint_reply_body(exchange, 200, JSON_TYPE, &body);
}

static void respond_access(struct daemon *d, const struct api_reader *reader,
                           const struct http_server_request *request,
                           struct http_exchange *exchange)
{
    const struct listener *listener = d->web.tls.current;
    char address[LISTEN_ADDRESS_SIZE];
    struct buf body = {0};
    (void)reader, (void)request;
    if (!listener) {
        api_reply_fault(exchange, 404, NO_LISTEN);
        return;
    }
    listener_address(listener, address);
    buf_puts(&body, "{\"address\":");
    json_put_string(&body, str_of(address));
    buf_puts(&body, ",\"certificate_authority\":");
    json_put_string(&body, str_of(d->web.access.certificate.authority.cert_pem));
    buf_puts(&body, "}\n");
    endpoint_reply_body(exchange, 200, JSON_TYPE, &body);
}

/* Responds with @token, in the member @name, and frees it. NULL: none was issued. */
static void respond_issued(struct daemon *d, char *token, uint64_t valid_ms, const char *name,
                           struct http_exchange *exchange)
{
    struct buf body = {.secret = true};
    char expiry[TIMESTAMP_SIZE];
    if (!token) {
        api_reply_fault(exchange, 429, "too many tokens are valid");
        return;
    }
    timestamp_format(clock_wall_us(&d->loop.clock) + INT64_C(1000) * (int64_t)valid_ms, expiry);
    buf_printf(&body, "{\"%s\":", name);
    json_put_string(&body, str_of(token));
    buf_puts(&body, ",\"expires\":");
    json_put_string(&body, str_of(expiry));
    buf_puts(&body, "}\n");
    secret_free(token);
    endpoint_reply_body(exchange, 200, JSON_TYPE, &body);
}

static void respond_token(struct daemon *d, const struct api_reader *reader,
                          const struct http_server_request *request, struct http_exchange *exchange)
{
    (void)reader, (void)request;
    respond_issued(d, api_access_issue(&d->web.access, api_client_of(exchange)), API_TOKEN_MS,
                   "token", exchange);
}

static void respond_code(struct daemon *d, const struct api_reader *reader,
                         const struct http_server_request *request, struct http_exchange *exchange)
{
    const struct api_client *client = api_client_of(exchange);
    struct api_tokens *codes = &d->web.access.codes;
    (void)reader, (void)request;
    if (d->web.tls.current)
        respond_issued(d, api_tokens_issue(codes, client->reader, client->uid), codes->valid_ms,
                       "code", exchange);
    else
        api_reply_fault(exchange, 404, NO_LISTEN);
}

static void reply_result(struct http_exchange *exchange, bool ok, const char *message)
{
    struct buf body = {0};
    buf_printf(&body, "{\"ok\":%s,\"message\":", ok ? "true" : "false");
    json_put_string(&body, str_of(message));
    buf_puts(&body, "}\n");
    endpoint_reply_body(exchange, 200, JSON_TYPE, &body);
}

static void respond_reload(struct daemon *d, const struct api_reader *reader,
                           const struct http_server_request *request,
                           struct http_exchange *exchange)
{
    (void)reader, (void)request;
    daemon_reload(d);
    reply_result(exchange, !d->reload_failed, d->reload_result);
}

static void respond_reopen(struct daemon *d, const struct api_reader *reader,
                           const struct http_server_request *request,
                           struct http_exchange *exchange)
{
    (void)reader, (void)request;
    journal_reopen(&d->journal);
    reply_result(exchange, true, "the event logs are reopened");
}

/* ---- table ---- */

static const struct service_endpoint {
    const char *name;
    enum service_access access;
    void (*respond)(struct daemon *d, const struct api_reader *reader,
                    const struct http_server_request *request, struct http_exchange *exchange);
} service_endpoints[] = {
    {"status", FOR_UNLIMITED, respond_status},
    {"access", FOR_READERS, respond_access},
    {"events", FOR_READERS, events_respond},
    {"history", FOR_READERS, history_respond},
    {"token", FOR_LOCAL_USERS, respond_token},
    {"code", FOR_LOCAL_USERS, respond_code},
    {"reload", FOR_CONTROL, respond_reload},
    {"reopen", FOR_CONTROL, respond_reopen},
    {"handlers", FOR_UNLIMITED, service_handlers_respond},
    {"handlers/parked", FOR_CONTROL, service_handlers_respond_parked},
    {"handlers/control", FOR_CONTROL, service_handlers_respond_control},
    {"handlers/stream", FOR_READERS, service_client_respond_stream},
    {"handlers/ack", FOR_READERS, service_client_respond_ack},
    {"indexes", FOR_READERS, service_indexes_respond},
    {"indexes/", FOR_READERS, service_indexes_respond_value},
};

static const char *refusal_of(enum service_access access, const struct api_reader *reader,
                              const struct http_exchange *exchange)
{
    const struct api_client *client = api_client_of(exchange);
    switch (access) {
    case FOR_READERS: break;
    case FOR_UNLIMITED:
        return api_reader_is_unlimited(reader) ? NULL : "only readers without limits may do this";
    case FOR_LOCAL_USERS:
        return client && client->reader ? NULL : "only users of the Unix socket may do this";
    case FOR_CONTROL:
        return api_access_may_control(exchange) ? NULL
                                                : "only root and the user of informerd may do this";
    }
    return NULL;
}

/* A name that ends in a slash is the beginning of paths. */
static bool is_endpoint(const struct service_endpoint *endpoint, const char *path)
{
    size_t len = strlen(endpoint->name);
    if (endpoint->name[len - 1] == '/')
        return strncmp(endpoint->name, path, len) == 0;
    return strcmp(endpoint->name, path) == 0;
}

static void respond_service(struct daemon *d, const struct api_reader *reader,
                            const struct http_server_request *request,
                            struct http_exchange *exchange)
{
    const char *name = request->path + strlen(SERVICE_PREFIX), *refusal;
    for (size_t i = 0; i < ARRAY_LEN(service_endpoints); i++) {
        const struct service_endpoint *endpoint = &service_endpoints[i];
        if (!is_endpoint(endpoint, name))
            continue;
        refusal = refusal_of(endpoint->access, reader, exchange);
        if (refusal)
            api_access_deny(&d->web.access, request, exchange, 403, refusal);
        else if (endpoint->access == FOR_CONTROL && request->head)
            api_reply_fault(exchange, 405, "use GET");
        else
            endpoint->respond(d, reader, request, exchange);
        return;
    }
    api_reply_fault(exchange, 404, "no such endpoint below " SERVICE_PREFIX);
}

void service_respond(struct daemon *d, const struct api_reader *reader,
                     const struct http_server_request *request, struct http_exchange *exchange)
{
    if (strncmp(request->path, SERVICE_PREFIX, strlen(SERVICE_PREFIX)) == 0)
        respond_service(d, reader, request, exchange);
    else if (endpoints_have(request->path))
        endpoints_respond(d, request, exchange);
    else
        api_respond(d, reader, request, exchange);
}
