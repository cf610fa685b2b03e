/*
 * http_parser.h - an incremental parser for HTTP/1.1 responses; a thin layer over llhttp.
 *
 * It makes no callbacks: the caller pulls the next piece as long as there is one.
 *
 *     while ((at += http_parser_next(p, bytes + at, len - at, &piece)), piece.type != PIECE_MORE)
 *         switch (piece.type) {
 *         case PIECE_HEAD: ...  piece.head
 *         case PIECE_BODY: ...  took n of piece.bytes;  http_parser_took(p, n);  at += n;
 *                              n < piece.len: keep bytes + at for later and begin with them then
 *         case PIECE_DONE: ...  http_parser_keep_alive(p)
 *         case PIECE_BAD:  ...  piece.why
 *         }
 *
 * A body piece points into the caller's bytes and is never copied. The part that was not taken is
 * recognized when it is offered again, so a yield needs no buffer.
 *
 * Refused: heads, trailers and chunk extensions over the limit, 101, other versions than 1.0 and
 * 1.1, bodies that end with the connection. 1xx responses are skipped. Nothing is parsed after
 * PIECE_DONE or PIECE_BAD until the next http_parser_start(). There is no call for the end of the
 * connection: before PIECE_DONE it always means that the response is incomplete.
 */
#ifndef WIRE_HTTP_PARSER_H
#define WIRE_HTTP_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

#include "wire/http/http_conn.h"

struct http_parser;

enum http_piece_type {
    PIECE_MORE, /* more bytes are needed */
    PIECE_HEAD,
    PIECE_BODY,
    PIECE_DONE, /* the response is complete, by HTTP's own framing */
    PIECE_BAD,
};

struct http_piece {
    enum http_piece_type type;
    struct http_head head; /* PIECE_HEAD: valid until the next call */
    const char *bytes;     /* PIECE_BODY: at least one */
    size_t len;
    struct inf_error why; /* PIECE_BAD: INF_EPROTO or INF_ETOOBIG */
};

enum {
    HTTP_HEADERS_MAX = 256,    /* header lines in one head */
    HTTP_CHUNK_ALLOWANCE = 32, /* bytes of framing per chunk that do not count towards head_max */
};

struct http_parser *http_parser_new(size_t head_max);
void http_parser_free(struct http_parser *p); /* NULL is allowed */

/* Prepares for the response to one request. @no_body: the request was a HEAD. */
void http_parser_start(struct http_parser *p, bool no_body);

/* Finds the next piece. Returns the number of bytes consumed before it, or including it if it is
 * not a body. */
size_t http_parser_next(struct http_parser *p, const char *bytes, size_t len,
                        struct http_piece *ret_piece);

/* Reports how much of the last body piece was taken. */
void http_parser_took(struct http_parser *p, size_t len);

/* After PIECE_DONE: whether the connection can carry another request. */
bool http_parser_keep_alive(const struct http_parser *p);

#endif
