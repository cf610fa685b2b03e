/*
 * event_lines.h - splits the body of a watch into events at newlines, without counting brackets.
 *
 * API servers write an event as one line, `{"type":...,"object":{...}}`. Reading a line as JSON proves
 * that it is one complete event, so that counting its brackets is not necessary. A line is therefore
 * returned as a guess. If it is something else (two events, part of one, a bookmark, garbage), or does
 * not look like an event, the same text goes through the frame (event_frame.h), which is exact.
 *
 *     switch (lines_guess(&lines, &input, &text)) {
 *     case LINES_MORE: return;                               all of the input is used up
 *     case LINES_GUESS: if (good(text)) lines_accept(&lines, &input); else ... lines_next() as below
 *     case LINES_NONE: rc = lines_next(&lines, &input, &event);
 *     }
 *
 * An incomplete line is held until its newline arrives. An event without a newline is not delayed by
 * this: text that ends in a brace, where an event may end, or that has a brace after which another
 * event may begin, goes through the frame at once.
 */
#ifndef KUBE_SOURCE_EVENT_LINES_H
#define KUBE_SOURCE_EVENT_LINES_H

#include "kube/source/event_frame.h"

enum {
    LINES_HELD_MAX =
        256 * 1024, /* LIMIT: bytes of a line that is held; the frame takes longer ones */
};

enum lines_result {
    LINES_NONE,  /* no guess: lines_next() */
    LINES_GUESS, /* lines_accept() if it was right, else lines_next() */
    LINES_MORE,  /* all of the input is used up */
};

/* Zeroed: ready for a stream. */
struct lines {
    struct frame frame;
    struct buf held; /* the start of a line, from earlier input, not examined yet */
    size_t framed;   /* the part of `held` that passed through the frame: not a guess any more */
    size_t offered;  /* bytes of input in the guess, with its newline; 0: there is no guess */
};

/* Examines the line at the front of @input. The rest of @input must be passed again in the next call.
 * The guess has no white space around it, at most FRAME_MAX bytes, and is valid until then. */
enum lines_result lines_guess(struct lines *lines, struct str *input, struct str *ret_line);

/* The last guess was an event: continue after it. */
void lines_accept(struct lines *lines, struct str *input);

/* As frame_next(), if there was no guess or a wrong one. */
int lines_next(struct lines *lines, struct str *input, struct str *ret_event);

/* Whether the stream is between two events. */
bool lines_between(const struct lines *lines);

/* Ready for another stream. */
void lines_reset(struct lines *lines);

#endif
