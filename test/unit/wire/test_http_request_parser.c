/*
 * test_http_request_parser.c - requests of clients, good and bad, cut at every byte.
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
#include "wire/http_request_parser.h"

enum {
    HEAD_MAX = 16 * 1024,
};

static void tell_request(const struct http_server_request *r, struct buf *told)
{
    buf_printf(told, "%s %s|%s|%s%s%s%s", r->method, r->target, r->path ? r->path : "-",
               r->query ? r->query : "-", r->keep_alive ? "" : " close", r->http_1_0 ? " 1.0" : "",
               r->head ? " head" : "");
    for (size_t i = 0; i < r->n_headers; i++)
        buf_printf(told, " {%s=%s}", r->headers[i].name, r->headers[i].value);
    buf_puts(told, "\n");
}

/* Gives one piece, in a block of its own; false after a refusal. */
static bool feed(struct http_request_parser *p, struct str piece, struct buf *told)
{
    char *block = xmalloc(piece.len);
    enum http_request_result result = REQUEST_MORE;
    size_t at = 0;
    memcpy(block, piece.at, piece.len);
    while (at < piece.len && result != REQUEST_BAD) {
        at += http_request_parser_feed(p, block + at, piece.len - at, &result);
        if (result == REQUEST_COMPLETE) {
            tell_request(http_request_parser_request(p), told);
            http_request_parser_start(p);
        }
    }
    free(block);
    if (result == REQUEST_BAD)
        buf_printf(told, "%d\n", http_request_parser_status(p));
    return result != REQUEST_BAD;
}

static void play(const void *ctx, struct str input, struct split split)
{
    struct http_request_parser *p = http_request_parser_new(HEAD_MAX);
    const char *expected = ctx;
    struct buf told = {0};
    struct str piece;
    bool good = true;
    while (good && split_next(&split, &input, &piece))
        good = feed(p, piece, &told);
    if (good && http_request_parser_began(p))
        buf_puts(&told, "...");
    buf_putc(&told, '\0');
    assert_string_equal(told.bytes, expected);
    buf_free(&told);
    http_request_parser_free(p);
}

static void says(const char *wire, const char *told)
{
    split_each(str_of(wire), play, told);
}

#define HOST "Host: h\r\n"

static void requests_come_out_whole(void **state)
{
    (void)state;
    says("GET / HTTP/1.1\r\n" HOST "\r\n", "GET /|/| {Host=h}\n");
    says("GET /a%20b?c=d HTTP/1.1\r\n" HOST "X:  y z \t\r\nE:\r\n\r\n",
         "GET /a%20b?c=d|/a b|c=d {Host=h} {X=y z} {E=}\n");
    says("HEAD /x HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n",
         "HEAD /x|/x| close head {Host=h} {Connection=close}\n");
    says("GET / HTTP/1.0\r\n\r\n", "GET /|/| close 1.0\n");
    says("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
         "GET /|/| 1.0 {Connection=keep-alive}\n");
    says("GET http://h/p?q HTTP/1.1\r\n" HOST "\r\n", "GET http://h/p?q|/p|q {Host=h}\n");
    says("GET / HTTP/1.1\r\n" HOST "Content-Length: 0\r\nExpect: 100-continue\r\n\r\n",
         "GET /|/| {Host=h} {Content-Length=0} {Expect=100-continue}\n");
}

