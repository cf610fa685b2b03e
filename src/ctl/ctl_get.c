/*
 * ctl_get.c - `informerctl get`: objects of the copy, as kubectl prints them.
 *
 * Normal path: the words name resources and objects; each is one request. By default the answer is a
 * Table, whose columns informerd chooses; json, yaml and name use the objects themselves. With -w, a
 * watch continues from the version of the list.
 *
 * Errors and exit codes are kubectl's: a missing object is an error (1), an empty list is not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "ctl/ctl.h"
#include "ctl/ctl_resource.h"
#include "ctl/ctl_table.h"
#include "daemon/format/yaml_text.h"

enum {
    TARGETS_MAX = 64, /* LIMIT: resources and objects of a command line */
};

#define TABLE_TYPE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
#define METADATA_TYPE                                                   \
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io," \
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"

struct get_options {
    const char *socket;
    const char *ns;
    const char *selector;
    const char *field_selector;
    const char *output;
    bool all_namespaces;
    bool watch;
    bool no_headers;
    int argc;
    char **argv;
};

enum get_form {
    FORM_TABLE,
    FORM_WIDE,
    FORM_JSON,
    FORM_YAML,
    FORM_NAME,
};

static const char *const forms[] = {"table", "wide", "json", "yaml", "name", NULL};

/* One request: all objects of a resource, or one of them. */
struct target {
    char *word;
    const char *name; /* NULL: all */
};

struct get {
    const struct get_options *o;
    enum get_form form;
    struct client *client;
    struct target targets[TARGETS_MAX];
    size_t n_targets;
    bool prefixed;    /* names have their resource in front, because there are several */
    size_t documents; /* of YAML */

    /* of the current target */
    struct ctl_resource resource;
    const char *name;
    struct ctl_table table;
    size_t columns[CTL_COLUMNS_MAX]; /* of the server's table, that are shown */
    size_t n_columns;
    size_t n_rows;
};

/* ---- arguments ---- */

static void add_target(struct get *g, char *word, const char *name)
{
    if (g->n_targets < TARGETS_MAX)
        g->targets[g->n_targets++] = (struct target){word, name};
    else
        free(word);
}

/* "pods,services", "pods NAME NAME", "pod/NAME service/NAME". */
static void read_targets(struct get *g)
{
    const struct get_options *o = g->o;
    bool slashes = strchr(o->argv[0], '/') != NULL;
    for (int i = 0; slashes && i < o->argc; i++) {
        const char *slash = strchr(o->argv[i], '/');
        add_target(g, xstrndup(o->argv[i], (size_t)(slash - o->argv[i])), slash + 1);
    }
    for (const char *word = slashes ? "" : o->argv[0]; *word; word += *word == ',') {
        size_t len = strcspn(word, ",");
        for (int i = 1; len && i < o->argc; i++)
            add_target(g, xstrndup(word, len), o->argv[i]);
        if (len && o->argc == 1)
            add_target(g, xstrndup(word, len), NULL);
        word += len;
    }
    for (size_t i = 1; i < g->n_targets; i++)
        g->prefixed = g->prefixed || strcmp(g->targets[i].word, g->targets[0].word) != 0;
}

static int get_parse(void *options, int argc, char **argv)
{
    struct get_options *o = options;
    size_t form = 0;
    o->argc = argc;
    o->argv = argv;
    while (o->output && forms[form] && strcmp(forms[form], o->output) != 0)
        form++;
    if (!argc || !argv[0][0])
        return command_usage_error(&ctl_get, "missing resource; for example 'get pods'");
    if (!forms[form])
        return command_usage_error(&ctl_get,
                                   "unknown output format '%s'; use wide, json, yaml or "
                                   "name",
                                   o->output);
    for (int i = 1; i < argc; i++)
        if (!strchr(argv[0], '/') != !strchr(argv[i], '/'))
            return command_usage_error(&ctl_get, "write either RESOURCE NAME ... or "
                                                 "RESOURCE/NAME ...");
    if (o->watch && (argc > 2 || strchr(argv[0], ',')))
        return command_usage_error(&ctl_get, "-w watches only one resource or object");
    if (o->all_namespaces && (argc > 1 || strchr(argv[0], '/')))
        return command_usage_error(&ctl_get, "an object cannot be named with --all-namespaces");
    return 0;
}

