/*
 * ctl_get_form.c - the output forms of `get` that are made from whole objects, as a table: a new form is a
 * function and a row.
 *
 * A form prints documents: an object, or a List of several. On a terminal, characters that could control
 * it are escaped; in a pipe the values of jsonpath are as they are.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/file.h"
#include "ctl/get/ctl_get.h"
#include "daemon/format/yaml_text.h"

enum {
    TEMPLATE_MAX = 64 * 1024, /* LIMIT: bytes of a template file */
};

struct get_form_type {
    const char *name;
    const char *argument; /* its name in messages; NULL: it has none */
    bool is_file;         /* the argument is the name of a file that contains it */
    bool metadata;        /* get_form_needs_metadata() */

    /* Parses the argument. NULL: there is none. */
    int (*prepare)(struct get_form *form, const char *argument, struct inf_error *err);
    int (*put)(struct get_form *form, const struct json_node *document, const char *event,
               struct buf *out, struct inf_error *err);
};

/* ---- json, yaml, name ---- */

static int put_json(struct get_form *form, const struct json_node *document, const char *event,
                    struct buf *out, struct inf_error *err)
{
    (void)form, (void)err;
    if (event) { /* in one line, and the type first, as kubectl writes them */
        buf_printf(out, "{\"type\":\"%s\",\"object\":", event);
        json_put_compact(out, ctl_json_get(document, "object"));
        buf_putc(out, '}');
    } else {
        json_put_indented(out, document);
    }
    buf_putc(out, '\n');
    return 0;
}

static int put_yaml(struct get_form *form, const struct json_node *document, const char *event,
                    struct buf *out, struct inf_error *err)
{
    (void)event, (void)err;
    if (form->documents)
        buf_puts(out, "---\n");
    yaml_put_document(out, document, 0);
    return 0;
}

static int put_kyaml(struct get_form *form, const struct json_node *document, const char *event,
                     struct buf *out, struct inf_error *err)
{
    (void)form, (void)event, (void)err;
    kyaml_put_document(out, document);
    return 0;
}

