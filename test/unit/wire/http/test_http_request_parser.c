/*
 * test_http_request_parser.c - valid and invalid requests, split at every byte.
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
#include "base/str.h"
#include "split.h"
#include "wire/http/http_request_parser.h"

enum {
    HEAD_MAX = 16 * 1024,
};

static void put_request(const struct http_server_request *r, struct buf *events)
{
    buf_printf(events, "%s %s|%s|%s%s%s%s", r->method, r->target, r->path ? r->path : "-",
               r->query ? r->query : "-", r->keep_alive ? "" : " close", r->http_1_0 ? " 1.0" : "",
               r->head ? " head" : "");
    if (r->body.len)
        buf_printf(events, " [%.*s]", STR_FMT(r->body));
    for (size_t i = 0; i < r->n_headers; i++)
        buf_printf(events, " {%s=%s}", r->headers[i].name, r->headers[i].value);
    buf_puts(events, "\n");
}

/* Parses one part, in an allocation of its exact size; false after a refusal. */
static bool feed(struct http_request_parser *p, struct str piece, struct buf *events)
{
    char *block = xmalloc(piece.len);
    enum http_request_result result = REQUEST_MORE;
    size_t at = 0;
    memcpy(block, piece.at, piece.len);
    while (at < piece.len && result != REQUEST_BAD) {
        at += http_request_parser_feed(p, block + at, piece.len - at, &result);
        if (result == REQUEST_COMPLETE) {
            put_request(http_request_parser_request(p), events);
            http_request_parser_start(p);
        }
    }
    free(block);
    if (result == REQUEST_BAD)
        buf_printf(events, "%d\n", http_request_parser_status(p));
    return result != REQUEST_BAD;
}

static void play(const void *ctx, struct str input, struct split split)
{
    struct http_request_parser *p = http_request_parser_new(HEAD_MAX);
    const char *expected = ctx;
    http_request_parser_accept_post(p, "/login");
    struct buf events = {0};
    struct str piece;
    bool good = true;
    while (good && split_next(&split, &input, &piece))
        good = feed(p, piece, &events);
    if (good && http_request_parser_began(p))
        buf_puts(&events, "...");
    buf_putc(&events, '\0');
    assert_string_equal(events.bytes, expected);
    buf_free(&events);
    http_request_parser_free(p);
}

static void expect_events(const char *wire, const char *events)
{
    split_each(str_of(wire), play, events);
}

#define HOST "Host: h\r\n"

static void parses_requests(void **state)
{
    (void)state;
    expect_events("GET / HTTP/1.1\r\n" HOST "\r\n", "GET /|/| {Host=h}\n");
    expect_events("GET /a%20b?c=d HTTP/1.1\r\n" HOST "X:  y z \t\r\nE:\r\n\r\n",
                  "GET /a%20b?c=d|/a b|c=d {Host=h} {X=y z} {E=}\n");
    expect_events("HEAD /x HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n",
                  "HEAD /x|/x| close head {Host=h} {Connection=close}\n");
    expect_events("GET / HTTP/1.0\r\n\r\n", "GET /|/| close 1.0\n");
    expect_events("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
                  "GET /|/| 1.0 {Connection=keep-alive}\n");
    expect_events("GET http://h/p?q HTTP/1.1\r\n" HOST "\r\n", "GET http://h/p?q|/p|q {Host=h}\n");
    expect_events("GET / HTTP/1.1\r\n" HOST "Content-Length: 0\r\nExpect: 100-continue\r\n\r\n",
                  "GET /|/| {Host=h} {Content-Length=0} {Expect=100-continue}\n");
}

