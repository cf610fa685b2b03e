/*
 * test_gzip.c - compressed bodies of any size and in any pieces are read back by gunzip.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/rng.h"
#include "wire/http/gunzip.h"
#include "wire/http/gzip.h"

static struct buf inflate_all(const struct buf *compressed)
{
    struct gunzip *g = gunzip_new();
    struct str input = {compressed->bytes, compressed->len}, piece;
    struct buf out = {0};
    struct inf_error err;
    int rc;
    while ((rc = gunzip_next(g, &input, &piece, &err)) == 1) {
        buf_put(&out, piece.at, piece.len);
        gunzip_took(g, piece.len);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(gunzip_end(g, &err), 0);
    gunzip_free(g);
    return out;
}

static struct buf deflate_all(const struct buf *text, size_t piece)
{
    struct gzip *g = gzip_new();
    struct buf out = {0};
    for (size_t at = 0; at < text->len; at += piece)
        gzip_put(g, text->bytes + at, text->len - at < piece ? text->len - at : piece, &out);
    gzip_end(g, &out);
    gzip_free(g);
    return out;
}

static void assert_round_trip(const struct buf *text, size_t piece)
{
    struct buf compressed = deflate_all(text, piece), again = inflate_all(&compressed);
    assert_int_equal(again.len, text->len);
    if (text->len)
        assert_memory_equal(again.bytes, text->bytes, text->len);
    buf_free(&compressed);
    buf_free(&again);
}

static void reads_back_what_was_compressed(void **state)
{
    struct rng rng = {.state = 1};
    struct buf noise = {0}, lines = {0}, empty = {0};
    (void)state;
    for (int i = 0; i < 200 * 1000; i++)
        buf_putc(&noise, (char)rng_below(&rng, 256));
    for (int i = 0; i < 20 * 1000; i++)
        buf_printf(&lines, "{\"metadata\":{\"name\":\"pod-%d\"}}\n", i);
    assert_round_trip(&empty, 1);
    for (size_t piece = 1; piece < 4 * 1000 * 1000; piece *= 37) {
        assert_round_trip(&noise, piece);
        assert_round_trip(&lines, piece);
    }
    buf_free(&noise);
    buf_free(&lines);
}

static void makes_repetitive_text_small(void **state)
{
    struct buf text = {0}, compressed;
    (void)state;
    for (int i = 0; i < 10 * 1000; i++)
        buf_puts(&text, "the same line again\n");
    compressed = deflate_all(&text, 64 * 1024);
    assert_true(compressed.len < text.len / 20);
    buf_free(&text);
    buf_free(&compressed);
}

static void can_be_freed_in_the_middle(void **state)
{
    struct gzip *g = gzip_new();
    struct buf out = {0};
    (void)state;
    gzip_put(g, "abc", 3, &out);
    gzip_free(g);
    gzip_free(NULL);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_what_was_compressed),
        cmocka_unit_test(makes_repetitive_text_small),
        cmocka_unit_test(can_be_freed_in_the_middle),
    };
    return cmocka_run_group_tests_name("gzip", tests, NULL, NULL);
}