/* "pod/web-0", "deployment.apps/web" */
static void put_object_name(const struct json_node *object, struct buf *out)
{
    char *version = ctl_json_text(object, "apiVersion"), *kind = ctl_json_text(object, "kind");
    char *name = ctl_json_text(ctl_json_get(object, "metadata"), "name");
    const char *slash = strchr(version, '/');
    for (char *c = kind; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    buf_puts(out, kind);
    if (slash)
        buf_printf(out, ".%.*s", (int)(slash - version), version);
    buf_printf(out, "/%s\n", name);
    free(version);
    free(kind);
    free(name);
}

/* The objects of a document: the items of a List, or itself. */
static const struct json_node *first_object(const struct json_node *document)
{
    const struct json_node *items = ctl_json_get(document, "items");
    return ctl_json_is(document, "kind", "List") && items ? items->first : document;
}

/* The object after @object; a document alone has none. */
static const struct json_node *next_object(const struct json_node *document,
                                           const struct json_node *object)
{
    return object == document ? NULL : object->next;
}

static int put_names(struct get_form *form, const struct json_node *document, const char *event,
                     struct buf *out, struct inf_error *err)
{
    const struct json_node *changed = event ? ctl_json_get(document, "object") : document;
    (void)form, (void)err;
    for (const struct json_node *o = first_object(changed); o; o = next_object(changed, o))
        put_object_name(o, out);
    return 0;
}

/* ---- jsonpath ---- */

static int prepare_jsonpath(struct get_form *form, const char *argument, struct inf_error *err)
{
    return jsonpath_parse_template(str_of(argument), &form->path, err);
}

static int execution_error(struct inf_error *err)
{
    struct inf_error cause = *err;
    return err_set(err, cause.code, "error executing jsonpath: %s", cause.text);
}

/* Appends @text, without what could control a terminal if the output is one, and frees it. */
static void put_for_terminal(struct buf *out, struct buf *text)
{
    if (isatty(STDOUT_FILENO))
        jsonpath_put_visible(out, (struct str){text->bytes, text->len});
    else if (text->len)
        buf_put(out, text->bytes, text->len);
    buf_free(text);
}

static int put_jsonpath(struct get_form *form, const struct json_node *document, const char *event,
                        struct buf *out, struct inf_error *err)
{
    struct buf text = {0};
    int rc = jsonpath_put(&text, form->path, document, err);
    (void)event;
    if (rc < 0) {
        rc = execution_error(err);
        buf_free(&text);
    } else {
        put_for_terminal(out, &text);
    }
    return rc;
}

/* The values of each expression as an array. */
static void put_array(void *ctx, const struct json_node *const *values, size_t n)
{
    struct json_node array = {.type = JSON_ARRAY, .text = STR("[]")};
    struct json_node *copies = xcalloc(n + 1, sizeof(*copies));
    for (size_t i = 0; i < n; i++) { /* the nodes have other siblings in their tree */
        copies[i] = *values[i];
        copies[i].next = i + 1 < n ? &copies[i + 1] : NULL;
    }
    array.first = n ? copies : NULL;
    json_put_indented(ctx, &array);
    buf_putc(ctx, '\n');
    free(copies);
}

static int put_jsonpath_as_json(struct get_form *form, const struct json_node *document,
                                const char *event, struct buf *out, struct inf_error *err)
{
    (void)event;
    return jsonpath_each(form->path, document, put_array, out, err) < 0 ? execution_error(err) : 0;
}

/* ---- go-template ---- */

static int put_template(struct get_form *form, const struct json_node *document, const char *event,
                        struct buf *out, struct inf_error *err)
{
    struct buf text = {0};
    int rc = get_template_put(form, document, &text, err);
    (void)event;
    put_for_terminal(out, &text);
    return rc;
}

/* ---- custom-columns ---- */

static int prepare_columns(struct get_form *form, const char *argument, struct inf_error *err)
{
    return columns_parse(&form->columns, argument, err);
}

static int prepare_column_lines(struct get_form *form, const char *argument, struct inf_error *err)
{
    return columns_parse_lines(&form->columns, argument, err);
}

static void add_cells(struct get_form *form, const struct buf *cells)
{
    const char *row[COLUMNS_MAX];
    for (size_t i = 0; i < form->columns.count; i++)
        row[i] = cells[i].bytes;
    ctl_table_add(&form->table, form->columns.count, row);
}

static int add_object(struct get_form *form, const struct json_node *object, struct inf_error *err)
{
    struct buf cells[COLUMNS_MAX] = {0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < form->columns.count; i++) {
        rc = columns_put_cell(&form->columns, i, object, &cells[i], err);
        buf_putc(&cells[i], '\0');
    }
    if (rc == 0)
        add_cells(form, cells);
    else
        rc = execution_error(err);
    for (size_t i = 0; i < form->columns.count; i++)
        buf_free(&cells[i]);
    return rc;
}

static void add_headers(struct get_form *form)
{
    struct buf cells[COLUMNS_MAX] = {0};
    for (size_t i = 0; i < form->columns.count; i++) {
        buf_put(&cells[i], form->columns.headers[i].at, form->columns.headers[i].len);
        buf_putc(&cells[i], '\0');
    }
    add_cells(form, cells);
    for (size_t i = 0; i < form->columns.count; i++)
        buf_free(&cells[i]);
}

static int put_columns(struct get_form *form, const struct json_node *document, const char *event,
                       struct buf *out, struct inf_error *err)
{
    int rc = 0;
    (void)event;
    if (!form->documents && !form->no_headers)
        add_headers(form);
    for (const struct json_node *o = first_object(document); rc == 0 && o;
         o = next_object(document, o))
        rc = add_object(form, o, err);
    if (!form->more)
        ctl_table_put(&form->table, out);
    return rc;
}

/* ---- table of forms ---- */

static const struct get_form_type form_types[] = {
    {"json", .put = put_json},
    {"yaml", .put = put_yaml},
    {"kyaml", .put = put_kyaml},
    {"name", .metadata = true, .put = put_names},
    {"jsonpath", "TEMPLATE", .prepare = prepare_jsonpath, .put = put_jsonpath},
    {"jsonpath-as-json", "TEMPLATE", .prepare = prepare_jsonpath, .put = put_jsonpath_as_json},
    {"jsonpath-file", "FILE", .is_file = true, .prepare = prepare_jsonpath, .put = put_jsonpath},
    {"go-template", "TEMPLATE", .prepare = get_template_prepare, .put = put_template},
    {"go-template-file", "FILE", .is_file = true, .prepare = get_template_prepare,
     .put = put_template},
    {"template", "TEMPLATE", .prepare = get_template_prepare, .put = put_template},
    {"templatefile", "FILE", .is_file = true, .prepare = get_template_prepare, .put = put_template},
    {"custom-columns", "SPEC", .prepare = prepare_columns, .put = put_columns},
    {"custom-columns-file", "FILE", .is_file = true, .prepare = prepare_column_lines,
     .put = put_columns},
};

const char *const get_form_names[] = {
    "wide",
    "json",
    "yaml",
    "kyaml",
    "name",
    "jsonpath=",
    "jsonpath-file=",
    "jsonpath-as-json=",
    "go-template=",
    "go-template-file=",
    "custom-columns=",
    "custom-columns-file=",
    NULL,
};

#define FORM_LIST                                                                               \
    "wide, json, yaml, kyaml, name, go-template=TEMPLATE, go-template-file=FILE, "              \
    "jsonpath=TEMPLATE, jsonpath-file=FILE, jsonpath-as-json=TEMPLATE, custom-columns=SPEC or " \
    "custom-columns-file=FILE"

/* Reads the argument from its file, if it is one. */
static int prepare_argument(struct get_form *form, const char *argument, struct inf_error *err)
{
    char *text = NULL;
    size_t len;
    int rc;
    if (!form->type->is_file)
        return form->type->prepare(form, argument, err);
    rc = file_read(argument, TEMPLATE_MAX, &text, &len, err);
    if (rc == 0)
        rc = form->type->prepare(form, text, err);
    free(text);
    return rc;
}

static const struct get_form_type *find_form_type(const char *output, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(form_types); i++)
        if (strlen(form_types[i].name) == len && strncmp(form_types[i].name, output, len) == 0)
            return &form_types[i];
    return NULL;
}

