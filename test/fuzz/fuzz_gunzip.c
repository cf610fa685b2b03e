/*
 * fuzz_gunzip.c - a byte that selects how to cut the input and how much output to read, and a body in
 * gzip or not. Output and error do not depend on either.
 */
#include "base/buf.h"
#include "fuzz.h"
#include "wire/http/gunzip.h"

enum {
    OUT_MAX = 256 * 1024, /* enough to see whether it continues */
};

/* Whether to continue. */
static bool feed(struct gunzip *g, struct str piece, size_t take, struct buf *out)
{
    char *block = xmalloc(piece.len);
    struct str input = {block, piece.len}, inflated;
    struct inf_error err;
    int rc = 0;
    memcpy(block, piece.at, piece.len);
    while (out->len < OUT_MAX && (rc = gunzip_next(g, &input, &inflated, &err)) == 1) {
        size_t n = take < inflated.len ? take : inflated.len;
        MUST(inflated.len > 0 && inflated.len <= GUNZIP_SLICE);
        n = n < OUT_MAX - out->len ? n : OUT_MAX - out->len;
        buf_put(out, inflated.at, n);
        gunzip_took(g, n);
    }
    MUST(rc != 0 || out->len == OUT_MAX || (!input.len && !gunzip_holds(g)));
    if (rc < 0)
        buf_puts(out, err.text);
    free(block);
    return rc >= 0 && out->len < OUT_MAX;
}

static void read_body(struct str body, size_t piece, size_t take, struct buf *out)
{
    struct gunzip *g = gunzip_new();
    struct inf_error err;
    bool more = true;
    for (size_t at = 0; more && at < body.len; at += piece)
        more = feed(g, (struct str){body.at + at, piece < body.len - at ? piece : body.len - at},
                    take, out);
    if (more && gunzip_end(g, &err) < 0)
        buf_puts(out, err.text);
    gunzip_free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str body = {(const char *)bytes + 1, len - 1};
    struct buf whole = {0}, cut = {0};
    if (len < 2)
        return 0;
    read_body(body, body.len, SIZE_MAX, &whole);
    read_body(body, bytes[0] % 16u + 1, (size_t)(bytes[0] % 7) * 500 + 100, &cut);
    MUST(whole.len == cut.len);
    MUST(!whole.len || memcmp(whole.bytes, cut.bytes, cut.len) == 0);
    buf_free(&whole);
    buf_free(&cut);
    return 0;
}
