/*
 * ctl_top_view.c - the picture of top: two lines about informerd, a table of watches, one of event logs and
 * handlers, one of what changes most, and a line with the keys.
 *
 * A table gets the lines that it needs, if there are enough; otherwise the lines are shared, and the last
 * one of a table that is cut says how many are missing. The first column is shortened if a line is longer
 * than the screen.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/display.h"
#include "base/text/utf8.h"
#include "ctl/ctl_text.h"
#include "ctl/top/ctl_top.h"

enum {
    COLUMNS_SHOWN_MAX = 8,
    GAP = 2,       /* blanks between columns */
    NAME_MIN = 12, /* the first column is not made narrower */
    TABLES = 4,
    HEIGHT_OF_BOTH = 40, /* of screens that show objects and managers */
    ROWS_UNLIMITED = 20, /* talkers without a height */
};

struct column {
    const char *header;
    bool right; /* aligned: numbers */
};

/* A table before it is laid out. Cells are owned. */
struct table {
    const struct column *columns;
    size_t n_columns;
    char **cells;         /* n_rows * n_columns */
    const char **colours; /* of each row; NULL: none */
    size_t n_rows, cap;
    const char *empty; /* printed if there are no rows; NULL: the table is left out */
};

/* ---- tables ---- */

static char **table_row(struct table *t, const char *colour)
{
    if (t->n_rows == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 16;
        t->cells = xrealloc(t->cells, t->cap * t->n_columns * sizeof(*t->cells));
        t->colours = xrealloc(t->colours, t->cap * sizeof(*t->colours));
    }
    t->colours[t->n_rows] = colour;
    return t->cells + t->n_rows++ * t->n_columns;
}

static void table_free(struct table *t)
{
    for (size_t i = 0; i < t->n_rows * t->n_columns; i++)
        free(t->cells[i]);
    free(t->cells);
    free(t->colours);
}

/* @text without characters that could control the terminal. Owned by the caller. */
static char *visible(const char *text)
{
    struct buf out = {0};
    utf8_put_visible(&out, str_of(text));
    buf_putc(&out, '\0');
    return out.bytes;
}

static void put_blanks(struct buf *out, size_t n)
{
    while (n--)
        buf_putc(out, ' ');
}

/* Appends @text, shortened to @columns: in the middle, because names differ at their ends. */
static void put_shortened(struct buf *out, const char *text, size_t columns)
{
    struct str s = str_of(text), head, tail;
    if (display_width(s) <= columns) {
        buf_puts(out, text);
        return;
    }
    if (!columns)
        return;
    tail = display_tail(s, (columns - 1) / 2);
    head = display_head(s, columns - 1 - display_width(tail));
    buf_put(out, head.at, head.len);
    buf_puts(out, DISPLAY_ELLIPSIS);
    buf_put(out, tail.at, tail.len);
}

/* Widths of the columns of the first @rows rows, so that a line has at most @width columns. */
static void measure(const struct table *t, size_t rows, unsigned width, size_t *widths)
{
    size_t all = 0;
    for (size_t c = 0; c < t->n_columns; c++) {
        widths[c] = strlen(t->columns[c].header);
        for (size_t r = 0; r < rows; r++) {
            size_t w = display_width(str_of(t->cells[r * t->n_columns + c]));
            widths[c] = w > widths[c] ? w : widths[c];
        }
        all += widths[c] + (c ? GAP : 0);
    }
    for (size_t i = 0; width && all > width && i < t->n_columns; i++) {
        size_t c = i ? t->n_columns - i : 0; /* the first one, then from the last one on */
        size_t least = c ? 4 : NAME_MIN, over = all - width;
        size_t cut = widths[c] > least ? widths[c] - least : 0;
        cut = cut < over ? cut : over;
        widths[c] -= cut;
        all -= cut;
    }
}

static void put_cells(struct buf *out, const struct table *t, const char *const *cells,
                      const size_t *widths)
{
    for (size_t c = 0; c < t->n_columns; c++) {
        size_t shown = display_width(str_of(cells[c]));
        size_t pad = shown < widths[c] ? widths[c] - shown : 0;
        if (c)
            put_blanks(out, GAP);
        if (t->columns[c].right)
            put_blanks(out, pad);
        put_shortened(out, cells[c], widths[c]);
        if (!t->columns[c].right && c + 1 < t->n_columns)
            put_blanks(out, pad);
    }
    while (out->len && out->bytes[out->len - 1] == ' ')
        out->len--;
}

