#include "kube/frame.h"

#include <string.h>

#include "informer/error.h"

/* Memory of one huge event is not kept for the small ones that follow. */
enum {
    PARTIAL_KEPT = 256 * 1024,
};

static void forget_partial(struct frame *frame)
{
    if (frame->partial.cap > PARTIAL_KEPT)
        buf_free(&frame->partial);
    buf_clear(&frame->partial);
    frame->partial_lent = false;
}

void frame_reset(struct frame *frame)
{
    buf_free(&frame->partial);
    *frame = (struct frame){.dropping = false};
}

bool frame_between(const struct frame *frame)
{
    return !frame->dropping && (frame->partial_lent || frame->partial.len == 0);
}

static struct str take(struct str *input, size_t len)
{
    struct str taken = {input->at, len};
    input->at += len;
    input->len -= len;
    return taken;
}

static struct str trimmed(struct str line)
{
    while (line.len && (line.at[line.len - 1] == '\r' || line.at[line.len - 1] == ' '))
        line.len--;
    return line;
}

/* The event is over its limit: what there is of it is lent, the rest passed over. */
static int give_up(struct frame *frame, struct str text, bool complete, struct str *ret_event)
{
    *ret_event = text;
    frame->partial_lent = true;
    frame->dropping = !complete;
    return -INF_ETOOBIG;
}

/* The rest of a line that began in an earlier input. */
static int finish_partial(struct frame *frame, struct str piece, bool complete,
                          struct str *ret_event)
{
    struct buf *partial = &frame->partial;
    if (buf_append(partial, piece.at, piece.len, FRAME_MAX) < 0)
        return give_up(frame, partial->len ? (struct str){partial->bytes, partial->len} : piece,
                       complete, ret_event);
    if (!complete)
        return 0;
    *ret_event = trimmed((struct str){partial->bytes, partial->len});
    frame->partial_lent = true;
    return 1;
}

static int finish_line(struct frame *frame, struct str piece, bool complete, struct str *ret_event)
{
    if (frame->dropping) {
        frame->dropping = !complete;
        return 0;
    }
    if (!complete || frame->partial.len)
        return finish_partial(frame, piece, complete, ret_event);
    if (piece.len > FRAME_MAX)
        return give_up(frame, piece, complete, ret_event);
    *ret_event = trimmed(piece);
    return 1;
}

/* The next line, its newline included, or what there is of it. */
static struct str take_line(struct str *input)
{
    const char *newline = memchr(input->at, '\n', input->len);
    return take(input, newline ? (size_t)(newline - input->at) + 1 : input->len);
}

/* Whether the event ends with @line. */
static bool scan_line(struct frame *frame, struct str line)
{
    struct scan *scan = &frame->scan;
    if (!frame->scanned)
        scan_value(scan, line, &frame->scanned);
    if (line.at[line.len - 1] != '\n')
        return false;
    return frame->scanned || scan->scalar || scan->in_string;
}

/* Takes a line, or part of one. As frame_next(); an empty event is one too. */
static int next_line(struct frame *frame, struct str *input, struct str *ret_event)
{
    struct str line = take_line(input);
    bool complete = scan_line(frame, line), deep = frame->scan.deepest > FRAME_DEPTH_MAX;
    int rc;
    if (complete)
        line.len--;
    rc = finish_line(frame, line, complete, ret_event);
    if (complete) {
        frame->scan = (struct scan){0};
        frame->scanned = false;
    }
    return rc > 0 && deep ? -INF_EDECODE : rc;
}

int frame_next(struct frame *frame, struct str *input, struct str *ret_event)
{
    if (frame->partial_lent)
        forget_partial(frame);
    while (input->len) {
        int rc = next_line(frame, input, ret_event);
        if (rc < 0 || (rc > 0 && ret_event->len))
            return rc;
        if (frame->partial_lent) /* an empty line */
            forget_partial(frame);
    }
    return 0;
}
