/*
 * text_format.c - a record as one human-readable line:
 *
 *     12:04:31 MODIFIED pod shop/web-0                   status.phase Pending -> Running  (kubelet)
 *
 * Control characters are made visible; the only escape sequences are colours, if enabled. Times are
 * local. Normal path: a line is built from pieces that each have a colour, so that its length can be
 * counted in characters, and the line cut, without parsing escape sequences.
 */
#include <ctype.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/utf8.h"
#include "daemon/journal/record_format.h"
#include "daemon/journal/summary.h"

#define RESET  "\x1b[0m"
#define DIM    "\x1b[2m"
#define GREEN  "\x1b[32m"
#define YELLOW "\x1b[33m"
#define RED    "\x1b[31m"
#define CYAN   "\x1b[36m"
#define BOLD   "\x1b[1m"

enum {
    TIME_WIDTH = 9,
    VERB_WIDTH = 9,
    NAME_WIDTH = 34, /* fits most of "pod namespace/name"; longer ones shift the rest */
    WIDE = 120,      /* from this line width on, WIDE_NAME is used */
    WIDE_NAME = 42,
    CHANGES_MAX = 1024, /* bytes of the changes, if the width allows it */
    WIDTH_MAX = 4096,   /* LIMIT: characters of a line */
};

struct line {
    struct buf *out;
    bool colour;
    size_t left; /* characters that still fit */
    size_t gap;  /* blanks before the next piece, if there is one */
    size_t name_width;
    bool full;
};

static void line_init(struct line *line, struct buf *out, const struct record_options *options)
{
    size_t width = options->width;
    *line = (struct line){.out = out, .colour = options->colour};
    line->left = width && width < WIDTH_MAX ? width : WIDTH_MAX;
    line->name_width = width >= WIDE ? WIDE_NAME : NAME_WIDTH;
}

static size_t count_characters(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return n;
}

/* The first @n characters of @text, which is valid UTF-8. */
static struct str first_characters(struct str text, size_t n)
{
    size_t i = 0;
    for (; i < text.len; i++)
        if (((unsigned char)text.at[i] & 0xc0) != 0x80 && n-- == 0)
            break;
    return (struct str){text.at, i};
}

static void put_colour(struct line *line, const char *colour)
{
    if (line->colour && colour)
        buf_puts(line->out, colour);
}

/* Adds @text with control characters made visible. Text that does not fit is cut, and an ellipsis
 * ends the line. If there is no room for the ellipsis, nothing is added. */
static void put_text(struct line *line, const char *colour, struct str text)
{
    struct buf clean = {0};
    size_t n;
    utf8_put_visible(&clean, text);
    text = (struct str){clean.bytes, clean.len};
    n = count_characters(text);
    if (!line->full && line->left && n) {
        line->full = line->gap + n > line->left;
        line->left -= line->full;
        for (; line->gap && line->left; line->gap--, line->left--)
            buf_putc(line->out, ' ');
        line->gap = 0;
        put_colour(line, colour);
        text = first_characters(text, line->left);
        buf_put(line->out, text.at, text.len);
        if (line->full)
            buf_puts(line->out, "\xe2\x80\xa6");
        line->left -= line->full ? line->left : n;
        put_colour(line, colour ? RESET : NULL);
    }
    buf_free(&clean);
}

/* @text in a column of @width characters; at least one blank follows. */
static void put_column(struct line *line, const char *colour, struct str text, size_t width)
{
    size_t n = count_characters(text);
    put_text(line, colour, text);
    line->gap = n < width ? width - n : 1;
}

static void put_time(struct line *line, int64_t time_us)
{
    time_t seconds = (time_t)(time_us / 1000000);
    char text[16] = "--:--:--";
    struct tm tm;
    if (localtime_r(&seconds, &tm))
        strftime(text, sizeof(text), "%H:%M:%S", &tm);
    put_column(line, DIM, str_of(text), TIME_WIDTH);
}

static void put_kind(struct buf *out, const char *kind)
{
    for (const char *c = kind; *c; c++)
        buf_putc(out, (char)tolower((unsigned char)*c));
    buf_putc(out, ' ');
}

/* An Event is shown with the involved object instead of its own generated name. */
static void put_object(struct line *line, const struct change *change)
{
    const struct core_event *event = &change->core_event;
    struct buf text = {0};
    put_kind(&text, change->kind);
    if (change->is_core_event) {
        put_kind(&text, event->kind);
        buf_printf(&text, "%s%s%s", event->ns, event->ns[0] ? "/" : "", event->name);
    } else {
        change_put_name(&text, change);
    }
    put_column(line, NULL, (struct str){text.bytes, text.len}, line->name_width);
    buf_free(&text);
}

/* The contents of an Event; what changed; or, for a deletion, whether it may only be a change of the
 * selection and whether the last state is unknown. */
static void put_details(struct line *line, const struct change *change)
{
    const char *colour = NULL;
    struct buf text = {0};
    if (change->is_core_event) {
        change_put_core_event(&text, change, CHANGES_MAX);
        colour = change->core_event.warning ? RED : NULL;
    } else if (change->diff && inf_diff_count(change->diff)) {
        summary_put_changes(&text, change->diff, true,
                            line->left < CHANGES_MAX ? line->left : CHANGES_MAX);
    } else if (change->event->verb == INF_DELETED) {
        if (change->selected && !change->why)
            buf_puts(&text, "or left the selection");
        else if (change->selected && strcmp(change->why, SELECTION_LEFT) == 0)
            buf_puts(&text, "left the selection");
        if (!change->event->final)
            buf_printf(&text, "%slast state unknown", text.len ? ", " : "");
        colour = DIM;
    }
    put_text(line, colour, (struct str){text.bytes, text.len});
    buf_free(&text);
}

static void text_put_change(struct buf *out, const struct change *change,
                            const struct record_options *options)
{
    static const char *const colours[] = {
        [INF_ADDED] = GREEN, [INF_MODIFIED] = YELLOW, [INF_DELETED] = RED};
    enum inf_verb verb = change->event->verb;
    struct line line;
    line_init(&line, out, options);
    put_time(&line, change->stamp.time_us);
    put_column(&line, colours[verb], str_of(inf_verb_name(verb)), VERB_WIDTH);
    put_object(&line, change);
    put_details(&line, change);
    if (change->has_writer && change->writer.manager[0]) {
        struct buf text = {0};
        buf_printf(&text, "%s(%s)", change->diff || change->is_core_event ? "  " : "",
                   change->writer.manager);
        put_text(&line, DIM, (struct str){text.bytes, text.len});
        buf_free(&text);
    }
    buf_putc(out, '\n');
}

static void text_put_note(struct buf *out, const struct note *note, const struct stamp *stamp,
                          const struct watch_id *watch, const struct record_options *options)
{
    const char *name = watch ? watch->name : NULL, *msg = note->msg;
    size_t n = name ? strlen(name) : 0;
    struct line line;
    line_init(&line, out, options);
    put_time(&line, stamp->time_us);
    put_column(&line, note->level >= INF_LOG_WARN ? BOLD RED : CYAN,
               str_of(note_type_name(note->type)), VERB_WIDTH);
    if (name)
        put_column(&line, NULL, str_of(name), line.name_width);
    if (n && strncmp(msg, name, n) == 0 && strncmp(msg + n, ": ", 2) == 0)
        msg += n + 2; /* many notes begin with the name, which has its own column here */
    put_text(&line, NULL, str_of(msg));
    buf_putc(out, '\n');
}

const struct record_format text_format = {
    .put_change = text_put_change,
    .put_note = text_put_note,
};
