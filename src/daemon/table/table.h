/*
 * table.h - objects as rows of a Kubernetes Table (meta.k8s.io/v1), with the columns and cells that
 * kube-apiserver prints for the same object. kubectl shows nothing else of a list.
 *
 * A printer has the columns of one resource. Built-in printers are constant; those of custom resources
 * are made from the columns in their definition. Rows are written from the object's text in place, so
 * that a long list needs no second copy. The rules are those of kube-apiserver 1.36.
 *
 * Nothing here fails: a missing field has the cell that the server prints for it. An object of which
 * only the metadata is kept has no correct row; the caller must not print it.
 */
#ifndef DAEMON_TABLE_TABLE_H
#define DAEMON_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/object.h"

#include "base/buf.h"
#include "base/str.h"

struct table_printer;

/* The object in a row: the parameter `includeObject` of a request. */
enum table_object {
    TABLE_OBJECT_NONE,
    TABLE_OBJECT_METADATA, /* the server's default: a PartialObjectMetadata */
    TABLE_OBJECT_FULL,
};

/* The printer of a built-in resource ("apps", "deployments"; "" is the core group). All others get the
 * server's default, with the columns Name and Created At. Never NULL. */
const struct table_printer *table_printer_find(const char *group, const char *resource);

/* Whether a built-in printer is that of a resource, not the default. */
bool table_printer_is_specific(const struct table_printer *printer);

/* A column of a custom resource, as in `additionalPrinterColumns`. */
struct table_custom_column {
    const char *name;
    const char *type;        /* "integer", "number", "string", "boolean" or "date" */
    const char *json_path;   /* ".status.phase" */
    const char *format;      /* NULL: none */
    const char *description; /* NULL: none */
    int priority;
};

enum {
    TABLE_COLUMNS_MAX = 64, /* LIMIT: columns of a custom resource */
};

/*
 * Makes the printer of a custom resource: the column Name and then @columns; if there are none, Name and
 * Age. Strings are copied. The caller frees it.
 *
 * Returns NULL with INF_EINVAL if a JSONPath uses something that daemon/format/jsonpath_fields.h does not
 * support (the error names the column), with INF_ETOOBIG if there are more than TABLE_COLUMNS_MAX.
 */
struct table_printer *table_printer_from_columns(const struct table_custom_column *columns,
                                                 size_t count, struct inf_error *err);

/* The same from valid JSON: the array `additionalPrinterColumns` as the definition has it. */
struct table_printer *table_printer_from_json(struct str columns, struct inf_error *err);

/* Frees a printer of a custom resource. NULL is allowed. */
void table_printer_free(struct table_printer *printer);

/* Appends the array `columnDefinitions`. */
void table_put_columns(const struct table_printer *printer, struct buf *out);

/* Appends one item of `rows`. @now_us is the wall clock, in microseconds since 1970: ages count from it. */
void table_put_row(const struct table_printer *printer, const struct inf_object *object,
                   int64_t now_us, enum table_object include, struct buf *out);

#endif
