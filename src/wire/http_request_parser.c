/*
 * http_request_parser.c - parses one request at a time with llhttp.
 *
 * Normal path: llhttp's callbacks collect target and headers; at the end of the head the request is
 * checked and split, and llhttp is stopped there. It is initialized again for the next request, so
 * that no state is carried over.
 *
 * Refused: input that llhttp does not accept, versions other than 1.0 and 1.1, HTTP/1.1 without
 * exactly one Host, bodies, expectations other than 100-continue, invalid targets, and everything
 * over a limit.
 */
#include "wire/http_request_parser.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <llhttp.h>

#include "base/alloc.h"
#include "base/base.h"
#include "wire/http_headers.h"
#include "wire/http_target.h"

struct http_request_parser {
    llhttp_t http;
    llhttp_settings_t settings;
    size_t head_max;
    size_t seen; /* bytes of this request and of empty lines before it */
    bool began;
    enum http_asked asked;
    int status; /* of a refusal */
    const char *why;
    struct http_headers headers; /* preceded by the target */
    size_t target_len;
    char *path, *query;
    struct http_server_request request;
};

static struct http_request_parser *parser_of(llhttp_t *http)
{
    return container_of(http, struct http_request_parser, http);
}

static int request_refuse(struct http_request_parser *p, int status, const char *why)
{
    p->asked = ASKED_BAD;
    p->status = status;
    p->why = why;
    return HPE_USER;
}

/* ---- collecting ---- */

static int on_text(llhttp_t *http, const char *at, size_t len)
{
    http_headers_put(&parser_of(http)->headers, at, len); /* bounded by head_max: see feed */
    return 0;
}

static int on_method(llhttp_t *http, const char *at, size_t len)
{
    (void)at, (void)len; /* llhttp stores the method */
    parser_of(http)->began = true;
    return 0;
}

static int on_target(llhttp_t *http, const char *at, size_t len)
{
    struct http_request_parser *p = parser_of(http);
    p->target_len += len;
    if (p->target_len > HTTP_ASK_TARGET_MAX)
        return request_refuse(p, 414, "the target is too long");
    return on_text(http, at, len);
}

static int on_text_end(llhttp_t *http)
{
    http_headers_end_text(&parser_of(http)->headers);
    return 0;
}

static int on_value_end(llhttp_t *http)
{
    struct http_request_parser *p = parser_of(http);
    if (http_headers_end_line(&p->headers, HTTP_ASK_HEADERS_MAX))
        return 0;
    return request_refuse(p, 431, "too many header lines");
}

/* ---- checks ---- */

static void make_request(struct http_request_parser *p)
{
    const char *target = p->headers.text.bytes;
    http_headers_finish(&p->headers, http_headers_next_text(target));
    p->request = (struct http_server_request){
        .method = llhttp_method_name(p->http.method),
        .target = target,
        .path = p->path,
        .query = p->query,
        .headers = p->headers.lines,
        .n_headers = p->headers.count,
        .head = p->http.method == HTTP_HEAD,
        .keep_alive = llhttp_should_keep_alive(&p->http) != 0,
        .http_1_0 = p->http.http_minor == 0,
    };
}

static size_t count_header(const struct http_server_request *r, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_headers; i++)
        n += strcasecmp(r->headers[i].name, name) == 0;
    return n;
}

/* A client that waits for 100 before it sends a body gets the refusal of the body instead. */
static bool expects_too_much(const struct http_server_request *r)
{
    const char *expect = http_server_request_get(r, "Expect");
    return expect && strcasecmp(expect, "100-continue") != 0;
}

static int check_request(struct http_request_parser *p)
{
    const struct http_server_request *r = &p->request;
    size_t hosts = count_header(r, "Host");
    if (p->http.http_major != 1)
        return request_refuse(p, 505, "only HTTP/1.0 and HTTP/1.1 are supported");
    if (hosts > 1 || (hosts == 0 && !r->http_1_0))
        return request_refuse(p, 400, "exactly one Host header is required");
    if (expects_too_much(r))
        return request_refuse(p, 417, "unsupported expectation");
    if (p->http.content_length > 0 || (p->http.flags & F_TRANSFER_ENCODING))
        return request_refuse(p, 413, "request bodies are not supported");
    return 0;
}

static int on_head_end(llhttp_t *http)
{
    struct http_request_parser *p = parser_of(http);
    bool is_get = http->method == HTTP_GET || http->method == HTTP_HEAD;
    int bad = http_target_split(p->headers.text.bytes, &p->path, &p->query);
    int rc;
    make_request(p);
    rc = check_request(p);
    if (rc)
        return rc;
    if (bad && is_get) /* "*" and "host:port" belong to methods that are refused later */
        return request_refuse(p, 400, "invalid request target");
    p->asked = ASKED;
    return HPE_PAUSED;
}

/* ---- feeding ---- */

struct http_request_parser *http_request_parser_new(size_t head_max)
{
    struct http_request_parser *p = NEW(struct http_request_parser);
    p->head_max = head_max;
    llhttp_settings_init(&p->settings);
    p->settings.on_method = on_method;
    p->settings.on_url = on_target;
    p->settings.on_url_complete = on_text_end;
    p->settings.on_header_field = on_text;
    p->settings.on_header_field_complete = on_text_end;
    p->settings.on_header_value = on_text;
    p->settings.on_header_value_complete = on_value_end;
    p->settings.on_headers_complete = on_head_end;
    http_request_parser_start(p);
    return p;
}

/* Frees all memory: connections are idle most of the time. */
void http_request_parser_start(struct http_request_parser *p)
{
    llhttp_init(&p->http, HTTP_REQUEST, &p->settings);
    http_headers_clear(&p->headers);
    free(p->path);
    free(p->query);
    p->path = p->query = NULL;
    p->seen = p->target_len = 0;
    p->began = false;
    p->asked = ASKED_MORE;
    p->request = (struct http_server_request){0};
}

void http_request_parser_free(struct http_request_parser *p)
{
    if (!p)
        return;
    http_request_parser_start(p);
    free(p);
}

/* Feeds at most the remaining limit, so that what is collected stays within it. */
size_t http_request_parser_feed(struct http_request_parser *p, const char *bytes, size_t len,
                                enum http_asked *ret_asked)
{
    size_t room = p->head_max - p->seen, used = len < room ? len : room;
    if (p->asked == ASKED_MORE && len) {
        enum llhttp_errno rc = llhttp_execute(&p->http, bytes, used);
        if (rc == HPE_PAUSED)
            used = (size_t)(llhttp_get_error_pos(&p->http) - bytes);
        else if (rc != HPE_OK && p->asked != ASKED_BAD)
            request_refuse(p, 400, llhttp_get_error_reason(&p->http));
        p->seen += used;
        if (p->asked == ASKED_MORE && used < len)
            request_refuse(p, 431, "the request head is too large");
    } else {
        used = 0;
    }
    *ret_asked = p->asked;
    return used;
}

bool http_request_parser_began(const struct http_request_parser *p)
{
    return p->began;
}

const struct http_server_request *http_request_parser_request(const struct http_request_parser *p)
{
    return &p->request;
}

int http_request_parser_status(const struct http_request_parser *p)
{
    return p->status;
}

const char *http_request_parser_why(const struct http_request_parser *p)
{
    return p->why;
}

const char *http_server_request_get(const struct http_server_request *r, const char *name)
{
    for (size_t i = 0; i < r->n_headers; i++)
        if (strcasecmp(r->headers[i].name, name) == 0)
            return r->headers[i].value;
    return NULL;
}
