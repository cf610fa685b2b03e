/*
 * test_notify.c - the messages that a service manager receives on its datagram socket.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "daemon/notify.h"

struct manager {
    uv_loop_t uv;
    struct notify notify;
    int fd;
    char path[64];
    char heard[256];
};

/* Binds @path, or with '@' a name without a file, and announces it. */
static void bind_socket(struct manager *m, const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t len = strlen(name);
    memcpy(a.sun_path, name, len);
    if (*name == '@')
        a.sun_path[0] = '\0';
    m->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(m->fd, (struct sockaddr *)&a,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
                     0);
    setenv("NOTIFY_SOCKET", name, 1);
}

static int setup(void **state)
{
    struct manager *m = NEW(struct manager);
    uv_loop_init(&m->uv);
    m->fd = -1;
    m->notify.fd = -1;
    snprintf(m->path, sizeof(m->path), "/tmp/test_notify.%d", (int)getpid());
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    struct manager *m = *state;
    notify_close(&m->notify);
    notify_close(&m->notify); /* harmless */
    uv_run(&m->uv, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&m->uv), 0);
    if (m->fd >= 0)
        close(m->fd);
    unlink(m->path);
    free(m);
    return 0;
}

/* The next datagram; "" if there is none. */
static const char *next_message(struct manager *m)
{
    ssize_t n = recv(m->fd, m->heard, sizeof(m->heard) - 1, 0);
    m->heard[n > 0 ? n : 0] = '\0';
    return m->heard;
}

static void each_message_is_a_datagram(void **state)
{
    struct manager *m = *state;
    bind_socket(m, m->path);
    notify_init(&m->notify, &m->uv);
    assert_string_equal(next_message(m), "");
    notify_ready(&m->notify, "watching\npods");
    notify_status(&m->notify, "stale");
    notify_status(&m->notify, "stale"); /* unchanged */
    notify_stopping(&m->notify);
    assert_string_equal(next_message(m), "READY=1\nSTATUS=watching pods");
    assert_string_equal(next_message(m), "STATUS=stale");
    assert_string_equal(next_message(m), "STOPPING=1");
    assert_string_equal(next_message(m), "");
    assert_true(notify_is_heard(&m->notify));
}

static int64_t monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void reloading_sends_a_timestamp(void **state)
{
    struct manager *m = *state;
    int64_t before = monotonic_us(), at;
    bind_socket(m, m->path);
    notify_init(&m->notify, &m->uv);
    notify_reloading(&m->notify);
    assert_int_equal(sscanf(next_message(m), "RELOADING=1\nMONOTONIC_USEC=%" SCNd64, &at), 1);
    assert_true(at >= before && at <= monotonic_us());
}

static void sends_to_abstract_socket_names(void **state)
{
    struct manager *m = *state;
    char name[64];
    snprintf(name, sizeof(name), "@informerd-test-notify-%d", (int)getpid());
    bind_socket(m, name);
    notify_init(&m->notify, &m->uv);
    notify_stopping(&m->notify);
    assert_string_equal(next_message(m), "STOPPING=1");
}

/* No call fails or has an effect. */
static void does_nothing_without_a_service_manager(void **state)
{
    struct manager *m = *state;
    static const char *const names[] = {NULL, "", "/", "@", "relative", "vsock:1:2"};
    char lengthy[200] = "/";
    memset(lengthy + 1, 'x', sizeof(lengthy) - 2);
    setenv("WATCHDOG_USEC", "2000", 1);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) + 1; i++) {
        const char *name = i < sizeof(names) / sizeof(names[0]) ? names[i] : lengthy;
        if (name)
            setenv("NOTIFY_SOCKET", name, 1);
        notify_init(&m->notify, &m->uv);
        assert_int_equal(m->notify.fd, -1);
        assert_false(m->notify.watched);
        notify_ready(&m->notify, "");
        notify_close(&m->notify);
    }
}

static void does_not_wait_for_a_service_manager_that_does_not_read(void **state)
{
    struct manager *m = *state;
    bind_socket(m, m->path);
    notify_init(&m->notify, &m->uv);
    for (int i = 0; i < 5000; i++) /* more than any queue holds: sending never waits */
        notify_status(&m->notify, "busy");
    close(m->fd);
    m->fd = -1;
    notify_stopping(&m->notify);
}

/* ---- the watchdog ---- */

static void on_idle(uv_idle_t *handle)
{
    (void)handle;
}

static void the_loop_sends_watchdog_messages(void **state)
{
    struct manager *m = *state;
    uv_idle_t work; /* keeps the loop active, as the daemon does */
    bind_socket(m, m->path);
    setenv("WATCHDOG_USEC", "4000", 1);
    notify_init(&m->notify, &m->uv);
    assert_true(m->notify.watched);
    assert_int_equal(uv_timer_get_repeat(&m->notify.watchdog), 2);
    assert_false(uv_loop_alive(&m->uv)); /* the timer does not keep the loop alive */
    uv_idle_init(&m->uv, &work);
    uv_idle_start(&work, on_idle);
    assert_string_equal(next_message(m), ""); /* not before the loop turns */
    for (int fed = 0; fed < 3;) {
        uv_run(&m->uv, UV_RUN_NOWAIT);
        fed += strcmp(next_message(m), "WATCHDOG=1") == 0;
    }
    uv_close((uv_handle_t *)&work, NULL);
    uv_run(&m->uv, UV_RUN_DEFAULT);
}

static bool watched_with(struct manager *m, const char *usec, const char *pid)
{
    bool watched;
    setenv("WATCHDOG_USEC", usec, 1);
    if (pid)
        setenv("WATCHDOG_PID", pid, 1);
    notify_init(&m->notify, &m->uv);
    watched = m->notify.watched;
    notify_close(&m->notify);
    uv_run(&m->uv, UV_RUN_NOWAIT);
    return watched;
}

static void ignores_a_watchdog_for_another_process(void **state)
{
    struct manager *m = *state;
    char own[16];
    snprintf(own, sizeof(own), "%d", (int)getpid());
    bind_socket(m, m->path);
    assert_true(watched_with(m, "30000000", NULL));
    assert_true(watched_with(m, "30000000", own));
    assert_false(watched_with(m, "30000000", "1"));
    assert_false(watched_with(m, "30000000", ""));
}

static void ignores_a_watchdog_interval_that_is_not_a_number(void **state)
{
    struct manager *m = *state;
    bind_socket(m, m->path);
    assert_false(watched_with(m, "", NULL));
    assert_false(watched_with(m, "0", NULL));
    assert_false(watched_with(m, "-30000000", NULL));
    assert_false(watched_with(m, "30s", NULL));
    assert_false(watched_with(m, "99999999999999999999999", NULL));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(each_message_is_a_datagram),
        T(reloading_sends_a_timestamp),
        T(sends_to_abstract_socket_names),
        T(does_nothing_without_a_service_manager),
        T(does_not_wait_for_a_service_manager_that_does_not_read),
        T(the_loop_sends_watchdog_messages),
        T(ignores_a_watchdog_for_another_process),
        T(ignores_a_watchdog_interval_that_is_not_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
