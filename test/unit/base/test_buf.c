/*
 * test_buf.c - bytes go in at the end and out at the front, and a limit is a limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "informer/error.h"

#include "base/buf.h"

static void assert_holds(const struct buf *b, const char *text)
{
    assert_int_equal(b->len, strlen(text));
    if (b->len)
        assert_memory_equal(b->bytes, text, b->len);
}

static void test_every_way_to_put(void **state)
{
    struct buf b = {0};
    (void)state;
    buf_puts(&b, "pods");
    buf_putc(&b, '/');
    buf_put(&b, "web-1234", 4);
    buf_printf(&b, "%d:%s", 7, "x");
    buf_puts(&b, "");
    buf_printf(&b, "%s", "");
    assert_holds(&b, "pods/web-7:x");
    buf_free(&b);
}

static void test_nothing_put_nothing_allocated(void **state)
{
    struct buf b = {0};
    (void)state;
    buf_put(&b, NULL, 0);
    assert_int_equal(buf_append(&b, NULL, 0, 0), 0);
    buf_consume(&b, 0);
    buf_clear(&b);
    assert_null(b.bytes);
    buf_free(&b);
}

static void test_limit_is_the_last_allowed(void **state)
{
    struct buf b = {0};
    (void)state;
    assert_int_equal(buf_append(&b, "abc", 3, 5), 0);
    assert_int_equal(buf_append(&b, "def", 3, 5), -INF_ETOOBIG);
    assert_holds(&b, "abc"); /* nothing of it, not a part */
    assert_int_equal(buf_append(&b, "de", 2, 5), 0);
    assert_int_equal(buf_append(&b, "", 0, 5), 0);
    assert_int_equal(buf_append(&b, "f", 1, 5), -INF_ETOOBIG);
    assert_holds(&b, "abcde");
    buf_free(&b);
}

/* Sums that would wrap around are over the limit too. The bytes are never looked at. */
static void test_limit_and_huge_sizes(void **state)
{
    struct buf b = {0};
    (void)state;
    buf_puts(&b, "abc");
    assert_int_equal(buf_append(&b, "x", BUF_NO_LIMIT, BUF_NO_LIMIT), -INF_ETOOBIG);
    assert_int_equal(buf_append(&b, "x", BUF_NO_LIMIT - 2, BUF_NO_LIMIT), -INF_ETOOBIG);
    assert_int_equal(buf_append(&b, "x", 1, 2),
                     -INF_ETOOBIG); /* a limit below the current length */
    assert_int_equal(buf_append(&b, "x", 1, BUF_NO_LIMIT), 0);
    assert_holds(&b, "abcx");
    buf_free(&b);
}

static void test_consume_keeps_the_rest(void **state)
{
    struct buf b = {0};
    (void)state;
    buf_puts(&b, "abcdef");
    buf_consume(&b, 2);
    assert_holds(&b, "cdef");
    buf_consume(&b, 0);
    assert_holds(&b, "cdef");
    buf_puts(&b, "gh");
    buf_consume(&b, 6);
    assert_holds(&b, "");
    buf_free(&b);
}

static void test_grows_without_losing_a_byte(void **state)
{
    struct buf b = {0};
    (void)state;
    for (unsigned i = 0; i < 10000; i++)
        buf_putc(&b, (char)(i % 251));
    assert_int_equal(b.len, 10000);
    for (unsigned i = 0; i < 10000; i++)
        assert_int_equal(b.bytes[i], (char)(i % 251));
    buf_free(&b);
}

static void test_printf_longer_than_the_first_block(void **state)
{
    struct buf b = {0};
    char text[1001];
    (void)state;
    memset(text, 'y', sizeof(text) - 1);
    text[1000] = 0;
    buf_printf(&b, "%s", text);
    assert_holds(&b, text);
    buf_free(&b);
}

static void test_room_is_there_to_write_in(void **state)
{
    struct buf b = {0};
    (void)state;
    buf_puts(&b, "ab");
    memset(buf_room(&b, 1000), 'z', 1000); /* ASan watches the end */
    assert_holds(&b, "ab");                /* until the caller sets the number of bytes written */
    b.len += 3;
    assert_holds(&b, "abzzz");
    buf_free(&b);
}

static void test_clear_keeps_the_memory_free_does_not(void **state)
{
    struct buf b = {0};
    (void)state;
    buf_puts(&b, "abc");
    buf_clear(&b);
    assert_holds(&b, "");
    assert_non_null(b.bytes);
    buf_free(&b);
    assert_null(b.bytes);
    buf_puts(&b, "again");
    assert_holds(&b, "again");
    buf_free(&b);
    buf_free(&b);
}

/* That of freed and moved memory is for test/daemon/test_secrets.py to find, from outside. */
static void test_a_secret_one_forgets(void **state)
{
    static const char zeros[8];
    struct buf b = {.secret = true};
    (void)state;
    buf_puts(&b, "open sesame");
    buf_consume(&b, 5);
    assert_holds(&b, "sesame");
    assert_memory_equal(b.bytes + 6, zeros, 5);
    buf_clear(&b);
    assert_memory_equal(b.bytes, zeros, 6);
    for (int i = 0; i < 1000; i++)
        buf_puts(&b, "sesame");
    assert_int_equal(b.len, 6000);
    assert_memory_equal(b.bytes + 5994, "sesame", 6);
    buf_free(&b);
    assert_true(b.secret && !b.bytes && !b.cap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_way_to_put),
        cmocka_unit_test(test_nothing_put_nothing_allocated),
        cmocka_unit_test(test_limit_is_the_last_allowed),
        cmocka_unit_test(test_limit_and_huge_sizes),
        cmocka_unit_test(test_consume_keeps_the_rest),
        cmocka_unit_test(test_grows_without_losing_a_byte),
        cmocka_unit_test(test_printf_longer_than_the_first_block),
        cmocka_unit_test(test_room_is_there_to_write_in),
        cmocka_unit_test(test_a_secret_one_forgets),
        cmocka_unit_test(test_clear_keeps_the_memory_free_does_not),
    };
    return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