/* ---- tables ---- */

static bool is_table(const struct json_node *root)
{
    return ctl_json_is(root, "kind", "Table");
}

/* The columns of a table: those of priority 0, with -o wide all. */
static void choose_columns(struct get *g, const struct json_node *root)
{
    const struct json_node *all = ctl_json_get(root, "columnDefinitions");
    const char *header[CTL_COLUMNS_MAX];
    char *names[CTL_COLUMNS_MAX];
    size_t i = 0, n = 0;
    if (!all || !all->first || g->n_columns)
        return;
    if (g->o->all_namespaces && g->resource.namespaced)
        names[n++] = xstrdup("NAMESPACE");
    for (const struct json_node *c = all->first; c && n < CTL_COLUMNS_MAX; c = c->next, i++) {
        if (g->form != FORM_WIDE && ctl_json_number(c, "priority"))
            continue;
        names[n] = ctl_json_text(c, "name");
        for (char *at = names[n]; *at; at++)
            *at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
        g->columns[g->n_columns++] = i;
        n++;
    }
    for (i = 0; i < n; i++)
        header[i] = names[i];
    if (!g->o->no_headers)
        ctl_table_add(&g->table, n, header);
    for (i = 0; i < n; i++)
        free(names[i]);
}

static char *cell_text(const struct json_node *row, size_t column)
{
    const struct json_node *cells = ctl_json_get(row, "cells");
    const struct json_node *cell = cells ? cells->first : NULL;
    struct buf text = {0};
    while (cell && column--)
        cell = cell->next;
    if (cell && cell->type == JSON_STRING)
        json_put_decoded(&text, cell->text);
    else if (cell && !str_eq(cell->text, STR("null")))
        buf_put(&text, cell->text.at, cell->text.len);
    else
        buf_puts(&text, "<none>");
    buf_putc(&text, '\0');
    return text.bytes;
}

static void add_row(struct get *g, const struct json_node *row)
{
    const struct json_node *metadata = ctl_json_get(ctl_json_get(row, "object"), "metadata");
    const char *shown[CTL_COLUMNS_MAX];
    char *cells[CTL_COLUMNS_MAX];
    size_t n = 0;
    if (g->o->all_namespaces && g->resource.namespaced)
        cells[n++] = ctl_json_text(metadata, "namespace");
    for (size_t i = 0; i < g->n_columns && n < CTL_COLUMNS_MAX; i++) {
        char *text = cell_text(row, g->columns[i]);
        if (i == 0 && g->prefixed) {
            struct buf full = {0};
            ctl_resource_put_prefix(&g->resource, &full);
            buf_printf(&full, "/%s", text);
            buf_putc(&full, '\0');
            free(text);
            text = full.bytes;
        }
        cells[n++] = text;
    }
    for (size_t i = 0; i < n; i++)
        shown[i] = cells[i];
    ctl_table_add(&g->table, n, shown);
    for (size_t i = 0; i < n; i++)
        free(cells[i]);
    g->n_rows++;
}

static void put_table(struct get *g, const struct json_node *root, struct buf *out)
{
    const struct json_node *rows = ctl_json_get(root, "rows");
    if (!rows || !rows->first)
        return; /* also no header */
    choose_columns(g, root);
    for (const struct json_node *row = rows->first; row; row = row->next)
        add_row(g, row);
    ctl_table_put(&g->table, out);
}

/* ---- objects ---- */

