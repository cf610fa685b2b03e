/*
 * test_gunzip.c - gzip bodies of one or many members, split anywhere, and invalid ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/rng.h"
#include "gzip.h"
#include "recording.h"
#include "split.h"
#include "wire/http/gunzip.h"

/* Takes all output, at most @take bytes per call (0: all). Returns the last return code. */
static int feed(struct gunzip *g, struct str piece, size_t take, struct buf *out,
                struct inf_error *err)
{
    char *block = xmalloc(piece.len ? piece.len : 1); /* ends where the bytes end */
    struct str input = {block, piece.len}, inflated;
    int rc;
    if (piece.len)
        memcpy(block, piece.at, piece.len);
    while ((rc = gunzip_next(g, &input, &inflated, err)) == 1) {
        size_t n = take && take < inflated.len ? take : inflated.len;
        assert_in_range(inflated.len, 1, GUNZIP_SLICE);
        buf_put(out, inflated.at, n);
        gunzip_took(g, n);
    }
    assert_true(rc < 0 || !input.len);
    free(block);
    return rc;
}

/* The output for @input, followed by code and text of the error, if any. */
static char *inflate_all(struct str input, struct split split, size_t take, size_t *ret_len)
{
    struct gunzip *g = gunzip_new();
    struct buf out = {0};
    struct str piece;
    struct inf_error err = {.code = 0};
    int rc = 0;
    while (rc == 0 && split_next(&split, &input, &piece))
        rc = feed(g, piece, take, &out, &err);
    if (rc == 0)
        rc = gunzip_end(g, &err);
    if (rc < 0)
        buf_printf(&out, "|%s: %s", inf_error_name(rc), err.text);
    buf_putc(&out, '\0');
    gunzip_free(g);
    *ret_len = out.len - 1;
    return out.bytes;
}

static void check(struct str input, const char *expected)
{
    size_t len;
    char *all = inflate_all(input, (struct split){0, 0}, 0, &len);
    assert_string_equal(all, expected);
    free(all);
}

static void play_split(const void *ctx, struct str input, struct split split)
{
    const struct str *expected = ctx;
    size_t len;
    char *all = inflate_all(input, split, 0, &len);
    assert_int_equal(len, expected->len);
    assert_memory_equal(all, expected->at, len);
    free(all);
}

static void check_cut_anywhere(struct str input, const char *expected)
{
    struct str whole = {expected, strlen(expected)};
    split_each(input, play_split, &whole);
}

static struct str bytes_of(const struct buf *buf)
{
    return (struct str){buf->bytes, buf->len};
}

static void inflates_a_body_of_one_member(void **state)
{
    struct buf body = {0};
    (void)state;
    gzip_member(&body, STR("hello, hello, hello"));
    check_cut_anywhere(bytes_of(&body), "hello, hello, hello");
    buf_free(&body);
}

static void inflates_a_body_of_many_and_empty_members(void **state)
{
    struct buf body = {0};
    (void)state;
    gzip_member(&body, STR("{\"type\":\"ADDED\"}\n"));
    gzip_member(&body, STR(""));
    gzip_member(&body, STR("{\"type\":\"MODIFIED\"}\n"));
    gzip_member(&body, STR(""));
    check_cut_anywhere(bytes_of(&body), "{\"type\":\"ADDED\"}\n{\"type\":\"MODIFIED\"}\n");
    buf_free(&body);
}

static void accepts_an_empty_body(void **state)
{
    (void)state;
    check(STR(""), "");
}

static void reports_a_truncated_member(void **state)
{
    struct buf body = {0};
    size_t first;
    (void)state;
    gzip_member(&body, STR("one "));
    first = body.len;
    gzip_member(&body, STR("two"));
    for (size_t len = 1; len < body.len; len++) {
        size_t n;
        char *all = inflate_all((struct str){body.bytes, len}, (struct split){0, 0}, 0, &n);
        if (len == first)
            assert_string_equal(all, "one ");
        else
            assert_non_null(
                strstr(all, "|INF_ECUT: gzip: the body ended in the middle of a member"));
        free(all);
    }
    buf_free(&body);
}

static void refuses_bytes_that_are_not_gzip(void **state)
{
    static const struct {
        struct str behind; /* follows a member that contains "good " */
        const char *expected;
    } cases[] = {
        {{"\0\0", 2}, "good |INF_EPROTO: gzip: zeros after the last member"},
        {{"{}", 2}, "good |INF_EPROTO: gzip: other data after the last member"},
        {{"\x1f{", 2}, "good |INF_EPROTO: gzip: incorrect header check"},
        {{"\x1f\x8b\x09\0", 4}, "good |INF_EPROTO: gzip: unknown compression method"},
    };
    (void)state;
    check(STR("{\"kind\":\"PodList\"}"), "|INF_EPROTO: gzip: the body is not in gzip format");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf body = {0};
        gzip_member(&body, STR("good "));
        buf_put(&body, cases[i].behind.at, cases[i].behind.len);
        check_cut_anywhere(bytes_of(&body), cases[i].expected);
        buf_free(&body);
    }
}

