/*
 * test_buf.c - appending, consuming, limits and the memory of a buffer.
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

static void appends_bytes_in_every_way(void **state)
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

static void allocates_nothing_for_empty_input(void **state)
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

static void accepts_exactly_the_limit(void **state)
{
    struct buf b = {0};
    (void)state;
    assert_int_equal(buf_append(&b, "abc", 3, 5), 0);
    assert_int_equal(buf_append(&b, "def", 3, 5), -INF_ETOOBIG);
    assert_holds(&b, "abc"); /* no part of it is appended */
    assert_int_equal(buf_append(&b, "de", 2, 5), 0);
    assert_int_equal(buf_append(&b, "", 0, 5), 0);
    assert_int_equal(buf_append(&b, "f", 1, 5), -INF_ETOOBIG);
    assert_holds(&b, "abcde");
    buf_free(&b);
}

/* A size that overflows is over the limit, too. The bytes are not read. */
static void refuses_sizes_that_overflow(void **state)
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

static void consume_keeps_the_rest(void **state)
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

static void grows_without_losing_a_byte(void **state)
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

static void prints_more_than_the_first_block(void **state)
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

static void reserves_room_to_write_into(void **state)
{
    struct buf b = {0};
    (void)state;
    buf_puts(&b, "ab");
    memset(buf_room(&b, 1000), 'z', 1000); /* ASan detects a write beyond it */
    assert_holds(&b, "ab");                /* until the caller sets the number of bytes written */
    b.len += 3;
    assert_holds(&b, "abzzz");
    buf_free(&b);
}

static void clear_keeps_the_memory_and_free_releases_it(void **state)
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

/* Freed and moved memory is checked by test/daemon/test_secrets.py, from outside the process. */
static void erases_the_bytes_of_a_secret_buffer(void **state)
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

static void puts_numbers_in_decimal(void **state)
{
    static const uint64_t numbers[] = {0, 7, 10, 1234567890, UINT64_MAX};
    struct buf b = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        buf_put_u64(&b, numbers[i]);
        buf_putc(&b, ' ');
    }
    buf_putc(&b, '\0');
    assert_string_equal(b.bytes, "0 7 10 1234567890 18446744073709551615 ");
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_bytes_in_every_way),
        cmocka_unit_test(allocates_nothing_for_empty_input),
        cmocka_unit_test(accepts_exactly_the_limit),
        cmocka_unit_test(refuses_sizes_that_overflow),
        cmocka_unit_test(consume_keeps_the_rest),
        cmocka_unit_test(grows_without_losing_a_byte),
        cmocka_unit_test(prints_more_than_the_first_block),
        cmocka_unit_test(reserves_room_to_write_into),
        cmocka_unit_test(erases_the_bytes_of_a_secret_buffer),
        cmocka_unit_test(puts_numbers_in_decimal),
        cmocka_unit_test(clear_keeps_the_memory_and_free_releases_it),
    };
    return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
