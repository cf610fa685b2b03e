/*
 * text_line.c - adds pieces to a line and counts their columns.
 */
#include "daemon/format/text_line.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/text/display.h"
#include "base/text/utf8.h"
#include "daemon/record/summary.h"

enum {
    WIDTH_MAX = 4096, /* LIMIT: columns of a line */
};

/* ---- text ---- */

void text_put_visible(struct buf *out, struct str text, enum record_charset charset)
{
    if (charset == RECORD_ASCII)
        utf8_put_ascii(out, text);
    else
        utf8_put_visible(out, text);
}

const char *text_ellipsis(enum record_charset charset)
{
    return charset == RECORD_ASCII ? "..." : DISPLAY_ELLIPSIS;
}

const char *text_arrow(enum record_charset charset)
{
    return charset == RECORD_TERMINAL ? " \xe2\x86\x92 " : " -> ";
}

void text_put_middle(struct buf *out, struct str text, size_t columns, enum record_charset charset)
{
    struct str ellipsis = str_of(text_ellipsis(charset)), head, tail;
    size_t room = display_width(ellipsis);
    if (display_width(text) <= columns) {
        buf_put(out, text.at, text.len);
        return;
    }
    room = columns > room ? columns - room : 0;
    head = display_head(text, room * 2 / 5);
    tail = display_tail(text, room - display_width(head));
    buf_put(out, head.at, head.len);
    buf_put(out, ellipsis.at, ellipsis.len);
    buf_put(out, tail.at, tail.len);
}

static void put_kind(struct buf *out, const char *kind)
{
    for (const char *c = kind; *c; c++)
        buf_putc(out, (char)tolower((unsigned char)*c));
    buf_putc(out, ' ');
}

void text_put_object(struct buf *out, const struct change *change, enum record_charset charset)
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
    text_put_visible(out, (struct str){text.bytes, text.len}, charset);
    buf_free(&text);
}

/* ---- details ---- */

static bool has_changes(const struct change *change)
{
    return change->diff && inf_diff_count(change->diff);
}

/* Whether the object may only have left the selection, and whether the last state is unknown. */
static void put_deletion(struct buf *out, const struct change *change)
{
    size_t start = out->len;
    if (change->selected && !change->why)
        buf_puts(out, "or left the selection");
    else if (change->selected && strcmp(change->why, SELECTION_LEFT) == 0)
        buf_puts(out, "left the selection");
    if (!change->event->final)
        buf_printf(out, "%slast state unknown", out->len > start ? ", " : "");
}

bool text_has_details(const struct change *change)
{
    return change->is_core_event || has_changes(change) ||
           (change->event->verb == INF_DELETED && (change->selected || !change->event->final));
}

void text_put_details(struct buf *out, const struct change *change, size_t columns, size_t max,
                      enum record_charset charset)
{
    if (change->is_core_event)
        change_put_core_event(out, change, max);
    else if (has_changes(change))
        summary_put_fitted(out, change->diff,
                           &(struct summary_fit){
                               .columns = columns < max ? columns : max,
                               .max = max,
                               .arrow = text_arrow(charset),
                               .ellipsis = text_ellipsis(charset),
                               .lines = change->lines,
                               .put = charset == RECORD_ASCII ? utf8_put_ascii : utf8_put_visible,
                           });
    else if (change->event->verb == INF_DELETED)
        put_deletion(out, change);
}

const char *text_details_colour(const struct change *change)
{
    if (change->is_core_event)
        return change->core_event.warning ? TEXT_RED : NULL;
    return change->event->verb == INF_DELETED ? TEXT_DIM : NULL;
}

/* The last manager of an object that existed before the start is not the one that added it. */
void text_put_manager(struct buf *out, const struct change *change)
{
    if (change->event->origin != INF_INITIAL && change->has_writer && change->writer.manager[0])
        buf_printf(out, "%s(%s)", text_has_details(change) ? "  " : "", change->writer.manager);
}

/* ---- pieces ---- */

