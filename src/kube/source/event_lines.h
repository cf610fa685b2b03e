/*
 * event_lines.h - the events of a watch, each guessed to be a line before anybody looks for its brackets.
 *
 * API servers write an event as one line, `{"type":...,"object":{...}}`, and who reads it as JSON
 * proves that it was one whole event: then nobody needs to count its brackets. So the line is given
 * out as a guess, found by its newline only. If it turns out to be something else (two events, part
 * of one, a bookmark, garbage), or does not look like one, the same text goes through the frame
 * (frame.h), which says what comes of it.
 *
 *     switch (lines_guess(&lines, &input, &text)) {
 *     case LINES_MORE: return;                               all of the input is used up
 *     case LINES_GUESS: if (good(text)) lines_accept(&lines, &input); else ... lines_next() as below
 *     case LINES_NONE: rc = lines_next(&lines, &input, &event);
 *     }
 *
 * A line that is cut is held until its newline comes. But an event may come without one and is not
 * kept waiting for it: what ends in a brace, where an event may end, or has a brace after which
 * another may begin, goes through the frame at once.
 */
#ifndef KUBE_SOURCE_EVENT_LINES_H
#define KUBE_SOURCE_EVENT_LINES_H

#include "kube/source/event_frame.h"

enum {
    LINES_HELD_MAX =
        256 * 1024, /* LIMIT: bytes of a line that is held; the frame takes longer ones */
};

enum lines_said {
    LINES_NONE,  /* no guess: lines_next() */
    LINES_GUESS, /* lines_accept() if it was right, else lines_next() */
    LINES_MORE,  /* all of the input is used up */
};

/* A zeroed one is ready for a stream. */
struct lines {
    struct frame frame;
    struct buf held; /* the beginning of a line, from earlier input, that nobody has looked into */
    size_t framed;   /* but so much of it went through the frame, since it is no guess any more */
    size_t offered;  /* the bytes of input in the guess, its newline included; 0: there is none */
};

/* Looks at the line at the front of @input; what is left of that must come again in the next call.
 * The guess has no white space around it, FRAME_MAX bytes at most, and is lent until then. */
enum lines_said lines_guess(struct lines *lines, struct str *input, struct str *ret_line);

/* The last guess was an event: goes on behind it. */
void lines_accept(struct lines *lines, struct str *input);

/* As frame_next(), for what was not guessed or guessed wrong. */
int lines_next(struct lines *lines, struct str *input, struct str *ret_event);

/* Whether the stream stands between two events. */
bool lines_between(const struct lines *lines);

/* Forgets what it holds; ready for another stream. */
void lines_reset(struct lines *lines);

#endif
