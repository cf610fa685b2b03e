/*
 * test_peer.c - which peers are on this host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <uv.h>

#include "loop/peer_credentials.h"

static struct sockaddr_storage address(const char *text)
{
    struct sockaddr_storage all;
    memset(&all, 0, sizeof(all));
    if (strchr(text, ':'))
        assert_int_equal(uv_ip6_addr(text, 1, (struct sockaddr_in6 *)&all), 0);
    else
        assert_int_equal(uv_ip4_addr(text, 1, (struct sockaddr_in *)&all), 0);
    return all;
}

static bool is_same_host(const char *own, const char *peer)
{
    struct sockaddr_storage a = address(own), b = address(peer);
    return peer_is_same_host((struct sockaddr *)&a, (struct sockaddr *)&b);
}

static void compares_addresses(void **state)
{
    (void)state;
    assert_true(is_same_host("127.0.0.1", "127.0.0.1"));
    assert_true(is_same_host("127.0.0.2", "127.0.0.1"));
    assert_true(is_same_host("10.0.0.1", "10.0.0.1"));
    assert_false(is_same_host("10.0.0.1", "10.0.0.2"));
    assert_false(is_same_host("127.0.0.1", "10.0.0.2"));
    assert_true(is_same_host("::1", "::1"));
    assert_true(is_same_host("fd00::1", "fd00::1"));
    assert_false(is_same_host("fd00::1", "fd00::2"));
    assert_true(is_same_host("::ffff:127.0.0.1", "::ffff:127.0.0.9"));
    assert_true(is_same_host("::ffff:10.0.0.1", "::ffff:10.0.0.1"));
    assert_false(is_same_host("::ffff:10.0.0.1", "::ffff:10.0.0.2"));
}

static void knows_sockets(void **state)
{
    int pair[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_true(peer_is_local(pair[0]));
    close(pair[1]);
    close(pair[0]);
    assert_false(peer_is_local(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares_addresses),
        cmocka_unit_test(knows_sockets),
    };
    return cmocka_run_group_tests_name("peer", tests, NULL, NULL);
}
