/*
 * nats_parser.h - the messages of a NATS server, from bytes that arrive in any pieces.
 *
 *     while ((rc = nats_parser_next(&parser, &input, &message, err)) == 1)
 *         ...                                  one message; @input has the bytes after it
 *
 * Known are INFO, MSG, HMSG, PING, PONG, +OK and -ERR. A line and a message have limits; a message is kept
 * until it is complete, so the memory is that of the largest one.
 */
#ifndef WIRE_NATS_PARSER_H
#define WIRE_NATS_PARSER_H

#include "informer/error.h"

#include "base/buf.h"
#include "base/str.h"

enum {
    NATS_LINE_MAX = 64 * 1024, /* LIMIT: bytes of a line; INFO lists the servers of a cluster */
    NATS_MESSAGE_MAX = 32 * 1024 * 1024, /* LIMIT: bytes of a message with its headers */
};

enum nats_op {
    NATS_INFO,
    NATS_MSG, /* also HMSG */
    NATS_PING,
    NATS_PONG,
    NATS_OK,
    NATS_ERR,
};

/* Valid until the next call. */
struct nats_message {
    enum nats_op op;
    struct str text;    /* NATS_INFO: an object; NATS_ERR: without quotes */
    struct str subject; /* NATS_MSG */
    struct str headers; /* NATS_MSG: from "NATS/1.0" on; empty: none */
    struct str payload; /* NATS_MSG */
};

/* Zeroed: at the beginning of a connection. */
struct nats_parser {
    struct buf line; /* an incomplete line, or the line of the message that is read */
    struct buf body; /* of that message, as far as it has arrived */
    bool in_body;
    bool delivered; /* the buffers belong to a message that was returned */
    size_t headers_len, total_len;
};

/* Takes bytes from the beginning of @input. Returns 1 with a message; 0 if all is taken and more is needed;
 * or -INF_EPROTO or -INF_ETOOBIG, after which the parser can't be used. */
int nats_parser_next(struct nats_parser *parser, struct str *input, struct nats_message *ret,
                     struct inf_error *err);

void nats_parser_free(struct nats_parser *parser);

/* ---- headers ---- */

/* The status of "NATS/1.0 503 ..."; 0: none. */
int nats_headers_status(struct str headers);

/* The value of the first header @name, compared exactly; false if there is none. */
bool nats_headers_get(struct str headers, const char *name, struct str *ret);

#endif
