/*
 * test_http_parser.c - responses: recorded ones split at every byte and taken in parts, and invalid
 * ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/rng.h"
#include "base/str.h"
#include "recording.h"
#include "split.h"
#include "wire/http/http_parser.h"

enum {
    LIMIT = 64 * 1024,
};

/* Parses responses, with yields as the rules allow. */
struct reading {
    struct http_parser *parser;
    size_t take;     /* bytes to take of a piece; 0: all */
    bool reluctant;  /* takes no byte of a piece when it is first offered */
    bool refused;    /* it refused the last piece */
    struct buf head; /* "200\nName: value\n..." */
    struct buf body;
    int heads;
    bool done;
    struct inf_error why;
};

static void reading_init(struct reading *r, size_t head_max)
{
    *r = (struct reading){.parser = http_parser_new(head_max)};
}

static void reading_free(struct reading *r)
{
    http_parser_free(r->parser);
    buf_free(&r->head);
    buf_free(&r->body);
}

static void read_head(struct reading *r, const struct http_head *head)
{
    r->heads++;
    buf_printf(&r->head, "%d\n", head->status);
    for (size_t i = 0; i < head->n_headers; i++)
        buf_printf(&r->head, "%s: %s\n", head->headers[i].name, head->headers[i].value);
}

static size_t read_body(struct reading *r, const struct http_piece *piece)
{
    size_t n = r->take && r->take < piece->len ? r->take : piece->len;
    assert_true(piece->len > 0);
    r->refused = r->reluctant && !r->refused;
    if (r->refused)
        n = 0;
    buf_put(&r->body, piece->bytes, n);
    http_parser_took(r->parser, n);
    return n;
}

/* Offers a copy of exactly these bytes. Returns how many were used; fewer than all is a yield. */
static size_t offer(struct reading *r, struct str input)
{
    char *bytes = xstrndup(input.at, input.len);
    struct http_piece piece;
    size_t at = 0, taken;
    bool more = true;
    while (more) {
        at += http_parser_next(r->parser, bytes + at, input.len - at, &piece);
        assert_true(at <= input.len);
        taken = 0;
        switch (piece.type) {
        case PIECE_MORE: more = false; break;
        case PIECE_HEAD: read_head(r, &piece.head); break;
        case PIECE_BODY:
            at += taken = read_body(r, &piece);
            more = taken == piece.len;
            break;
        case PIECE_DONE:
            r->done = true;
            more = false;
            break;
        case PIECE_BAD:
            r->why = piece.why;
            more = false;
            break;
        }
    }
    free(bytes);
    return at;
}

/* Offers @input in the parts of @split; untaken bytes begin the next part. Returns the number of
 * bytes consumed. */
static size_t feed(struct reading *r, struct str input, struct split split)
{
    struct str rest = input, piece, hand = {input.at, 0};
    while (split_next(&split, &rest, &piece)) {
        size_t used = 1, before = 0;
        hand.len += piece.len;
        do {
            before = hand.len;
            used = offer(r, hand);
            hand.at += used;
            hand.len -= used;
        } while (!r->done && !r->why.code && hand.len && (hand.len < before || r->refused));
        if (r->done || r->why.code)
            break;
        assert_int_equal(hand.len, 0);
    }
    return (size_t)(hand.at - input.at);
}

static void feed_text(struct reading *r, const char *text)
{
    feed(r, str_of(text), (struct split){0, 0});
}

/* --- recordings ------------------------------------------------------------------------------- */

static void assert_same(const struct reading *r, const struct recording *expected)
{
    char status[16];
    assert_int_equal(r->why.code, 0);
    assert_true(r->done);
    assert_int_equal(r->heads, 1);
    snprintf(status, sizeof(status), "%d\n", expected->status);
    assert_memory_equal(r->head.bytes, status, strlen(status));
    assert_int_equal(r->body.len, expected->body.len);
    assert_memory_equal(r->body.bytes, expected->body.bytes, expected->body.len);
    assert_true(http_parser_keep_alive(r->parser));
}

