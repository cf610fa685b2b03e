/*
 * nats_info.h - what a server of NATS says of itself: the text of INFO.
 */
#ifndef WIRE_NATS_INFO_H
#define WIRE_NATS_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

#include "base/str.h"

enum {
    NATS_NONCE_MAX = 256,              /* LIMIT: characters */
    NATS_PAYLOAD_PRESET = 1024 * 1024, /* of a server that names no limit */
};

struct nats_info {
    size_t max_payload; /* bytes of a message with its headers */
    bool headers;       /* it stores headers */
    bool tls_required;
    char nonce[NATS_NONCE_MAX + 1]; /* "": none */
    char name[64];                  /* of the server, for messages; cut */
};

/* Reads the object of INFO. Returns 0, or -INF_EPROTO. */
int nats_info_read(struct str text, struct nats_info *ret, struct inf_error *err);

#endif
