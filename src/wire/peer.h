/*
 * peer.h - how texts name the other side: "10.0.0.1:6443", "[::1]:6443".
 */
#ifndef WIRE_PEER_H
#define WIRE_PEER_H

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

/* The caller's to free. */
static inline char *peer_name(const char *host, uint16_t port)
{
    return strchr(host, ':') ? xasprintf("[%s]:%u", host, port) : xasprintf("%s:%u", host, port);
}

#endif