static void put_name(struct get *g, const struct json_node *object, struct buf *out)
{
    char *name = ctl_json_text(ctl_json_get(object, "metadata"), "name");
    ctl_resource_put_prefix(&g->resource, out);
    buf_printf(out, "/%s\n", name);
    free(name);
    g->n_rows++;
}

static void put_answer(struct get *g, const struct json_node *root, struct buf *out)
{
    const struct json_node *items = ctl_json_get(root, "items");
    switch (g->form) {
    case FORM_TABLE:
    case FORM_WIDE: put_table(g, root, out); break;
    case FORM_JSON:
        json_put_indented(out, root);
        buf_putc(out, '\n');
        g->n_rows++;
        break;
    case FORM_YAML:
        if (g->documents++)
            buf_puts(out, "---\n");
        g->n_rows++;
        yaml_put_document(out, root, 0);
        break;
    case FORM_NAME:
        if (items)
            for (const struct json_node *item = items->first; item; item = item->next)
                put_name(g, item, out);
        else
            put_name(g, root, out);
        break;
    }
}

/* ---- requests ---- */

static void put_parameter(struct buf *out, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(out, "%c%s=", memchr(out->bytes, '?', out->len) ? '&' : '?', name);
    client_put_escaped(out, value);
}

/* The object of a watch is selected by its name: its path can't be watched. */
static void put_target(const struct get *g, const char *version, struct buf *out)
{
    const struct get_options *o = g->o;
    const char *ns = o->all_namespaces ? NULL : o->ns ? o->ns : "default";
    ctl_resource_put_path(&g->resource, ns, version ? NULL : g->name, out);
    put_parameter(out, "labelSelector", o->selector);
    if (version && g->name) {
        char *field = xasprintf("metadata.name=%s", g->name);
        put_parameter(out, "fieldSelector", field);
        free(field);
    } else {
        put_parameter(out, "fieldSelector", o->field_selector);
    }
    put_parameter(out, "watch", version ? "true" : NULL);
    put_parameter(out, "resourceVersion", version);
    buf_putc(out, '\0');
}

static bool wants_table(const struct get *g)
{
    return g->form == FORM_TABLE || g->form == FORM_WIDE;
}

/* Names need only metadata, which is also served for Secrets. */
static const char *accept_of(const struct get *g)
{
    return wants_table(g) ? TABLE_TYPE : g->form == FORM_NAME ? METADATA_TYPE : NULL;
}

static void say_nothing_found(const struct get *g)
{
    if (g->o->all_namespaces || !g->resource.namespaced)
        fprintf(stderr, "No resources found\n");
    else
        fprintf(stderr, "No resources found in %s namespace.\n", g->o->ns ? g->o->ns : "default");
}

/* ---- watching ---- */

struct get_watch {
    struct client_follower follower;
    struct get *get;
    int rc;
};

static bool on_event(struct client_follower *follower, struct str line)
{
    struct get_watch *w = container_of(follower, struct get_watch, follower);
    struct arena arena = {0};
    struct buf out = {0};
    const struct json_node *event = json_tree_make(&arena, line);
    const struct json_node *object = ctl_json_get(event, "object");
    struct inf_error err;
    if (ctl_json_is(event, "type", "ERROR")) {
        ctl_json_error(0, object ? object->text : (struct str){0}, &err);
        w->rc = ctl_fail(&err);
    } else if (object && !ctl_json_is(event, "type", "BOOKMARK")) {
        put_answer(w->get, object, &out);
        w->rc = command_print(&out);
    }
    buf_free(&out);
    arena_free(&arena);
    return w->rc == 0;
}

static int watch_target(struct get *g, const char *version)
{
    struct get_watch w = {{on_event}, g, 0};
    struct buf target = {0};
    struct inf_error err;
    int rc;
    put_target(g, version, &target);
    rc = client_follow(g->client, target.bytes, accept_of(g), &w.follower, &err);
    buf_free(&target);
    return w.rc ? w.rc : rc < 0 ? ctl_fail(&err) : 0;
}