/* Writes one line; it has at most @v->width columns. */
static void put_line(const struct top_view *v, const char *colour, struct str text, struct buf *out)
{
    struct str shown = v->width ? display_head(text, v->width) : text;
    if (v->colour && colour)
        buf_puts(out, colour);
    buf_put(out, shown.at, shown.len);
    if (v->colour && colour)
        buf_puts(out, CTL_PLAIN);
    buf_putc(out, '\n');
}

/* Writes a table with at most @rows rows, after an empty line and its header. */
static void put_table(const struct top_view *v, const struct table *t, size_t rows, struct buf *out)
{
    const char *headers[COLUMNS_SHOWN_MAX];
    size_t widths[COLUMNS_SHOWN_MAX], shown = t->n_rows <= rows ? t->n_rows : rows ? rows - 1 : 0;
    struct buf line = {0};
    buf_putc(out, '\n');
    for (size_t c = 0; c < t->n_columns; c++)
        headers[c] = t->columns[c].header;
    measure(t, shown, v->width, widths);
    put_cells(&line, t, headers, widths);
    put_line(v, CTL_BOLD, (struct str){line.bytes, line.len}, out);
    for (size_t r = 0; r < shown; r++) {
        buf_clear(&line);
        put_cells(&line, t, (const char *const *)(t->cells + r * t->n_columns), widths);
        put_line(v, t->colours[r], (struct str){line.bytes, line.len}, out);
    }
    buf_clear(&line);
    if (shown < t->n_rows && rows)
        buf_printf(&line, "... and %zu more", t->n_rows - shown);
    else if (!t->n_rows)
        buf_puts(&line, t->empty);
    if (line.len)
        put_line(v, NULL, (struct str){line.bytes, line.len}, out);
    buf_free(&line);
}

/* ---- watches ---- */

static int order(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

static int compare_watches(const void *a, const void *b, void *ctx)
{
    const struct top_watch *x = a, *y = b;
    int by = 0;
    switch (*(const enum top_sort *)ctx) {
    case TOP_BY_RATE: by = (x->rate < y->rate) - (x->rate > y->rate); break;
    case TOP_BY_OBJECTS: by = order(x->objects, y->objects); break;
    case TOP_BY_MEMORY: by = order(x->bytes, y->bytes); break;
    case TOP_BY_AGE: by = order(y->event_age_ms, x->event_age_ms); break;
    case TOP_BY_NAME: by = strcmp(x->name, y->name); break;
    case TOP_BY_CONFIGURATION: break;
    }
    return by ? by : order(y->position, x->position);
}

static const char *state_colour(const char *state, const char *error)
{
    return strcmp(state, "live") == 0 || strcmp(state, "writable") == 0 ||
                   strcmp(state, "ready") == 0
               ? NULL
           : error[0] ? CTL_RED
                      : CTL_YELLOW;
}

static char *age_or_dash(uint64_t ms)
{
    return ms == TOP_NEVER ? xstrdup("-") : ctl_age_text(ms);
}

static char *rate_text(double rate)
{
    return xasprintf(rate < 99.95 ? "%.1f" : "%.0f", rate);
}

static bool has_clusters(const struct top_model *m)
{
    for (size_t i = 1; i < m->n_watches; i++)
        if (strcmp(m->watches[i].cluster, m->watches[0].cluster) != 0)
            return true;
    return false;
}

static void fill_watches(struct table *t, const struct top_model *m)
{
    static const struct column columns[] = {
        {"WATCH", false},    {"STATE", false}, {"OBJECTS", true}, {"MEMORY", true},
        {"CHANGES/S", true}, {"LAST", true},   {"REASON", false}};
    bool clusters = has_clusters(m);
    *t = (struct table){
        .columns = columns, .n_columns = ARRAY_LEN(columns), .empty = "no watches are configured"};
    for (size_t i = 0; i < m->n_watches; i++) {
        const struct top_watch *w = &m->watches[i];
        char **cells = table_row(t, state_colour(w->state, w->error));
        char *name = clusters ? xasprintf("%s/%s", w->cluster, w->name) : xstrdup(w->name);
        cells[0] = visible(name);
        cells[1] = visible(w->state);
        cells[2] = xasprintf("%" PRIu64, w->objects);
        cells[3] = ctl_bytes_text(w->bytes);
        cells[4] = rate_text(w->rate);
        cells[5] = age_or_dash(w->event_age_ms);
        cells[6] = visible(w->error);
        free(name);
    }
}

/* ---- event logs and handlers ---- */

static char *waiting_text(const struct top_output *o)
{
    bool log = strcmp(o->type, "event log") == 0;
    char *bytes = log ? ctl_bytes_text(o->waiting) : NULL, *text;
    if (!o->waiting)
        text = xstrdup("-");
    else
        text = log ? xstrdup(bytes) : xasprintf("%" PRIu64 " records", o->waiting);
    free(bytes);
    return text;
}

static void fill_outputs(struct table *t, const struct top_model *m)
{
    static const struct column columns[] = {{"OUTPUT", false}, {"TYPE", false},  {"STATE", false},
                                            {"WAITING", true}, {"OLDEST", true}, {"PARKED", true},
                                            {"REASON", false}};
    *t = (struct table){.columns = columns, .n_columns = ARRAY_LEN(columns)};
    for (size_t i = 0; i < m->n_outputs; i++) {
        const struct top_output *o = &m->outputs[i];
        char **cells = table_row(t, o->error[0] || o->parked ? CTL_RED : NULL);
        cells[0] = visible(o->name);
        cells[1] = xstrdup(o->type);
        cells[2] = visible(o->state);
        cells[3] = waiting_text(o);
        cells[4] = age_or_dash(o->oldest_ms);
        cells[5] = o->parked ? xasprintf("%" PRIu64, o->parked) : xstrdup("-");
        cells[6] = visible(o->error);
    }
}

/* ---- what changes most ---- */

static void fill_talkers(struct table *t, const struct top_view *v, struct top_model *m,
                         bool of_managers, uint64_t now_ms)
{
    static const struct column objects[] = {
        {"CHANGES MOST: OBJECT", false}, {"CHANGES/S", true}, {"SEEN", true}};
    static const struct column managers[] = {
        {"CHANGES MOST: MANAGER", false}, {"CHANGES/S", true}, {"SEEN", true}};
    struct top_talkers *talkers = of_managers ? &m->managers : &m->objects;
    size_t max = v->height ? v->height : ROWS_UNLIMITED;
    *t = (struct table){.columns = of_managers ? managers : objects,
                        .n_columns = ARRAY_LEN(objects),
                        .empty = m->no_events ? m->no_events
                                              : "no changes were written to event logs so far"};
    top_talkers_sort(talkers, now_ms);
    for (size_t i = 0; i < talkers->count && i < max; i++) {
        double rate = top_talker_rate(talkers, talkers->items[i], now_ms);
        char **cells = table_row(t, NULL);
        cells[0] = visible(talkers->items[i]->name);
        cells[1] = xasprintf("%.2f", rate);
        cells[2] = xasprintf("%" PRIu64, talkers->items[i]->changes);
    }
}

/* ---- the picture ---- */

static void put_text(const struct top_view *v, const char *colour, struct buf *out, const char *fmt,
                     ...) __attribute__((format(printf, 4, 5)));
static void put_text(const struct top_view *v, const char *colour, struct buf *out, const char *fmt,
                     ...)
{
    struct buf line = {0};
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&line, fmt, args);
    va_end(args);
    put_line(v, colour, (struct str){line.bytes, line.len}, out);
    buf_free(&line);
}

