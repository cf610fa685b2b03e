/*
 * ctl_show.c - `informerctl show`: one object for people. What it is, its state and conditions, and what
 * happened to it lately.
 *
 * Normal path: the object, the row of its table, and its last records are requested one after the other.
 * The columns of the table are the main fields of each kind, so nothing here knows kinds. Without an event
 * log that has the records, the reason is printed instead of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/base.h"
#include "ctl/ctl.h"
#include "ctl/ctl_history.h"
#include "ctl/ctl_table.h"
#include "daemon/format/text_line.h"

#define TABLE_TYPE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

enum {
    LABEL_WIDTH = 14, /* of "Annotations:" and a gap */
    RECORDS = 10,     /* the newest ones that are shown */
};

struct show_options {
    const char *socket;
    const char *ns;
    int argc;
    char **argv;
};

struct show {
    struct record_options options;
    struct buf out;
    struct ctl_timeline timeline;
    size_t records;
};

/* ---- fields ---- */

static void put_field(struct show *s, const char *label, const char *value)
{
    struct text_line line;
    if (!value[0])
        return;
    text_line_start(&line, &s->out, &s->options, s->options.width);
    text_line_put_column(&line, TEXT_BOLD, str_of(label), LABEL_WIDTH);
    text_line_put(&line, NULL, str_of(value));
    text_line_end(&line);
}

static void put_member(struct show *s, const char *label, const struct json_node *node,
                       const char *key)
{
    char *value = ctl_json_text(node, key);
    put_field(s, label, value);
    free(value);
}

static void put_heading(struct show *s, const char *text)
{
    struct text_line line;
    buf_putc(&s->out, '\n');
    text_line_start(&line, &s->out, &s->options, s->options.width);
    text_line_put(&line, TEXT_BOLD, str_of(text));
    text_line_end(&line);
}

/* "key=value" for each member; the label only before the first. */
static void put_map(struct show *s, const char *label, const struct json_node *map)
{
    for (const struct json_node *m = map ? map->first : NULL; m; m = m->next) {
        struct buf text = {0};
        json_put_decoded(&text, m->key);
        buf_putc(&text, '=');
        json_put_decoded(&text, m->text);
        buf_putc(&text, '\0');
        put_field(s, m == map->first ? label : " ", text.bytes);
        buf_free(&text);
    }
}

static void put_owners(struct show *s, const struct json_node *owners)
{
    for (const struct json_node *o = owners ? owners->first : NULL; o; o = o->next) {
        char *kind = ctl_json_text(o, "kind"), *name = ctl_json_text(o, "name");
        char *controller = ctl_json_text(o, "controller");
        char *text = xasprintf("%s/%s%s", kind, name,
                               strcmp(controller, "true") == 0 ? "" : " (not the controller)");
        put_field(s, o == owners->first ? "Owner:" : " ", text);
        free(kind);
        free(name);
        free(controller);
        free(text);
    }
}

static void put_metadata(struct show *s, const struct json_node *object,
                         const struct ctl_resource *resource)
{
    const struct json_node *metadata = ctl_json_get(object, "metadata");
    char *kind = xasprintf("%s (%s%s%s)", resource->kind, resource->group,
                           resource->group[0] ? "/" : "", resource->version);
    put_member(s, "Name:", metadata, "name");
    put_member(s, "Namespace:", metadata, "namespace");
    put_field(s, "Kind:", kind);
    put_owners(s, ctl_json_get(metadata, "ownerReferences"));
    put_map(s, "Labels:", ctl_json_get(metadata, "labels"));
    put_map(s, "Annotations:", ctl_json_get(metadata, "annotations"));
    put_member(s, "Created:", metadata, "creationTimestamp");
    put_member(s, "Deleting:", metadata, "deletionTimestamp");
    put_member(s, "UID:", metadata, "uid");
    free(kind);
}

/* The columns of the table of its kind, except the name. */
static void put_columns(struct show *s, const struct json_node *table)
{
    const struct json_node *columns = ctl_json_get(table, "columnDefinitions");
    const struct json_node *rows = ctl_json_get(table, "rows");
    const struct json_node *cells = ctl_json_get(rows ? rows->first : NULL, "cells");
    const struct json_node *column = columns ? columns->first : NULL;
    const struct json_node *cell = cells ? cells->first : NULL;
    for (; column && cell; column = column->next, cell = cell->next) {
        char *name = ctl_json_text(column, "name");
        struct buf label = {0}, value = {0};
        buf_printf(&label, "%s:", name);
        buf_putc(&label, '\0');
        json_put_decoded(&value, cell->text);
        buf_putc(&value, '\0');
        if (strcasecmp(name, "Name") != 0 && strcmp(value.bytes, "<none>") != 0)
            put_field(s, label.bytes, value.bytes);
        free(name);
        buf_free(&label);
        buf_free(&value);
    }
}

