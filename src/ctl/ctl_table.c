/*
 * ctl_table.c - lays out rows of text in columns.
 */
#include "ctl/ctl_table.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/text/display.h"
#include "base/text/utf8.h"

enum {
    PADDING = 3,
    WIDTH_MIN = 6, /* of a column with its padding, as in kubectl */
};

static void add_cell(struct ctl_table *t, char *cell)
{
    t->cells = xrealloc(t->cells, (t->n_cells + 1) * sizeof(char *));
    t->cells[t->n_cells++] = cell;
}

void ctl_table_add(struct ctl_table *t, size_t n, const char *const *cells)
{
    for (size_t i = 0; i < n && i < CTL_COLUMNS_MAX; i++) {
        struct buf text = {0};
        size_t width;
        utf8_put_visible(&text, str_of(cells[i]));
        width = display_width((struct str){text.bytes, text.len});
        if (width > t->widths[i])
            t->widths[i] = width;
        buf_putc(&text, '\0');
        add_cell(t, text.bytes);
    }
    add_cell(t, NULL);
}

void ctl_table_put(struct ctl_table *t, struct buf *out)
{
    size_t column = 0;
    for (size_t i = 0; i < t->n_cells; i++) {
        char *cell = t->cells[i];
        if (!cell) {
            buf_putc(out, '\n');
            column = 0;
            continue;
        }
        buf_puts(out, cell);
        if (t->cells[i + 1]) { /* the last one has no blanks after it */
            size_t width = t->widths[column] + PADDING;
            buf_printf(out, "%*s",
                       (int)((width < WIDTH_MIN ? WIDTH_MIN : width) - display_width(str_of(cell))),
                       "");
        }
        free(cell);
        column++;
    }
    t->n_cells = 0;
}

void ctl_table_free(struct ctl_table *t)
{
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cells[i]);
    free(t->cells);
    *t = (struct ctl_table){0};
}