static const char *const sort_names[] = {
    [TOP_BY_RATE] = "rate", [TOP_BY_OBJECTS] = "objects", [TOP_BY_MEMORY] = "memory",
    [TOP_BY_AGE] = "age",   [TOP_BY_NAME] = "name",       [TOP_BY_CONFIGURATION] = "configuration",
};

static void put_heading(const struct top_view *v, const struct top_model *m, struct buf *out)
{
    char *uptime = ctl_age_text(m->uptime_ms), *memory = ctl_bytes_text(m->resident_bytes);
    char *backlog = ctl_bytes_text(m->backlog_bytes),
         *limit = ctl_bytes_text(m->backlog_limit_bytes);
    char *rate = rate_text(m->rate), *version = visible(m->version);
    size_t live = 0;
    uint64_t objects = 0;
    for (size_t i = 0; i < m->n_watches; i++) {
        live += strcmp(m->watches[i].state, "live") == 0;
        objects += m->watches[i].objects;
    }
    put_text(v, NULL, out, "informerd %s, up %s, memory %s, CPU %.1f%%, backlog %s of %s", version,
             uptime, memory, m->cpu * 100.0, backlog, limit);
    put_text(v, live < m->n_watches ? CTL_RED : NULL, out,
             "%zu of %zu watches live, %" PRIu64 " objects, %s changes/s; sorted by %s", live,
             m->n_watches, objects, rate, sort_names[v->sort]);
    free(uptime);
    free(memory);
    free(backlog);
    free(limit);
    free(rate);
    free(version);
}