static void put_conditions(struct show *s, const struct json_node *object)
{
    static const char *const keys[] = {"type", "status", "lastTransitionTime", "reason", "message"};
    const struct json_node *list = ctl_json_get(ctl_json_get(object, "status"), "conditions");
    struct ctl_table table = {0};
    if (!list || list->type != JSON_ARRAY || !list->first)
        return;
    put_heading(s, "Conditions:");
    ctl_table_add(&table, ARRAY_LEN(keys),
                  (const char *const[]){"  TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"});
    for (const struct json_node *c = list->first; c; c = c->next) {
        char *cells[ARRAY_LEN(keys)], *type;
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
            cells[i] = ctl_json_text(c, keys[i]);
        type = xasprintf("  %s", cells[0]);
        free(cells[0]);
        cells[0] = type;
        ctl_table_add(&table, ARRAY_LEN(keys), (const char *const *)cells);
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
            free(cells[i]);
    }
    ctl_table_put(&table, &s->out);
    ctl_table_free(&table);
}

/* ---- recent records ---- */

static bool put_record(void *ctx, struct str line, const struct json_node *record)
{
    struct show *s = ctx;
    (void)line;
    s->records++;
    ctl_timeline_put(&s->timeline, &s->out, record);
    return true;
}

static void put_history(struct show *s, struct client *client, const struct json_node *object,
                        const struct ctl_resource *resource)
{
    const struct json_node *metadata = ctl_json_get(object, "metadata");
    char *ns = ctl_json_text(metadata, "namespace"), *name = ctl_json_text(metadata, "name");
    struct history_request request = {
        .resource = resource, .ns = ns[0] ? ns : NULL, .name = name, .limit = RECORDS};
    struct inf_error err;
    put_heading(s, "Recent changes and Events:");
    s->timeline.options = &s->options;
    s->timeline.indent = 2;
    if (history_read(client, &request, put_record, s, &err) < 0)
        buf_printf(&s->out, "  not available: %s\n", err.text);
    else if (!s->records)
        buf_puts(&s->out, "  no records\n");
    free(ns);
    free(name);
}

/* ---- the command ---- */

static int show_object(struct client *client, const struct ctl_resource *resource, const char *ns,
                       const char *name)
{
    struct show s = {.options = ctl_record_options()};
    struct ctl_answer object, table;
    struct buf path = {0};
    int rc;
    ctl_resource_put_path(resource, ns, name, &path);
    buf_putc(&path, '\0');
    rc = ctl_fetch(client, path.bytes, NULL, &object);
    if (rc == 0) {
        put_metadata(&s, object.root, resource);
        rc = ctl_fetch(client, path.bytes, TABLE_TYPE, &table);
        if (rc == 0) {
            put_columns(&s, table.root);
            put_conditions(&s, object.root);
            put_history(&s, client, object.root, resource);
            ctl_answer_free(&table);
            rc = command_print(&s.out);
        }
        ctl_answer_free(&object);
    }
    buf_free(&s.out);
    buf_free(&path);
    return rc;
}

static int show_run(const void *options)
{
    const struct show_options *o = options;
    struct ctl_resource resource = {0};
    struct client *client = NULL;
    const char *name = NULL;
    struct inf_error err;
    char *word = NULL;
    int rc = ctl_connect(o->socket, &client);
    history_split(o->argc, o->argv, &word, &name);
    if (rc == 0 && ctl_resource_find(client, word, &resource, &err) < 0)
        rc = ctl_fail(&err);
    if (rc == 0)
        rc = show_object(client, &resource, o->ns ? o->ns : "default", name);
    ctl_resource_free(&resource);
    free(word);
    client_close(client);
    return rc;
}

static int show_parse(void *options, int argc, char **argv)
{
    struct show_options *o = options;
    bool slash = argc && strchr(argv[0], '/');
    o->argc = argc;
    o->argv = argv;
    if (!argc || (argc == 1 && (!slash || argv[0][0] == '/' || !strchr(argv[0], '/')[1])))
        return command_usage_error(&ctl_show, "missing object; for example 'show pod/web-0'");
    if (argc > 2 || (argc == 2 && slash))
        return command_usage_error(&ctl_show, "unexpected argument '%s'", argv[argc - 1]);
    return 0;
}

static const struct flag show_flags[] = {
    {'n', "namespace", "NS", offsetof(struct show_options, ns),
     .help = "namespace of the object (default: default)"},
    FLAG_SOCKET(struct show_options),
    {0},
};

const struct command ctl_show = {
    .name = "show",
    .arguments = "RESOURCE/NAME [flags]",
    .summary = "print an object with its recent changes",
    .description = "Print the main fields and conditions of an object, and what happened to it "
                   "lately: changes and Events.",
    .flags = show_flags,
    .size = sizeof(struct show_options),
    .parse = show_parse,
    .run = show_run,
};
