/*
 * tcp_world.h - one stream of loop/tcp.c, its user, and the server it may reach, on one real loop.
 */
#ifndef TEST_TCP_WORLD_H
#define TEST_TCP_WORLD_H

#include "loop/tcp.h"
#include "real_loop.h"
#include "stream_reader.h"
#include "tcp_server.h"

struct tcp_world {
    struct real_loop rl;
    struct tcp_server server; /* on 127.0.0.1 */
    struct tcp_dialer dialer;
    struct stream_reader reader;
    char peer[512]; /* host:port, as in messages */
};

/* cmocka's setup and teardown: `*state` is the world. The teardown closes what is open. */
int tcp_world_setup(void **state);
int tcp_world_teardown(void **state);

/* The reader dials @host at the server's port, or at another. No callback is made before it returns.
 */
void tcp_world_dial(struct tcp_world *w, const char *host);
void tcp_world_dial_port(struct tcp_world *w, const char *host, uint16_t port);

/* Checks that the end was reported with this code and "host:port: @what". */
void assert_tcp_end(const struct tcp_world *w, int code, const char *what);

#endif
