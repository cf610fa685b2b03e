/*
 * jetstream.h - what JetStream replies: acknowledgements, the description of a stream, stored messages.
 *
 * Texts of the server are cut and have no control characters.
 */
#ifndef DAEMON_NATS_JETSTREAM_H
#define DAEMON_NATS_JETSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/nats/nats_position.h"
#include "wire/nats/nats_parser.h"

enum {
    JETSTREAM_TEXT_MAX = 200, /* LIMIT: bytes of a description in our errors */
};

enum jetstream_outcome {
    JETSTREAM_STORED,
    JETSTREAM_CONFLICT, /* the last message of the subject is another one, or one is being stored */
    JETSTREAM_TOO_BIG,  /* this message is never stored */
    JETSTREAM_UNAVAILABLE, /* no message can be stored now */
};

struct jetstream_ack {
    enum jetstream_outcome outcome;
    uint64_t seq;   /* stored */
    bool duplicate; /* it was stored before */
    char why[JETSTREAM_TEXT_MAX + 64];
};

void jetstream_ack_read(const struct nats_message *reply, struct jetstream_ack *ret);

struct jetstream_stream {
    bool direct;        /* it answers DIRECT.GET */
    size_t max_message; /* bytes; SIZE_MAX: no limit */
};

/* Reads the reply to STREAM.INFO. Returns 0, or -INF_ESERVER or -INF_ECONF with the remedy. */
int jetstream_stream_read(const struct nats_message *reply, const char *stream,
                          struct jetstream_stream *ret, struct inf_error *err);

enum jetstream_found {
    JETSTREAM_FOUND,
    JETSTREAM_NONE,    /* the subject has no message */
    JETSTREAM_UNKNOWN, /* no answer: the request is not possible at this time */
};

struct jetstream_last {
    uint64_t seq;
    bool is_ours; /* it has a position */
    struct nats_position position;
};

/* Reads the reply to DIRECT.GET, or to STREAM.MSG.GET. */
enum jetstream_found jetstream_last_read(const struct nats_message *reply, bool direct,
                                         const struct nats_last *last, struct jetstream_last *ret);

#endif
