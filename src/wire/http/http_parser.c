/*
 * http_parser.c - turns llhttp's push interface into a pull interface with pieces that may be taken
 * partly.
 *
 * Normal path: each callback that finds a piece records it and returns HPE_PAUSED (llhttp_pause()
 * has no effect inside a callback), which makes llhttp_execute() return just after the piece. Some
 * pieces need no byte of their own (the end of a response after the last byte of its body), so
 * llhttp is run even without input.
 *
 * Limits: all bytes that are not body are counted: status line, headers, spaces, 1xx responses,
 * chunk extensions, leading zeros, trailers. Each chunk has an allowance for its plain framing. The
 * count never decreases, so whether a response exceeds the limit does not depend on how it is
 * split.
 */
#include "wire/http/http_parser.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "wire/http/http_head_parser.h"

struct http_parser {
    struct http_head_parser head;
    struct http_piece *piece; /* the result of the current call */
    size_t head_max;
    size_t overhead; /* bytes that count into head_max, up to the last head or body */
    size_t framing;  /* bytes since then that are not body */
    size_t untaken;  /* bytes of body that llhttp has parsed and the user has not taken */
    bool no_body;    /* the request was a HEAD */
    bool over;       /* after PIECE_DONE or PIECE_BAD */
    bool keep_alive;
};

static struct http_parser *parser_of(llhttp_t *http)
{
    return container_of(http, struct http_parser, head.http);
}

static int parser_refuse(struct http_parser *p, int code, const char *text)
{
    p->piece->type = PIECE_BAD;
    err_set(&p->piece->why, code, "%s", text);
    return HPE_USER;
}

/* --- what llhttp calls ------------------------------------------------------------------------ */

static bool is_interim(const llhttp_t *http)
{
    return http->status_code >= 100 && http->status_code < 200;
}

static int parser_on_begin(llhttp_t *http)
{
    http_head_parser_clear(&parser_of(http)->head); /* of a 1xx response */
    return 0;
}

static int parser_on_head_end(llhttp_t *http)
{
    struct http_parser *p = parser_of(http);
    if (http->http_major != 1)
        return parser_refuse(p, INF_EPROTO, "not HTTP/1.1");
    if (http->status_code == HTTP_STATUS_SWITCHING_PROTOCOLS)
        return parser_refuse(p, INF_EPROTO, "unexpected protocol switch (status 101)");
    if (is_interim(http))
        return 0;
    if (p->no_body)
        http->flags |= F_SKIPBODY;
    if (llhttp_message_needs_eof(http))
        return parser_refuse(
            p, INF_EPROTO,
            "neither Content-Length nor chunked: the end of the body can't be recognized");
    http_head_parser_complete(&p->head, p->head.text.bytes);
    p->piece->type = PIECE_HEAD;
    p->piece->head = (struct http_head){
        .status = http->status_code,
        .headers = p->head.lines,
        .n_headers = p->head.count,
    };
    return HPE_PAUSED;
}

static int parser_on_body(llhttp_t *http, const char *at, size_t len)
{
    struct http_parser *p = parser_of(http);
    if (len == 0)
        return 0;
    p->piece->type = PIECE_BODY;
    p->piece->bytes = at;
    p->piece->len = len;
    p->untaken = len;
    return HPE_PAUSED;
}

static int parser_on_done(llhttp_t *http)
{
    struct http_parser *p = parser_of(http);
    if (is_interim(http))
        return 0;
    p->piece->type = PIECE_DONE;
    p->keep_alive = llhttp_should_keep_alive(http);
    return HPE_PAUSED;
}

static const llhttp_settings_t parser_callbacks = {
    .on_message_begin = parser_on_begin,
    .on_headers_complete = parser_on_head_end,
    .on_body = parser_on_body,
    .on_message_complete = parser_on_done,
};

/* --- feeding ---------------------------------------------------------------------------------- */

struct http_parser *http_parser_new(size_t head_max)
{
    struct http_parser *p = NEW(struct http_parser);
    p->head_max = head_max;
    http_head_parser_init(&p->head, HTTP_RESPONSE, HTTP_HEADERS_MAX, &parser_callbacks);
    http_parser_start(p, false);
    return p;
}

void http_parser_free(struct http_parser *p)
{
    if (!p)
        return;
    http_head_parser_clear(&p->head);
    free(p);
}

void http_parser_start(struct http_parser *p, bool no_body)
{
    http_head_parser_start(&p->head);
    p->no_body = no_body;
    p->overhead = p->framing = p->untaken = 0;
    p->over = p->keep_alive = false;
}

/* Runs llhttp up to the next piece. Returns the number of bytes before it. */
static size_t parser_run_to_piece(struct http_parser *p, const char *bytes, size_t len)
{
    llhttp_t *http = &p->head.http;
    enum llhttp_errno rc = llhttp_execute(http, bytes, len);
    size_t used = len;
    if (rc == HPE_PAUSED) {
        used = (size_t)(llhttp_get_error_pos(http) - bytes) - p->untaken;
        llhttp_resume(http);
    } else if (p->head.too_many) {
        parser_refuse(p, INF_ETOOBIG, "too many header lines");
    } else if (rc != HPE_OK && p->piece->type != PIECE_BAD) {
        parser_refuse(p, INF_EPROTO, llhttp_get_error_reason(http));
    }
    p->framing += used;
    return used;
}

static void parser_check_overhead(struct http_parser *p)
{
    bool head = !p->head.complete || p->piece->type == PIECE_HEAD;
    size_t allowance = head ? 0 : HTTP_CHUNK_ALLOWANCE;
    size_t counted = p->framing > allowance ? p->framing - allowance : 0;
    if (p->piece->type == PIECE_BAD)
        return;
    if (p->overhead + counted > p->head_max) {
        p->piece->type = PIECE_BAD;
        err_set(&p->piece->why, INF_ETOOBIG, "%s over head_max=%zu",
                head ? "head" : "chunk extensions and trailers", p->head_max);
    } else if (p->piece->type == PIECE_HEAD || p->piece->type == PIECE_BODY) {
        p->overhead += counted;
        p->framing = 0;
    }
}

size_t http_parser_next(struct http_parser *p, const char *bytes, size_t len,
                        struct http_piece *ret_piece)
{
    size_t used;
    ret_piece->type = PIECE_MORE;
    if (p->over)
        return 0;
    if (p->untaken) {
        ret_piece->type = len ? PIECE_BODY : PIECE_MORE;
        ret_piece->bytes = bytes;
        ret_piece->len = len < p->untaken ? len : p->untaken;
        return 0;
    }
    if (p->head.complete) /* most connections, most of the time: hold no memory for them */
        http_head_parser_clear(&p->head);
    p->piece = ret_piece;
    used = parser_run_to_piece(p, bytes, len);
    parser_check_overhead(p);
    p->over = ret_piece->type == PIECE_DONE || ret_piece->type == PIECE_BAD;
    return used;
}

void http_parser_took(struct http_parser *p, size_t len)
{
    assert(len <= p->untaken);
    p->untaken -= len;
}

bool http_parser_keep_alive(const struct http_parser *p)
{
    return p->keep_alive;
}
