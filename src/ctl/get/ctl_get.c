/*
 * ctl_get.c - `informerctl get`: objects of the copy, as kubectl prints them.
 *
 * Normal path: the words name resources and objects; each is one request. The answers are Tables, of which
 * one table per resource is printed, or objects, of which one document is made: the object itself if
 * exactly one is named, otherwise a List. With -w, a watch continues from the version of the list; then
 * each object and each change is a document.
 *
 * Errors and exit codes are kubectl's: a missing object is an error (1), an empty list is not. Errors of
 * single requests are printed after the output of the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "ctl/get/ctl_get_internal.h"

#define TABLE_TYPE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
#define METADATA_TYPE                                                   \
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io," \
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"

static void note_error(struct get *g, const struct inf_error *err)
{
    bool server = strncmp(err->text, "Error from server", 17) == 0; /* as kubectl prints it */
    if (!server)
        buf_printf(&g->errors, "%s: ", command_program_name());
    buf_printf(&g->errors, "%s\n", err->text);
    g->rc = g->rc ? g->rc : ctl_exit_code(err);
}

/* ---- arguments ---- */

static void add_target(struct get *g, struct ctl_resource resource, const char *name)
{
    if (g->n_targets < TARGETS_MAX)
        g->targets[g->n_targets++] = (struct get_target){.resource = resource, .name = name};
    else
        ctl_resource_free(&resource);
}

/* A resource or a category. */
static void add_word(struct get *g, const char *word, const char *name)
{
    struct ctl_resource resource = {0}, members[TARGETS_MAX];
    struct inf_error err = {0};
    size_t n;
    if (ctl_discovery_find(&g->discovery, word, &resource, &err) == 0) {
        add_target(g, resource, name);
        return;
    }
    n = ctl_discovery_category(&g->discovery, word, members, ARRAY_LEN(members));
    for (size_t i = 0; i < n; i++)
        add_target(g, members[i], name);
    if (!n)
        note_error(g, &err);
}

/* The words of "pods,services", each with @name. */
static void add_words(struct get *g, const char *words, size_t len, const char *name)
{
    const char *end = words + len;
    while (words < end) {
        size_t n = strcspn(words, ",/");
        char *word = xstrndup(words, n);
        if (n)
            add_word(g, word, name);
        free(word);
        words += n + 1;
    }
}

static bool same_resource(const struct ctl_resource *a, const struct ctl_resource *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->group, b->group) == 0;
}

/* "pods,services", "pods NAME NAME", "pod/NAME service/NAME". */
static void read_targets(struct get *g)
{
    const struct get_options *o = g->o;
    bool slashes = strchr(o->argv[0], '/') != NULL;
    for (int i = 0; slashes && i < o->argc; i++) {
        const char *slash = strchr(o->argv[i], '/');
        add_words(g, o->argv[i], (size_t)(slash - o->argv[i]), slash + 1);
    }
    for (int i = 1; !slashes && i < o->argc; i++)
        add_words(g, o->argv[0], strlen(o->argv[0]), o->argv[i]);
    if (o->argc == 1 && !slashes)
        add_words(g, o->argv[0], strlen(o->argv[0]), NULL);
    g->with_kind = g->with_kind || o->show_kind;
    for (size_t i = 1; i < g->n_targets; i++)
        g->with_kind =
            g->with_kind || !same_resource(&g->targets[i].resource, &g->targets[0].resource);
}

static int check_names(const struct get_options *o)
{
    bool named = o->argc > 1 || strchr(o->argv[0], '/');
    for (int i = 1; i < o->argc; i++)
        if (!strchr(o->argv[0], '/') != !strchr(o->argv[i], '/'))
            return command_usage_error(&ctl_get, "write either RESOURCE NAME ... or "
                                                 "RESOURCE/NAME ...");
    for (int i = 0; i < o->argc; i++)
        if (strchr(o->argv[i], '/') && !strchr(o->argv[i], '/')[1])
            return command_usage_error(&ctl_get, "the name after '%s' is missing", o->argv[i]);
    if (o->all_namespaces && named)
        return command_usage_error(&ctl_get, "a resource cannot be retrieved by name across all "
                                             "namespaces");
    if ((o->selector || o->field_selector) && named)
        return command_usage_error(&ctl_get, "name cannot be provided when a selector is "
                                             "specified");
    return 0;
}

