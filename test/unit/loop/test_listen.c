/*
 * test_listen.c - listeners on TCP addresses and Unix sockets, on a real loop.
 *
 * The clients are plain descriptors; what they send and read fits into the kernel's buffers, except in
 * the tests of back-pressure.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
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
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "loop/listen.h"
#include "real_loop.h"
#include "stream_reader.h"

enum {
    GUESTS = 8,
};

/* A listener and its accepted streams. */
struct house {
    struct listener_user user;
    struct real_loop rl;
    struct listener *listener;
    struct stream_reader guests[GUESTS];
    size_t n_guests;
    bool turn_away; /* closes each connection in on_accept */
    size_t spared;  /* number of connections closed for another */
    char dir[64];
    char path[96];
};

static void on_accept(struct listener_user *user, struct stream *stream)
{
    struct house *h = container_of(user, struct house, user);
    struct stream_reader *r = &h->guests[h->n_guests++];
    assert_true(h->n_guests <= GUESTS);
    stream_reader_init(r);
    r->stream = stream;
    r->opened = 1; /* accepted streams are open */
    stream->user = &r->user;
    if (h->turn_away)
        stream_reader_close(r);
}

/* Closes the oldest connection, at most twice. */
static bool on_full(struct listener_user *user)
{
    struct house *h = container_of(user, struct house, user);
    if (h->spared == 2)
        return false;
    stream_reader_close(&h->guests[h->spared++]);
    return true;
}

static int setup(void **state)
{
    struct house *h = NEW(struct house);
    signal(SIGPIPE, SIG_IGN);
    h->user.on_accept = on_accept;
    real_loop_init(&h->rl);
    strcpy(h->dir, "/tmp/test_listen.XXXXXX");
    assert_non_null(mkdtemp(h->dir));
    snprintf(h->path, sizeof(h->path), "%s/s", h->dir);
    *state = h;
    return 0;
}

static int teardown(void **state)
{
    struct house *h = *state;
    listener_close(h->listener);
    for (size_t i = 0; i < h->n_guests; i++)
        stream_reader_done(&h->guests[i]);
    real_loop_done(&h->rl);
    unlink(h->path);
    assert_int_equal(rmdir(h->dir), 0);
    free(h);
    return 0;
}

static void opens(struct house *h, struct listen_options options)
{
    struct inf_error err = {0};
    h->listener = listener_open(&h->rl.loop, &options, &h->user, &err);
    if (!h->listener)
        fail_msg("%s", err.text);
}

static void refused(struct house *h, struct listen_options options, int code, const char *text)
{
    struct inf_error err = {0};
    assert_null(listener_open(&h->rl.loop, &options, &h->user, &err));
    assert_int_equal(err.code, code);
    if (!strstr(err.text, text))
        fail_msg("'%s' is not in '%s'", text, err.text);
}

/* ---- clients ---- */

static int connect_unix(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(a.sun_path, path);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    return fd;
}

static int connect_tcp(uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    return fd;
}

/* Sends in both directions, then closes. */
static void exchange_bytes(struct house *h, int fd)
{
    char answer[4];
    RUN_UNTIL(&h->rl, h->n_guests == 1);
    assert_int_equal(write(fd, "ping", 4), 4);
    RUN_UNTIL(&h->rl, h->guests[0].got.len == 4);
    assert_memory_equal(h->guests[0].got.bytes, "ping", 4);
    stream_reader_write(&h->guests[0], "pong", 4);
    RUN_UNTIL(&h->rl, h->guests[0].drained);
    assert_int_equal(read(fd, answer, 4), 4);
    assert_memory_equal(answer, "pong", 4);
    assert_int_equal(listener_count(h->listener), 1);
    close(fd);
    RUN_UNTIL(&h->rl, h->guests[0].ended);
    assert_int_equal(h->guests[0].why.code, INF_EEOF);
    stream_reader_close(&h->guests[0]);
    assert_int_equal(listener_count(h->listener), 0);
}

static void test_accepts_tcp_connections(void **state)
{
    struct house *h = *state;
    opens(h, (struct listen_options){.address = "127.0.0.1:0"});
    exchange_bytes(h, connect_tcp(listener_port(h->listener)));
}

static void test_accepts_localhost(void **state)
{
    struct house *h = *state;
    opens(h, (struct listen_options){.address = "localhost:0"});
    exchange_bytes(h, connect_tcp(listener_port(h->listener)));
}

