/*
 * ctl_record.c - lays out records for terminals. See ctl_record.h.
 *
 * Lines are cut at the width of the terminal (daemon/format/text_line.h). Everything that a record does
 * not have is left out: logs may be written without values, and long records are shortened.
 */
#include "ctl/ctl_record.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "informer/informer.h"

#include "base/base.h"
#include "base/text/display.h"
#include "base/text/timestamp.h"
#include "ctl/ctl_json.h"
#include "daemon/cli/terminal.h"
#include "daemon/format/text_line.h"

enum {
    OBJECT_WIDTH = 34,   /* as in the record format `short` */
    OBJECT_MIN = 14,     /* on a terminal it is two fifths of the rest of the line */
    PATH_MIN = 12,       /* in a line with others: on a terminal a third of the room */
    VALUE_MIN = 8,       /* the same of a value: a quarter */
    VALUE_MAX = 60,      /* without a terminal */
    MORE_WIDTH = 10,     /* of ", 12 more" */
    PATH_WIDTH_MAX = 56, /* in a timeline */
    CHANGES_MAX = 100,   /* LIMIT: fields of one record in a timeline; more are counted */
};

struct record_options ctl_record_options(void)
{
    bool utf8 = terminal_use_locale();
    return (struct record_options){
        .colour = terminal_has_colours(STDOUT_FILENO),
        .charset = !isatty(STDOUT_FILENO) ? RECORD_UTF8
                   : utf8                 ? RECORD_TERMINAL
                                          : RECORD_ASCII,
        .width = terminal_width(STDOUT_FILENO),
    };
}

/* ---- parts of a record ---- */

static struct str text_of(const struct buf *b)
{
    return (struct str){b->bytes, b->len};
}

static void put_member(struct buf *out, const struct json_node *node, const char *key)
{
    char *text = ctl_json_text(node, key);
    buf_puts(out, text);
    free(text);
}

static int64_t time_of(const struct json_node *record, const char *key)
{
    char *text = ctl_json_text(record, key);
    int64_t us = 0;
    (void)timestamp_parse(text, &us);
    free(text);
    return us;
}

static bool is_event(const struct json_node *record)
{
    return ctl_json_get(record, "involved");
}

static int64_t shown_time(const struct json_node *record)
{
    return time_of(record, ctl_json_get(record, "event_time") ? "event_time" : "time");
}

static const char *colour_of(const struct json_node *record)
{
    static const struct {
        const char *type, *colour;
    } colours[] = {{"ADDED", TEXT_GREEN},
                   {"MODIFIED", TEXT_YELLOW},
                   {"DELETED", TEXT_RED},
                   {"GAP", TEXT_BOLD TEXT_RED},
                   {"STALE", TEXT_BOLD TEXT_RED}};
    if (ctl_json_is(record, "level", "error"))
        return TEXT_BOLD TEXT_RED;
    for (size_t i = 0; i < ARRAY_LEN(colours); i++)
        if (ctl_json_is(record, "type", colours[i].type))
            return ctl_json_is(record, "level", "warn") && i < 3 ? TEXT_BOLD TEXT_YELLOW
                                                                 : colours[i].colour;
    return TEXT_CYAN;
}

static bool is_change(const struct json_node *record)
{
    return ctl_json_is(record, "type", "ADDED") || ctl_json_is(record, "type", "MODIFIED") ||
           ctl_json_is(record, "type", "DELETED");
}

/* "pod shop/web-0"; of an Event the object that it is about. */
static void put_object(struct buf *out, const struct json_node *record)
{
    const struct json_node *object = is_event(record) ? ctl_json_get(record, "involved") : record;
    size_t start = out->len;
    put_member(out, object, "kind");
    for (size_t i = start; i < out->len; i++)
        if (out->bytes[i] >= 'A' && out->bytes[i] <= 'Z')
            out->bytes[i] = (char)(out->bytes[i] - 'A' + 'a');
    buf_putc(out, ' ');
    start = out->len;
    put_member(out, object, "namespace");
    if (out->len > start)
        buf_putc(out, '/');
    put_member(out, object, "name");
}

/* "BackOff: Back-off restarting failed container (x3)" */
static void put_event(struct buf *out, const struct json_node *record)
{
    uint64_t count = ctl_json_number(record, "count");
    put_member(out, record, "reason");
    buf_puts(out, ": ");
    put_member(out, record, "message");
    if (count > 1)
        buf_printf(out, " (x%llu)", (unsigned long long)count);
}

/* A string without quotes, anything else as it is written. */
static void put_value(struct buf *out, const struct json_node *value)
{
    if (value->type == JSON_STRING && value->text.len)
        json_put_decoded(out, value->text);
    else if (value->type == JSON_STRING)
        buf_puts(out, "\"\"");
    else
        buf_put(out, value->text.at, value->text.len);
}

