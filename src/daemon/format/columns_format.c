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

#include "base/alloc.h"
#include "base/text/display.h"
#include "base/text/utf8.h"
#include "daemon/format/columns.h"
#include "daemon/format/record_format.h"

enum {
    PADDING = 3, /* blanks between two columns */
};

struct table {
    struct columns columns;
    size_t widths[COLUMNS_MAX];
    bool has_header; /* it was written */
};

static void table_free(void *state)
{
    struct table *table = state;
    columns_free(&table->columns);
    free(table);
}

static void *columns_prepare(const char *argument, struct inf_error *err)
{
    struct table *table = NEW(struct table);
    if (columns_parse(&table->columns, argument, err) == 0)
        return table;
    table_free(table);
    return NULL;
}

/* Writes a cell, and widens its column if it is longer. The last column has no blanks after it. */
static void put_cell(struct buf *out, struct table *table, size_t i, struct str text)
{
    size_t width = display_width(text);
    table->widths[i] = width > table->widths[i] ? width : table->widths[i];
    buf_put(out, text.at, text.len);
    if (i + 1 == table->columns.count) {
        buf_putc(out, '\n');
        return;
    }
    for (width = table->widths[i] + PADDING - width; width; width--)
        buf_putc(out, ' ');
}

/* The header is as wide as the first row needs it. */
static void put_header(struct buf *out, struct table *table, const struct buf *cells)
{
    for (size_t i = 0; i < table->columns.count; i++) {
        table->widths[i] = display_width((struct str){cells[i].bytes, cells[i].len});
        put_cell(out, table, i, table->columns.headers[i]);
    }
    table->has_header = true;
}

static void columns_put_change(struct buf *out, const struct change *change,
                               const struct record_options *options)
{
    struct table *table = options->state;
    struct buf cells[COLUMNS_MAX] = {0}, cell = {0};
    struct jsonpath_budget budget = {RECORD_WORK_MAX}; /* of all columns */
    struct arena arena = {0};
    const struct json_node *object;
    struct str json;
    json.at = inf_object_json(change->object, &json.len);
    object = json_tree_make(&arena, json);
    for (size_t i = 0; i < table->columns.count; i++) {
        buf_clear(&cell);
        if (columns_put_cell_within(&table->columns, i, object, &budget, &cell) < 0) {
            buf_clear(&cell);
            buf_puts(&cell, RECORD_TOO_MUCH);
        }
        utf8_put_visible(&cells[i], (struct str){cell.bytes, cell.len});
    }
    if (!table->has_header)
        put_header(out, table, cells);
    for (size_t i = 0; i < table->columns.count; i++) {
        put_cell(out, table, i, (struct str){cells[i].bytes, cells[i].len});
        buf_free(&cells[i]);
    }
    buf_free(&cell);
    arena_free(&arena);
}

const struct record_format columns_format = {
    .argument = "SPEC",
    .prepare = columns_prepare,
    .release = table_free,
    .put_change = columns_put_change,
};