/* ---- the command ---- */

static int get_answer(struct get *g)
{
    struct ctl_answer answer = {0};
    struct buf target = {0}, out = {0};
    char *version = NULL;
    int rc;
    put_target(g, NULL, &target);
    rc = ctl_fetch(g->client, target.bytes, accept_of(g), &answer);
    if (rc == 0 && wants_table(g) && !is_table(answer.root)) {
        fprintf(stderr, "%s: informerd did not answer with a table\n", command_program_name());
        rc = EXIT_FAILURE;
    }
    if (rc == 0) {
        put_answer(g, answer.root, &out);
        version = ctl_json_text(ctl_json_get(answer.root, "metadata"), "resourceVersion");
        rc = command_print(&out);
    }
    if (rc == 0 && !g->n_rows && !g->o->watch)
        say_nothing_found(g);
    ctl_answer_free(&answer);
    buf_free(&target);
    buf_free(&out);
    if (rc == 0 && g->o->watch)
        rc = watch_target(g, version);
    free(version);
    return rc;
}

/* Objects of the same resource continue its table; another resource starts one after a blank line. */
static int get_target(struct get *g, const struct target *target, const struct target *before)
{
    struct inf_error err;
    bool another = !before || strcmp(before->word, target->word) != 0;
    if (another) {
        ctl_resource_free(&g->resource);
        ctl_table_free(&g->table);
        g->n_columns = 0;
        if (ctl_resource_find(g->client, target->word, &g->resource, &err) < 0)
            return ctl_fail(&err);
        if (g->n_rows && wants_table(g))
            putchar('\n');
        g->n_rows = 0;
    }
    g->name = target->name;
    return get_answer(g);
}

static int get_run(const void *options)
{
    struct get g = {.o = options};
    int rc;
    while (g.o->output && strcmp(forms[g.form], g.o->output) != 0)
        g.form++;
    read_targets(&g);
    rc = ctl_connect(g.o->socket, &g.client);
    for (size_t i = 0; g.client && i < g.n_targets; i++) {
        int one = get_target(&g, &g.targets[i], i ? &g.targets[i - 1] : NULL);
        rc = rc ? rc : one;
    }
    for (size_t i = 0; i < g.n_targets; i++)
        free(g.targets[i].word);
    ctl_resource_free(&g.resource);
    ctl_table_free(&g.table);
    client_close(g.client);
    return rc;
}

static const struct flag get_flags[] = {
    {'n', "namespace", "NS", offsetof(struct get_options, ns),
     .help = "namespace of the objects (default: default)"},
    {'A', "all-namespaces", NULL, offsetof(struct get_options, all_namespaces),
     .help = "objects of all namespaces"},
    {'l', "selector", "SELECTOR", offsetof(struct get_options, selector),
     .help = "only objects that match this label selector"},
    {0, "field-selector", "SELECTOR", offsetof(struct get_options, field_selector),
     .help = "only objects that match this field selector"},
    {'o', "output", "FORMAT", offsetof(struct get_options, output),
     .help = "output format: wide, json, yaml or name (default: a table)", .choices = forms},
    {'w', "watch", NULL, offsetof(struct get_options, watch),
     .help = "after the objects, print their changes"},
    {0, "no-headers", NULL, offsetof(struct get_options, no_headers),
     .help = "print no line with the names of the columns"},
    FLAG_SOCKET(struct get_options),
    {0},
};

const struct command ctl_get = {
    .name = "get",
    .arguments = "RESOURCE[,...] [NAME ...]",
    .summary = "print objects, as kubectl does",
    .description = "Print the objects of informerd's copy. A watched resource is named as for "
                   "kubectl (pods, po, deployments.apps); RESOURCE/NAME selects one object.",
    .flags = get_flags,
    .size = sizeof(struct get_options),
    .parse = get_parse,
    .run = get_run,
};
