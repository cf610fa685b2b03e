/*
 * columns.h - the columns of `custom-columns=SPEC`, as kubectl has them:
 *
 *     NAME:.metadata.name,IMAGES:.spec.containers[*].image
 *
 * A path is one of jsonpath.h, with or without braces. Several values of a cell have commas between them;
 * <none> stands for a missing field. Lists and maps are written as Go prints them: map[app:web].
 */
#ifndef DAEMON_FORMAT_COLUMNS_H
#define DAEMON_FORMAT_COLUMNS_H

#include "base/buf.h"
#include "daemon/format/jsonpath.h"

enum {
    COLUMNS_MAX = 64, /* LIMIT: columns of a table */
};

struct columns {
    char *spec;
    struct str headers[COLUMNS_MAX]; /* in `spec` */
    struct jsonpath *paths[COLUMNS_MAX];
    size_t count;
};

/* Parses a list of HEADER:PATH with commas between them. Returns 0, or -INF_EINVAL; the caller frees
 * the columns in both cases. */
int columns_parse(struct columns *ret, const char *spec, struct inf_error *err);

/* The same for a template of two lines: headers, and below them the paths, with blanks between them. */
int columns_parse_lines(struct columns *ret, const char *text, struct inf_error *err);

void columns_free(struct columns *columns);

/* Appends the cell of column @i for @object. @err as in jsonpath_each(). */
int columns_put_cell(const struct columns *columns, size_t i, const struct json_node *object,
                     struct buf *out, struct inf_error *err);

/* The same, as jsonpath_each_within(). */
int columns_put_cell_within(const struct columns *columns, size_t i, const struct json_node *object,
                            struct jsonpath_budget *budget, struct buf *out);

#endif