static void play_recording(const void *ctx, struct str input, struct split split)
{
    const struct recording *recording = ctx;
    struct reading r;
    reading_init(&r, LIMIT);
    assert_int_equal(feed(&r, input, split), input.len);
    assert_same(&r, recording);
    reading_free(&r);
}

static const char *const recordings[] = {
    "anonymous-403",
    "badtoken-401",
    "configmaps-list-expired-continue-410",
    "configmaps-list-gzip",
    "configmaps-list-page1",
    "configmaps-list-page2",
    "discovery-api",
    "discovery-apis",
    "discovery-apps-v1",
    "discovery-core-v1",
    "discovery-example",
    "list-invalid-rv-400",
    "notfound-404",
    "pods-list-exact-expired-410",
    "pods-list-fieldselector-400",
    "pods-list-metadata",
    "pods-list-rv-too-large",
    "pods-watch-lifecycle",
    "pods-watch-too-old-410",
    "pods-watchlist",
    "pods-watchlist-metadata",
    "pods-watchlist-rv-too-large",
    "secrets-watchlist",
    "version",
    "watch-rvmatch-invalid-422",
    "widgets-list",
    "widgets-watchlist",
};

static void parses_recordings_alike_for_all_splits(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(recordings); i++) {
        struct recording recording;
        recording_open(&recording, recordings[i]);
        split_each_near(recording_wire(&recording), recording.edges, recording.n_edges,
                        play_recording, &recording);
        recording_close(&recording);
    }
}

static void parses_recordings_alike_for_all_yields(void **state)
{
    static const size_t takes[] = {1, 2, 3, 7, 100, 1000, 4096, 0};
    struct recording recording;
    (void)state;
    recording_open(&recording, "pods-watchlist");
    for (size_t i = 0; i < ARRAY_LEN(takes); i++)
        for (int reluctant = 0; reluctant <= 1; reluctant++)
            for (size_t piece = 0; piece <= 64; piece = piece * 2 + 1) {
                struct reading r;
                reading_init(&r, LIMIT);
                r.take = takes[i];
                r.reluctant = reluctant;
                feed(&r, recording_wire(&recording), (struct split){0, piece});
                assert_same(&r, &recording);
                reading_free(&r);
            }
    recording_close(&recording);
}

/* --- small responses, split and taken in every way --------------------------------------------- */

static const struct answer {
    const char *wire;
    const char *head;
    const char *body;
    bool keep_alive;
} answers[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200\nContent-Length: 5\n", "hello",
     true},
    {"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "200\ncontent-length: 0\n", "", true},
    {"HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n"
     "5\r\nhello\r\n1\r\n,\r\n6\r\n world\r\n0\r\n\r\n",
     "200\nTransfer-Encoding: chunked\n", "hello, world", true},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     "200\nTransfer-Encoding: chunked\n", "", true},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
     "3;a=b;c=\"d\"\r\nabc\r\n0\r\nX: y\r\nZ:\r\n\r\n",
     "200\nTransfer-Encoding: chunked\n", "abc", true},
    {"HTTP/1.1 200 OK\r\nEmpty:\r\nBlank: \t \r\nPadded:  a b \t\r\nContent-Length: 1\r\n\r\nx",
     "200\nEmpty: \nBlank: \nPadded: a b\nContent-Length: 1\n", "x", true},
    {"HTTP/1.1 204 No Content\r\n\r\n", "204\n", "", true},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", "304\nContent-Length: 7\n", "",
     true},
    {"HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
     "301\nLocation: /x\nContent-Length: 0\n", "", true},
    {"HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 103 Early\r\n\r\n"
     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
     "200\nContent-Length: 2\n", "ok", true},
    {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
     "200\nConnection: close\nContent-Length: 2\n", "ok", false},
    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "200\nContent-Length: 2\n", "ok", false},
    {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
     "200\nConnection: keep-alive\nContent-Length: 2\n", "ok", true},
};