static void test_accepts_unix_connections(void **state)
{
    struct house *h = *state;
    opens(h, (struct listen_options){.path = h->path});
    assert_int_equal(listener_port(h->listener), 0);
    exchange_bytes(h, connect_unix(h->path));
}

/* Not every machine has IPv6: then the error is that of the system. */
static void test_accepts_ipv6_connections(void **state)
{
    struct house *h = *state;
    struct listen_options options = {.address = "[::1]:0"};
    struct inf_error err = {0};
    h->listener = listener_open(&h->rl.loop, &options, &h->user, &err);
    if (h->listener)
        assert_int_not_equal(listener_port(h->listener), 0);
    else
        assert_int_equal(err.code, INF_EIO);
}

static void test_refuses_invalid_addresses(void **state)
{
    static const char *const bad[] = {
        "",         "9470",        ":9470",          "127.0.0.1",      "127.0.0.1:",
        "::1:9470", "[::1]",       "[::1]9470",      "[]:1",           "[127.0.0.1]:1",
        "[::1:1",   "1.2.3.4:-1",  "1.2.3.4:65536",  "1.2.3.4:100000", "1.2.3.4:8o",
        "x:1",      "1.2.3.4: 80", "example.com:80", "127.0.0.1:80/",  "[::1]]:80",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        refused(*state, (struct listen_options){.address = bad[i]}, INF_ECONF,
                "127.0.0.1:9470, [::1]:9470 or localhost:9470");
}

static void test_refuses_a_long_host(void **state)
{
    char address[300];
    memset(address, '1', sizeof(address));
    strcpy(address + 200, ":80");
    refused(*state, (struct listen_options){.address = address}, INF_ECONF, "listen address");
}

static void test_reports_an_address_in_use(void **state)
{
    struct house *h = *state;
    char address[32];
    opens(h, (struct listen_options){.address = "127.0.0.1:0"});
    snprintf(address, sizeof(address), "127.0.0.1:%u", listener_port(h->listener));
    refused(h, (struct listen_options){.address = address}, INF_EIO, "in use");
}

/* ---- the socket file ---- */

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

static void test_sets_mode_and_group_and_removes_the_file(void **state)
{
    struct house *h = *state;
    struct group *own = getgrgid(getegid());
    opens(h, (struct listen_options){
                 .path = h->path, .mode = 0660, .group = own ? own->gr_name : NULL});
    assert_int_equal(mode_of(h->path), 0660);
    listener_close(h->listener);
    assert_int_equal(access(h->path, F_OK), -1);
    opens(h, (struct listen_options){.path = h->path});
    assert_int_equal(mode_of(h->path), 0600);
}

/* In a container the group of another one has only a number. */
static void test_finds_groups_by_number(void **state)
{
    struct house *h = *state;
    struct inf_error err;
    char number[16];
    snprintf(number, sizeof(number), "%u", (unsigned)getegid());
    opens(h, (struct listen_options){.path = h->path, .mode = 0660, .group = number});
    assert_int_equal(mode_of(h->path), 0660);
    assert_int_equal(listener_permit(h->listener, 0600, "4294967295", &err), -INF_ECONF);
    assert_int_equal(listener_permit(h->listener, 0600, "10x", &err), -INF_ECONF);
    assert_int_equal(listener_permit(h->listener, 0600, "", &err), -INF_ECONF);
}

static void test_changes_the_mode_of_an_open_socket(void **state)
{
    struct house *h = *state;
    struct inf_error err;
    opens(h, (struct listen_options){.path = h->path});
    assert_int_equal(listener_permit(h->listener, 0666, NULL, &err), 0);
    assert_int_equal(mode_of(h->path), 0666);
    assert_int_equal(listener_permit(h->listener, 0600, "no-such-group", &err), -INF_ECONF);
    assert_int_equal(mode_of(h->path), 0666);
    exchange_bytes(h, connect_unix(h->path));
    assert_int_equal(unlink(h->path), 0);
    assert_int_equal(listener_permit(h->listener, 0600, NULL, &err), -INF_EIO);
}

static void test_replaces_a_stale_socket(void **state)
{
    struct house *h = *state;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(a.sun_path, h->path);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 1), 0);
    refused(h, (struct listen_options){.path = h->path}, INF_EIO, "another process is listening");
    close(fd);
    opens(h, (struct listen_options){.path = h->path});
    exchange_bytes(h, connect_unix(h->path));
}

