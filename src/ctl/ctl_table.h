/*
 * ctl_table.h - text in columns, as kubectl prints it: three blanks between columns.
 *
 *     ctl_table_add(&t, n, cells);       a row; the first is the header
 *     ctl_table_put(&t, &out);           writes the rows since the last call
 *
 * A column is as wide as its widest cell so far, so that rows written later continue the table.
 */
#ifndef CTL_CTL_TABLE_H
#define CTL_CTL_TABLE_H

#include <stddef.h>

#include "base/buf.h"

enum {
    CTL_COLUMNS_MAX = 64, /* LIMIT: columns of a table; further ones are not shown */
};

/* A zeroed struct is an empty table. */
struct ctl_table {
    size_t widths[CTL_COLUMNS_MAX];
    char **cells; /* of all rows, one after the other; a row ends with NULL */
    size_t n_cells;
};

/* Adds a row of @n cells, copied. Control characters are escaped. */
void ctl_table_add(struct ctl_table *table, size_t n, const char *const *cells);

/* Appends the rows that were added since the last call to @out. */
void ctl_table_put(struct ctl_table *table, struct buf *out);

void ctl_table_free(struct ctl_table *table);

#endif