/* Bytes after a response are not consumed. */
static void play_answer(const struct answer *a, struct split split, size_t take, bool reluctant,
                        const char *tail)
{
    char *wire = xasprintf("%s%s", a->wire, tail);
    struct reading r;
    reading_init(&r, LIMIT);
    r.take = take;
    r.reluctant = reluctant;
    assert_int_equal(feed(&r, str_of(wire), split), strlen(a->wire));
    buf_putc(&r.head, '\0');
    buf_putc(&r.body, '\0');
    assert_int_equal(r.why.code, 0);
    assert_true(r.done);
    assert_string_equal(r.head.bytes, a->head);
    assert_string_equal(r.body.bytes, a->body);
    assert_int_equal(http_parser_keep_alive(r.parser), a->keep_alive);
    reading_free(&r);
    free(wire);
}

static void parses_small_responses_alike_for_all_splits_and_yields(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        for (size_t cut = 0; cut < strlen(answers[i].wire); cut++)
            for (size_t take = 0; take <= 6; take++) {
                play_answer(&answers[i], (struct split){cut, 0}, take, false, "");
                play_answer(&answers[i], (struct split){cut, 0}, take, true, "HTTP/1.1 200 OK\r\n");
                play_answer(&answers[i], (struct split){cut, 1}, take, true, "garbage");
            }
}

static void parses_responses_one_after_another(void **state)
{
    struct reading r;
    (void)state;
    reading_init(&r, LIMIT);
    for (int i = 0; i < 3; i++) {
        http_parser_start(r.parser, false);
        r.done = false;
        feed_text(&r, answers[2].wire);
        assert_true(r.done);
    }
    assert_int_equal(r.heads, 3);
    assert_int_equal(r.body.len, 3 * strlen("hello, world"));
    reading_free(&r);
}

