/*
 * test_http_server_real.c - the server on real sockets: TCP and Unix, on a real loop.
 *
 * The clients are non-blocking descriptors in the same thread.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "loop/listen.h"
#include "real_loop.h"
#include "wire/http/http_server.h"

enum {
    BIG = 4 * 1024 * 1024,
};

struct site {
    struct http_server_user user;
    struct listener_user door;
    struct http_exchange_user exchange_user;
    struct real_loop rl;
    struct http_server *server;
    struct listener *listener;
    struct http_exchange *x;
    size_t to_write; /* of the streamed response */
    size_t most;     /* largest number of unsent bytes */
    int aborted;
    char dir[64], path[96];
};

static void write_some(struct site *s)
{
    char piece[64 * 1024] = {0};
    while (s->to_write && http_exchange_unsent(s->x) < sizeof(piece)) {
        http_exchange_write(s->x, piece, sizeof(piece));
        s->to_write -= sizeof(piece);
        if (http_exchange_unsent(s->x) > s->most)
            s->most = http_exchange_unsent(s->x);
    }
    if (!s->to_write)
        http_exchange_end(s->x);
}

static void on_drain(struct http_exchange_user *user)
{
    write_some(container_of(user, struct site, exchange_user));
}

static void on_abort(struct http_exchange_user *user)
{
    container_of(user, struct site, exchange_user)->aborted++;
}

static const struct http_exchange_user_ops exchange_user_ops = {on_drain, on_abort};

static void on_request(struct http_server_user *user, const struct http_server_request *request,
                       struct http_exchange *x)
{
    struct site *s = container_of(user, struct site, user);
    if (strcmp(request->path, "/big") != 0) {
        http_exchange_reply(x, 200, "text/plain", "ok\n", 3);
        return;
    }
    s->x = x;
    s->to_write = BIG;
    http_exchange_set_user(x, &s->exchange_user);
    http_exchange_start(x, 200, "text/plain");
    write_some(s);
}

static const struct http_server_user_ops user_ops = {.on_request = on_request};

static void on_accept(struct listener_user *user, struct stream *stream)
{
    http_server_accept(container_of(user, struct site, door)->server, stream);
}

static int setup(void **state)
{
    struct site *s = NEW(struct site);
    signal(SIGPIPE, SIG_IGN);
    s->user.ops = &user_ops;
    s->exchange_user.ops = &exchange_user_ops;
    s->door.on_accept = on_accept;
    real_loop_init(&s->rl);
    strcpy(s->dir, "/tmp/test_http_server.XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    snprintf(s->path, sizeof(s->path), "%s/s", s->dir);
    s->server = http_server_new(&s->rl.loop.clock, NULL, &s->user);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct site *s = *state;
    listener_close(s->listener);
    http_server_close(s->server);
    real_loop_done(&s->rl);
    assert_int_equal(rmdir(s->dir), 0);
    free(s);
    return 0;
}

static int connect_to(const struct sockaddr *address, socklen_t len)
{
    int fd = socket(address->sa_family, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, address, len), 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static int connect_unix(struct site *s)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct listen_options options = {.path = s->path};
    strcpy(a.sun_path, s->path);
    if (!s->listener)
        s->listener = listener_open(&s->rl.loop, &options, &s->door, NULL);
    return connect_to((struct sockaddr *)&a, sizeof(a));
}

static int connect_tcp(struct site *s)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    struct listen_options options = {.address = "127.0.0.1:0"};
    s->listener = listener_open(&s->rl.loop, &options, &s->door, NULL);
    a.sin_port = htons(listener_port(s->listener));
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect_to((struct sockaddr *)&a, sizeof(a));
}

/* Reads until the server has ended the connection. */
static void read_all(struct site *s, int fd, struct buf *got)
{
    for (ssize_t n = -1; n != 0;) {
        n = read(fd, buf_room(got, 64 * 1024), 64 * 1024);
        got->len += n > 0 ? (size_t)n : 0;
        real_loop_tick(&s->rl);
    }
}

static void ask(int fd, const char *request)
{
    assert_int_equal(write(fd, request, strlen(request)), strlen(request));
}

static void served(struct site *s, int fd)
{
    struct buf got = {0};
    ask(fd, "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.0\r\n\r\n");
    read_all(s, fd, &got);
    buf_putc(&got, '\0');
    assert_string_equal(got.bytes, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                   "Cache-Control: no-store\r\nContent-Length: 3\r\n\r\nok\n"
                                   "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                   "Cache-Control: no-store\r\nConnection: close\r\n"
                                   "Content-Length: 3\r\n\r\nok\n");
    buf_free(&got);
    close(fd);
}

static void test_serves_a_unix_socket(void **state)
{
    served(*state, connect_unix(*state));
}

static void test_serves_tcp(void **state)
{
    served(*state, connect_tcp(*state));
}

/* As nc and socat do: the client closes its sending side and reads. */
static void test_responds_to_a_half_closed_client(void **state)
{
    struct buf got = {0};
    int fd = connect_unix(*state);
    ask(fd, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    shutdown(fd, SHUT_WR);
    read_all(*state, fd, &got);
    assert_true(got.len > 3 && memcmp(got.bytes + got.len - 3, "ok\n", 3) == 0);
    buf_free(&got);
    close(fd);
}

/* Memory stays bounded for a large response and a slow reader. */
static void test_limits_memory_for_a_slow_reader(void **state)
{
    struct site *s = *state;
    struct buf got = {0};
    int fd = connect_tcp(s);
    ask(fd, "GET /big HTTP/1.0\r\n\r\n");
    RUN_UNTIL(&s->rl, s->x);
    real_loop_settle(&s->rl);
    read_all(s, fd, &got);
    assert_true(got.len > BIG && got.len < BIG + 1000);
    assert_true(s->most <= 2 * 64 * 1024 + 1000);
    assert_int_equal(s->aborted, 0);
    buf_free(&got);
    close(fd);
}

static void test_aborts_if_the_client_disconnects(void **state)
{
    struct site *s = *state;
    int fd = connect_unix(s);
    ask(fd, "GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
    RUN_UNTIL(&s->rl, s->x);
    close(fd);
    RUN_UNTIL(&s->rl, s->aborted);
    RUN_UNTIL(&s->rl, listener_count(s->listener) == 0);
    served(s, connect_unix(s));
}

/* The client can read the refusal although it sent bytes that the server never reads. */
static void test_delivers_a_refusal_despite_unread_bytes(void **state)
{
    struct site *s = *state;
    static char body[100 * 1000];
    struct buf got = {0};
    int fd = connect_tcp(s);
    ask(fd, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n");
    assert_true(write(fd, body, sizeof(body)) > 0);
    while (!got.len) {
        ssize_t n = read(fd, buf_room(&got, 1024), 1024);
        got.len += n > 0 ? (size_t)n : 0;
        real_loop_tick(&s->rl);
    }
    assert_memory_equal(got.bytes, "HTTP/1.1 405 ", 13);
    buf_free(&got);
    close(fd);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_serves_a_unix_socket),
        T(test_serves_tcp),
        T(test_responds_to_a_half_closed_client),
        T(test_limits_memory_for_a_slow_reader),
        T(test_aborts_if_the_client_disconnects),
        T(test_delivers_a_refusal_despite_unread_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
