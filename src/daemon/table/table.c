/*
 * table.c - the table of built-in printers; columns and rows as JSON.
 *
 * A row splits the object into its parts once; the printer of the kind writes the cells from them. See
 * table.h.
 */
#include "daemon/table/table.h"

#include <string.h>

#include "base/text/json_string.h"
#include "daemon/table/table_cell.h"
#include "daemon/table/table_printer.h"

/* ---- the default of the server ---- */

static const struct table_column default_columns[] = {
    TABLE_NAME,
    {"Created At", "date", "", 0, "time at which the object was created"},
};

static void default_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_string(row, field_get(row->metadata, "creationTimestamp"), "0001-01-01T00:00:00Z");
}

/* Also of roles, clusterroles and customresourcedefinitions. */
static const struct table_printer default_printer =
    TABLE_PRINTER("", "", default_columns, default_put_cells);

static const struct table_printer *const printers[] = {
    &table_clusterrolebindings,
    &table_configmaps,
    &table_cronjobs,
    &table_daemonsets,
    &table_deployments,
    &table_endpoints,
    &table_endpointslices,
    &table_events,
    &table_events_new,
    &table_horizontalpodautoscalers,
    &table_ingresses,
    &table_jobs,
    &table_leases,
    &table_namespaces,
    &table_networkpolicies,
    &table_nodes,
    &table_persistentvolumeclaims,
    &table_persistentvolumes,
    &table_poddisruptionbudgets,
    &table_pods,
    &table_replicasets,
    &table_replicationcontrollers,
    &table_resourcequotas,
    &table_rolebindings,
    &table_secrets,
    &table_serviceaccounts,
    &table_services,
    &table_statefulsets,
    &table_storageclasses,
};

const struct table_printer *table_printer_find(const char *group, const char *resource)
{
    for (size_t i = 0; i < ARRAY_LEN(printers); i++)
        if (strcmp(printers[i]->resource, resource) == 0 && strcmp(printers[i]->group, group) == 0)
            return printers[i];
    return &default_printer;
}

bool table_printer_is_specific(const struct table_printer *printer)
{
    return printer != &default_printer;
}

/* ---- columns ---- */

static void put_member(struct buf *out, const char *key, const char *text)
{
    json_put_key(out, key);
    json_put_string(out, str_of(text));
    buf_putc(out, ',');
}

void table_put_columns(const struct table_printer *printer, struct buf *out)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < printer->column_count; i++) {
        const struct table_column *column = &printer->columns[i];
        buf_puts(out, i ? ",{" : "{");
        put_member(out, "name", column->name);
        put_member(out, "type", column->type);
        put_member(out, "format", column->format);
        put_member(out, "description", column->description);
        buf_printf(out, "\"priority\":%d}", column->priority);
    }
    buf_putc(out, ']');
}

/* ---- rows ---- */

static void split_object(struct table_row *row)
{
    static const struct str names[] = {FIELD_NAME("metadata"), FIELD_NAME("spec"),
                                       FIELD_NAME("status")};
    struct str values[ARRAY_LEN(names)];
    row->text.at = inf_object_json(row->object, &row->text.len);
    fields_get(row->text, names, ARRAY_LEN(names), values);
    row->metadata = values[0];
    row->spec = values[1];
    row->status = values[2];
}

static void put_conditions(struct table_row *row)
{
    bool succeeded = strcmp(row->completed, "Succeeded") == 0;
    buf_puts(row->out,
             ",\"conditions\":[{\"type\":\"Completed\",\"status\":\"True\",\"reason\":\"");
    buf_puts(row->out, row->completed);
    buf_puts(row->out, succeeded ? "\",\"message\":\"All containers of the pod succeeded.\"}]"
                                 : "\",\"message\":\"A container of the pod failed.\"}]");
}

/* An object that could not be read has no text. */
static void put_json(struct buf *out, struct str json)
{
    if (json.len)
        buf_put(out, json.at, json.len);
    else
        buf_puts(out, "null");
}

static void put_object(struct table_row *row, enum table_object include)
{
    switch (include) {
    case TABLE_OBJECT_NONE: buf_puts(row->out, "null"); break;
    case TABLE_OBJECT_METADATA:
        buf_puts(row->out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
                           "\"metadata\":");
        put_json(row->out, row->metadata);
        buf_putc(row->out, '}');
        break;
    case TABLE_OBJECT_FULL: put_json(row->out, row->text); break;
    }
}

void table_put_row(const struct table_printer *printer, const struct inf_object *object,
                   int64_t now_us, enum table_object include, struct buf *out)
{
    struct table_row row = {.printer = printer, .out = out, .object = object, .now_us = now_us};
    split_object(&row);
    buf_puts(out, "{\"cells\":[");
    printer->put_cells(&row);
    out->bytes[out->len - 1] = ']'; /* in place of the comma after the last cell */
    if (row.completed)
        put_conditions(&row);
    buf_puts(out, ",\"object\":");
    put_object(&row, include);
    buf_putc(out, '}');
}
