#include "tcp_world.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"

int tcp_world_setup(void **state)
{
    struct tcp_world *w = NEW(struct tcp_world);
    signal(SIGPIPE, SIG_IGN); /* as informer.h requires of every program */
    real_loop_init(&w->rl);
    tcp_server_listen(&w->server, &w->rl.uv, "127.0.0.1");
    tcp_dialer_init(&w->dialer, &w->rl.loop);
    stream_reader_init(&w->reader);
    *state = w;
    return 0;
}

int tcp_world_teardown(void **state)
{
    struct tcp_world *w = *state;
    stream_reader_done(&w->reader);
    tcp_dialer_close(&w->dialer);
    tcp_server_close(&w->server);
    real_loop_done(&w->rl);
    free(w);
    return 0;
}

void tcp_world_dial_port(struct tcp_world *w, const char *host, uint16_t port)
{
    snprintf(w->peer, sizeof(w->peer), "%s:%u", host, port);
    w->reader.stream = dialer_dial(&w->dialer.dialer, host, port, &w->reader.user);
}

void tcp_world_dial(struct tcp_world *w, const char *host)
{
    tcp_world_dial_port(w, host, w->server.port);
}

void assert_tcp_end(const struct tcp_world *w, int code, const char *what)
{
    char *text = xasprintf("%s: %s", w->peer, what);
    assert_int_equal(w->reader.ended, 1);
    assert_int_equal(w->reader.why.code, code);
    assert_string_equal(w->reader.why.text, text);
    free(text);
}
