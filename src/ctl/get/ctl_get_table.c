/*
 * ctl_get_table.c - the tables of `get`: the columns that informerd chose, with those that the flags add,
 * as kubectl prints them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "ctl/get/ctl_get.h"

/* The cells of one row. Owned; cells over the limit are not shown. */
struct row {
    char *cells[CTL_COLUMNS_MAX];
    size_t n;
};

static void row_add(struct row *row, char *cell)
{
    if (row->n < CTL_COLUMNS_MAX)
        row->cells[row->n++] = cell;
    else
        free(cell);
}

static void row_put(struct row *row, struct ctl_table *table)
{
    const char *cells[CTL_COLUMNS_MAX];
    for (size_t i = 0; i < row->n; i++)
        cells[i] = row->cells[i];
    ctl_table_add(table, row->n, cells);
    for (size_t i = 0; i < row->n; i++)
        free(row->cells[i]);
    row->n = 0;
}

static char *upper(char *text)
{
    for (char *c = text; *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    return text;
}

/* ---- label columns ---- */

/* Calls @each for every label of -L; the values of the flag may have commas. */
static void each_label(const struct get_options *o, struct row *row, const struct json_node *labels,
                       void (*each)(struct row *row, const struct json_node *labels,
                                    const char *label))
{
    for (size_t i = 0; i < o->label_columns.count; i++) {
        for (const char *at = o->label_columns.items[i]; *at; at += *at == ',') {
            size_t len = strcspn(at, ",");
            char *label = xstrndup(at, len);
            each(row, labels, label);
            free(label);
            at += len;
        }
    }
}

/* "app.kubernetes.io/name" has the header NAME. */
static void add_label_header(struct row *row, const struct json_node *labels, const char *label)
{
    const char *slash = strrchr(label, '/');
    (void)labels;
    row_add(row, upper(xstrdup(slash ? slash + 1 : label)));
}

static void add_label(struct row *row, const struct json_node *labels, const char *label)
{
    row_add(row, ctl_json_text(labels, label));
}

/* "app=web,tier=front" */
static char *labels_text(const struct json_node *labels)
{
    struct buf text = {0};
    for (const struct json_node *l = labels ? labels->first : NULL; l; l = l->next) {
        if (text.len)
            buf_putc(&text, ',');
        json_put_decoded(&text, l->key);
        buf_putc(&text, '=');
        json_put_decoded(&text, l->text);
    }
    if (!text.len)
        buf_puts(&text, "<none>");
    buf_putc(&text, '\0');
    return text.bytes;
}

/* ---- header ---- */

/* The columns of priority 0, with -o wide all. They come with the first table of a watch only. */
static void choose_columns(struct get_table *t, bool wide, const struct json_node *definitions)
{
    size_t i = 0;
    t->n_columns = 0;
    for (const struct json_node *c = definitions->first; c; c = c->next, i++) {
        if ((!wide && ctl_json_number(c, "priority")) || t->n_columns == CTL_COLUMNS_MAX)
            continue;
        if (ctl_json_is(c, "format", "name"))
            t->name_column = t->n_columns;
        t->columns[t->n_columns++] = i;
    }
}

static void add_header(struct get_table *t, const struct get_options *o, bool with_namespace,
                       const struct json_node *definitions, const char *event)
{
    struct row row = {0};
    size_t i = 0, shown = 0;
    if (event)
        row_add(&row, xstrdup("EVENT"));
    if (with_namespace)
        row_add(&row, xstrdup("NAMESPACE"));
    for (const struct json_node *c = definitions->first; c && shown < t->n_columns;
         c = c->next, i++)
        if (t->columns[shown] == i) {
            row_add(&row, upper(ctl_json_text(c, "name")));
            shown++;
        }
    each_label(o, &row, NULL, add_label_header);
    if (o->show_labels)
        row_add(&row, xstrdup("LABELS"));
    row_put(&row, &t->rows);
}

/* ---- rows ---- */

/* Up to the first line end, as kubectl shows it; a missing value is empty. */
static char *cell_text(const struct json_node *row, size_t column)
{
    const struct json_node *cells = ctl_json_get(row, "cells");
    const struct json_node *cell = cells ? cells->first : NULL;
    struct buf text = {0};
    size_t line;
    while (cell && column--)
        cell = cell->next;
    if (cell && cell->type == JSON_STRING)
        json_put_decoded(&text, cell->text);
    else if (cell && !str_eq(cell->text, STR("null")))
        buf_put(&text, cell->text.at, cell->text.len);
    buf_putc(&text, '\0');
    line = strcspn(text.bytes, "\f\n\r");
    if (text.bytes[line]) {
        text.len = line;
        buf_puts(&text, "...");
        buf_putc(&text, '\0');
    }
    return text.bytes;
}

static char *with_prefix(const struct ctl_resource *resource, char *name)
{
    struct buf full = {0};
    ctl_resource_put_prefix(resource, &full);
    buf_printf(&full, "/%s", name);
    buf_putc(&full, '\0');
    free(name);
    return full.bytes;
}

static void add_row(struct get_table *t, const struct get_options *o, bool with_namespace,
                    const struct ctl_resource *kind, const struct json_node *from,
                    const char *event)
{
    const struct json_node *metadata = ctl_json_get(ctl_json_get(from, "object"), "metadata");
    const struct json_node *labels = ctl_json_get(metadata, "labels");
    struct row row = {0};
    if (event)
        row_add(&row, xasprintf("%-8s", event)); /* the longest is MODIFIED */
    if (with_namespace)
        row_add(&row, ctl_json_text(metadata, "namespace"));
    for (size_t i = 0; i < t->n_columns; i++) {
        char *text = cell_text(from, t->columns[i]);
        row_add(&row, kind && i == t->name_column ? with_prefix(kind, text) : text);
    }
    each_label(o, &row, labels, add_label);
    if (o->show_labels)
        row_add(&row, labels_text(labels));
    row_put(&row, &t->rows);
}

void get_table_add(struct get_table *t, const struct get_options *o, bool wide,
                   const struct ctl_resource *resource, bool with_kind,
                   const struct json_node *answer, const char *event)
{
    const struct json_node *definitions = ctl_json_get(answer, "columnDefinitions");
    const struct json_node *rows = ctl_json_get(answer, "rows");
    bool with_namespace = o->all_namespaces && resource->namespaced;
    if (!rows || !rows->first)
        return; /* also no header */
    if (definitions && definitions->first && !t->has_header) {
        choose_columns(t, wide, definitions);
        if (!o->no_headers)
            add_header(t, o, with_namespace, definitions, event);
        t->has_header = true;
    }
    for (const struct json_node *row = rows->first; row; row = row->next)
        add_row(t, o, with_namespace, with_kind ? resource : NULL, row, event);
}

void get_table_free(struct get_table *t)
{
    ctl_table_free(&t->rows);
    *t = (struct get_table){0};
}
