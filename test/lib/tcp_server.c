#include "tcp_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"

struct sending {
    uv_write_t request;
    char bytes[];
};

static void on_sent(uv_write_t *request, int status)
{
    (void)status; /* a client may have disconnected */
    free(container_of(request, struct sending, request));
}

void tcp_server_send(struct tcp_server *s, const char *bytes, size_t len)
{
    struct sending *sending = xmalloc(sizeof(*sending) + len);
    uv_buf_t all = uv_buf_init(sending->bytes, (unsigned)len);
    memcpy(sending->bytes, bytes, len);
    assert_int_equal(uv_write(&sending->request, (uv_stream_t *)&s->peer, &all, 1, on_sent), 0);
}

static void on_shut(uv_shutdown_t *request, int status)
{
    (void)status;
    free(request);
}

void tcp_server_end(struct tcp_server *s)
{
    assert_int_equal(uv_shutdown(NEW(uv_shutdown_t), (uv_stream_t *)&s->peer, on_shut), 0);
}

void tcp_server_reset(struct tcp_server *s)
{
    s->gone = true;
    assert_int_equal(uv_tcp_close_reset(&s->peer, NULL), 0);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
    struct tcp_server *s = handle->data;
    (void)suggested;
    *ret_buf = uv_buf_init(s->buffer, sizeof(s->buffer));
}

static void on_bytes(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct tcp_server *s = stream->data;
    if (n < 0) {
        s->ended = true;
        uv_read_stop(stream);
        return;
    }
    buf_put(&s->got, buf->base, (size_t)n);
    if (s->echo && n)
        tcp_server_send(s, buf->base, (size_t)n);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct tcp_server *s = listener->data;
    assert_int_equal(status, 0);
    assert_false(s->accepted);
    s->accepted = true;
    s->gone = false;
    assert_int_equal(uv_tcp_init(listener->loop, &s->peer), 0);
    s->peer.data = s;
    assert_int_equal(uv_accept(listener, (uv_stream_t *)&s->peer), 0);
    assert_int_equal(uv_read_start((uv_stream_t *)&s->peer, on_room, on_bytes), 0);
}

static uint16_t port_of(const struct sockaddr_storage *address)
{
    return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

void tcp_server_listen(struct tcp_server *s, uv_loop_t *uv, const char *ip)
{
    struct sockaddr_in any_port;
    struct sockaddr_storage bound;
    int len = sizeof(bound);
    *s = (struct tcp_server){.gone = true};
    assert_int_equal(uv_ip4_addr(ip, 0, &any_port), 0);
    assert_int_equal(uv_tcp_init(uv, &s->listener), 0);
    s->listener.data = s;
    assert_int_equal(uv_tcp_bind(&s->listener, (const struct sockaddr *)&any_port, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&s->listener, 4, on_connection), 0);
    assert_int_equal(uv_tcp_getsockname(&s->listener, (struct sockaddr *)&bound, &len), 0);
    s->port = port_of(&bound);
}

void tcp_server_close(struct tcp_server *s)
{
    if (!s->gone)
        uv_close((uv_handle_t *)&s->peer, NULL);
    s->gone = true;
    uv_close((uv_handle_t *)&s->listener, NULL);
    buf_free(&s->got);
}

int port_that_refuses(const char *ip, uint16_t port, uint16_t *ret_port)
{
    struct sockaddr_in wanted;
    struct sockaddr_storage bound;
    socklen_t len = sizeof(bound);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(uv_ip4_addr(ip, port, &wanted), 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&wanted, sizeof(wanted)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&bound, &len), 0);
    *ret_port = port_of(&bound);
    return fd;
}

int port_that_is_silent(const char *ip, uint16_t port, uint16_t *ret_port)
{
    struct sockaddr_in to;
    int filler = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = port_that_refuses(ip, port, ret_port);
    assert_int_equal(listen(fd, 0), 0); /* room for one */
    assert_int_equal(uv_ip4_addr(ip, *ret_port, &to), 0);
    assert_int_equal(connect(filler, (const struct sockaddr *)&to, sizeof(to)), 0);
    close(filler); /* its connection stays in the queue: it is not accepted */
    return fd;
}
