/*
 * http_request_parser.c - parses one request at a time with llhttp.
 *
 * Normal path: llhttp's callbacks collect target and headers; at the end of the head the request is
 * checked and split, and llhttp is stopped there, or after the body if one is accepted. It is
 * initialized again for the next request, so that no state is carried over.
 *
 * Refused: input that llhttp does not accept, versions other than 1.0 and 1.1, HTTP/1.1 without
 * exactly one Host, bodies, expectations other than 100-continue, invalid targets, and everything
 * over a limit.
 */
#include "wire/http/http_request_parser.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/base.h"
#include "wire/http/http_head_parser.h"
#include "wire/http/http_target.h"

struct http_request_parser {
    struct http_head_parser head; /* its first text is the target */
    size_t head_max;
    size_t seen; /* bytes of this request and of empty lines before it */
    bool began;
    enum http_request_result result;
    int status; /* of a refusal */
    const char *why;
    size_t target_len;
    char *path, *query;
    const char *post_path; /* NULL: POST is refused */
    struct buf body;       /* secret: a POST carries a credential */
    struct http_server_request request;
};

static struct http_request_parser *request_parser_of(llhttp_t *http)
{
    return container_of(http, struct http_request_parser, head.http);
}

static int request_refuse(struct http_request_parser *p, int status, const char *why)
{
    p->result = REQUEST_BAD;
    p->status = status;
    p->why = why;
    return HPE_USER;
}

/* ---- what llhttp calls ---- */

static int request_on_method(llhttp_t *http, const char *at, size_t len)
{
    (void)at, (void)len; /* llhttp stores the method */
    request_parser_of(http)->began = true;
    return 0;
}

static int request_on_target(llhttp_t *http, const char *at, size_t len)
{
    struct http_request_parser *p = request_parser_of(http);
    p->target_len += len;
    if (p->target_len > HTTP_REQUEST_TARGET_MAX)
        return request_refuse(p, 414, "the target is too long");
    return http_head_parser_on_text(http, at, len);
}

static size_t count_header(const struct http_server_request *r, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_headers; i++)
        n += strcasecmp(r->headers[i].name, name) == 0;
    return n;
}

static bool accepts_post(const struct http_request_parser *p)
{
    return p->post_path && p->path && p->head.http.method == HTTP_POST &&
           strcmp(p->path, p->post_path) == 0;
}

static int request_check_body(struct http_request_parser *p)
{
    const llhttp_t *http = &p->head.http;
    if (accepts_post(p))
        return http->flags & F_TRANSFER_ENCODING || http->content_length > HTTP_REQUEST_BODY_MAX
                   ? request_refuse(p, 413, "the body is too long or has no Content-Length")
                   : 0;
    if (http->content_length > 0 || (http->flags & F_TRANSFER_ENCODING))
        return http->method == HTTP_GET || http->method == HTTP_HEAD
                   ? request_refuse(p, 413, "request bodies are not supported")
                   : request_refuse(p, 405, HTTP_METHODS_REFUSAL);
    return 0;
}

/* Returns 0, or refuses the request. A client that waits for 100 before it sends a body gets the
 * refusal of the body. */
static int request_check(struct http_request_parser *p)
{
    const struct http_server_request *r = &p->request;
    const llhttp_t *http = &p->head.http;
    const char *expect = http_server_request_get(r, "Expect");
    size_t hosts = count_header(r, "Host");
    if (http->http_major != 1)
        return request_refuse(p, 505, "only HTTP/1.0 and HTTP/1.1 are supported");
    if (hosts > 1 || (hosts == 0 && !r->http_1_0))
        return request_refuse(p, 400, "exactly one Host header is required");
    if (expect && (strcasecmp(expect, "100-continue") != 0 || accepts_post(p)))
        return request_refuse(p, 417, "unsupported expectation");
    return request_check_body(p);
}