/* How one field has changed. */
struct field_change {
    char *path;
    struct buf old_value, new_value;
    bool has_old, has_new;

    const char *remark;
};

static bool read_side(const struct json_node *item, const char *name, const char *size_name,
                      struct buf *ret)
{
    const struct json_node *value = ctl_json_get(item, name);
    if (value)
        put_value(ret, value);
    else if (ctl_json_get(item, size_name))
        buf_printf(ret, "(%llu bytes)", (unsigned long long)ctl_json_number(item, size_name));
    return ret->len;
}

static void read_field(const struct json_node *item, struct field_change *ret)
{
    *ret = (struct field_change){.path = ctl_json_text(item, "path")};
    ret->has_old = read_side(item, "old", "old_size", &ret->old_value);
    ret->has_new = read_side(item, "new", "new_size", &ret->new_value);
    if (ctl_json_is(item, "op", "reorder"))
        ret->remark = "reordered";
}

static void field_free(struct field_change *f)
{
    free(f->path);
    buf_free(&f->old_value);
    buf_free(&f->new_value);
}

/* All of them, also those that a shortened record does not name. */
static size_t count_fields(const struct json_node *record)
{
    const struct json_node *paths = ctl_json_get(record, "changed");
    size_t n = 0;
    for (const struct json_node *path = paths ? paths->first : NULL; path; path = path->next)
        n++;
    return ctl_json_get(record, "changes") ? (size_t)ctl_json_number(record, "changes") : n;
}

/* ---- one line ---- */

static void put_short(struct buf *out, const struct buf *value, size_t columns,
                      enum record_charset charset)
{
    struct buf visible = {0};
    text_put_visible(&visible, text_of(value), charset);
    text_put_middle(out, text_of(&visible), columns, charset);
    buf_free(&visible);
}

/* On a terminal a long path loses a part, so that the values are visible. */
static void put_path(struct buf *out, const char *path, size_t columns,
                     const struct record_options *options)
{
    struct buf visible = {0};
    text_put_visible(&visible, str_of(path), options->charset);
    if (options->width)
        text_put_middle(out, text_of(&visible), columns, options->charset);
    else
        buf_put(out, visible.bytes, visible.len);
    buf_free(&visible);
}

static void put_field_short(struct buf *out, const struct field_change *f,
                            const struct record_options *options, size_t room)
{
    enum record_charset charset = options->charset;
    size_t path = room / 3 > PATH_MIN ? room / 3 : PATH_MIN;
    size_t value = !room ? VALUE_MAX : room / 4 > VALUE_MIN ? room / 4 : VALUE_MIN;
    if (f->has_new && !f->has_old)
        buf_putc(out, '+');
    if (f->has_old && !f->has_new)
        buf_putc(out, '-');
    put_path(out, f->path, path, options);
    if (f->has_old || f->has_new)
        buf_putc(out, ' ');
    if (f->has_old)
        put_short(out, &f->old_value, value, charset);
    if (f->has_old && f->has_new)
        buf_puts(out, text_arrow(charset));
    if (f->has_new)
        put_short(out, &f->new_value, value, charset);
    if (f->remark)
        buf_printf(out, " %s", f->remark);
}

/* Adds a change to those in @out, unless it does not fit into @room columns with what follows. The first
 * one is added in any case: it is cut. */
static bool put_fitting(struct buf *out, const struct buf *change, size_t room)
{
    size_t before = display_width(text_of(out)), width = display_width(text_of(change));
    if (out->len && room && before + strlen(", ") + width + MORE_WIDTH > room)
        return false;
    buf_puts(out, out->len ? ", " : "");
    buf_put(out, change->bytes, change->len);
    return true;
}

/* The fields that changed; @room: columns, 0: no limit. */
static void put_changes(struct buf *out, const struct json_node *record,
                        const struct record_options *options, size_t room)
{
    const struct json_node *diff = ctl_json_get(record, "diff");
    const struct json_node *list = diff ? diff : ctl_json_get(record, "changed");
    size_t left = count_fields(record);
    for (const struct json_node *item = list ? list->first : NULL; item; item = item->next) {
        struct field_change f = {0};
        struct buf text = {0};
        bool fits;
        if (diff) {
            read_field(item, &f);
            put_field_short(&text, &f, options, room);
        } else {
            json_put_decoded(&text, item->text);
        }
        fits = put_fitting(out, &text, room);
        field_free(&f);
        buf_free(&text);
        if (!fits)
            break;
        left -= left > 0;
    }
    if (left && list && list->first)
        buf_printf(out, ", %zu more", left);
}

