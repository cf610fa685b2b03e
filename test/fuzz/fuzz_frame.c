/*
 * fuzz_frame.c - a byte that selects how to cut, and the body of a watch. The events do not depend on
 * the cuts, and none is empty.
 */
#include "informer/error.h"

#include "base/buf.h"
#include "fuzz.h"
#include "kube/source/event_frame.h"

static void feed(struct frame *frame, struct str piece, struct buf *out)
{
    char *block = xmalloc(piece.len);
    struct str input = {block, piece.len}, event;
    int rc;
    memcpy(block, piece.at, piece.len);
    while ((rc = frame_next(frame, &input, &event)) != 0) {
        MUST(event.len > 0);
        MUST(rc == 1 || rc == -INF_EDECODE);
        buf_printf(out, "%d<", rc);
        buf_put(out, event.at, event.len);
        buf_putc(out, '>');
    }
    MUST(!input.len);
    free(block);
}

/* Whether the input ended between two events. */
static bool read_watch(struct str body, size_t piece, struct buf *out)
{
    struct frame frame = {.partial = {0}};
    bool between;
    for (size_t at = 0; at < body.len; at += piece)
        feed(&frame, (struct str){body.at + at, piece < body.len - at ? piece : body.len - at},
             out);
    between = frame_between(&frame);
    frame_reset(&frame);
    return between;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str body = {(const char *)bytes + 1, len - 1};
    struct buf whole = {0}, cut = {0};
    if (len < 2)
        return 0;
    MUST(read_watch(body, body.len, &whole) == read_watch(body, bytes[0] % 32 + 1, &cut));
    MUST(whole.len == cut.len);
    MUST(!whole.len || memcmp(whole.bytes, cut.bytes, cut.len) == 0);
    buf_free(&whole);
    buf_free(&cut);
    return 0;
}