static void accepts_other_methods(void **state)
{
    (void)state;
    expect_events("DELETE /x HTTP/1.1\r\n" HOST "\r\n", "DELETE /x|/x| {Host=h}\n");
    expect_events("OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "OPTIONS *|-|- {Host=h}\n");
    expect_events("CONNECT h:1 HTTP/1.1\r\n" HOST "\r\n", "CONNECT h:1|-|- {Host=h}\n");
}

static void parses_pipelined_requests(void **state)
{
    (void)state;
    expect_events(
        "GET /1 HTTP/1.1\r\n" HOST "\r\nGET /2 HTTP/1.1\r\n" HOST "\r\n\r\n\r\nGET /3 HTTP/1.1\r\n"
        "Host: i\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nHEAD /4 HTTP/1.1\r\n" HOST "\r\nGE",
        "GET /1|/1| {Host=h}\nGET /2|/2| {Host=h}\n"
        "GET /3|/3| {Host=i} {Upgrade=h2c} {Connection=Upgrade}\nHEAD /4|/4| head {Host=h}\n...");
}

static void refuses_bodies(void **state)
{
    (void)state;
    expect_events("GET / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nx", "413\n");
    expect_events("GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "413\n");
    expect_events("POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999\r\n\r\n", "405\n");
}

static void accepts_a_body_at_one_path(void **state)
{
    (void)state;
    expect_events("POST /login HTTP/1.1\r\n" HOST
                  "Content-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\n" HOST "\r\n",
                  "POST /login|/login| [abc] {Host=h} {Content-Length=3}\nGET /|/| {Host=h}\n");
    expect_events("POST /login HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n",
                  "POST /login|/login| {Host=h} {Content-Length=0}\n");
    expect_events("POST /login HTTP/1.1\r\n" HOST "\r\n", "POST /login|/login| {Host=h}\n");
    expect_events("POST /login HTTP/1.1\r\n" HOST "Content-Length: 1024\r\n\r\nab", "...");
    expect_events("POST /login HTTP/1.1\r\n" HOST "Content-Length: 1025\r\n\r\n", "413\n");
    expect_events("POST /login HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", "413\n");
    expect_events("POST /login HTTP/1.1\r\n" HOST
                  "Content-Length: 1\r\nExpect: 100-continue\r\n\r\n",
                  "417\n");
    expect_events("POST /login/ HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n", "405\n");
    expect_events("PUT /login HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n", "405\n");
    expect_events("GET /login HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n", "413\n");
}

static void refuses_invalid_requests(void **state)
{
    static const char *const bad[] = {
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\n" HOST "Host: i\r\n\r\n",
        "GET / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "GET / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n",
        "GET / HTTP/1.1\r\n" HOST "Bad Name: x\r\n\r\n",
        "GET / HTTP/1.1\r\n" HOST "Folded: x\r\n y\r\n\r\n",
        "GET / HTTP/1.1\r\n" HOST "X: a\x01\r\n\r\n",
        "GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n",
        "GET /%zz HTTP/1.1\r\n" HOST "\r\n",
        "GET /a#b HTTP/1.1\r\n" HOST "\r\n",
        "GET * HTTP/1.1\r\n" HOST "\r\n",
        "GET  HTTP/1.1\r\n" HOST "\r\n",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        expect_events(bad[i], "400\n");
    expect_events("\x16\x03\x01\x02", "400\n");
    expect_events("hello\r\n\r\n", "400\n");
    expect_events("GET / HTTP/1.1\r\n" HOST "Expect: a miracle\r\n\r\n", "417\n");
}

static void refuses_other_versions(void **state)
{
    (void)state;
    expect_events("GET / HTTP/2.0\r\n" HOST "\r\n", "505\n");
    expect_events("GET / HTTP/3.7\r\n" HOST "\r\n", "400\n");
    expect_events("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400\n");
    expect_events("GET /\r\n\r\n", "505\n");
}

/* ---- limits ---- */

static void fill(struct buf *b, size_t len)
{
    while (len--)
        buf_putc(b, 'x');
}

static char *with_padding(const char *before, size_t len, const char *behind)
{
    struct buf b = {0};
    buf_puts(&b, before);
    fill(&b, len);
    buf_puts(&b, behind);
    buf_putc(&b, '\0');
    return b.bytes;
}

/* In one piece and byte by byte: splitting at every byte would take minutes. */
static void expect_status(char *wire, int status)
{
    static const struct split ways[] = {{0, 0}, {1, 1}, {0, 1000}, {0, 1024}};
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct http_request_parser *p = http_request_parser_new(HEAD_MAX);
        struct split split = ways[i];
        struct str input = str_of(wire), piece;
        struct buf events = {0};
        bool good = true;
        while (good && split_next(&split, &input, &piece))
            good = feed(p, piece, &events);
        assert_int_equal(good ? 0 : http_request_parser_status(p), status);
        buf_free(&events);
        http_request_parser_free(p);
    }
    free(wire);
}

static void limits_the_target(void **state)
{
    (void)state;
    expect_status(with_padding("GET /", HTTP_REQUEST_TARGET_MAX - 1, " HTTP/1.1\r\n" HOST "\r\n"),
                  0);
    expect_status(with_padding("GET /", HTTP_REQUEST_TARGET_MAX, " HTTP/1.1\r\n" HOST "\r\n"), 414);
    expect_status(with_padding("GET /", 100000, ""), 414);
}

static void limits_the_head(void **state)
{
    static const char before[] = "GET / HTTP/1.1\r\n" HOST "X: ", behind[] = "\r\n\r\n";
    size_t room = HEAD_MAX - strlen(before) - strlen(behind);
    (void)state;
    expect_status(with_padding(before, room, behind), 0);
    expect_status(with_padding(before, room + 1, behind), 431);
    expect_status(with_padding("GET / HTTP/1.1\r\n", 100000, ""), 431);
    expect_status(with_padding(before, 100000, ""), 431);
}

static void limits_blank_lines(void **state)
{
    struct buf b = {0};
    (void)state;
    for (int i = 0; i < HEAD_MAX; i++)
        buf_puts(&b, "\r\n");
    buf_putc(&b, '\0');
    expect_status(b.bytes, 431);
}

static char *with_headers(int n)
{
    struct buf b = {0};
    buf_puts(&b, "GET / HTTP/1.1\r\n" HOST);
    while (n--)
        buf_puts(&b, "a:b\r\n");
    buf_puts(&b, "\r\n");
    buf_putc(&b, '\0');
    return b.bytes;
}

static void limits_the_number_of_header_lines(void **state)
{
    (void)state;
    expect_status(with_headers(HTTP_REQUEST_HEADERS_MAX - 1), 0);
    expect_status(with_headers(HTTP_REQUEST_HEADERS_MAX), 431);
}

static void finds_headers_by_name(void **state)
{
    static const struct http_header headers[] = {{"Accept", "a"}, {"accept", "b"}};
    struct http_server_request r = {.headers = headers, .n_headers = 2};
    (void)state;
    assert_string_equal(http_server_request_get(&r, "ACCEPT"), "a");
    assert_null(http_server_request_get(&r, "Acc"));
}

static void recognises_clients_that_accept_gzip(void **state)
{
    static const char *const yes[] = {"gzip", "gzip, deflate, br", "br,  gzip\t", "identity,gzip"};
    static const char *const no[] = {"",         "identity", "x-gzip", "gzipped",
                                     "gzip;q=0", "gz",       ",,",     "*"};
    struct http_header header = {"accept-encoding", NULL};
    struct http_server_request r = {.headers = &header, .n_headers = 1}, none = {.n_headers = 0};
    (void)state;
    assert_false(http_accepts_gzip(&none));
    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        header.value = yes[i];
        assert_true(http_accepts_gzip(&r));
    }
    for (size_t i = 0; i < ARRAY_LEN(no); i++) {
        header.value = no[i];
        assert_false(http_accepts_gzip(&r));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_requests),
        cmocka_unit_test(accepts_other_methods),
        cmocka_unit_test(parses_pipelined_requests),
        cmocka_unit_test(refuses_bodies),
        cmocka_unit_test(accepts_a_body_at_one_path),
        cmocka_unit_test(refuses_invalid_requests),
        cmocka_unit_test(refuses_other_versions),
        cmocka_unit_test(limits_the_target),
        cmocka_unit_test(limits_the_head),
        cmocka_unit_test(limits_blank_lines),
        cmocka_unit_test(limits_the_number_of_header_lines),
        cmocka_unit_test(finds_headers_by_name),
        cmocka_unit_test(recognises_clients_that_accept_gzip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