static int check_output(const struct get_options *o)
{
    struct get_form form;
    struct jsonpath *sort_by = NULL;
    struct inf_error err;
    int rc = 0;
    if (get_form_prepare(&form, o->output, o->template, &err) < 0)
        rc = command_usage_error(&ctl_get, "%s", err.text);
    else if (form.type && (o->show_labels || o->label_columns.count))
        rc = command_usage_error(&ctl_get, "%s cannot be used with -o %s",
                                 o->show_labels ? "--show-labels" : "--label-columns",
                                 o->output ? o->output : "go-template");
    else if (o->sort_by && jsonpath_parse(str_of(o->sort_by), &sort_by, &err) < 0)
        rc = command_usage_error(&ctl_get, "--sort-by: %s", err.text);
    jsonpath_free(sort_by);
    get_form_free(&form);
    return rc;
}

static int get_parse(void *options, int argc, char **argv)
{
    struct get_options *o = options;
    bool watches = o->watch || o->watch_only;
    int rc;
    o->argc = argc;
    o->argv = argv;
    if (!argc || !argv[0][0])
        return command_usage_error(&ctl_get, "missing resource; for example 'get pods'");
    if (watches && (argc > 2 || strchr(argv[0], ',') || (argc > 1 && strchr(argv[0], '/'))))
        return command_usage_error(&ctl_get, "-w watches only one resource or object");
    if (o->watch_events && !watches)
        return command_usage_error(&ctl_get, "--output-watch-events needs --watch or "
                                             "--watch-only");
    rc = check_names(o);
    return rc ? rc : check_output(o);
}

/* ---- requests ---- */

static void put_parameter(struct buf *out, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(out, "%c%s=", memchr(out->bytes, '?', out->len) ? '&' : '?', name);
    client_put_escaped(out, value);
}

const char *get_accept(const struct get *g)
{
    if (!g->form.type)
        return TABLE_TYPE;
    return get_form_needs_metadata(&g->form) && !g->sort_by ? METADATA_TYPE : NULL;
}

void get_put_target(const struct get *g, const struct get_target *t, const char *version,
                    struct buf *out)
{
    const struct get_options *o = g->o;
    const char *ns = o->all_namespaces ? NULL : o->ns ? o->ns : "default";
    ctl_resource_put_path(&t->resource, ns, version ? NULL : t->name, out);
    put_parameter(out, "labelSelector", o->selector);
    put_parameter(out, "fieldSelector", o->field_selector);
    if (version && t->name) {
        char *field = xasprintf("metadata.name=%s", t->name);
        put_parameter(out, "fieldSelector", field);
        free(field);
    }
    if (!g->form.type && g->sort_by)
        put_parameter(out, "includeObject", "Object");
    put_parameter(out, "watch", version ? "true" : NULL);
    put_parameter(out, "resourceVersion", version);
    buf_putc(out, '\0');
}

/* Requests the objects of @t. Without an answer the error is noted. */
static void request_target(struct get *g, struct get_target *t)
{
    struct inf_error err;
    struct buf target = {0};
    int rc;
    get_put_target(g, t, NULL, &target);
    rc = ctl_request(g->client, target.bytes, get_accept(g), &t->answer, &err);
    if (rc == 0 && !g->form.type && !ctl_json_is(t->answer.root, "kind", "Table")) {
        ctl_answer_free(&t->answer);
        rc = err_set(&err, INF_EPROTO, "informerd did not answer with a table");
    }
    if (rc < 0 && !(rc == -INF_ENOTFOUND && g->o->ignore_not_found))
        note_error(g, &err);
    buf_free(&target);
}

/* ---- tables ---- */

int get_sort_rows(const struct get *g, const struct json_node *root, struct inf_error *err)
{
    for (struct json_node *m = root->first; g->sort_by && m; m = m->next)
        if (str_eq(m->key, STR("rows")))
            return ctl_sort(m, "object", g->sort_by, err);
    return 0;
}

static void say_nothing_found(const struct get *g)
{
    bool namespaced = !g->o->all_namespaces;
    for (size_t i = 0; i < g->n_targets; i++)
        namespaced = namespaced && g->targets[i].resource.namespaced;
    if (namespaced)
        fprintf(stderr, "No resources found in %s namespace.\n", g->o->ns ? g->o->ns : "default");
    else
        fprintf(stderr, "No resources found\n");
}