int get_form_prepare(struct get_form *ret, const char *output, const char *template,
                     struct inf_error *err)
{
    const char *sign, *argument;
    const struct get_form_type *type;
    *ret = (struct get_form){0};
    if (!output && template)
        output = "go-template";
    ret->wide = output && strcmp(output, "wide") == 0;
    if (!output || ret->wide)
        return template ? err_set(err, INF_EINVAL, "--template cannot be used with -o wide") : 0;
    sign = strchrnul(output, '=');
    argument = *sign ? sign + 1 : template ? template : "";
    type = ret->type = find_form_type(output, (size_t)(sign - output));
    if (!type)
        return err_set(err, INF_EINVAL, "unknown output format '%s'; use " FORM_LIST, output);
    if (template && (*sign || !type->argument))
        return err_set(err, INF_EINVAL, "--template cannot be used with -o %s", output);
    if (!type->argument && *sign)
        return err_set(err, INF_EINVAL, "output format '%s' takes no argument", type->name);
    if (type->argument && !*argument)
        return err_set(err, INF_EINVAL, "output format '%s' needs an argument: %s=%s", type->name,
                       type->name, type->argument);
    return type->argument ? prepare_argument(ret, argument, err) : 0;
}

void get_form_free(struct get_form *form)
{
    jsonpath_free(form->path);
    template_free(form->template);
    free(form->template_text);
    columns_free(&form->columns);
    ctl_table_free(&form->table);
    *form = (struct get_form){0};
}

bool get_form_needs_metadata(const struct get_form *form)
{
    return form->type && form->type->metadata;
}

int get_form_put(struct get_form *form, const struct json_node *document, const char *event,
                 struct buf *out, struct inf_error *err)
{
    struct json_node type = {.type = JSON_STRING, .key = STR("type"), .text = str_of(event)};
    struct json_node object = *document, change = {.type = JSON_OBJECT, .first = &object};
    int rc;
    object.key = STR("object");
    object.next = &type;
    rc = form->type->put(form, event ? &change : document, event, out, err);
    form->documents++;
    return rc;
}
