/*
 * text_format.c - builds a line from pieces that each have a colour, so that its length can be
 * counted in characters, and the line cut, without parsing escape sequences.
 */
#include "daemon/journal/text_format.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/utf8.h"
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

static void line_init(struct line *line, struct buf *out, const struct text_format_options *options)
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

static void put_blanks(struct line *line)
{
    for (size_t i = 0; i < line->gap && i < line->left; i++)
        buf_putc(line->out, ' ');
    line->left -= line->gap < line->left ? line->gap : line->left;
    line->gap = 0;
}

/* Text that does not fit is cut, and an ellipsis ends the line. If there is no room for the
 * ellipsis, nothing is added. */
static void put_visible(struct line *line, const char *colour, struct str text)
{
    size_t n = count_characters(text);
    if (line->full || !line->left || !n)
        return;
    line->full = line->gap + n > line->left;
    line->left -= line->full ? 1 : 0;
    put_blanks(line);
    put_colour(line, colour);
    text = first_characters(text, line->left);
    buf_put(line->out, text.at, text.len);
    if (line->full)
        buf_puts(line->out, "\xe2\x80\xa6");
    line->left -= line->full ? line->left : n;
    put_colour(line, colour ? RESET : NULL);
}

static void put_text(struct line *line, const char *colour, struct str text)
{
    struct buf clean = {0};
    utf8_put_visible(&clean, text);
    put_visible(line, colour, (struct str){clean.bytes, clean.len});
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

static const char *colour_of(enum inf_verb verb)
{
    switch (verb) {
    case INF_ADDED: return GREEN;
    case INF_MODIFIED: return YELLOW;
    case INF_DELETED: return RED;
    }
    return NULL;
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
    const struct core_event *told = &change->told;
    struct buf text = {0};
    put_kind(&text, change->kind);
    if (change->tells) {
        put_kind(&text, told->kind);
        buf_printf(&text, "%s%s%s", told->ns, told->ns[0] ? "/" : "", told->name);
    } else {
        change_put_name(&text, change);
    }
    put_column(line, NULL, (struct str){text.bytes, text.len}, line->name_width);
    buf_free(&text);
}

static void put_core_event(struct line *line, const struct change *change)
{
    struct buf text = {0};
    change_put_told(&text, change, CHANGES_MAX);
    put_text(line, change->told.warning ? RED : NULL, (struct str){text.bytes, text.len});
    buf_free(&text);
}

static void put_changes(struct line *line, const struct change *change)
{
    struct buf text = {0};
    if (inf_diff_count(change->diff))
        summary_put_changes(&text, change->diff, true,
                            line->left < CHANGES_MAX ? line->left : CHANGES_MAX);
    put_text(line, NULL, (struct str){text.bytes, text.len});
    buf_free(&text);
}

/* Details of a deletion that may only be a change of the selection, or whose last state is
 * unknown. */
static void put_deleted(struct line *line, const struct change *change)
{
    struct buf text = {0};
    if (change->selected && (!change->why || strcmp(change->why, "left") == 0))
        buf_puts(&text, change->why ? "left the selection" : "or left the selection");
    if (!change->event->final)
        buf_printf(&text, "%slast state unknown", text.len ? ", " : "");
    put_text(line, DIM, (struct str){text.bytes, text.len});
    buf_free(&text);
}

static void put_who(struct line *line, const struct change *change)
{
    struct buf text = {0};
    if (!change->has_who || !change->who.manager[0])
        return;
    buf_printf(&text, "%s(%s)", change->diff || change->tells ? "  " : "", change->who.manager);
    put_text(line, DIM, (struct str){text.bytes, text.len});
    buf_free(&text);
}

void text_format_put_change(struct buf *out, const struct change *change,
                            const struct text_format_options *options)
{
    struct line line;
    line_init(&line, out, options);
    put_time(&line, change->stamp.time_us);
    put_column(&line, colour_of(change->event->verb), str_of(inf_verb_name(change->event->verb)),
               VERB_WIDTH);
    put_object(&line, change);
    if (change->tells)
        put_core_event(&line, change);
    else if (change->diff)
        put_changes(&line, change);
    else if (change->event->verb == INF_DELETED)
        put_deleted(&line, change);
    put_who(&line, change);
    buf_putc(out, '\n');
}

/* Many notes begin with the name of their watch, which has its own column here. */
static const char *without_name(const char *msg, const struct watch_id *watch)
{
    size_t n = watch && watch->name ? strlen(watch->name) : 0;
    return n && strncmp(msg, watch->name, n) == 0 && strncmp(msg + n, ": ", 2) == 0 ? msg + n + 2
                                                                                    : msg;
}

void text_format_put_note(struct buf *out, const struct note *note, const struct stamp *stamp,
                          const struct watch_id *watch, const struct text_format_options *options)
{
    bool bad = note->level >= INF_LOG_WARN;
    struct line line;
    line_init(&line, out, options);
    put_time(&line, stamp->time_us);
    put_column(&line, bad ? BOLD RED : CYAN, str_of(note_type_name(note->type)), VERB_WIDTH);
    if (watch && watch->name)
        put_column(&line, NULL, str_of(watch->name), line.name_width);
    put_text(&line, NULL, str_of(without_name(note->msg, watch)));
    buf_putc(out, '\n');
}