/* Shares @lines among tables that want @wanted rows each. */
static void share_rows(size_t lines, const size_t *wanted, size_t *ret)
{
    bool more = true;
    memset(ret, 0, TABLES * sizeof(*ret));
    while (lines && more) {
        more = false;
        for (size_t i = 0; i < TABLES && lines; i++)
            if (ret[i] < wanted[i]) {
                ret[i]++;
                lines--;
                more = true;
            }
    }
}

static void put_tables(const struct top_view *v, struct top_model *m, uint64_t now_ms, size_t used,
                       struct buf *out)
{
    struct table tables[TABLES];
    size_t wanted[TABLES], rows[TABLES], lines = v->height > used ? v->height - used : 0;
    fill_watches(&tables[0], m);
    fill_outputs(&tables[1], m);
    fill_talkers(&tables[2], v, m, v->managers, now_ms);
    if (!v->height || v->height >= HEIGHT_OF_BOTH)
        fill_talkers(&tables[3], v, m, !v->managers, now_ms);
    else
        tables[3] = (struct table){0};
    for (size_t i = 0; i < TABLES; i++) {
        wanted[i] = tables[i].n_rows ? tables[i].n_rows : tables[i].empty != NULL;
        if (v->height && wanted[i])
            lines = lines > 2 ? lines - 2 : 0; /* the empty line and the header */
    }
    if (v->height)
        share_rows(lines, wanted, rows);
    else
        memcpy(rows, wanted, sizeof(rows));
    for (size_t i = 0; i < TABLES; i++) {
        if (rows[i])
            put_table(v, &tables[i], rows[i], out);
        table_free(&tables[i]);
    }
}

#define KEYS "q quit  ? help  t talkers  sort: r rate o objects m memory a age n name c conf"

static void put_help(const struct top_view *v, struct buf *out)
{
    static const char *const lines[] = {
        "",
        "  q         quit",
        "  r         sort watches by changes per second",
        "  o         sort watches by number of objects",
        "  m         sort watches by memory",
        "  a         sort watches by the age of their last event",
        "  n         sort watches by name",
        "  c         show watches in the order of the configuration",
        "  t         show the objects, or the managers, that change most (talkers)",
        "  space     refresh now",
        "  ? or h    show this help, or leave it",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        put_text(v, NULL, out, "%s", lines[i]);
}

/* Removes lines after the @max-th one, and the last line end. */
static void limit_lines(struct buf *out, size_t max)
{
    size_t lines = 0;
    for (size_t i = 0; i < out->len; i++)
        if (out->bytes[i] == '\n' && ++lines == max)
            out->len = i;
}

static size_t count_lines(const struct buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < out->len; i++)
        n += out->bytes[i] == '\n';
    return n;
}

/* In as many lines as it needs. */
static void put_problem(const struct top_view *v, const char *problem, struct buf *out)
{
    char *text = visible(problem);
    struct str rest = str_of(text);
    do {
        struct str line = v->width ? display_head(rest, v->width) : rest;
        put_line(v, CTL_RED, line, out);
        rest = (struct str){rest.at + line.len, line.len ? rest.len - line.len : 0};
    } while (rest.len);
    free(text);
}

void top_view_put(const struct top_view *v, struct top_model *m, uint64_t now_ms, struct buf *out)
{
    enum top_sort sort = v->sort;
    if (m->has_status)
        put_heading(v, m, out);
    if (m->problem)
        put_problem(v, m->problem, out);
    if (v->help) {
        put_help(v, out);
    } else if (m->has_status) {
        if (m->n_watches)
            qsort_r(m->watches, m->n_watches, sizeof(*m->watches), compare_watches, &sort);
        put_tables(v, m, now_ms, count_lines(out) + 1, out);
    }
    if (v->height) {
        size_t lines = count_lines(out);
        for (; lines + 1 < v->height; lines++)
            buf_putc(out, '\n');
        put_text(v, CTL_BOLD, out, KEYS);
        limit_lines(out, v->height);
    }
}

bool top_view_key(struct top_view *v, char key)
{
    static const struct {
        char key;
        enum top_sort sort;
    } sorts[] = {
        {'r', TOP_BY_RATE}, {'o', TOP_BY_OBJECTS}, {'m', TOP_BY_MEMORY},
        {'a', TOP_BY_AGE},  {'n', TOP_BY_NAME},    {'c', TOP_BY_CONFIGURATION},
    };
    for (size_t i = 0; i < ARRAY_LEN(sorts); i++)
        if (sorts[i].key == key) {
            v->sort = sorts[i].sort;
            return true;
        }
    if (key == 't')
        v->managers = !v->managers;
    else if (key == '?' || key == 'h')
        v->help = !v->help;
    else
        return key == ' ';
    return true;
}
