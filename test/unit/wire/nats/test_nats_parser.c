/*
 * test_nats_parser.c - the messages of a server, cut at every byte; limits; headers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "wire/nats/nats_parser.h"

static const char conversation[] =
    "INFO {\"a\":1} \r\n"
    "PING\r\n"
    "pong\r\n"
    "+OK\r\n"
    "-ERR 'Stale Connection'\r\n"
    "MSG _INBOX.a.17 1 5\r\nhello\r\n"
    "MSG\t_INBOX.a.18  1 reply.to 0\r\n\r\n"
    "HMSG _INBOX.a.19 1 23 28\r\nNATS/1.0\r\nA: b\r\nC:d\r\n\r\n\r\nabc\r\n"
    "HMSG _INBOX.a.20 1 x 16 16\r\nNATS/1.0 503\r\n\r\n\r\n"
    "PING\n";

static const char expected[] = "0 {\"a\":1} |||;2 |||;3 |||;4 |||;5 Stale Connection|||;"
                               "1 |_INBOX.a.17||hello;1 |_INBOX.a.18||;"
                               "1 |_INBOX.a.19|NATS/1.0\r\nA: b\r\nC:d\r\n\r\n|\r\nabc;"
                               "1 |_INBOX.a.20|NATS/1.0 503\r\n\r\n|;2 |||;";

/* In the order of the text, whatever the values of enum nats_op are. */
static int number_of(enum nats_op op)
{
    static const enum nats_op ops[] = {NATS_INFO, NATS_MSG, NATS_PING,
                                       NATS_PONG, NATS_OK,  NATS_ERR};
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (ops[i] == op)
            return (int)i;
    return -1;
}

/* Adds the messages of @piece. */
static int feed(struct nats_parser *p, struct str piece, struct buf *out, struct inf_error *err)
{
    struct nats_message m;
    char *copy = malloc(piece.len + 1); /* its end is detected */
    struct str input = {copy, piece.len};
    int rc;
    memcpy(copy, piece.at, piece.len);
    while ((rc = nats_parser_next(p, &input, &m, err)) == 1)
        buf_printf(out, "%d %.*s|%.*s|%.*s|%.*s;", number_of(m.op), STR_FMT(m.text),
                   STR_FMT(m.subject), STR_FMT(m.headers), STR_FMT(m.payload));
    assert_true(rc < 0 || input.len == 0);
    free(copy);
    return rc;
}

static void reads_messages_cut_at_every_byte(void **state)
{
    size_t len = sizeof(conversation) - 1;
    (void)state;
    for (size_t cut = 0; cut <= len; cut++) {
        struct nats_parser p = {0};
        struct buf out = {0};
        struct inf_error err;
        assert_int_equal(feed(&p, (struct str){conversation, cut}, &out, &err), 0);
        assert_int_equal(feed(&p, (struct str){conversation + cut, len - cut}, &out, &err), 0);
        buf_putc(&out, '\0');
        assert_string_equal(out.bytes, expected);
        buf_free(&out);
        nats_parser_free(&p);
    }
}

static void reads_messages_byte_by_byte(void **state)
{
    struct nats_parser p = {0};
    struct buf out = {0};
    struct inf_error err;
    (void)state;
    for (size_t i = 0; i < sizeof(conversation) - 1; i++)
        assert_int_equal(feed(&p, (struct str){conversation + i, 1}, &out, &err), 0);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, expected);
    buf_free(&out);
    nats_parser_free(&p);
}

static void refuses_what_is_no_nats(void **state)
{
    static const struct {
        const char *text;
        int code;
    } rows[] = {
        {"HTTP/1.1 400 Bad Request\r\n", INF_EPROTO},
        {"\r\n", INF_EPROTO},
        {"MSG a 1\r\n", INF_EPROTO},
        {"MSG a 1 r x 5\r\n", INF_EPROTO},
        {"MSG a 1 -5\r\n", INF_EPROTO},
        {"MSG a 1 5x\r\n", INF_EPROTO},
        {"HMSG a 1 5\r\n", INF_EPROTO},
        {"HMSG a 1 6 5\r\n", INF_EPROTO},
        {"HMSG a 1 r s 5 6\r\n", INF_EPROTO},
        {"MSG a 1 33554433\r\n", INF_ETOOBIG},
        {"MSG a 1 99999999999999999999999999\r\n", INF_EPROTO},
        {"MSG a 1 2\r\nabcd", INF_EPROTO},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct nats_parser p = {0};
        struct buf out = {0};
        struct inf_error err = {0};
        assert_int_equal(feed(&p, str_of(rows[i].text), &out, &err), -rows[i].code);
        assert_int_equal(out.len, 0);
        assert_non_null(strstr(err.text, "server"));
        buf_free(&out);
        nats_parser_free(&p);
    }
}

static void a_line_has_a_limit(void **state)
{
    struct nats_parser p = {0};
    struct buf out = {0}, line = {0};
    struct inf_error err;
    (void)state;
    while (line.len < NATS_LINE_MAX)
        buf_putc(&line, 'x');
    assert_int_equal(feed(&p, (struct str){line.bytes, line.len}, &out, &err), 0);
    assert_int_equal(feed(&p, STR("x"), &out, &err), -INF_ETOOBIG);
    buf_free(&line);
    nats_parser_free(&p);
}

static void finds_headers(void **state)
{
    struct str headers =
                   STR("NATS/1.0\r\nNats-Sequence: 17\r\nA:  b c\r\nAB:x\r\nA: second\r\n\r\n"),
               value;
    (void)state;
    assert_int_equal(nats_headers_status(headers), 0);
    assert_int_equal(nats_headers_status(STR("NATS/1.0 404 Message Not Found\r\n\r\n")), 404);
    assert_int_equal(nats_headers_status(STR("NATS/1.0 x\r\n\r\n")), 0);
    assert_int_equal(nats_headers_status((struct str){0}), 0);
    assert_true(nats_headers_get(headers, "Nats-Sequence", &value));
    assert_true(str_eq(value, STR("17")));
    assert_true(nats_headers_get(headers, "A", &value));
    assert_true(str_eq(value, STR("b c")));
    assert_true(nats_headers_get(headers, "AB", &value));
    assert_false(nats_headers_get(headers, "NATS/1.0", &value));
    assert_false(nats_headers_get(headers, "a", &value));
    assert_false(nats_headers_get((struct str){0}, "A", &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_messages_cut_at_every_byte),
        cmocka_unit_test(reads_messages_byte_by_byte),
        cmocka_unit_test(refuses_what_is_no_nats),
        cmocka_unit_test(a_line_has_a_limit),
        cmocka_unit_test(finds_headers),
    };
    return cmocka_run_group_tests_name("nats_parser", tests, NULL, NULL);
}
