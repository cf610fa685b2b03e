/*
 * table_rows.h - the cells that daemon/table prints for an object, at 2026-11-18T12:00:00Z.
 *
 * Single quotes in @json and @cells stand for double quotes. Objects need no kind, apiVersion and name:
 * those of METADATA are added.
 */
#ifndef TEST_TABLE_ROWS_H
#define TEST_TABLE_ROWS_H

#include "daemon/table/table.h"

/* The start of most objects: name x, created an hour ago. */
#define METADATA "'metadata':{'name':'x','creationTimestamp':'2026-11-18T11:00:00Z'}"

extern const int64_t table_now_us;

/* @members: the members of the object without its braces. @cells: without brackets. */
void expect_cells(const struct table_printer *printer, const char *members, const char *cells);

/* The whole row. */
void expect_row(const struct table_printer *printer, const char *members, enum table_object include,
                const char *row);

struct table_case {
    const char *members;
    const char *cells;
};

void expect_cases(const char *group, const char *resource, const struct table_case *cases,
                  size_t count);

#endif
