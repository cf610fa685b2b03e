/*
 * ctl_get.h - the parts of `informerctl get`.
 *
 *     ctl_get.c           the command: flags, targets, requests
 *     ctl_get_watch.c     -w
 *     ctl_get_document.c  the document that a form gets: an object or a List
 *     ctl_get_form.c      json, yaml, name, jsonpath and custom-columns: made from whole objects
 *     ctl_get_template.c  go-template
 *     ctl_kyaml.c         kyaml
 *     ctl_get_table.c     tables, whose columns informerd chooses
 *     ctl_sort.c          --sort-by
 */
#ifndef CTL_CTL_GET_H
#define CTL_CTL_GET_H

#include <stdbool.h>

#include "ctl/ctl.h"
#include "ctl/ctl_resource.h"
#include "ctl/ctl_table.h"
#include "ctl/template/template.h"
#include "daemon/format/columns.h"
#include "daemon/format/jsonpath.h"

struct get_options {
    const char *socket;
    const char *ns;
    const char *selector;
    const char *field_selector;
    const char *output;
    const char *template;
    const char *sort_by;
    struct flag_values label_columns;
    bool all_namespaces;
    bool watch;
    bool watch_only;
    bool watch_events; /* print the types of changes too */
    bool no_headers;
    bool show_labels;
    bool show_kind;
    bool ignore_not_found;
    int argc;
    char **argv;
};

/* ---- forms made from objects ---- */

/* A zeroed struct is one that was not prepared. */
struct get_form {
    const struct get_form_type *type; /* NULL: a table */
    bool wide;                        /* of a table */
    bool no_headers;
    struct jsonpath *path;
    struct template *template;
    char *template_text;
    struct columns columns;
    struct ctl_table table; /* of the columns */
    size_t documents;       /* printed so far */
    bool more;              /* the next document follows at once: rows of columns wait for it */
};

/* Values of -o, for completion; ends with NULL. */
extern const char *const get_form_names[];

/* Prepares the form of -o @output; NULL: a table. @template is that of --template, or NULL. Reads the files
 * of the forms that have one. Returns 0, or an error of the option. */
int get_form_prepare(struct get_form *ret, const char *output, const char *template,
                     struct inf_error *err);
void get_form_free(struct get_form *form);

/* Whether metadata is enough. It is also served for Secrets whose values are hidden. */
bool get_form_needs_metadata(const struct get_form *form);

/* Appends @document, an object or a List. @event is not NULL for --output-watch-events: the type of the
 * change. */
int get_form_put(struct get_form *form, const struct json_node *document, const char *event,
                 struct buf *out, struct inf_error *err);

/* ---- single forms ---- */

/* Prepares and puts -o go-template. After an error the output has what kubectl prints to find its cause. */
int get_template_prepare(struct get_form *form, const char *argument, struct inf_error *err);
int get_template_put(struct get_form *form, const struct json_node *document, struct buf *out,
                     struct inf_error *err);

void kyaml_put_document(struct buf *out, const struct json_node *node);

/* ---- tables ---- */

/* Tables of one resource, which continue each other. A zeroed struct is empty. */
struct get_table {
    struct ctl_table rows;
    size_t columns[CTL_COLUMNS_MAX]; /* of the server's table, that are shown */
    size_t n_columns;
    size_t name_column; /* of these: the one with the name */
    bool has_header;
};

/* Adds a Table of the server. @with_kind: names have their resource in front. @event: the type of the
 * change, in a column; NULL: it is not shown. */
void get_table_add(struct get_table *table, const struct get_options *options, bool wide,
                   const struct ctl_resource *resource, bool with_kind,
                   const struct json_node *answer, const char *event);
void get_table_free(struct get_table *table);

/* ---- sorting ---- */

/* Sorts the items of @array by the value of @path in each, or in its member @member if that is not NULL.
 * Numbers and quantities have their order, other values that of their text; items without a value come
 * first. Returns 0, or an error if no item has one. */
int ctl_sort(struct json_node *array, const char *member, const struct jsonpath *path,
             struct inf_error *err);

#endif