static void other_methods_are_for_the_server_to_judge(void **state)
{
    (void)state;
    says("DELETE /x HTTP/1.1\r\n" HOST "\r\n", "DELETE /x|/x| {Host=h}\n");
    says("OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "OPTIONS *|-|- {Host=h}\n");
    says("CONNECT h:1 HTTP/1.1\r\n" HOST "\r\n", "CONNECT h:1|-|- {Host=h}\n");
}

static void one_behind_the_other(void **state)
{
    (void)state;
    says("GET /1 HTTP/1.1\r\n" HOST "\r\nGET /2 HTTP/1.1\r\n" HOST "\r\n\r\n\r\nGET /3 HTTP/1.1\r\n"
         "Host: i\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nHEAD /4 HTTP/1.1\r\n" HOST "\r\nGE",
         "GET /1|/1| {Host=h}\nGET /2|/2| {Host=h}\n"
         "GET /3|/3| {Host=i} {Upgrade=h2c} {Connection=Upgrade}\nHEAD /4|/4| head {Host=h}\n...");
}

static void bodies_are_refused(void **state)
{
    (void)state;
    says("GET / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nx", "413\n");
    says("GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "413\n");
    says("POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999\r\n\r\n", "413\n");
}

static void bad_requests_are_refused(void **state)
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
        says(bad[i], "400\n");
    says("\x16\x03\x01\x02", "400\n");
    says("hello\r\n\r\n", "400\n");
    says("GET / HTTP/1.1\r\n" HOST "Expect: a miracle\r\n\r\n", "417\n");
}

static void other_versions_are_refused(void **state)
{
    (void)state;
    says("GET / HTTP/2.0\r\n" HOST "\r\n", "505\n");
    says("GET / HTTP/3.7\r\n" HOST "\r\n", "400\n");
    says("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400\n");
    says("GET /\r\n\r\n", "505\n");
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

/* In one piece and byte by byte: cut at every byte it would take minutes. */
static void judged(char *wire, int status)
{
    static const struct split ways[] = {{0, 0}, {1, 1}, {0, 1000}, {0, 1024}};
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct http_request_parser *p = http_request_parser_new(HEAD_MAX);
        struct split split = ways[i];
        struct str input = str_of(wire), piece;
        struct buf told = {0};
        bool good = true;
        while (good && split_next(&split, &input, &piece))
            good = feed(p, piece, &told);
        assert_int_equal(good ? 0 : http_request_parser_status(p), status);
        buf_free(&told);
        http_request_parser_free(p);
    }
    free(wire);
}

static void targets_have_a_limit(void **state)
{
    (void)state;
    judged(with_padding("GET /", HTTP_REQUEST_TARGET_MAX - 1, " HTTP/1.1\r\n" HOST "\r\n"), 0);
    judged(with_padding("GET /", HTTP_REQUEST_TARGET_MAX, " HTTP/1.1\r\n" HOST "\r\n"), 414);
    judged(with_padding("GET /", 100000, ""), 414);
}

static void heads_have_a_limit(void **state)
{
    static const char before[] = "GET / HTTP/1.1\r\n" HOST "X: ", behind[] = "\r\n\r\n";
    size_t room = HEAD_MAX - strlen(before) - strlen(behind);
    (void)state;
    judged(with_padding(before, room, behind), 0);
    judged(with_padding(before, room + 1, behind), 431);
    judged(with_padding("GET / HTTP/1.1\r\n", 100000, ""), 431);
    judged(with_padding(before, 100000, ""), 431);
}

static void blank_lines_have_a_limit(void **state)
{
    struct buf b = {0};
    (void)state;
    for (int i = 0; i < HEAD_MAX; i++)
        buf_puts(&b, "\r\n");
    buf_putc(&b, '\0');
    judged(b.bytes, 431);
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

static void header_lines_have_a_limit(void **state)
{
    (void)state;
    judged(with_headers(HTTP_REQUEST_HEADERS_MAX - 1), 0);
    judged(with_headers(HTTP_REQUEST_HEADERS_MAX), 431);
}

static void headers_are_found_by_name(void **state)
{
    static const struct http_header headers[] = {{"Accept", "a"}, {"accept", "b"}};
    struct http_server_request r = {.headers = headers, .n_headers = 2};
    (void)state;
    assert_string_equal(http_server_request_get(&r, "ACCEPT"), "a");
    assert_null(http_server_request_get(&r, "Acc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_come_out_whole),
        cmocka_unit_test(other_methods_are_for_the_server_to_judge),
        cmocka_unit_test(one_behind_the_other),
        cmocka_unit_test(bodies_are_refused),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(other_versions_are_refused),
        cmocka_unit_test(targets_have_a_limit),
        cmocka_unit_test(heads_have_a_limit),
        cmocka_unit_test(blank_lines_have_a_limit),
        cmocka_unit_test(header_lines_have_a_limit),
        cmocka_unit_test(headers_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