static size_t object_width(unsigned width)
{
    size_t before = TEXT_VERB_WIDTH + TEXT_TIME_WIDTH;
    size_t columns = width > before ? (width - before) * 2 / 5 : 0;
    return !width || columns > OBJECT_WIDTH ? OBJECT_WIDTH
           : columns < OBJECT_MIN           ? OBJECT_MIN
                                            : columns;
}

static void put_change_line(struct text_line *line, const struct json_node *record)
{
    const struct record_options *o = line->options;
    struct buf object = {0}, text = {0};
    char *manager = ctl_json_text(record, "manager");
    put_object(&object, record);
    if (o->width)
        text_put_middle(&text, text_of(&object), object_width(o->width) - 1, o->charset);
    else
        buf_put(&text, object.bytes, object.len);
    text_line_put_column(line, NULL, text_of(&text), object_width(o->width));
    buf_clear(&text);
    if (is_event(record))
        put_event(&text, record);
    else
        put_changes(&text, record, o, o->width ? text_line_room(line) : 0);
    text_line_put(line, NULL, text_of(&text));
    if (manager[0] && !ctl_json_is(record, "origin", "initial")) {
        buf_clear(&text);
        buf_printf(&text, "  (%s)", manager);
        text_line_put_optional(line, TEXT_DIM, text_of(&text));
    }
    free(manager);
    buf_free(&object);
    buf_free(&text);
}

static void put_note_line(struct text_line *line, const struct json_node *record)
{
    char *watch = ctl_json_text(record, "watch"), *msg = ctl_json_text(record, "msg");
    if (watch[0])
        text_line_put_column(line, NULL, str_of(watch), object_width(line->options->width));
    text_line_put(line, NULL, str_of(msg));
    free(watch);
    free(msg);
}

void ctl_record_put_line(struct buf *out, const struct json_node *record,
                         const struct record_options *options)
{
    char *type = ctl_json_text(record, "type");
    struct text_line line;
    text_line_start(&line, out, options, options->width);
    text_line_put_verb(&line, shown_time(record), colour_of(record), type);
    if (is_change(record))
        put_change_line(&line, record);
    else
        put_note_line(&line, record);
    text_line_end(&line);
    free(type);
}

/* ---- timelines ---- */

static void start_line(const struct ctl_timeline *t, struct text_line *line, struct buf *out)
{
    unsigned width = t->options->width;
    text_line_start(line, out, t->options, width);
    line->gap = t->indent;
}

/* The date, when it is another one than before. */
static void put_day(struct ctl_timeline *t, struct buf *out, int64_t time_us)
{
    time_t seconds = (time_t)(time_us / 1000000);
    struct text_line line;
    char day[16] = "";
    struct tm tm;
    if (localtime_r(&seconds, &tm))
        strftime(day, sizeof(day), "%Y-%m-%d", &tm);
    if (strcmp(day, t->day) == 0)
        return;
    memcpy(t->day, day, sizeof(day));
    start_line(t, &line, out);
    text_line_put(&line, TEXT_BOLD, str_of(day));
    text_line_end(&line);
}

/* "by kubectl (scale)" */
static void put_writer(struct text_line *line, const struct json_node *record)
{
    char *manager = ctl_json_text(record, "manager");
    char *subresource = ctl_json_text(record, "subresource");
    struct buf text = {0};
    if (manager[0] && !ctl_json_is(record, "origin", "initial")) {
        buf_printf(&text, "by %s", manager);
        if (subresource[0])
            buf_printf(&text, " (%s)", subresource);
        text_line_put(line, TEXT_DIM, text_of(&text));
    }
    buf_free(&text);
    free(manager);
    free(subresource);
}

/* What happened to the object. */
static void put_state(struct buf *out, const struct json_node *record)
{
    size_t fields = count_fields(record);
    if (ctl_json_is(record, "type", "ADDED"))
        buf_puts(out, ctl_json_is(record, "origin", "initial") ? "exists" : "created");
    else if (ctl_json_is(record, "type", "DELETED"))
        buf_puts(out, ctl_json_is(record, "why", "left") ? "left the selection" : "deleted");
    else
        buf_printf(out, "%zu field%s", fields, fields == 1 ? "" : "s");
}

static void put_entry_head(struct ctl_timeline *t, struct text_line *line,
                           const struct json_node *record)
{
    struct buf text = {0};
    if (t->with_names) {
        put_object(&text, record);
        text_line_put(line, TEXT_BOLD, text_of(&text));
        line->gap = 1;
        buf_clear(&text);
    }
    if (is_event(record)) {
        put_event(&text, record);
        text_line_put(line, NULL, text_of(&text));
    } else {
        put_state(&text, record);
        text_line_put(line, NULL, text_of(&text));
        line->gap = 1;
        put_writer(line, record);
    }
    buf_free(&text);
}

