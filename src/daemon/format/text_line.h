/*
 * text_line.h - one line of text for people, built from pieces that each have a colour.
 *
 * The columns of a line are counted as pieces are added, so that it can be cut at the width of the
 * terminal without parsing escape sequences. Control characters are made visible; the only escape
 * sequences are colours, if enabled.
 */
#ifndef DAEMON_FORMAT_TEXT_LINE_H
#define DAEMON_FORMAT_TEXT_LINE_H

#include "daemon/format/record_format.h"

#define TEXT_DIM    "\x1b[2m"
#define TEXT_BOLD   "\x1b[1m"
#define TEXT_RED    "\x1b[31m"
#define TEXT_GREEN  "\x1b[32m"
#define TEXT_YELLOW "\x1b[33m"
#define TEXT_CYAN   "\x1b[36m"
#define TEXT_RESET  "\x1b[0m"

enum {
    TEXT_TIME_MIN = 50, /* narrower lines have no time: what changed is more important */
    TEXT_TIME_WIDTH = 9,
    TEXT_VERB_WIDTH = 9,
};

struct text_line {
    struct buf *out;
    const struct record_options *options;
    size_t left; /* columns that still fit */
    size_t gap;  /* blanks before the next piece, if there is one */
    bool full;   /* a piece was cut; nothing is added any more */
};

/* Starts a line at the end of @out. @width: columns; 0: no limit, except a very high one. */
void text_line_start(struct text_line *line, struct buf *out, const struct record_options *options,
                     unsigned width);
void text_line_end(struct text_line *line);

/* Adds a piece. Text that does not fit is cut, and an ellipsis ends the line. If there is no room
 * for the ellipsis, nothing is added. @colour may be NULL. */
void text_line_put(struct text_line *line, const char *colour, struct str text);

/* The same, but a piece that does not fit is omitted. */
void text_line_put_optional(struct text_line *line, const char *colour, struct str text);

/* Adds a piece in a column of @width; at least one blank follows. A longer one shifts the rest. */
void text_line_put_column(struct text_line *line, const char *colour, struct str text,
                          size_t width);

/* Adds the local time, except to a narrow line, and the coloured verb, the columns at the start of each
 * line. */
void text_line_put_verb(struct text_line *line, int64_t time_us, const char *colour,
                        const char *verb);
/* The same; the colour is that of the level if this is warn or error, else of the verb. */
void text_line_put_change_verb(struct text_line *line, const struct change *change);

/* Columns that the next piece may have. */
size_t text_line_room(const struct text_line *line);

/* ---- text ---- */

/* Appends @text as the terminal can show it: unsafe characters are escaped, and in a terminal that
 * is not UTF-8 all others than ASCII too. */
void text_put_visible(struct buf *out, struct str text, enum record_charset charset);

const char *text_ellipsis(enum record_charset charset);
const char *text_arrow(enum record_charset charset); /* with blanks */

/* Appends @text, which is visible, in at most @columns: without its middle if it is longer. More of
 * its end than of its start stays, because names differ there. */
void text_put_middle(struct buf *out, struct str text, size_t columns, enum record_charset charset);

/* Appends "pod shop/web-0". An Event is shown with the involved object instead of its own generated
 * name. */
void text_put_object(struct buf *out, const struct change *change, enum record_charset charset);

/* Appends the contents of an Event, what changed, or what is known about a deletion: in at most @max
 * columns, and fitted into @columns unless that is 0. The text is visible, except that of an Event. */
void text_put_details(struct buf *out, const struct change *change, size_t columns, size_t max,
                      enum record_charset charset);
bool text_has_details(const struct change *change);
const char *text_details_colour(const struct change *change);

/* Appends "  (kubelet)", the field manager of the change, if it is known. */
void text_put_manager(struct buf *out, const struct change *change);

#endif
