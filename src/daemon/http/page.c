/*
 * page.c - sends the files of the page, and opens sessions.
 *
 * Browsers keep a file and ask each time whether it is current (ETag). The Content-Security-Policy allows
 * scripts, styles and requests of this server only, and no text can become a script or markup (trusted
 * types). A login that fails is logged like every denied request; the code is in the body, never in a
 * target, so that it is in no log.
 */
#include "daemon/http/page.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/text/json_string.h"
#include "base/text/timestamp.h"
#include "daemon/access/session.h"
#include "daemon/daemon.h"
#include "daemon/http/endpoints.h"

static const struct {
    const char *name, *value;
} page_headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
     "require-trusted-types-for 'script'; trusted-types 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

/* ---- files ---- */

static const struct page_file *find_file(const char *path)
{
    for (const struct page_file *file = page_files; file->path; file++)
        if (strcmp(file->path, path) == 0)
            return file;
    return NULL;
}

static void send_file(const struct page_file *file, const struct http_server_request *request,
                      struct http_exchange *exchange)
{
    const char *known = http_server_request_get(request, "If-None-Match");
    for (size_t i = 0; i < ARRAY_LEN(page_headers); i++)
        http_exchange_header(exchange, page_headers[i].name, page_headers[i].value);
    http_exchange_header(exchange, "ETag", file->etag);
    http_exchange_header(exchange, "Cache-Control", "no-cache");
    http_exchange_reply(exchange, known && strstr(known, file->etag) ? 304 : 200, file->type,
                        (const char *)file->bytes, file->len);
}

/* ---- login ---- */

static void login(struct daemon *d, const struct http_server_request *request,
                  struct http_exchange *exchange)
{
    char *session = api_access_login(&d->web.access, request->body);
    int64_t end_us = clock_wall_us(&d->loop.clock) + INT64_C(1000000) * API_SESSION_S;
    struct buf body = {.secret = true};
    char end[TIMESTAMP_SIZE];
    if (!session) {
        api_access_deny(&d->web.access, request, exchange, 401,
                        "the code is unknown, was used or has expired; run 'informerctl page' "
                        "again");
        return;
    }
    timestamp_format(end_us, end);
    buf_puts(&body, "{\"token\":");
    json_put_string(&body, str_of(session));
    buf_printf(&body, ",\"expires\":\"%s\"}\n", end);
    secret_free(session);
    endpoint_reply_body(exchange, 200, "application/json", &body);
}

bool page_respond(struct daemon *d, const struct http_server_request *request,
                  struct http_exchange *exchange)
{
    const struct page_file *file;
    if (strcmp(request->method, "POST") == 0) { /* only PAGE_LOGIN_PATH accepts it */
        login(d, request, exchange);
        return true;
    }
    file = find_file(request->path);
    if (file)
        send_file(file, request, exchange);
    return file;
}
