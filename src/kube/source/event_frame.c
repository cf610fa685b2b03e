/*
 * event_frame.c - finds the end of each event with json_scan.h, line by line.
 *
 * Normal path: skip white space, scan the object to its last bracket, and return it from the input,
 * or from `partial` if it came in pieces. An event over its limit is returned with an error, and the
 * rest of it is skipped.
 */
#include "kube/source/event_frame.h"

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
    *frame = (struct frame){.at = FRAME_BETWEEN};
}

bool frame_between(const struct frame *frame)
{
    return frame->at == FRAME_BETWEEN;
}

/* ---- white space ---- */

static bool is_space(char c)
{
    return c == '\n' || c == ' ' || c == '\r' || c == '\t';
}

static size_t leading_space(struct str text)
{
    size_t n = 0;
    while (n < text.len && is_space(text.at[n]))
        n++;
    return n;
}

struct str frame_trim(struct str text)
{
    while (text.len && is_space(text.at[text.len - 1]))
        text.len--;
    return text;
}

/* ---- input ---- */

/* The part of the line at the front of @input that has arrived, including its newline. A line may
 * have many events, so its end is searched only once. */
static struct str this_line(struct frame *frame, struct str input)
{
    if (!frame->ahead) {
        const char *newline = memchr(input.at, '\n', input.len);
        frame->ahead = newline ? (size_t)(newline - input.at) + 1 : input.len;
    }
    return (struct str){input.at, frame->ahead < input.len ? frame->ahead : input.len};
}

static struct str frame_take(struct frame *frame, struct str *input, size_t len)
{
    struct str taken = {input->at, len};
    input->at += len;
    input->len -= len;
    frame->ahead = frame->ahead > len ? frame->ahead - len : 0;
    return taken;
}

/* ---- where an event ends ---- */

static bool ends_line(struct str line)
{
    return line.at[line.len - 1] == '\n';
}

/* How much of @line belongs to the current object. */
static size_t scan_object(struct frame *frame, struct str line, bool *ret_ended)
{
    size_t space = frame->line_begins ? leading_space(line) : 0, len;
    /* A new line begins with an event where the current object can't have a brace: the current
     * object is incomplete. */
    *ret_ended = frame->line_begins && space < line.len && line.at[space] == '{' &&
                 !memchr("[:,", frame->last, 3);
    if (*ret_ended)
        return space;
    len = json_scan_value(&frame->scan, line, ret_ended);
    if (!*ret_ended) {
        struct str text = frame_trim(line);
        if (text.len)
            frame->last = text.at[text.len - 1];
        frame->line_begins = ends_line(line) || (frame->line_begins && !text.len);
        *ret_ended = frame->scan.in_string && ends_line(line);
    }
    return len;
}

static size_t scan_event(struct frame *frame, struct str line, bool *ret_ended)
{
    if (frame->at == FRAME_BETWEEN)
        frame->at = line.at[0] == '{' ? FRAME_IN_OBJECT : FRAME_IN_LINE;
    if (frame->at == FRAME_IN_OBJECT)
        return scan_object(frame, line, ret_ended);
    *ret_ended = ends_line(line);
    return line.len;
}

/* ---- events ---- */

/* The event is over its limit: its beginning is returned, the rest is skipped. */
static int drop_event(struct frame *frame, struct str text, bool ended, struct str *ret_event)
{
    *ret_event = text;
    frame->partial_lent = true;
    frame->dropping = !ended;
    return -INF_ETOOBIG;
}

/* Stores part of an event that spans several inputs. */
static int keep_piece(struct frame *frame, struct str piece, bool ended, struct str *ret_event)
{
    struct buf *partial = &frame->partial;
    partial->secret = true; /* it may be part of a Secret */
    if (buf_append(partial, piece.at, piece.len, FRAME_MAX) < 0)
        return drop_event(frame, partial->len ? (struct str){partial->bytes, partial->len} : piece,
                          ended, ret_event);
    if (!ended)
        return 0;
    *ret_event = frame_trim((struct str){partial->bytes, partial->len});
    frame->partial_lent = true;
    return 1;
}

static int add_piece(struct frame *frame, struct str piece, bool ended, struct str *ret_event)
{
    if (frame->dropping) {
        frame->dropping = !ended;
        return 0;
    }
    if (!ended || frame->partial.len)
        return keep_piece(frame, piece, ended, ret_event);
    if (piece.len > FRAME_MAX)
        return drop_event(frame, piece, ended, ret_event);
    *ret_event = frame_trim(piece);
    return 1;
}

/* Takes an event or part of one. Returns as frame_next(). */
static int next_piece(struct frame *frame, struct str *input, struct str *ret_event)
{
    bool ended, deep;
    struct str piece =
        frame_take(frame, input, scan_event(frame, this_line(frame, *input), &ended));
    int rc;
    if (ended && piece.len && ends_line(piece))
        piece.len--; /* the end of the line is not the end of the event */
    rc = add_piece(frame, piece, ended, ret_event);
    deep = frame->scan.deepest > FRAME_DEPTH_MAX;
    if (ended) {
        frame->at = FRAME_BETWEEN;
        frame->scan = (struct json_scan){0};
        frame->line_begins = false;
    }
    return rc > 0 && deep ? -INF_EDECODE : rc;
}

bool frame_begins_line(struct frame *frame, struct str *input)
{
    if (frame->partial_lent)
        forget_partial(frame);
    if (frame->at != FRAME_BETWEEN)
        return false;
    if (input->len)
        frame_take(frame, input, leading_space(*input));
    return frame->ahead == 0;
}

int frame_next(struct frame *frame, struct str *input, struct str *ret_event)
{
    int rc = 0;
    if (frame->partial_lent)
        forget_partial(frame);
    while (rc == 0 && input->len) {
        if (frame->at == FRAME_BETWEEN)
            frame_take(frame, input, leading_space(*input));
        if (input->len)
            rc = next_piece(frame, input, ret_event);
    }
    return rc;
}