/* Adds the tables of all targets to @out, those of different resources with a blank line between them. */
static void put_tables(struct get *g, struct buf *out)
{
    for (size_t i = 0; i < g->n_targets; i++) {
        struct get_target *t = &g->targets[i];
        bool last = i + 1 == g->n_targets || !same_resource(&t->resource, &t[1].resource);
        struct inf_error err;
        if (t->answer.root && get_sort_rows(g, t->answer.root, &err) < 0)
            note_error(g, &err);
        else if (t->answer.root)
            get_table_add(&g->table, g->o, g->form.wide, &t->resource, g->with_kind, t->answer.root,
                          NULL);
        if (!last || !g->table.rows.n_cells)
            continue;
        if (out->len && !g->o->no_headers)
            buf_putc(out, '\n');
        ctl_table_put(&g->table.rows, out);
        get_table_free(&g->table);
    }
    if (!out->len && !g->errors.len && !g->o->ignore_not_found)
        say_nothing_found(g);
}

/* ---- the command ---- */

static int print_answers(struct get *g)
{
    struct buf out = {0};
    struct inf_error err;
    int rc;
    if (!g->form.type)
        put_tables(g, &out);
    else if (get_put_document(g, &out, &err) < 0)
        note_error(g, &err);
    rc = command_print(&out);
    buf_free(&out);
    return rc;
}

static int run_targets(struct get *g)
{
    bool watches = g->o->watch || g->o->watch_only;
    for (size_t i = 0; i < g->n_targets; i++)
        request_target(g, &g->targets[i]);
    if (!watches)
        return print_answers(g);
    if (g->sort_by)
        fprintf(stderr, "warning: --watch requested, --sort-by will be ignored for watch events "
                        "received\n");
    return g->n_targets && g->targets[0].answer.root ? get_watch_target(g, &g->targets[0]) : 0;
}

static void get_free(struct get *g)
{
    for (size_t i = 0; i < g->n_targets; i++) {
        ctl_resource_free(&g->targets[i].resource);
        ctl_answer_free(&g->targets[i].answer);
    }
    ctl_discovery_free(&g->discovery);
    get_form_free(&g->form);
    get_table_free(&g->table);
    jsonpath_free(g->sort_by);
    arena_free(&g->arena);
    buf_free(&g->errors);
    client_close(g->client);
    free(g);
}

static int get_run(const void *options)
{
    struct get *g = NEW(struct get);
    struct inf_error err;
    int rc;
    g->o = options;
    get_form_prepare(&g->form, g->o->output, g->o->template, NULL); /* both were checked */
    g->form.no_headers = g->o->no_headers;
    if (g->o->sort_by)
        jsonpath_parse(str_of(g->o->sort_by), &g->sort_by, NULL);
    rc = ctl_connect(g->o->socket, &g->client);
    if (rc == 0 && ctl_discovery_load(g->client, &g->discovery, &err) < 0)
        rc = ctl_fail(&err);
    if (rc == 0) {
        read_targets(g);
        rc = run_targets(g);
        fwrite(g->errors.bytes ? g->errors.bytes : "", 1, g->errors.len, stderr);
        rc = rc ? rc : g->rc;
    }
    get_free(g);
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
     .help = "output format: wide, json, yaml, kyaml, name, go-template=TEMPLATE, "
             "go-template-file=FILE, jsonpath=TEMPLATE, jsonpath-file=FILE, "
             "jsonpath-as-json=TEMPLATE, custom-columns=SPEC or custom-columns-file=FILE "
             "(default: a table)",
     .choices = get_form_names},
    {0, "template", "TEMPLATE", offsetof(struct get_options, template),
     .help = "template or file of -o, if it has none; without -o a go-template"},
    {0, "sort-by", "PATH", offsetof(struct get_options, sort_by),
     .help = "sort by this field, for example .metadata.creationTimestamp"},
    {'L', "label-columns", "LABELS", offsetof(struct get_options, label_columns),
     .help = "a column for each of these labels", .repeatable = true},
    {0, "show-labels", NULL, offsetof(struct get_options, show_labels),
     .help = "a last column with all labels"},
    {0, "show-kind", NULL, offsetof(struct get_options, show_kind),
     .help = "write the resource in front of names"},
    {0, "no-headers", NULL, offsetof(struct get_options, no_headers),
     .help = "print no line with the names of the columns"},
    {0, "ignore-not-found", NULL, offsetof(struct get_options, ignore_not_found),
     .help = "a missing object is not an error"},
    {'w', "watch", NULL, offsetof(struct get_options, watch),
     .help = "after the objects, print their changes"},
    {0, "watch-only", NULL, offsetof(struct get_options, watch_only), .help = "print only changes"},
    {0, "output-watch-events", NULL, offsetof(struct get_options, watch_events),
     .help = "with -w, print the type of each change too"},
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
