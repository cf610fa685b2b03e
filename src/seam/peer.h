/*
 * peer.h - the name of a peer in messages: "10.0.0.1:6443", "[::1]:6443".
 */
#ifndef SEAM_PEER_H
#define SEAM_PEER_H

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

/* The caller frees it. */
static inline char *peer_name(const char *host, uint16_t port)
{
    return strchr(host, ':') ? xasprintf("[%s]:%u", host, port) : xasprintf("%s:%u", host, port);
}

#endif
