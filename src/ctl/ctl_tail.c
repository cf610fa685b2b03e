/*
 * ctl_tail.c - `informerctl tail`: the changes that informerd logs, as they happen.
 *
 * informerd selects and formats them; each line is printed when it arrives. The command ends when it is
 * interrupted, with 69 if informerd stops, and without an error if stdout is closed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "ctl/ctl.h"

struct tail_options {
    const char *socket;
    const char *watch;
    const char *ns;
    const char *name;
    const char *level;
    const char *output;
};

static const char *const tail_levels[] = {"info", "warn", "error", NULL};

struct tail {
    struct client_follower follower;
    int rc;
};

static bool on_line(struct client_follower *follower, struct str line)
{
    struct tail *t = container_of(follower, struct tail, follower);
    struct buf out = {0};
    buf_put(&out, line.at, line.len);
    buf_putc(&out, '\n');
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

static int tail_run(const void *options)
{
    const struct tail_options *o = options;
    struct tail tail = {{on_line}, 0};
    struct client *client = NULL;
    struct buf target = {0};
    struct inf_error err;
    int rc = ctl_connect(o->socket, &client);
    buf_puts(&target, "/informerd/v1/events?follow=true");
    put_parameter(&target, "watch", o->watch);
    put_parameter(&target, "namespace", o->ns);
    put_parameter(&target, "name", o->name);
    put_parameter(&target, "level", o->level);
    put_parameter(&target, "format", o->output ? o->output : "short");
    put_parameter(&target, "colour", isatty(STDOUT_FILENO) ? "true" : NULL);
    buf_putc(&target, '\0');
    if (rc == 0 && client_follow(client, target.bytes, NULL, &tail.follower, &err) < 0)
        rc = ctl_fail(&err);
    buf_free(&target);
    client_close(client);
    return tail.rc ? tail.rc : rc;
}

static const struct flag tail_flags[] = {
    {0, "watch-name", "NAME", offsetof(struct tail_options, watch),
     .help = "only changes of this watch of the configuration"},
    {'n', "namespace", "NS", offsetof(struct tail_options, ns),
     .help = "only objects in this namespace"},
    {0, "name", "NAME", offsetof(struct tail_options, name), .help = "only objects of this name"},
    {0, "level", "LEVEL", offsetof(struct tail_options, level),
     .help = "only changes of this level or a higher one: info, warn or error",
     .choices = tail_levels},
    {'o', "output", "FORMAT", offsetof(struct tail_options, output),
     .help = "record format, as in event logs (default: short)"},
    FLAG_SOCKET(struct tail_options),
    {0},
};

static int tail_parse(void *options, int argc, char **argv)
{
    (void)options;
    return argc ? command_usage_error(&ctl_tail, "unexpected argument '%s'", argv[0]) : 0;
}

const struct command ctl_tail = {
    .name = "tail",
    .arguments = "[flags]",
    .summary = "print changes as they happen",
    .description = "Print the changes that informerd writes to its event logs, as they happen.",
    .flags = tail_flags,
    .size = sizeof(struct tail_options),
    .parse = tail_parse,
    .run = tail_run,
};
