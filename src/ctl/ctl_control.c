/*
 * ctl_control.c - `informerctl reload`, `reopen` and `dump`: what the signals HUP, USR1 and USR2 do, with
 * their result. informerd allows them only to its own user and root.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"

/* Prints the message of the answer. `ok` of the answer decides the exit code. */
static int control(const char *socket, const char *target)
{
    struct client *client = NULL;
    struct ctl_answer answer = {0};
    struct buf out = {0};
    int rc = ctl_connect(socket, &client);
    if (rc == 0)
        rc = ctl_fetch(client, target, NULL, &answer);
    if (rc == 0) {
        const struct json_node *ok = ctl_json_get(answer.root, "ok");
        char *message = ctl_json_text(answer.root, "message");
        buf_printf(&out, "%s\n", message);
        rc = command_print(&out);
        if (rc == 0 && (!ok || !str_eq(ok->text, STR("true"))))
            rc = EXIT_FAILURE;
        free(message);
    }
    buf_free(&out);
    ctl_answer_free(&answer);
    client_close(client);
    return rc;
}

static int reload_run(const void *options)
{
    return control(((const struct ctl_plain_options *)options)->socket, "/informerd/v1/reload");
}

static int reopen_run(const void *options)
{
    return control(((const struct ctl_plain_options *)options)->socket, "/informerd/v1/reopen");
}

const struct command ctl_reload = {
    .name = "reload",
    .arguments = "",
    .summary = "reload the configuration",
    .description =
        "Reload the configuration of informerd and print what has changed. If the "
        "configuration has errors, the previous one stays in use and the exit code is 1.",
    .flags = ctl_plain_flags,
    .size = sizeof(struct ctl_plain_options),
    .parse = ctl_plain_parse,
    .run = reload_run,
};

const struct command ctl_reopen = {
    .name = "reopen",
    .arguments = "",
    .summary = "reopen the event logs",
    .description = "Reopen the event logs, after another program has renamed them.",
    .flags = ctl_plain_flags,
    .size = sizeof(struct ctl_plain_options),
    .parse = ctl_plain_parse,
    .run = reopen_run,
};

/* ---- dump ---- */

static int dump_run(const void *options)
{
    const struct ctl_plain_options *o = options;
    struct client *client = NULL;
    struct ctl_answer answer = {0};
    int rc = ctl_connect(o->socket, &client);
    if (rc == 0)
        rc = ctl_fetch(client, "/informerd/v1/status", NULL, &answer);
    if (rc == 0)
        rc = command_print(&answer.reply.body);
    ctl_answer_free(&answer);
    client_close(client);
    return rc;
}

const struct command ctl_dump = {
    .name = "dump",
    .arguments = "",
    .summary = "print the state of informerd as JSON",
    .description = "Print the state of informerd as JSON, with the same content as a state dump.",
    .flags = ctl_plain_flags,
    .size = sizeof(struct ctl_plain_options),
    .parse = ctl_plain_parse,
    .run = dump_run,
};
