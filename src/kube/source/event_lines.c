#include "kube/source/event_lines.h"

#include <string.h>

#include "base/alloc.h"

#define BEGINNING "{\"type\":"

static void forget_held(struct lines *lines)
{
    buf_clear(&lines->held);
    lines->framed = lines->offered = 0;
}

void lines_reset(struct lines *lines)
{
    frame_reset(&lines->frame);
    forget_held(lines);
    buf_free(&lines->held);
}

bool lines_between(const struct lines *lines)
{
    return frame_between(&lines->frame) && !lines->held.len;
}

static void take(struct str *input, size_t len)
{
    *input = (struct str){input->at + len, input->len - len};
}

/* ---- what an event looks like ---- */

/* As far as it is there. */
static bool begins_as_event(struct str text)
{
    size_t len = text.len < sizeof(BEGINNING) - 1 ? text.len : sizeof(BEGINNING) - 1;
    return !len || memcmp(text.at, BEGINNING, len) == 0;
}

/* What was held before does not end in a brace: both are in the last piece. */
static bool ends_as_event(struct str piece)
{
    struct str text = frame_trim(piece);
    return text.len > 1 && memcmp(text.at + text.len - 2, "}}", 2) == 0;
}

static bool may_end_event(struct str piece)
{
    struct str text = frame_trim(piece);
    return text.len && text.at[text.len - 1] == '}';
}

/* Whether another event may begin in @piece, which has no newline. Inside of one object no `{`
 * follows a `}`; in a string it may, and such a line is only framed without need. API servers write
 * no white space between brackets. A `}` at the end of a piece is never held: see hold_piece(). */
static bool may_begin_another(struct str piece)
{
    const char *at = piece.at, *end = piece.at + piece.len;
    while ((at = memchr(at, '}', (size_t)(end - at))) && ++at < end)
        if (*at == '{' || *at == ' ' || *at == '\t' || *at == '\r')
            return true;
    return false;
}

/* ---- what is held ---- */

static bool hold(struct lines *lines, struct str piece)
{
    lines->held.secret = true; /* it may be a Secret's */
    return buf_append(&lines->held, piece.at, piece.len, LINES_HELD_MAX) == 0;
}

/* The guess was wrong: its end is the input's again. */
static void take_back(struct lines *lines)
{
    if (lines->held.len) {
        lines->held.len -= lines->offered;
        secret_wipe(lines->held.bytes + lines->held.len, lines->offered);
    }
    lines->offered = 0;
}

static struct str not_framed(const struct lines *lines)
{
    return (struct str){lines->held.bytes + lines->framed, lines->held.len - lines->framed};
}

/* Passes over the white space behind an event in what is held. Whether that was all of it. */
static bool is_used_up(struct lines *lines)
{
    struct str left = not_framed(lines);
    frame_begins_line(&lines->frame, &left);
    lines->framed = lines->held.len - left.len;
    return left.len == 0;
}

/* ---- guessing ---- */

/* Whether a line begins at the front of @input, or goes on there that was held as a guess. */
static bool may_guess(struct lines *lines, struct str *input)
{
    if (lines->framed) {
        if (!is_used_up(lines))
            return false;
        forget_held(lines);
    }
    return lines->held.len || (frame_begins_line(&lines->frame, input) && begins_as_event(*input));
}

/* The line has not ended yet. */
static enum lines_said hold_piece(struct lines *lines, struct str *input)
{
    if (may_end_event(*input) || may_begin_another(*input) || !hold(lines, *input))
        return LINES_NONE;
    take(input, input->len);
    return LINES_MORE;
}

static enum lines_said offer(struct lines *lines, struct str piece, struct str *ret_line)
{
    if (!ends_as_event(piece) || piece.len > FRAME_MAX)
        return LINES_NONE;
    if (!lines->held.len)
        *ret_line = frame_trim(piece);
    else if (hold(lines, piece))
        *ret_line = frame_trim((struct str){lines->held.bytes, lines->held.len});
    else
        return LINES_NONE;
    lines->offered = piece.len;
    return LINES_GUESS;
}

enum lines_said lines_guess(struct lines *lines, struct str *input, struct str *ret_line)
{
    const char *newline;
    if (!may_guess(lines, input))
        return LINES_NONE;
    if (!input->len)
        return LINES_MORE;
    newline = memchr(input->at, '\n', input->len);
    if (!newline)
        return hold_piece(lines, input);
    return offer(lines, (struct str){input->at, (size_t)(newline - input->at) + 1}, ret_line);
}

void lines_accept(struct lines *lines, struct str *input)
{
    take(input, lines->offered);
    forget_held(lines);
}

/* ---- framing ---- */

int lines_next(struct lines *lines, struct str *input, struct str *ret_event)
{
    take_back(lines);
    if (lines->held.len) {
        struct str left = not_framed(lines);
        int rc = frame_next(&lines->frame, &left, ret_event);
        lines->framed = lines->held.len - left.len;
        if (rc)
            return rc;
        forget_held(lines);
    }
    return frame_next(&lines->frame, input, ret_event);
}
