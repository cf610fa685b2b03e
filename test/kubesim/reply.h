/*
 * reply.h - one answer: its head, and a body that is made as the peer takes it.
 *
 * A producer makes the body piece by piece whenever there is room; reply.c puts it into gzip and
 * chunks, and lets faults of the wire (cut, stall, drip, ...) happen to the bytes.
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
    MUST_WAIT, /* nothing now; conn_wake() when there is */
};

struct producer {
    enum progress (*more)(struct producer *p, struct buf *body);
    void (*free)(struct producer *p);
};

struct head {
    int code;
    const char *type; /* NULL: application/json */
    int retry_after;  /* seconds; 0: none */
    bool retry_date;  /* said as a date */
    const char *warning;
    const char *location;
    bool early;   /* comes before the request reached the API: 401 */
    bool nosniff; /* X-Content-Type-Options, where the API server says it */
    bool gzip;
    bool stream; /* the head goes out before there is a body, and each piece at once */
};

struct reply {
    bool open;
    bool headed;
    bool chunked;
    bool complete; /* all of it is in `wire` */
    bool paused;
    struct head head;
    struct producer *producer;
    struct buf body; /* made, not yet framed */
    struct buf wire; /* framed, not yet sent */
    size_t at;       /* sent of `wire` */
    uint64_t sent;   /* all in all */
    uint64_t head_len;
    z_stream z;
    bool z_open;
    struct fault fault;
};

/* Starts an answer whose body @producer makes; takes it over. */
void reply_stream(struct conn *c, const struct head *head, struct producer *producer);
/* An answer that is there already. Takes the bytes of @body over. */
void reply_whole(struct conn *c, const struct head *head, struct buf *body);
void reply_status(struct conn *c, const struct status *status);

/* Sends as much as there is room for. */
void reply_pump(struct conn *c);
void reply_free(struct reply *r);

/* wire.c: moves the body into the wire, the head before it; @last says that there is no more. */
void reply_frame(struct conn *c, bool last);

#endif
