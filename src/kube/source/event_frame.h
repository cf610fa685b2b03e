/*
 * event_frame.h - splits the body of a watch into events by counting brackets.
 *
 * An event is a JSON object, from its `{` to its `}`. API servers write each event on one line, but a
 * proxy may format an object on many lines, put two on one line, or omit the last newline. Therefore
 * the brackets decide.
 *
 * Text that is not an object is returned as an event as well, so that the decoder can report it, and
 * does not affect the following lines. A line that begins with anything but `{` is one event. So is an
 * object that breaks off: JSON has no newline inside a string, and none before a `{` unless `[`, `:`
 * or `,` came before that.
 *
 * HTTP chunks and events are independent: one chunk may contain many events, and one event may span
 * many chunks. An event that is complete in the input is returned in place; only an event that is cut
 * is copied. Each byte is examined once, however the input is cut.
 */
#ifndef KUBE_SOURCE_EVENT_FRAME_H
#define KUBE_SOURCE_EVENT_FRAME_H

#include "base/buf.h"
#include "base/json/json.h"
#include "base/str.h"

enum {
    FRAME_DEPTH_MAX = JSON_DEPTH_MAX + 1, /* LIMIT: that of an object, plus the event around it */
    FRAME_MAX =
        16 * 1024 * 1024, /* LIMIT: bytes of one event; etcd holds objects of some MB at most */
};

enum frame_at {
    FRAME_BETWEEN,   /* between two events */
    FRAME_IN_OBJECT, /* in an object, which ends with its last bracket */
    FRAME_IN_LINE,   /* in other text, which ends with the line */
};

struct frame {
    enum frame_at at;
    struct json_scan scan; /* of the current object */
    char last;             /* its last byte so far that is not white space */
    bool line_begins;      /* only white space since its last newline */
    bool dropping;         /* the current event is over its limit: skip the rest of it */
    struct buf partial;    /* the beginning of an event that is not complete yet */
    bool partial_lent;     /* it was returned as the last frame: clear it in the next call */
    size_t ahead;          /* bytes of input that belong to the current line; 0: search its end */
};

/*
 * Takes the next event from the front of @input and advances it. The rest of @input must be
 * passed again in the next call. Returns 1 and the event, without white space around it, valid
 * until the next call; 0 when @input is used up; -INF_ETOOBIG for an event over FRAME_MAX or
 * -INF_EDECODE for one over FRAME_DEPTH_MAX, with its beginning in @ret_event; the next call
 * continues after it.
 */
int frame_next(struct frame *frame, struct str *input, struct str *ret_event);

/* Skips white space between events. Returns whether the stream is between two events and no other
 * event has begun on the line at the front of @input. */
bool frame_begins_line(struct frame *frame, struct str *input);

/* @text without the white space at its end. */
struct str frame_trim(struct str text);

/* Whether the stream is between two events. */
bool frame_between(const struct frame *frame);

/* Resets the state for another stream. */
void frame_reset(struct frame *frame);

#endif
