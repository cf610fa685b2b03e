/*
 * service_client.c - a program takes the records of a handler, and acknowledges them.
 *
 * A parameter that is missing or malformed is a 400, an unknown handler a 404, a reader that the handler does not
 * name a 403. A second client, and an acknowledgement for a stream that is not connected, are a 409.
 */
#include "daemon/service/service_client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/access/access.h"
#include "daemon/api/api_status.h"
#include "daemon/daemon.h"
#include "daemon/handler/handler_client.h"
#include "wire/http/http_target.h"

struct client_request {
    char *name, *id, *lines; /* owned; NULL: missing or malformed */
    struct handler *handler; /* set by check_request() */
};

static void read_request(struct client_request *r, const struct http_server_request *request)
{
    *r = (struct client_request){0};
    (void)http_query_get(request->query, "name", &r->name);
    (void)http_query_get(request->query, "id", &r->id);
    (void)http_query_get(request->query, "lines", &r->lines);
}

static void free_request(struct client_request *r)
{
    free(r->name);
    free(r->id);
    free(r->lines);
}

/* Returns false if the request was refused, and the response is sent. */
static bool check_request(struct daemon *d, const struct api_reader *reader,
                          const struct http_server_request *request, struct http_exchange *exchange,
                          struct client_request *r)
{
    if (request->head) {
        api_reply_fault(exchange, 405, "use GET");
        return false;
    }
    if (!r->name || !r->id || !r->id[0] || strlen(r->id) > HANDLER_CLIENT_ID_MAX) {
        api_reply_fault(exchange, 400,
                        "parameters: name of the handler, and id of the stream, which the client "
                        "chooses, 1 to 64 bytes");
        return false;
    }
    r->handler = handlers_find(&d->handlers, r->name);
    if (!api_access_may_control(exchange) && !(r->handler && handler_is_client(r->handler) &&
                                               handler_client_permits(r->handler, reader->name))) {
        api_access_deny(
            &d->web.access, request, exchange, 403,
            "only root, the user of informerd and the `reader` of the handler may do this");
        return false;
    }
    if (!r->handler || !handler_is_client(r->handler)) {
        api_reply_fault(exchange, 404,
                        "no handler with client: true has this name; see `handlers` in the "
                        "configuration of informerd");
        return false;
    }
    return true;
}

void service_client_respond_stream(struct daemon *d, const struct api_reader *reader,
                                   const struct http_server_request *request,
                                   struct http_exchange *exchange)
{
    struct client_request r;
    read_request(&r, request);
    if (check_request(d, reader, request, exchange, &r)) {
        if (http_exchange_is_half_closed(exchange)) /* its end would not be noticed */
            http_exchange_cut(exchange);
        else if (!handler_client_open(r.handler, r.id, exchange))
            api_reply_fault(exchange, 409,
                            "another client is connected to this handler; stop it first");
    }
    free_request(&r);
}

/* Returns false if it is no number. */
static bool read_lines(const char *text, uint64_t *ret)
{
    char *end;
    if (!text || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *ret = strtoull(text, &end, 10);
    return !*end && !errno;
}

void service_client_respond_ack(struct daemon *d, const struct api_reader *reader,
                                const struct http_server_request *request,
                                struct http_exchange *exchange)
{
    struct client_request r;
    uint64_t lines;
    char body[64];
    read_request(&r, request);
    if (check_request(d, reader, request, exchange, &r)) {
        if (!read_lines(r.lines, &lines)) {
            api_reply_fault(exchange, 400, "parameter 'lines' is missing or not a number");
        } else if (!handler_client_has(r.handler, r.id)) {
            api_reply_fault(exchange, 409,
                            "this stream is not connected; its records are sent on the next one");
        } else if (!handler_client_ack(r.handler, lines)) {
            api_reply_fault(exchange, 400, "this stream has not so many lines yet");
        } else {
            snprintf(body, sizeof(body), "{\"ok\":true,\"lines\":%" PRIu64 "}\n", lines);
            http_exchange_reply(exchange, 200, "application/json", body, strlen(body));
        }
    }
    free_request(&r);
}
