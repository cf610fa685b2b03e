/*
 * columns_format.c - a table with chosen fields of the object of each change, as
 * `kubectl get -w -o custom-columns=SPEC` prints it:
 *
 *     custom-columns=NAME:.metadata.name,IMAGES:.spec.containers[*].image
 *
 * The header is written before the first row. A column is as wide as the longest value so far: lines
 * that are written already stay as they are. Several values have commas between them; <none> stands for
 * a missing field. Control characters are escaped.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text/display.h"
#include "base/text/utf8.h"
#include "daemon/format/json_tree.h"
#include "daemon/format/jsonpath.h"
#include "daemon/format/record_format.h"

enum {
    COLUMNS_MAX = 64, /* LIMIT: columns of a table */
    PADDING = 3,      /* blanks between two columns */
};

struct column {
    struct str header; /* in `spec` */
    struct inf_path *path;
    size_t width;
};

struct table {
    char *spec;
    struct column columns[COLUMNS_MAX];
    size_t count;
    bool has_header; /* it was written */
};

static void table_free(void *state)
{
    struct table *table = state;
    for (size_t i = 0; i < table->count; i++)
        inf_path_free(table->columns[i].path);
    free(table->spec);
    free(table);
}

/* Bytes of the first column of @text: up to a comma that is not in brackets. */
static size_t column_len(struct str text)
{
    size_t depth = 0, i = 0;
    for (; i < text.len && (depth || text.at[i] != ','); i++) {
        depth += text.at[i] == '[' || text.at[i] == '(';
        depth -= depth && (text.at[i] == ']' || text.at[i] == ')');
    }
    return i;
}

/* "NAME:.metadata.name"; the path may be in braces. */
static int parse_column(struct column *column, struct str text, struct inf_error *err)
{
    const char *colon = memchr(text.at, ':', text.len);
    struct str path;
    if (!colon || colon == text.at)
        return err_set(err, INF_EINVAL,
                       "column '%.*s' has no header; write it like NAME:.metadata.name",
                       text.len < 80 ? (int)text.len : 80, text.at);
    column->header = (struct str){text.at, (size_t)(colon - text.at)};
    column->width = display_width(column->header);
    path = (struct str){colon + 1, text.len - column->header.len - 1};
    if (path.len >= 2 && path.at[0] == '{' && path.at[path.len - 1] == '}')
        path = (struct str){path.at + 1, path.len - 2};
    return jsonpath_parse(path, &column->path, err);
}

static void *columns_prepare(const char *argument, struct inf_error *err)
{
    struct table *table = NEW(struct table);
    struct str rest;
    int rc = 0;
    table->spec = xstrdup(argument);
    rest = str_of(table->spec);
    do {
        size_t len = column_len(rest);
        if (table->count == COLUMNS_MAX)
            rc = err_set(err, INF_EINVAL, "more than %d columns", COLUMNS_MAX);
        else
            rc = parse_column(&table->columns[table->count++], (struct str){rest.at, len}, err);
        rest =
            len < rest.len ? (struct str){rest.at + len + 1, rest.len - len - 1} : (struct str){0};
    } while (rc == 0 && rest.at);
    if (rc == 0)
        return table;
    table_free(table);
    return NULL;
}

/* ---- values ---- */

/* As fmt.Sprint() of Go prints it: map[app:web tier:front], [a b]. */
static void put_node(struct buf *out, const struct json_node *node)
{
    switch (node->type) {
    case JSON_STRING: json_put_decoded(out, node->text); break;
    case JSON_LITERAL:
        if (str_eq(node->text, STR("null")))
            buf_puts(out, "<nil>");
        else
            buf_put(out, node->text.at, node->text.len);
        break;
    case JSON_OBJECT:
    case JSON_ARRAY:
        buf_puts(out, node->type == JSON_OBJECT ? "map[" : "[");
        for (const struct json_node *child = node->first; child; child = child->next) {
            if (child != node->first)
                buf_putc(out, ' ');
            if (node->type == JSON_OBJECT) {
                json_put_decoded(out, child->key);
                buf_putc(out, ':');
            }
            put_node(out, child);
        }
        buf_putc(out, ']');
        break;
    }
}

static bool add_value(void *ctx, const char *json, size_t len)
{
    struct buf *out = ctx;
    struct arena arena = {0};
    if (out->len)
        buf_putc(out, ',');
    put_node(out, json_tree_make(&arena, (struct str){json, len}));
    arena_free(&arena);
    return true;
}

/* Writes a cell, and widens its column if it is longer. The last column has no blanks after it. */
static void put_cell(struct buf *out, struct table *table, size_t i, struct str text)
{
    struct column *column = &table->columns[i];
    size_t width = display_width(text);
    column->width = width > column->width ? width : column->width;
    buf_put(out, text.at, text.len);
    if (i + 1 == table->count) {
        buf_putc(out, '\n');
        return;
    }
    for (width = column->width + PADDING - width; width; width--)
        buf_putc(out, ' ');
}

/* The header is as wide as the first row needs it. */
static void put_header(struct buf *out, struct table *table, const struct buf *cells)
{
    for (size_t i = 0; i < table->count; i++) {
        size_t width = display_width((struct str){cells[i].bytes, cells[i].len});
        if (width > table->columns[i].width)
            table->columns[i].width = width;
        put_cell(out, table, i, table->columns[i].header);
    }
    table->has_header = true;
}

static void columns_put_change(struct buf *out, const struct change *change,
                               const struct record_options *options)
{
    struct table *table = options->state;
    struct buf cells[COLUMNS_MAX] = {0}, values = {0};
    for (size_t i = 0; i < table->count; i++) {
        buf_clear(&values);
        jsonpath_each(table->columns[i].path, change->object, add_value, &values);
        if (!values.len)
            buf_puts(&values, "<none>");
        utf8_put_visible(&cells[i], (struct str){values.bytes, values.len});
    }
    buf_free(&values);
    if (!table->has_header)
        put_header(out, table, cells);
    for (size_t i = 0; i < table->count; i++) {
        put_cell(out, table, i, (struct str){cells[i].bytes, cells[i].len});
        buf_free(&cells[i]);
    }
}

const struct record_format columns_format = {
    .argument = "SPEC",
    .prepare = columns_prepare,
    .release = table_free,
    .put_change = columns_put_change,
};
