/*
 * test_endpoint_metrics.c - a page of metrics over a real socket: complete, and ended before it is.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon_world.h"

static const char conf[] = "socket: {path: sock}\n"
                           "watches: [{resource: pods, cluster: a}]\n";

/* A client that has sent its request. */
static int connect_client(struct daemon_world *w)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *path = folder_file(&w->folder, "sock");
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(strlen(path) < sizeof(address.sun_path));
    strcpy(address.sun_path, path);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(write(fd, request, strlen(request)), (ssize_t)strlen(request));
    free(path);
    return fd;
}

/* Runs until the request has arrived. Its page is written in a later tick. */
static int begin_page(struct daemon_world *w)
{
    int fd;
    world_apply_expect(w, conf, "1 watch started");
    fd = connect_client(w);
    while (list_empty(&w->d.web.metrics))
        uv_run(&w->d.uv, UV_RUN_ONCE);
    return fd;
}

static void a_page_is_complete(void **state)
{
    struct daemon_world *w = *state;
    struct buf answer = {0};
    char bytes[4096];
    int fd = begin_page(w);
    ssize_t n;
    shutdown(fd, SHUT_WR); /* as nc does */
    while (!list_empty(&w->d.web.metrics))
        uv_run(&w->d.uv, UV_RUN_ONCE);
    while ((n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) != 0) {
        if (n > 0)
            buf_put(&answer, bytes, (size_t)n);
        else
            uv_run(&w->d.uv, UV_RUN_ONCE);
    }
    buf_putc(&answer, '\0');
    assert_non_null(strstr(answer.bytes, "HTTP/1.1 200 OK\r\n"));
    assert_non_null(strstr(answer.bytes, "\r\nContent-Length: "));
    assert_non_null(strstr(answer.bytes, "\ninformerd_watch_up{cluster=\"a\",watch=\"pods\"} 0\n"));
    assert_non_null(strstr(answer.bytes, "\ninformerd_build_info{"));
    buf_free(&answer);
    close(fd);
}

static void a_client_that_disconnects_ends_its_page(void **state)
{
    struct daemon_world *w = *state;
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    int fd = begin_page(w);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
    while (!list_empty(&w->d.web.metrics))
        uv_run(&w->d.uv, UV_RUN_ONCE);
}

/* The teardown of the world closes the listeners; the sanitizer detects a page that was not freed. */
static void a_daemon_that_stops_ends_its_pages(void **state)
{
    struct daemon_world *w = *state;
    int fd = begin_page(w);
    assert_false(list_empty(&w->d.web.metrics));
    close(fd);
}

#define IN_WORLD(test) \
    cmocka_unit_test_setup_teardown(test, daemon_world_setup, daemon_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_page_is_complete),
        IN_WORLD(a_client_that_disconnects_ends_its_page),
        IN_WORLD(a_daemon_that_stops_ends_its_pages),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
