/*
 * table.h - objects as the rows of a Table, the form in which kubectl lists them (Accept: as=Table).
 *
 * table.c has the form: column definitions, rows, what a row contains of its object.
 * table_printers.c has the columns and cells of each kind, as the API server prints them.
 */
#ifndef KUBESIM_TABLE_H
#define KUBESIM_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "object.h"

struct request;
struct yyjson_val;

/* What a row has of its object, the parameter includeObject. */
enum table_object {
    TABLE_METADATA, /* default */
    TABLE_NONE,
    TABLE_WHOLE,
};

struct table_column {
    const char *name;
    const char *type;
    const char *format; /* "name" for the name of the object */
    const char *description;
    int priority; /* 1: only with -o wide */
};

/* How the objects of a resource are printed. */
struct table_printer {
    const char *group;
    const char *plural;
    const struct table_column *columns; /* up to one without a name */
    /* Adds the cells, each with a comma after it. @now: seconds since 1970 */
    void (*put_cells)(struct buf *out, struct yyjson_val *object, int64_t now);
};

/* Does the client prefer a Table? */
bool prefers_table(const struct request *r);
/* The value of includeObject. False, with @ret, for one that does not exist. */
bool table_object_read(const struct request *r, enum table_object *ret_object, struct status *ret);

/* The members "columnDefinitions" and the beginning of "rows"; @columns: false writes them as null. */
void table_put_columns(struct buf *out, const struct resource *r, bool columns);
/* One row; @rv is the version to write, 0 for its own. */
void table_put_row(struct buf *out, const struct object *o, enum table_object what, uint64_t rv);
/* A whole Table with one object, as by name or in an event. */
void table_put_one(struct buf *out, const struct object *o, enum table_object what, uint64_t rv,
                   bool columns);

/* The Table of a bookmark: one row without content; @metadata is that of its object. */
void table_put_bookmark(struct buf *out, const struct resource *r, uint64_t rv,
                        const char *metadata);

/* table_printers.c: never NULL. */
const struct table_printer *table_printer_of(const struct resource *r);

#endif