static void put_field(struct ctl_timeline *t, struct buf *out, const struct field_change *f,
                      size_t path_width)
{
    struct text_line line;
    struct buf path = {0};
    start_line(t, &line, out);
    line.gap += TEXT_TIME_WIDTH;
    put_path(&path, f->path, path_width, t->options);
    text_line_put_column(&line, NULL, text_of(&path), path_width + 2);
    if (f->has_old && !f->has_new)
        text_line_put(&line, TEXT_RED, STR("- "));
    if (f->has_old)
        text_line_put(&line, TEXT_RED, text_of(&f->old_value));
    if (f->has_old && f->has_new)
        text_line_put(&line, NULL, str_of(text_arrow(t->options->charset)));
    if (f->has_new && !f->has_old)
        text_line_put(&line, TEXT_GREEN, STR("+ "));
    if (f->has_new)
        text_line_put(&line, TEXT_GREEN, text_of(&f->new_value));
    if (f->remark)
        text_line_put(&line, TEXT_YELLOW, str_of(f->remark));
    text_line_end(&line);
    buf_free(&path);
}

static void put_hunk_line(struct ctl_timeline *t, struct buf *out, struct str text)
{
    struct text_line line;
    start_line(t, &line, out);
    line.gap += TEXT_TIME_WIDTH + 2;
    text_line_put(&line,
                  text.len && text.at[0] == '-'   ? TEXT_RED
                  : text.len && text.at[0] == '+' ? TEXT_GREEN
                                                  : TEXT_CYAN,
                  text);
    text_line_end(&line);
}

/* The lines that differ of a long text, as in a unified diff. */
static void put_hunks(struct ctl_timeline *t, struct buf *out, const struct json_node *hunks)
{
    for (const struct json_node *h = hunks ? hunks->first : NULL; h; h = h->next) {
        struct buf text = {0};
        json_put_decoded(&text, h->text);
        for (struct str rest = text_of(&text); rest.len;) {
            const char *end = memchr(rest.at, '\n', rest.len);
            size_t len = end ? (size_t)(end - rest.at) : rest.len;
            put_hunk_line(t, out, (struct str){rest.at, len});
            rest = (struct str){rest.at + len + (end != NULL), rest.len - len - (end != NULL)};
        }
        buf_free(&text);
    }
}

static size_t width_of_paths(const struct ctl_timeline *t, const struct json_node *items,
                             bool plain)
{
    size_t most = 0, room = t->options->width ? t->options->width * 2 / 5 : PATH_WIDTH_MAX;
    for (const struct json_node *item = items; item; item = item->next) {
        const struct json_node *path = plain ? item : ctl_json_get(item, "path");
        if (path && path->text.len > most)
            most = path->text.len;
    }
    room = room < PATH_WIDTH_MAX ? room : PATH_WIDTH_MAX;
    return most < room ? most : room;
}

/* The fields that changed: with values, or only their paths. */
static void put_fields(struct ctl_timeline *t, struct buf *out, const struct json_node *record)
{
    const struct json_node *diff = ctl_json_get(record, "diff");
    const struct json_node *list = diff ? diff : ctl_json_get(record, "changed");
    const struct json_node *item = list ? list->first : NULL;
    size_t width = width_of_paths(t, item, !diff), n = 0;
    for (; item && n < CHANGES_MAX; item = item->next, n++) {
        struct field_change f = {0};
        if (diff) {
            read_field(item, &f);
        } else {
            struct buf path = {0};
            json_put_decoded(&path, item->text);
            buf_putc(&path, '\0');
            f = (struct field_change){.path = path.bytes, .remark = "changed"};
        }
        put_field(t, out, &f, width);
        put_hunks(t, out, ctl_json_get(item, "hunks"));
        field_free(&f);
    }
    if (item || ctl_json_get(record, "truncated")) {
        struct field_change more = {.path = NULL, .remark = "further details are left out"};
        more.path = ctl_json_text(NULL, "");
        put_field(t, out, &more, 0);
        field_free(&more);
    }
}

void ctl_timeline_put(struct ctl_timeline *t, struct buf *out, const struct json_node *record)
{
    char *type = ctl_json_text(record, is_event(record) ? "event_type" : "type");
    struct text_line line;
    put_day(t, out, shown_time(record));
    start_line(t, &line, out);
    text_line_put_verb(&line, shown_time(record),
                       is_event(record) && strcmp(type, "Warning") == 0 ? TEXT_BOLD TEXT_YELLOW
                                                                        : colour_of(record),
                       type[0] ? type : "Event");
    if (is_change(record))
        put_entry_head(t, &line, record);
    else
        put_note_line(&line, record);
    text_line_end(&line);
    if (is_change(record) && !is_event(record))
        put_fields(t, out, record);
    free(type);
}
