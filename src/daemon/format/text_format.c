/*
 * text_format.c - a record as one human-readable line:
 *
 *     12:04:31 MODIFIED pod shop/web-0                   status.phase Pending -> Running  (kubelet)
 *
 * Times are local; that of an Event is its own. On a terminal a line is not longer than its width: the column of the object is
 * narrower on a narrow terminal, a longer name loses its middle, and the paths of changes their
 * beginning, so that the values are visible. The manager is omitted if it does not fit, and the time on
 * a very narrow terminal.
 */
#include <string.h>

#include "base/base.h"
#include "daemon/format/text_line.h"

enum {
    OBJECT_WIDTH = 34, /* fits most of "pod namespace/name"; without a limit, longer ones shift the
                          rest */
    OBJECT_MIN = 14,   /* on a terminal it is two fifths of what the verb leaves */
    OBJECT_MAX = 56,
    CHANGES_MAX = 1024, /* columns of the changes, if the width allows it */
};

static size_t object_width(unsigned width)
{
    size_t before = TEXT_VERB_WIDTH + (width < TEXT_TIME_MIN ? 0 : TEXT_TIME_WIDTH);
    size_t columns = width > before ? (width - before) * 2 / 5 : 0;
    if (!width)
        return OBJECT_WIDTH;
    return columns < OBJECT_MIN ? OBJECT_MIN : columns > OBJECT_MAX ? OBJECT_MAX : columns;
}

/* @alone: nothing but the manager follows, so the object may use the whole line. */
static void put_object(struct text_line *line, const struct change *change, unsigned width,
                       bool alone)
{
    enum record_charset charset = line->options->charset;
    size_t column = object_width(width), most = alone ? text_line_room(line) : column - 1;
    struct buf text = {0}, shown = {0};
    text_put_object(&text, change, charset);
    if (width)
        text_put_middle(&shown, (struct str){text.bytes, text.len}, most, charset);
    else
        buf_put(&shown, text.bytes, text.len);
    text_line_put_column(line, NULL, (struct str){shown.bytes, shown.len}, column);
    buf_free(&text);
    buf_free(&shown);
}

static void text_put_change(struct buf *out, const struct change *change,
                            const struct record_options *options)
{
    struct buf text = {0};
    struct text_line line;
    text_line_start(&line, out, options, options->width);
    text_line_put_change_verb(&line, change);
    put_object(&line, change, options->width, !text_has_details(change));
    text_put_details(&text, change, options->width ? text_line_room(&line) : 0, CHANGES_MAX,
                     options->charset);
    text_line_put(&line, text_details_colour(change), (struct str){text.bytes, text.len});
    buf_clear(&text);
    text_put_manager(&text, change);
    text_line_put_optional(&line, TEXT_DIM, (struct str){text.bytes, text.len});
    text_line_end(&line);
    buf_free(&text);
}

static void text_put_note(struct buf *out, const struct note *note, const struct stamp *stamp,
                          const struct watch_id *watch, const struct record_options *options)
{
    const char *name = watch ? watch->name : NULL, *msg = note->msg;
    size_t n = name ? strlen(name) : 0;
    struct text_line line;
    text_line_start(&line, out, options, options->width);
    text_line_put_verb(&line, stamp->time_us,
                       note->level >= INF_LOG_WARN ? TEXT_BOLD TEXT_RED : TEXT_CYAN,
                       note_type_name(note->type));
    if (name)
        text_line_put_column(&line, NULL, str_of(name), object_width(options->width));
    if (n && strncmp(msg, name, n) == 0 && strncmp(msg + n, ": ", 2) == 0)
        msg += n + 2; /* many notes begin with the name, which has its own column here */
    text_line_put(&line, NULL, str_of(msg));
    text_line_end(&line);
}

const struct record_format text_format = {
    .orders_events = true,
    .put_change = text_put_change,
    .put_note = text_put_note,
};