static void test_does_not_replace_a_socket_with_a_full_queue(void **state)
{
    struct house *h = *state;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), first;
    strcpy(a.sun_path, h->path);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 0), 0);
    first = connect_unix(h->path);
    refused(h, (struct listen_options){.path = h->path}, INF_EIO, "another process is listening");
    close(first);
    close(fd);
}

static void test_does_not_replace_other_files(void **state)
{
    struct house *h = *state;
    int fd = open(h->path, O_CREAT | O_WRONLY, 0600);
    close(fd);
    refused(h, (struct listen_options){.path = h->path}, INF_EIO, "not a socket");
    assert_int_equal(access(h->path, F_OK), 0);
    unlink(h->path);
    assert_int_equal(symlink("elsewhere", h->path), 0);
    refused(h, (struct listen_options){.path = h->path}, INF_EIO, "not a socket");
}

static void test_refuses_invalid_paths_and_groups(void **state)
{
    struct house *h = *state;
    char path[200];
    memset(path, 'x', sizeof(path));
    path[108] = '\0';
    refused(h, (struct listen_options){.path = path}, INF_ECONF, "1 to 107 bytes");
    refused(h, (struct listen_options){.path = ""}, INF_ECONF, "1 to 107 bytes");
    refused(h, (struct listen_options){.path = "/nowhere/at/all"}, INF_EIO, "No such file");
    refused(h, (struct listen_options){.path = h->path, .group = "no-such-group-here"}, INF_ECONF,
            "no such group");
    assert_int_equal(access(h->path, F_OK), -1);
}

static void test_does_not_remove_the_socket_of_a_successor(void **state)
{
    struct house *h = *state;
    struct listener *first;
    opens(h, (struct listen_options){.path = h->path});
    first = h->listener;
    unlink(h->path); /* another process took us for dead */
    opens(h, (struct listen_options){.path = h->path});
    listener_close(first);
    assert_int_equal(access(h->path, F_OK), 0);
}

/* ---- limits and lifetimes ---- */

static void test_a_connection_over_the_limit_waits(void **state)
{
    struct house *h = *state;
    int fds[4];
    opens(h, (struct listen_options){.path = h->path, .max = 2});
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = connect_unix(h->path);
    RUN_UNTIL(&h->rl, h->n_guests == 2);
    real_loop_settle(&h->rl);
    assert_int_equal(h->n_guests, 2);
    for (size_t gone = 0; gone < 2; gone++) {
        stream_reader_close(&h->guests[gone]);
        assert_int_equal(h->n_guests, 2 + gone); /* not inside the call */
        RUN_UNTIL(&h->rl, h->n_guests == 3 + gone);
        real_loop_settle(&h->rl);
        assert_int_equal(h->n_guests, 3 + gone);
        assert_int_equal(listener_count(h->listener), 2);
    }
    assert_int_equal(write(fds[3], "last", 4), 4);
    RUN_UNTIL(&h->rl, h->guests[3].got.len == 4);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
}

static void test_the_user_can_close_a_connection_for_another(void **state)
{
    struct house *h = *state;
    int fds[5];
    h->user.on_full = on_full;
    opens(h, (struct listen_options){.path = h->path, .max = 2});
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fds[i] = connect_unix(h->path);
    RUN_UNTIL(&h->rl, h->n_guests == 4);
    real_loop_settle(&h->rl);
    assert_int_equal(h->n_guests, 4); /* the fifth waits */
    assert_int_equal(h->spared, 2);
    assert_int_equal(listener_count(h->listener), 2);
    stream_reader_close(&h->guests[2]);
    RUN_UNTIL(&h->rl, h->n_guests == 5);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
}

static void test_can_be_closed_while_a_connection_waits(void **state)
{
    struct house *h = *state;
    int one, two;
    opens(h, (struct listen_options){.path = h->path, .max = 1});
    one = connect_unix(h->path);
    two = connect_unix(h->path);
    RUN_UNTIL(&h->rl, h->n_guests == 1);
    real_loop_settle(&h->rl);
    stream_reader_close(&h->guests[0]);
    listener_close(h->listener);
    h->listener = NULL;
    real_loop_settle(&h->rl);
    assert_int_equal(h->n_guests, 1);
    close(one);
    close(two);
}

static void test_streams_outlive_the_listener(void **state)
{
    struct house *h = *state;
    int fd;
    opens(h, (struct listen_options){.path = h->path});
    fd = connect_unix(h->path);
    RUN_UNTIL(&h->rl, h->n_guests == 1);
    listener_close(h->listener);
    h->listener = NULL;
    real_loop_settle(&h->rl);
    assert_int_equal(write(fd, "still", 5), 5);
    RUN_UNTIL(&h->rl, h->guests[0].got.len == 5);
    close(fd);
}

