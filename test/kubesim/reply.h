/*
 * reply.h - one answer: its head, and a body that is produced as the client reads it.
 *
 * A producer adds to the body whenever there is room; reply.c applies gzip and chunked encoding,
 * and injects the faults of the wire (cut, stall, drip, ...).
 */
#ifndef KUBESIM_REPLY_H
#define KUBESIM_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include <zlib.h>

#include "base/buf.h"
#include "faults.h"
#include "status.h"

struct conn;

enum progress {
    MADE_SOME,
    MADE_ALL,
    MUST_WAIT, /* no data now; conn_wake() is called when there is */
};

struct producer {
    enum progress (*more)(struct producer *p, struct buf *body);
    void (*free)(struct producer *p);
};

struct head {
    int code;
    const char *type; /* NULL: application/json */
    int retry_after;  /* seconds; 0: none */
    bool retry_date;  /* Retry-After as a date */
    const char *warning;
    const char *location;
    bool early;   /* sent before the request reaches the API: 401 */
    bool nosniff; /* X-Content-Type-Options, where the API server sends it */
    bool gzip;
    bool stream; /* the head is sent before any body, and each piece at once */
};

struct reply {
    bool open;
    bool headed;
    bool chunked;
    bool complete; /* all of it is in `wire` */
    bool paused;
    struct head head;
    struct producer *producer;
    struct buf body; /* produced, not yet framed */
    struct buf wire; /* framed, not yet sent */
    size_t at;       /* sent of `wire` */
    uint64_t sent;   /* in total */
    uint64_t head_len;
    z_stream z;
    bool z_open;
    struct fault fault;
};

/* Starts an answer whose body @producer makes; takes ownership of it. */
void reply_stream(struct conn *c, const struct head *head, struct producer *producer);
/* Sends a complete answer. Takes ownership of the bytes of @body. */
void reply_whole(struct conn *c, const struct head *head, struct buf *body);
void reply_status(struct conn *c, const struct status *status);

/* Sends as much as there is room for. */
void reply_pump(struct conn *c);
void reply_free(struct reply *r);

/* wire.c: moves the body to the wire, after the head; @last: there is no more. */
void reply_frame(struct conn *c, bool last);

#endif
