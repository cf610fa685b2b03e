/*
 * tcp_server.h - the other end of loop/tcp.c: a plain libuv server for one connection, on a free
 * port.
 *
 * It shares the test's loop but no code with src/loop.
 */
#ifndef TEST_TCP_SERVER_H
#define TEST_TCP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "base/buf.h"

struct tcp_server {
    uv_tcp_t listener;
    uv_tcp_t peer;
    uint16_t port;
    bool echo;     /* sends back what it receives */
    bool accepted; /* a connection was accepted */
    bool gone;     /* `peer` is not or no longer open */
    bool ended;    /* the client will send no more */
    struct buf got;
    char buffer[64 * 1024];
};

void tcp_server_listen(struct tcp_server *s, uv_loop_t *uv, const char *ip);
void tcp_server_send(struct tcp_server *s, const char *bytes, size_t len);
void tcp_server_end(struct tcp_server *s);   /* FIN, after what was sent */
void tcp_server_reset(struct tcp_server *s); /* RST, at once */
void tcp_server_close(struct tcp_server *s); /* all that is still open */

/* A bound socket that does not listen: connections are refused. @port 0: any. The
 * caller closes it. */
int port_that_refuses(const char *ip, uint16_t port, uint16_t *ret_port);

/* A listening socket with a full queue: connections get no response. Otherwise the same.
 */
int port_that_is_silent(const char *ip, uint16_t port, uint16_t *ret_port);

#endif
