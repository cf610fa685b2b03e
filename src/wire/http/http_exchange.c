/*
 * http_exchange.c - the response side of a server connection: heads, chunks, progress.
 *
 * A response has a length, or is chunked, or ends with the connection if the client uses HTTP/1.0.
 * Responses are marked no-store, because they describe the current state, unless the user decides
 * otherwise. Write errors are handled by http_server.c.
 */
#include "wire/http/http_exchange.h"

#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "wire/http/http_server_internal.h"

#define CRLF "\r\n"

static const char *reason_of(int status)
{
    switch (status) {
    case 200: return "OK";
    case 301: return "Moved Permanently";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 410: return "Gone";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "";
    }
}

static const struct http_server_request *request_of(const struct http_exchange *x)
{
    return http_request_parser_request(x->parser);
}

/* ---- heads ---- */

void http_exchange_set_user(struct http_exchange *x, struct http_exchange_user *user)
{
    x->user = user;
}

void *http_exchange_client(const struct http_exchange *x)
{
    return x->client;
}

bool http_exchange_is_half_closed(const struct http_exchange *x)
{
    return x->ended;
}

void http_exchange_header(struct http_exchange *x, const char *name, const char *value)
{
    assert(!strpbrk(name, "\r\n:") && !strpbrk(value, "\r\n"));
    x->has_cache_control |= strcmp(name, "Cache-Control") == 0;
    buf_printf(&x->headers, "%s: %s\r\n", name, value);
}

static void exchange_put_head(struct http_exchange *x, struct buf *out, int status,
                              const char *content_type)
{
    assert(status >= 200 && status != 204);
    buf_printf(out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n", status, reason_of(status),
               content_type);
    if (!x->has_cache_control)
        buf_puts(out, "Cache-Control: no-store\r\n");
    buf_put(out, x->headers.bytes, x->headers.len);
    buf_free(&x->headers);
    x->has_cache_control = false;
    if (x->after != AFTER_KEEP_ALIVE)
        buf_puts(out, "Connection: close\r\n");
    else if (request_of(x)->http_1_0)
        buf_puts(out, "Connection: keep-alive\r\n");
}

/* ---- sending ---- */

int64_t exchange_sent(const struct http_exchange *x)
{
    return x->written - (int64_t)stream_unsent(x->stream);
}

/* Returns whether everything is sent. The timer runs from the first waiting byte, so that further
 * writes do not hide a stalled client. */
static bool exchange_send(struct http_exchange *x, const char *bytes, size_t len)
{
    bool sent = stream_write_now(x->stream, bytes, len);
    x->written += (int64_t)len;
    if (!sent && !x->waiting) {
        x->waiting = true;
        exchange_arm(x);
    }
    return sent;
}

/* The same, for pieces after which the user is called. */
static void exchange_send_piece(struct http_exchange *x, const char *bytes, size_t len)
{
    if (exchange_send(x, bytes, len))
        task_schedule(x->server->clock, &x->task);
}

void http_exchange_reply(struct http_exchange *x, int status, const char *content_type,
                         const char *bytes, size_t len)
{
    struct buf out = {0};
    assert(x->sm.state != X_STREAMING && "it was started");
    exchange_put_head(x, &out, status, content_type);
    if (status == 304)
        buf_puts(&out, CRLF);
    else
        buf_printf(&out, "Content-Length: %zu\r\n\r\n", len);
    if (status != 304 && !request_of(x)->head)
        buf_put(&out, bytes, len);
    sm_move(&x->sm, X_SENDING, "%d", status);
    exchange_send(x, out.bytes, out.len);
    buf_free(&out);
    exchange_on_complete(x);
}

void exchange_reply_refusal(struct http_exchange *x, int status, const char *why)
{
    struct http_server_user *user = x->server->user;
    const char *type = "text/plain; charset=utf-8";
    struct buf body = {0};
    if (user->ops->put_refusal)
        type = user->ops->put_refusal(user, status, why, &body);
    else
        buf_printf(&body, "%s\n", why);
    http_exchange_reply(x, status, type, body.bytes, body.len);
    buf_free(&body);
}

/* ---- streamed responses ---- */

void http_exchange_start(struct http_exchange *x, int status, const char *content_type)
{
    struct buf out = {0};
    x->chunked = !request_of(x)->http_1_0;
    if (!x->chunked)
        x->after = AFTER_CLOSE; /* the end of the connection ends the response */
    exchange_put_head(x, &out, status, content_type);
    buf_puts(&out, x->chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
    sm_move(&x->sm, X_STREAMING, "%d", status);
    exchange_send_piece(x, out.bytes, out.len);
    buf_free(&out);
}

void http_exchange_start_gzip(struct http_exchange *x, int status, const char *content_type)
{
    http_exchange_header(x, "Content-Encoding", "gzip");
    http_exchange_header(x, "Vary", "Accept-Encoding");
    http_exchange_start(x, status, content_type);
    x->gzip = gzip_new();
}

static void exchange_write_piece(struct http_exchange *x, const char *bytes, size_t len)
{
    struct buf out = {0};
    if (!len)
        return; /* an empty chunk would end the response */
    if (x->chunked) {
        http_chunk_put(&out, bytes, len);
        exchange_send_piece(x, out.bytes, out.len);
        buf_free(&out);
    } else {
        exchange_send_piece(x, bytes, len);
    }
}

void http_exchange_write(struct http_exchange *x, const char *bytes, size_t len)
{
    struct buf compressed = {0};
    assert(x->sm.state == X_STREAMING);
    if (request_of(x)->head)
        return;
    if (!x->gzip) {
        exchange_write_piece(x, bytes, len);
        return;
    }
    gzip_put(x->gzip, bytes, len, &compressed);
    exchange_write_piece(x, compressed.bytes, compressed.len);
    buf_free(&compressed);
}

/* Sends what the compression holds back. */
static void exchange_end_gzip(struct http_exchange *x)
{
    struct buf rest = {0};
    gzip_end(x->gzip, &rest);
    if (!request_of(x)->head)
        exchange_write_piece(x, rest.bytes, rest.len);
    buf_free(&rest);
    gzip_free(x->gzip);
    x->gzip = NULL;
}

size_t http_chunk_put(struct buf *out, const char *bytes, size_t len)
{
    size_t before = out->len, head;
    buf_printf(out, "%zx\r\n", len);
    head = out->len - before;
    buf_put(out, bytes, len);
    buf_puts(out, CRLF);
    return head;
}

void http_exchange_write_chunk(struct http_exchange *x, const char *chunk, size_t len, size_t head)
{
    assert(x->sm.state == X_STREAMING && !x->gzip);
    if (request_of(x)->head)
        return;
    if (x->chunked)
        exchange_send(x, chunk, len);
    else
        exchange_send(x, chunk + head, len - head - strlen(CRLF));
}

size_t http_exchange_unsent(const struct http_exchange *x)
{
    return stream_unsent(x->stream);
}

void http_exchange_end(struct http_exchange *x)
{
    static const char last[] = "0" CRLF CRLF;
    assert(x->sm.state == X_STREAMING);
    if (x->gzip)
        exchange_end_gzip(x);
    sm_move(&x->sm, X_SENDING, "complete");
    if (x->chunked && !request_of(x)->head)
        exchange_send(x, last, strlen(last));
    exchange_on_complete(x);
}

void http_exchange_cut(struct http_exchange *x)
{
    exchange_close(x, "cut by its user");
}