static void start_discards_an_incomplete_response(void **state)
{
    struct reading r;
    (void)state;
    reading_init(&r, LIMIT);
    r.take = 2;
    offer(&r, str_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"));
    http_parser_start(r.parser, false);
    feed_text(&r, answers[0].wire);
    assert_true(r.done);
    assert_memory_equal(r.body.bytes, "hehello", 7);
    reading_free(&r);
}

static void expects_no_body_after_a_head_request(void **state)
{
    static const char *const heads[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        struct reading r;
        reading_init(&r, LIMIT);
        http_parser_start(r.parser, true);
        feed_text(&r, heads[i]);
        assert_true(r.done);
        reading_free(&r);
    }
}

/* --- refusals ---------------------------------------------------------------------------------- */

static void play_refusal(struct str input, struct split split, size_t head_max, int code,
                         const char *text)
{
    struct reading r;
    reading_init(&r, head_max);
    feed(&r, input, split);
    assert_false(r.done);
    assert_int_equal(r.why.code, code);
    if (!strstr(r.why.text, text))
        assert_string_equal(r.why.text, text);
    offer(&r, str_of(answers[0].wire)); /* no more is consumed */
    assert_false(r.done);
    reading_free(&r);
}

/* For every split. */
static void expect_refused(const char *input, size_t len, size_t head_max, int code,
                           const char *text)
{
    struct str wire = {input, len};
    for (size_t cut = 0; cut < len && len < 1000; cut++)
        play_refusal(wire, (struct split){cut, 0}, head_max, code, text);
    play_refusal(wire, (struct split){0, 0}, head_max, code, text);
    play_refusal(wire, (struct split){1, 1}, head_max, code, text);
}

#define EXPECT_BAD(wire, text) expect_refused(wire, sizeof(wire) - 1, LIMIT, INF_EPROTO, text)
#define OK_HEAD                "HTTP/1.1 200 OK\r\n"

static void refuses_bodies_that_end_with_the_connection(void **state)
{
    (void)state;
    EXPECT_BAD(OK_HEAD "\r\nhello", "neither Content-Length nor chunked");
    EXPECT_BAD(OK_HEAD "Connection: close\r\n\r\nhello", "neither Content-Length nor chunked");
    EXPECT_BAD("HTTP/1.0 200 OK\r\n\r\nhello", "neither Content-Length nor chunked");
    EXPECT_BAD(OK_HEAD "Transfer-Encoding: gzip\r\n\r\nhello",
               "neither Content-Length nor chunked");
}

static void refuses_other_protocols(void **state)
{
    (void)state;
    EXPECT_BAD("HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n", "101");
    EXPECT_BAD("HTTP/1.1 101 Switching\r\n\r\n", "101");
    EXPECT_BAD("HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", "not HTTP/1.1");
    EXPECT_BAD("HTTP/3.0 200 OK\r\n\r\n", "");
    EXPECT_BAD("SSH-2.0-OpenSSH\r\n", "");
    EXPECT_BAD("\x15\x03\x03\x00\x02\x02\x50", "");
    EXPECT_BAD("GET / HTTP/1.1\r\n\r\n", "");
}

static void refuses_ambiguous_framing(void **state)
{
    (void)state;
    EXPECT_BAD(OK_HEAD "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "");
    EXPECT_BAD(OK_HEAD "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "");
    EXPECT_BAD(OK_HEAD "Content-Length: -1\r\n\r\n", "");
    EXPECT_BAD(OK_HEAD "Content-Length: 1x\r\n\r\n", "");
    EXPECT_BAD(OK_HEAD "Content-Length: 99999999999999999999\r\n\r\n", "");
    EXPECT_BAD(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n11111111111111111\r\n", "");
    EXPECT_BAD(OK_HEAD "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", "");
    EXPECT_BAD(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n-1\r\n", "");
    EXPECT_BAD(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n1\r\nabc", "");
}

static void refuses_damaged_heads(void **state)
{
    (void)state;
    EXPECT_BAD(OK_HEAD "A: b\0c\r\n\r\n", "");
    EXPECT_BAD(OK_HEAD "A: b\x01c\r\n\r\n", "");
    EXPECT_BAD(OK_HEAD "A\0: b\r\n\r\n", "");
    EXPECT_BAD(OK_HEAD "A : b\r\n\r\n", "");
    EXPECT_BAD(OK_HEAD ": b\r\n\r\n", "");
    EXPECT_BAD(OK_HEAD "A: b\rC: d\r\n\r\n", "");
    EXPECT_BAD("HTTP/1.1 2x0 OK\r\n\r\n", "");
}

static char *repeat(const char *start, const char *part, size_t len)
{
    struct buf b = {0};
    buf_puts(&b, start);
    while (b.len < len)
        buf_puts(&b, part);
    buf_putc(&b, '\0');
    return b.bytes;
}

static void refuses_everything_endless_at_the_limit(void **state)
{
    static const struct {
        const char *start, *part;
    } rows[] = {
        {"", "\r\n"},
        {"HTTP/1.1 200 ", "reason "},
        {OK_HEAD, "Name: value, long enough for few lines\r\n"},
        {OK_HEAD "A", "a"},
        {OK_HEAD "A: ", "a"},
        {OK_HEAD "A:", " "},
        {"", "HTTP/1.1 100 Continue\r\n\r\n"},
        {OK_HEAD "Transfer-Encoding: chunked\r\n\r\n", "0"},
        {OK_HEAD "Transfer-Encoding: chunked\r\n\r\n1", ";a=b"},
        {OK_HEAD "Transfer-Encoding: chunked\r\n\r\n1;a=\"", "b"},
        {OK_HEAD "Transfer-Encoding: chunked\r\n\r\n",
         "1;extension=which-is-longer-than-the-allowance\r\na\r\n"},
        {OK_HEAD "Transfer-Encoding: chunked\r\n\r\n0\r\n", "Trailer: value\r\n"},
        {OK_HEAD "Transfer-Encoding: chunked\r\n\r\n0\r\nTrailer:", " "},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *wire = repeat(rows[i].start, rows[i].part, 6000);
        expect_refused(wire, strlen(wire), 1000, INF_ETOOBIG, "over head_max=1000");
        free(wire);
    }
}

static void accepts_a_head_of_exactly_the_limit(void **state)
{
    size_t limit = strlen(OK_HEAD "Content-Length: 1\r\n\r\n");
    const char *wire = OK_HEAD "Content-Length: 1\r\n\r\nx";
    struct reading r;
    (void)state;
    reading_init(&r, limit);
    feed_text(&r, wire);
    assert_true(r.done);
    reading_free(&r);
    expect_refused(wire, strlen(wire), limit - 1, INF_ETOOBIG, "head over head_max=");
}

static void limits_the_number_of_header_lines(void **state)
{
    struct buf b = {0};
    struct reading r;
    (void)state;
    buf_puts(&b, OK_HEAD "Content-Length: 0\r\n");
    for (int i = 1; i < HTTP_HEADERS_MAX; i++)
        buf_puts(&b, "a:b\r\n");
    reading_init(&r, LIMIT);
    feed(&r, (struct str){b.bytes, b.len}, (struct split){0, 0});
    feed_text(&r, "\r\n");
    assert_true(r.done);
    reading_free(&r);
    buf_puts(&b, "one: more\r\n\r\n");
    expect_refused(b.bytes, b.len, LIMIT, INF_ETOOBIG, "too many header lines");
    buf_free(&b);
}

static bool is_accepted(struct str input, struct split split, size_t head_max)
{
    struct reading r;
    bool accepted;
    reading_init(&r, head_max);
    feed(&r, input, split);
    accepted = r.done;
    reading_free(&r);
    return accepted;
}

/* Extensions and trailers near the limit, in the first or a later chunk. */
static void limits_chunk_framing_alike_for_all_splits(void **state)
{
#define CHUNKED OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"
    static const struct {
        const char *before, *behind;
    } forms[] = {
        {CHUNKED "1;", "\r\na\r\n0\r\n\r\n"},
        {CHUNKED "1\r\na\r\n2;", "\r\nab\r\n0\r\n\r\n"},
        {CHUNKED "1\r\na\r\n0\r\nTrailer: ", "\r\n\r\n"},
    };
    enum {
        ROOM = 20,
        LONGEST = ROOM + 2 * HTTP_CHUNK_ALLOWANCE,
    };
    size_t accepted = 0, refused = 0;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms) * LONGEST; i++) {
        char text[LONGEST + 1] = "", *wire;
        size_t head_max = strlen(CHUNKED) + ROOM;
        struct str input;
        bool whole;
        memset(text, 'x', i % LONGEST + 1);
        wire = xasprintf("%s%s%s", forms[i / LONGEST].before, text, forms[i / LONGEST].behind);
        input = str_of(wire);
        whole = is_accepted(input, (struct split){0, 0}, head_max);
        accepted += whole;
        refused += !whole;
        for (size_t cut = 1; cut < input.len; cut++)
            assert_int_equal(is_accepted(input, (struct split){cut, 0}, head_max), whole);
        assert_int_equal(is_accepted(input, (struct split){1, 1}, head_max), whole);
        free(wire);
    }
    assert_true(accepted && refused);
}

static void accepts_a_watch_of_many_chunks(void **state)
{
    struct reading r;
    (void)state;
    reading_init(&r, 100);
    feed_text(&r, OK_HEAD "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 100000; i++)
        feed_text(&r, "00000001\r\nx\r\n");
    feed_text(&r, "0\r\n\r\n");
    assert_true(r.done);
    assert_int_equal(r.body.len, 100000);
    reading_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_recordings_alike_for_all_splits),
        cmocka_unit_test(parses_recordings_alike_for_all_yields),
        cmocka_unit_test(parses_small_responses_alike_for_all_splits_and_yields),
        cmocka_unit_test(parses_responses_one_after_another),
        cmocka_unit_test(start_discards_an_incomplete_response),
        cmocka_unit_test(expects_no_body_after_a_head_request),
        cmocka_unit_test(refuses_bodies_that_end_with_the_connection),
        cmocka_unit_test(refuses_other_protocols),
        cmocka_unit_test(refuses_ambiguous_framing),
        cmocka_unit_test(refuses_damaged_heads),
        cmocka_unit_test(refuses_everything_endless_at_the_limit),
        cmocka_unit_test(accepts_a_head_of_exactly_the_limit),
        cmocka_unit_test(limits_the_number_of_header_lines),
        cmocka_unit_test(limits_chunk_framing_alike_for_all_splits),
        cmocka_unit_test(accepts_a_watch_of_many_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
