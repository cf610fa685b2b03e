/*
 * test_tls_cut.c - a TLS connection that is split or ended after each of its bytes (some of them in the quick tier), in
 * both directions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "tier.h"
#include "tls_world.h"

enum cut {
    SPLIT,      /* the server's bytes after the first `limit` arrive a tick later */
    END_READS,  /* the server disconnects after `limit` bytes */
    END_WRITES, /* the server disconnects when it has read `limit` bytes */
};

struct cut_world {
    struct tls_world w;
    enum cut cut;
    size_t limit;
    size_t n_read, n_written; /* by us, so far */
    struct buf later;
    char host[32]; /* unique, so that no session is resumed */
    int serial;
};

static struct cut_world *cut_world_of(struct pipe *pipe)
{
    return container_of((struct tls_peer *)pipe->peer, struct cut_world, w.peer);
}

/* Removes from the end of @bytes what exceeds the limit; @total is their number so far. */
static void shorten(struct buf *bytes, size_t total, size_t limit, struct buf *rest)
{
    size_t beyond = total > limit ? total - limit : 0;
    if (beyond > bytes->len)
        beyond = bytes->len;
    bytes->len -= beyond;
    if (rest && beyond)
        buf_put(rest, bytes->bytes + bytes->len, beyond);
}

static void on_tick_split(struct pipe *pipe)
{
    struct cut_world *c = cut_world_of(pipe);
    size_t before = pipe->to_read.len;
    bool first = c->n_read <= c->limit;
    if (c->later.len)
        pipe_send(pipe, c->later.bytes, c->later.len);
    buf_clear(&c->later);
    tls_peer_on_tick(pipe);
    c->n_read += pipe->to_read.len - before;
    if (first)
        shorten(&pipe->to_read, c->n_read, c->limit, &c->later);
}

static void on_tick_end_reads(struct pipe *pipe)
{
    struct cut_world *c = cut_world_of(pipe);
    size_t before = pipe->to_read.len;
    tls_peer_on_tick(pipe);
    c->n_read += pipe->to_read.len - before;
    if (c->n_read < c->limit || pipe->ending)
        return;
    shorten(&pipe->to_read, c->n_read, c->limit, NULL);
    pipe_end(pipe, INF_EEOF, "FIN");
}

static void on_tick_end_writes(struct pipe *pipe)
{
    struct cut_world *c = cut_world_of(pipe);
    c->n_written += pipe->written.len;
    shorten(&pipe->written, c->n_written, c->limit, NULL);
    tls_peer_on_tick(pipe);
    if (c->n_written >= c->limit && !pipe->ending)
        pipe_end(pipe, INF_ENET, "connection reset");
}

/* A connection that is cut at @limit; if @resumed, with the session of another one. */
static void exchange_bytes(struct cut_world *c, size_t limit, bool resumed)
{
    static void (*const on_tick[])(struct pipe *) = {
        [SPLIT] = on_tick_split,
        [END_READS] = on_tick_end_reads,
        [END_WRITES] = on_tick_end_writes,
    };
    c->limit = limit;
    c->n_read = c->n_written = 0;
    snprintf(c->host, sizeof(c->host), "n%d.example.com", c->serial++);
    tls_world_again(&c->w, &(struct tls_plan){.host = c->host});
    if (resumed) {
        sim_run(&c->w.sim);
        tls_world_again(&c->w, &(struct tls_plan){.host = c->host});
    }
    c->w.pipe->on_tick = on_tick[c->cut];
    stream_reader_write(&c->w.reader, "ping", 4);
    tls_peer_send(&c->w.peer, "pong", 4);
    sim_run(&c->w.sim);
    sim_run(&c->w.sim); /* an empty part looks like the end of activity */
}

/* The number of bytes of a connection, plus or minus two: signatures differ in length. */
static size_t length(struct cut_world *c, bool resumed)
{
    exchange_bytes(c, SIZE_MAX, resumed);
    assert_int_equal(c->w.reader.got.len, 4);
    assert_int_equal(c->w.peer.resumed, resumed);
    return c->cut == END_WRITES ? c->n_written : c->n_read;
}

static void expect_whole(struct cut_world *c)
{
    const struct stream_reader *r = &c->w.reader;
    assert_int_equal(r->opened, 1);
    assert_int_equal(r->ended, 0);
    assert_int_equal(r->got.len, 4);
    assert_memory_equal(r->got.bytes, "pong", 4);
    assert_int_equal(c->w.peer.received.len, 4);
}

/* The end, also if the connection ended before the limit. */
static void expect_end(struct cut_world *c, int code, const char *text)
{
    if (!c->w.pipe->ending)
        pipe_end(c->w.pipe, code, text);
    sim_run(&c->w.sim);
    assert_int_equal(c->w.reader.ended, 1);
}

static void expect_cut(struct cut_world *c)
{
    const struct stream_reader *r = &c->w.reader;
    char text[128];
    expect_end(c, INF_EEOF, "FIN");
    snprintf(text, sizeof(text),
             r->opened ? "%s:6443: connection closed without TLS close_notify"
                       : "%s:6443 closed the connection during the TLS handshake",
             c->host);
    assert_string_equal(r->why.text, text);
    assert_int_equal(r->why.code, r->opened ? INF_ECUT : INF_ENET);
    assert_true(r->got.len == 0 || r->opened);
}

static void expect_reset(struct cut_world *c)
{
    const struct stream_reader *r = &c->w.reader;
    expect_end(c, INF_ENET, "connection reset");
    assert_string_equal(r->why.text, "connection reset");
    assert_int_equal(r->why.code, INF_ENET);
}

/* Whether a connection of @len bytes is cut at @limit: at all of them in the full tier, otherwise near its ends and at
 * every seventh byte. */
static bool is_chosen(size_t limit, size_t len)
{
    return tier_is_full() || limit < 8 || limit + 8 >= len || limit % 7 == 0;
}

static void cut_everywhere(const struct tls_certs *certs, enum cut cut, bool resumed,
                           void (*expect)(struct cut_world *c))
{
    for (int tls12 = 0; tls12 <= 1; tls12++) {
        const struct tls_plan plan = {.tls12 = tls12};
        struct cut_world c = {.cut = cut};
        size_t len;
        tls_world_init(&c.w, certs, &plan);
        len = length(&c, resumed);
        assert_in_range(len, 100, 4000);
        for (size_t limit = 0; limit < len; limit++) {
            if (!is_chosen(limit, len))
                continue;
            exchange_bytes(&c, limit, resumed);
            expect(&c);
        }
        tls_world_done(&c.w);
        buf_free(&c.later);
    }
}

/* test_tls.c splits full handshakes byte by byte and in other ways. */
static void accepts_bytes_split_anywhere(void **state)
{
    cut_everywhere(*state, SPLIT, true, expect_whole);
}

static void reports_a_server_that_disconnects_at_any_byte(void **state)
{
    cut_everywhere(*state, END_READS, false, expect_cut);
}

static void reports_a_server_that_stops_reading_at_any_byte(void **state)
{
    cut_everywhere(*state, END_WRITES, false, expect_reset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_bytes_split_anywhere),
        cmocka_unit_test(reports_a_server_that_disconnects_at_any_byte),
        cmocka_unit_test(reports_a_server_that_stops_reading_at_any_byte),
    };
    return cmocka_run_group_tests(tests, tls_certs_make, tls_certs_drop);
}
