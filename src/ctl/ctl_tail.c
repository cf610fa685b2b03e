/*
 * ctl_tail.c - `informerctl tail`: records as they happen, or from an event log.
 *
 * informerd selects them. By default each is printed as one line that fits the terminal; other formats
 * are made by informerd, which has the objects. The command ends when it is interrupted, with 69 if
 * informerd stops, and without an error if stdout is closed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "ctl/ctl.h"
#include "ctl/ctl_record.h"
#include "ctl/ctl_resource.h"
#include "daemon/cli/terminal.h"

struct tail_options {
    const char *socket;
    const char *watch;
    const char *ns;
    const char *name;
    const char *level;
    const char *output;
    const char *from;
    const char *resource;
    const char *verb;
    const char *label;
    const char *changed;
    const char *text;
    bool no_follow;
    bool no_notes;
};

static const char *const tail_levels[] = {"info", "warn", "error", NULL};

static const char *const tail_formats[] = {"short", "jsonl", "wide", "diff",
                                           "json",  "yaml",  "name", NULL};

struct tail {
    struct client_follower follower;
    struct record_options options;
    bool formatted; /* by informerd */
    int rc;
};

/* The width may have changed since the last one. */
static void put_record(struct tail *t, struct str line, struct buf *out)
{
    struct arena arena = {0};
    t->options.width = terminal_width(STDOUT_FILENO);
    ctl_record_put_line(out, json_tree_make(&arena, line), &t->options);
    arena_free(&arena);
}

static bool on_line(struct client_follower *follower, struct str line)
{
    struct tail *t = container_of(follower, struct tail, follower);
    struct buf out = {0};
    if (t->formatted) {
        buf_put(&out, line.at, line.len);
        buf_putc(&out, '\n');
    } else {
        put_record(t, line, &out);
    }
    t->rc = command_print(&out);
    buf_free(&out);
    return t->rc == 0;
}

static void put_parameter(struct buf *target, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(target, "&%s=", name);
    client_put_escaped(target, value);
}

/* What informerd needs to format records. */
static void put_format(struct buf *target, const char *format, const struct record_options *options)
{
    put_parameter(target, "format", format);
    put_parameter(target, "colour", options->colour ? "true" : NULL);
    if (options->width)
        buf_printf(target, "&width=%u", options->width);
}

/* Records have the plural name and the group of their resource; users also write short names and kinds. */
static int put_resource(struct buf *target, struct client *client, const char *word)
{
    struct ctl_resource resource = {0};
    struct inf_error err;
    if (!word)
        return 0;
    if (ctl_resource_find(client, word, &resource, &err) < 0)
        return ctl_fail(&err);
    put_parameter(target, "resource", resource.name);
    if (resource.group[0]) {
        buf_putc(target, '.');
        client_put_escaped(target, resource.group);
    }
    ctl_resource_free(&resource);
    return 0;
}

static int put_target(struct buf *target, const struct tail_options *o, const struct tail *tail,
                      struct inf_error *err)
{
    buf_printf(target, "/informerd/v1/events?follow=%s", o->no_follow ? "false" : "true");
    put_parameter(target, "watch", o->watch);
    put_parameter(target, "namespace", o->ns);
    put_parameter(target, "name", o->name);
    put_parameter(target, "level", o->level);
    put_parameter(target, "verb", o->verb);
    put_parameter(target, "label", o->label);
    put_parameter(target, "changed", o->changed);
    put_parameter(target, "text", o->text);
    put_parameter(target, "notes", o->no_notes ? "false" : NULL);
    if (tail->formatted && strcmp(o->output, "jsonl") != 0)
        put_format(target, o->output, &tail->options);
    if (o->from) {
        buf_puts(target, "&from=");
        if (ctl_time_put(target, o->from, true, (int64_t)time(NULL) * 1000000, err) < 0)
            return -INF_EINVAL;
    }
    return 0;
}

static int tail_run(const void *options)
{
    const struct tail_options *o = options;
    struct tail tail = {.follower = {on_line}, .options = ctl_record_options()};
    struct client *client = NULL;
    struct buf target = {0};
    struct inf_error err;
    int rc;
    tail.formatted = o->output && strcmp(o->output, "short") != 0;
    if (put_target(&target, o, &tail, &err) < 0) {
        buf_free(&target);
        return command_usage_error(&ctl_tail, "--from: %s", err.text);
    }
    rc = ctl_connect(o->socket, &client);
    if (rc == 0)
        rc = put_resource(&target, client, o->resource);
    buf_putc(&target, '\0');
    if (rc == 0 && client_follow(client, target.bytes, NULL, &tail.follower, &err) < 0)
        rc = ctl_fail(&err);
    buf_free(&target);
    client_close(client);
    return tail.rc ? tail.rc : rc;
}

static const struct flag tail_flags[] = {
    {0, "from", "SEQ|TIME", offsetof(struct tail_options, from),
     .help = "first print the records of an event log from there on: a sequence number "
             "(0: all), a duration before now (10m) or a time (10:02, 2026-11-18T10:02:00Z)"},
    {0, "no-follow", NULL, offsetof(struct tail_options, no_follow),
     .help = "with --from: end after the records that are written now"},
    {'n', "namespace", "NS", offsetof(struct tail_options, ns),
     .help = "only objects in this namespace"},
    {0, "resource", "RESOURCE", offsetof(struct tail_options, resource),
     .help = "only objects of this resource, as in get: pods, po, deployments.apps"},
    {0, "name", "NAME", offsetof(struct tail_options, name), .help = "only objects of this name"},
    {'l', "selector", "SELECTOR", offsetof(struct tail_options, label),
     .help = "only objects with these labels"},
    {0, "verb", "VERB", offsetof(struct tail_options, verb),
     .help = "only these changes: ADDED, MODIFIED, DELETED; several with commas"},
    {0, "changed", "PATH", offsetof(struct tail_options, changed),
     .help = "only modifications of this field: spec.replicas"},
    {0, "text", "TEXT", offsetof(struct tail_options, text),
     .help = "only records whose message contains this"},
    {0, "level", "LEVEL", offsetof(struct tail_options, level),
     .help = "only changes of this level or a higher one: info, warn or error",
     .choices = tail_levels},
    {0, "watch-name", "NAME", offsetof(struct tail_options, watch),
     .help = "only changes of this watch of the configuration"},
    {0, "no-notes", NULL, offsetof(struct tail_options, no_notes),
     .help = "without records of informerd itself, such as GAP"},
    {'o', "output", "FORMAT", offsetof(struct tail_options, output),
     .help = "record format, as in event logs (default: short); with --from short or jsonl",
     .choices = tail_formats},
    FLAG_SOCKET(struct tail_options),
    {0},
};

static int tail_parse(void *options, int argc, char **argv)
{
    const struct tail_options *o = options;
    if (argc)
        return command_usage_error(&ctl_tail, "unexpected argument '%s'", argv[0]);
    if (o->no_follow && !o->from)
        return command_usage_error(&ctl_tail, "--no-follow needs --from");
    if (o->from && o->output && strcmp(o->output, "short") != 0 && strcmp(o->output, "jsonl") != 0)
        return command_usage_error(&ctl_tail, "with --from, the output format is short or jsonl");
    return 0;
}

const struct command ctl_tail = {
    .name = "tail",
    .arguments = "[flags]",
    .summary = "print changes as they happen, or from a time on",
    .description = "Print changes as they happen, or the records of an event log from a sequence "
                   "number or time on.",
    .flags = tail_flags,
    .size = sizeof(struct tail_options),
    .parse = tail_parse,
    .run = tail_run,
};
