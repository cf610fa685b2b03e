/*
 * frame.h - cuts the body of a watch into events: one a line.
 *
 * API servers end each event with a newline and have no other in it. Where something on the way
 * lays out JSON anew, an event has many lines: a newline between two tokens of an object does not
 * end it. One inside a string does, for there it can't be JSON: whatever that was, the next line
 * begins anew.
 *
 * Chunks and events have nothing to do with each other: one chunk may carry many events and one
 * event many chunks. A line that lies whole in the input is lent from there; only one that is cut
 * is copied. Each byte is looked at once, however the input is cut.
 */
#ifndef KUBE_FRAME_H
#define KUBE_FRAME_H

#include "base/buf.h"
#include "base/str.h"
#include "kube/scan.h"

enum {
    FRAME_DEPTH_MAX = SCAN_DEPTH_MAX + 1, /* LIMIT: an object's, and the event around it */
    FRAME_MAX =
        16 * 1024 * 1024, /* LIMIT: bytes of one event; etcd holds objects of some MB at most */
};

struct frame {
    struct scan scan;   /* of the event under way */
    bool scanned;       /* to its end: only the end of the line is missing */
    struct buf partial; /* the beginning of an event whose end has not come yet */
    bool partial_lent;  /* it was given out as the last frame: forget it now */
    bool dropping;      /* the event under way was given up: pass over the rest of it */
};

/*
 * Takes the next event from the front of @input, which moves on. Returns 1 and the event, without
 * its newline, lent until the next call; 0 when all of @input is used up; -INF_ETOOBIG for an event
 * over FRAME_MAX or -INF_EDECODE for one over FRAME_DEPTH_MAX, with its beginning in @ret_event;
 * the next call goes on behind it. Empty lines are passed over.
 */
int frame_next(struct frame *frame, struct str *input, struct str *ret_event);

/* Whether the stream stands between two events. */
bool frame_between(const struct frame *frame);

/* Forgets what it holds; ready for another stream. */
void frame_reset(struct frame *frame);

#endif