static void test_the_user_can_close_a_connection_in_on_accept(void **state)
{
    struct house *h = *state;
    char byte;
    int fd;
    h->turn_away = true;
    opens(h, (struct listen_options){.path = h->path, .max = 1});
    for (size_t i = 0; i < 3; i++) {
        fd = connect_unix(h->path);
        RUN_UNTIL(&h->rl, h->n_guests == i + 1);
        assert_int_equal(read(fd, &byte, 1), 0);
        close(fd);
    }
    assert_int_equal(listener_count(h->listener), 0);
}

/* ---- back-pressure ---- */

static void test_reports_unsent_bytes_and_drain(void **state)
{
    struct house *h = *state;
    size_t len = 8 * 1024 * 1024, got = 0;
    char *bytes = xcalloc(1, len);
    struct stream_reader *r = &h->guests[0];
    int fd;
    opens(h, (struct listen_options){.path = h->path});
    fd = connect_unix(h->path);
    RUN_UNTIL(&h->rl, h->n_guests == 1);
    stream_reader_write(r, bytes, len);
    real_loop_settle(&h->rl);
    assert_int_equal(r->drained, 0);
    assert_true(stream_unsent(r->stream) > len / 2); /* the kernel took some */
    stream_reader_pause(r);                          /* does not affect sending */
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (!r->drained) {
        ssize_t n = read(fd, bytes, len);
        got += n > 0 ? (size_t)n : 0;
        real_loop_wait(&h->rl);
    }
    assert_int_equal(stream_unsent(r->stream), 0);
    while (got < len) {
        ssize_t n = read(fd, bytes, len);
        assert_true(n > 0);
        got += (size_t)n;
    }
    assert_int_equal(got, len);
    assert_int_equal(r->drained, 1);
    close(fd);
    free(bytes);
}

/* The client has closed its sending side and still reads. */
static void test_sends_to_half_closed_clients(void **state)
{
    struct house *h = *state;
    struct stream_reader *r = &h->guests[0];
    char answer[8];
    int fd;
    opens(h, (struct listen_options){.path = h->path});
    fd = connect_unix(h->path);
    assert_int_equal(write(fd, "what?", 5), 5);
    shutdown(fd, SHUT_WR);
    RUN_UNTIL(&h->rl, h->n_guests == 1 && r->ended);
    stream_reader_write(r, "this", 4);
    RUN_UNTIL(&h->rl, r->drained);
    assert_int_equal(read(fd, answer, sizeof(answer)), 4);
    close(fd);
}

static void test_can_be_closed_inside_on_drain(void **state)
{
    struct house *h = *state;
    struct stream_reader *r = &h->guests[0];
    int fd;
    opens(h, (struct listen_options){.path = h->path});
    fd = connect_unix(h->path);
    RUN_UNTIL(&h->rl, h->n_guests == 1);
    r->close_in = IN_DRAIN;
    stream_reader_write(r, "a", 1);
    stream_reader_write(r, "b", 1);
    RUN_UNTIL(&h->rl, !r->stream);
    assert_int_equal(r->drained, 1);
    close(fd);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_accepts_tcp_connections),
        T(test_accepts_localhost),
        T(test_accepts_unix_connections),
        T(test_accepts_ipv6_connections),
        T(test_refuses_invalid_addresses),
        T(test_refuses_a_long_host),
        T(test_reports_an_address_in_use),
        T(test_sets_mode_and_group_and_removes_the_file),
        T(test_finds_groups_by_number),
        T(test_changes_the_mode_of_an_open_socket),
        T(test_replaces_a_stale_socket),
        T(test_does_not_replace_a_socket_with_a_full_queue),
        T(test_does_not_replace_other_files),
        T(test_refuses_invalid_paths_and_groups),
        T(test_does_not_remove_the_socket_of_a_successor),
        T(test_a_connection_over_the_limit_waits),
        T(test_the_user_can_close_a_connection_for_another),
        T(test_can_be_closed_while_a_connection_waits),
        T(test_streams_outlive_the_listener),
        T(test_the_user_can_close_a_connection_in_on_accept),
        T(test_reports_unsent_bytes_and_drain),
        T(test_sends_to_half_closed_clients),
        T(test_can_be_closed_inside_on_drain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
