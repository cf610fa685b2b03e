/*
 * fuzz_http_request.c - a byte that selects how to cut, and the bytes of a client. The requests do not
 * depend on the cuts, each is within the limits, and a refusal has a status.
 */
#include "base/buf.h"
#include "fuzz.h"
#include "wire/http/http_request_parser.h"
#include "wire/http/http_target.h"

enum {
    HEAD_MAX = 512, /* small, so that inputs reach it */
};

static void put_request(const struct http_server_request *r, struct buf *out)
{
    char *value = NULL;
    MUST(r->n_headers <= HTTP_REQUEST_HEADERS_MAX);
    MUST(!r->path || r->path[0] == '/');
    MUST(strlen(r->target) <= HTTP_REQUEST_TARGET_MAX);
    buf_printf(out, "%s %s %d%d%d", r->method, r->target, r->keep_alive, r->http_1_0, r->head);
    MUST(r->body.len <= HTTP_REQUEST_BODY_MAX);
    buf_put(out, r->body.at, r->body.len);
    for (size_t i = 0; i < r->n_headers; i++)
        buf_printf(out, " %s=%s", r->headers[i].name, r->headers[i].value);
    if (r->query && http_query_get(r->query, "a", &value) == 1)
        MUST(strlen(value) <= strlen(r->query));
    buf_printf(out, " %s\n", value ? value : "-");
    free(value);
}

/* Parses one piece, in an allocation of its exact size. False after a refusal. */
static bool feed(struct http_request_parser *p, struct str piece, struct buf *out)
{
    char *block = xmalloc(piece.len);
    enum http_request_result result = REQUEST_MORE;
    size_t at = 0;
    memcpy(block, piece.at, piece.len);
    while (at < piece.len && result != REQUEST_BAD) {
        size_t used = http_request_parser_feed(p, block + at, piece.len - at, &result);
        MUST(used <= piece.len - at);
        MUST(used || result == REQUEST_BAD);
        at += used;
        if (result == REQUEST_COMPLETE) {
            put_request(http_request_parser_request(p), out);
            http_request_parser_start(p);
        }
    }
    if (result == REQUEST_BAD) {
        MUST(http_request_parser_status(p) >= 400 && http_request_parser_why(p));
        buf_printf(out, "%d", http_request_parser_status(p));
    }
    free(block);
    return result != REQUEST_BAD;
}

static void read_all(struct str wire, size_t size, struct buf *out)
{
    struct http_request_parser *p = http_request_parser_new(HEAD_MAX);
    bool good = true;
    http_request_parser_accept_post(p, "/");
    for (size_t at = 0; good && at < wire.len; at += size)
        good =
            feed(p, (struct str){wire.at + at, size < wire.len - at ? size : wire.len - at}, out);
    http_request_parser_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str wire = {(const char *)bytes + 1, len - 1};
    struct buf whole = {0}, cut = {0};
    if (len < 2)
        return 0;
    read_all(wire, wire.len, &whole);
    read_all(wire, bytes[0] % 32 + 1, &cut);
    MUST(whole.len == cut.len);
    MUST(!whole.len || memcmp(whole.bytes, cut.bytes, cut.len) == 0);
    buf_free(&whole);
    buf_free(&cut);
    return 0;
}