static int request_on_head_end(llhttp_t *http)
{
    struct http_request_parser *p = request_parser_of(http);
    const char *target = p->head.text.bytes;
    bool is_get = http->method == HTTP_GET || http->method == HTTP_HEAD;
    int bad = http_target_split(target, &p->path, &p->query);
    http_head_parser_complete(&p->head, http_head_parser_next_text(target));
    p->request = (struct http_server_request){
        .method = llhttp_method_name(http->method),
        .target = target,
        .path = p->path,
        .query = p->query,
        .headers = p->head.lines,
        .n_headers = p->head.count,
        .head = http->method == HTTP_HEAD,
        .keep_alive = llhttp_should_keep_alive(http) != 0,
        .http_1_0 = http->http_minor == 0,
    };
    if (request_check(p) != 0)
        return HPE_USER;
    if (bad && is_get) /* "*" and "host:port" belong to methods that are refused later */
        return request_refuse(p, 400, "invalid request target");
    if (accepts_post(p) && http->content_length > 0)
        return 0; /* the body follows */
    p->result = REQUEST_COMPLETE;
    return HPE_PAUSED;
}

static int request_on_body(llhttp_t *http, const char *at, size_t len)
{
    buf_put(&request_parser_of(http)->body, at, len); /* at most Content-Length: see above */
    return 0;
}

static int request_on_end(llhttp_t *http)
{
    struct http_request_parser *p = request_parser_of(http);
    p->request.body = (struct str){p->body.bytes, p->body.len};
    p->result = REQUEST_COMPLETE;
    return HPE_PAUSED;
}

static const llhttp_settings_t request_callbacks = {
    .on_method = request_on_method,
    .on_url = request_on_target,
    .on_url_complete = http_head_parser_on_text_end,
    .on_headers_complete = request_on_head_end,
    .on_body = request_on_body,
    .on_message_complete = request_on_end,
};

/* ---- feeding ---- */

struct http_request_parser *http_request_parser_new(size_t head_max)
{
    struct http_request_parser *p = NEW(struct http_request_parser);
    p->head_max = head_max;
    p->body.secret = true;
    http_head_parser_init(&p->head, HTTP_REQUEST, HTTP_REQUEST_HEADERS_MAX, &request_callbacks);
    http_request_parser_start(p);
    return p;
}

void http_request_parser_accept_post(struct http_request_parser *p, const char *path)
{
    p->post_path = path;
}

/* Frees all memory: connections are idle most of the time. */
void http_request_parser_start(struct http_request_parser *p)
{
    http_head_parser_start(&p->head);
    free(p->path);
    free(p->query);
    p->path = p->query = NULL;
    buf_free(&p->body);
    p->seen = p->target_len = 0;
    p->began = false;
    p->result = REQUEST_MORE;
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
                                enum http_request_result *ret_result)
{
    size_t room = p->head_max - p->seen, used = len < room ? len : room;
    if (p->result == REQUEST_MORE && len) {
        llhttp_t *http = &p->head.http;
        enum llhttp_errno rc = llhttp_execute(http, bytes, used);
        if (rc == HPE_PAUSED)
            used = (size_t)(llhttp_get_error_pos(http) - bytes);
        else if (p->head.too_many)
            request_refuse(p, 431, "too many header lines");
        else if (rc != HPE_OK && p->result != REQUEST_BAD)
            request_refuse(p, 400, llhttp_get_error_reason(http));
        p->seen += used;
        if (p->result == REQUEST_MORE && used < len)
            request_refuse(p, 431, "the request head is too large");
    } else {
        used = 0;
    }
    *ret_result = p->result;
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
    return http_header_find(r->headers, r->n_headers, name);
}

bool http_accepts_gzip(const struct http_server_request *request)
{
    static const char blanks[] = " \t", name[] = "gzip";
    const char *at = http_server_request_get(request, "Accept-Encoding");
    while (at && *at) {
        size_t len;
        at += strspn(at, blanks);
        len = strcspn(at, ",");
        if (strncmp(at, name, strlen(name)) == 0 &&
            strspn(at + strlen(name), blanks) == len - strlen(name))
            return true;
        at += len + (at[len] == ',');
    }
    return false;
}