void text_line_start(struct text_line *line, struct buf *out, const struct record_options *options,
                     unsigned width)
{
    *line = (struct text_line){.out = out, .options = options};
    line->left = width && width < WIDTH_MAX ? width : WIDTH_MAX;
}

void text_line_end(struct text_line *line)
{
    buf_putc(line->out, '\n');
}

size_t text_line_room(const struct text_line *line)
{
    return line->full || line->gap > line->left ? 0 : line->left - line->gap;
}

/* Adds visible text that fits. */
static void put_fitting(struct text_line *line, const char *colour, struct str text)
{
    bool coloured = colour && line->options->colour;
    line->left -= line->gap + display_width(text);
    for (; line->gap; line->gap--)
        buf_putc(line->out, ' ');
    if (coloured)
        buf_puts(line->out, colour);
    buf_put(line->out, text.at, text.len);
    if (coloured)
        buf_puts(line->out, TEXT_RESET);
}

/* Adds as much as fits, and the ellipsis. */
static void put_cut(struct text_line *line, const char *colour, struct str text)
{
    struct str ellipsis = str_of(text_ellipsis(line->options->charset)), head;
    size_t width = display_width(ellipsis);
    struct buf cut = {0};
    line->full = true;
    if (line->left < width + (line->gap > 0))
        return;
    if (line->gap > line->left - width)
        line->gap = line->left - width;
    head = display_head(text, line->left - line->gap - width);
    buf_put(&cut, head.at, head.len);
    buf_put(&cut, ellipsis.at, ellipsis.len);
    put_fitting(line, colour, (struct str){cut.bytes, cut.len});
    buf_free(&cut);
}

void text_line_put(struct text_line *line, const char *colour, struct str text)
{
    struct buf visible = {0};
    text_put_visible(&visible, text, line->options->charset);
    text = (struct str){visible.bytes, visible.len};
    if (!line->full && line->left && text.len) {
        if (display_width(text) <= text_line_room(line))
            put_fitting(line, colour, text);
        else
            put_cut(line, colour, text);
    }
    buf_free(&visible);
}

void text_line_put_optional(struct text_line *line, const char *colour, struct str text)
{
    struct buf visible = {0};
    text_put_visible(&visible, text, line->options->charset);
    if (display_width((struct str){visible.bytes, visible.len}) <= text_line_room(line))
        text_line_put(line, colour, text);
    buf_free(&visible);
}

void text_line_put_column(struct text_line *line, const char *colour, struct str text, size_t width)
{
    size_t before = line->left - (line->gap < line->left ? line->gap : line->left), used;
    text_line_put(line, colour, text);
    used = before > line->left ? before - line->left : 0;
    line->gap = used < width ? width - used : 1;
}

void text_line_put_verb(struct text_line *line, int64_t time_us, const char *colour,
                        const char *verb)
{
    time_t seconds = (time_t)(time_us / 1000000);
    char text[16] = "--:--:--";
    struct tm tm;
    if (localtime_r(&seconds, &tm))
        strftime(text, sizeof(text), "%H:%M:%S", &tm);
    if (line->left >= TEXT_TIME_MIN)
        text_line_put_column(line, TEXT_DIM, str_of(text), TEXT_TIME_WIDTH);
    text_line_put_column(line, colour, str_of(verb), TEXT_VERB_WIDTH);
}

void text_line_put_change_verb(struct text_line *line, const struct change *change)
{
    static const char *const colours[] = {
        [INF_ADDED] = TEXT_GREEN, [INF_MODIFIED] = TEXT_YELLOW, [INF_DELETED] = TEXT_RED};
    enum inf_verb verb = change->event->verb;
    const char *colour = change->level == INF_LOG_ERROR  ? TEXT_BOLD TEXT_RED
                         : change->level == INF_LOG_WARN ? TEXT_BOLD TEXT_YELLOW
                                                         : colours[verb];
    text_line_put_verb(line, change_time_us(change), colour, inf_verb_name(verb));
}