/* Changes each byte: output and error must not depend on how the input is split. */
static void reports_corrupt_bytes_after_the_valid_ones(void **state)
{
    struct buf body = {0};
    (void)state;
    gzip_member(&body, STR("never gonna give you up, never gonna let you down"));
    for (size_t i = 0; i < body.len; i++) {
        size_t len, cut_len;
        char *all, *cut;
        body.bytes[i] ^= 0x55;
        all = inflate_all(bytes_of(&body), (struct split){0, 0}, 0, &len);
        cut = inflate_all(bytes_of(&body), (struct split){1, 1}, 1, &cut_len);
        assert_int_equal(len, cut_len);
        assert_memory_equal(all, cut, len);
        if (i > body.len - 8) /* checksum and length */
            assert_non_null(strstr(all, "|INF_EPROTO: gzip: incorrect "));
        body.bytes[i] ^= 0x55;
        free(all);
        free(cut);
    }
    buf_free(&body);
}

/* A ratio of a thousand to one: output is produced in slices, each after the last was taken. */
static void inflates_a_bomb_in_slices(void **state)
{
    enum {
        SIZE = 8 * 1024 * 1024
    };
    char *zeros = xcalloc(1, SIZE);
    struct gunzip *g = gunzip_new();
    struct buf body = {0};
    struct str input, piece;
    struct inf_error err;
    size_t total = 0, calls = 0;
    (void)state;
    gzip_member(&body, (struct str){zeros, SIZE});
    assert_true(body.len < SIZE / 200);
    for (input = bytes_of(&body); gunzip_next(g, &input, &piece, &err) == 1; calls++) {
        assert_true(piece.len <= GUNZIP_SLICE);
        total += piece.len;
        gunzip_took(g, piece.len);
    }
    assert_int_equal(total, SIZE);
    assert_int_equal(calls, SIZE / GUNZIP_SLICE);
    assert_int_equal(gunzip_end(g, &err), 0);
    gunzip_free(g);
    buf_free(&body);
    free(zeros);
}

static void offers_untaken_bytes_again(void **state)
{
    struct buf body = {0};
    size_t len;
    char *all;
    (void)state;
    gzip_member(&body, STR("abcdefg"));
    gzip_member(&body, STR("hij"));
    for (size_t take = 1; take < 12; take++) {
        all = inflate_all(bytes_of(&body), (struct split){0, 0}, take, &len);
        assert_string_equal(all, "abcdefghij");
        free(all);
    }
    buf_free(&body);
}

/* Random bytes can't be compressed: slices end in the middle of blocks. */
static void slices_may_end_anywhere_in_a_member(void **state)
{
    struct rng rng = {7};
    struct buf body = {0}, text = {0};
    size_t len;
    char *all;
    (void)state;
    for (int i = 0; i < 40; i++) {
        size_t begin = text.len, n = rng_below(&rng, 6000);
        for (size_t j = 0; j < n; j++)
            buf_putc(&text, (char)rng_below(&rng, 7));
        gzip_member(&body, (struct str){text.bytes + begin, n});
    }
    for (size_t piece = 1; piece < body.len; piece = piece * 3 + 1) {
        all = inflate_all(bytes_of(&body), (struct split){piece, piece}, piece, &len);
        assert_int_equal(len, text.len);
        assert_memory_equal(all, text.bytes, len);
        free(all);
    }
    buf_free(&body);
    buf_free(&text);
}

static void inflates_a_recorded_list(void **state)
{
    struct recording r;
    struct str whole;
    char *all;
    (void)state;
    recording_open(&r, "configmaps-list-gzip");
    all = inflate_all(recording_body(&r), (struct split){0, 0}, 0, &whole.len);
    whole.at = all;
    assert_true(strncmp(all, "{\"kind\":\"ConfigMapList\"", 23) == 0);
    assert_string_equal(all + whole.len - 3, "]}\n");
    split_each_near(recording_body(&r), (size_t[]){0, r.body.len}, 2, play_split, &whole);
    free(all);
    recording_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inflates_a_body_of_one_member),
        cmocka_unit_test(inflates_a_body_of_many_and_empty_members),
        cmocka_unit_test(accepts_an_empty_body),
        cmocka_unit_test(reports_a_truncated_member),
        cmocka_unit_test(refuses_bytes_that_are_not_gzip),
        cmocka_unit_test(reports_corrupt_bytes_after_the_valid_ones),
        cmocka_unit_test(inflates_a_bomb_in_slices),
        cmocka_unit_test(offers_untaken_bytes_again),
        cmocka_unit_test(slices_may_end_anywhere_in_a_member),
        cmocka_unit_test(inflates_a_recorded_list),
    };
    return cmocka_run_group_tests_name("gunzip", tests, NULL, NULL);
}
