/*
 * ctl.c - the table of informerctl's commands, and what they share: errors, exit codes, requests.
 */
#include "ctl/ctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/base.h"

static const struct command *const ctl_commands[] = {
    &ctl_overview, &ctl_get,      &ctl_status,      &ctl_top,  &ctl_tail,
    &ctl_history,  &ctl_show,     &ctl_handler,     &ctl_page, &ctl_kubeconfig,
    &ctl_token,    &ctl_reload,   &ctl_reopen,      &ctl_dump, &ctl_completion,
    &ctl_complete, &command_help, &command_version, NULL,
};

const struct program command_program = {
    .name = "informerctl",
    .commands = ctl_commands,
    .flags_heading = "Flags",
    .plugin = "kubectl-informer",
    .plugin_name = "kubectl informer",
};

/* ---- without a command ---- */

const struct flag ctl_plain_flags[] = {FLAG_SOCKET(struct ctl_plain_options), {0}};

static int overview_parse(void *options, int argc, char **argv)
{
    (void)options;
    if (argc)
        return command_unknown(argv[0]);
    return command_usage_error(&ctl_overview, "missing command");
}

static int overview_run(const void *options)
{
    (void)options;
    return EX_USAGE; /* UNTESTED: overview_parse() always fails */
}

const struct command ctl_overview = {
    .name = "",
    .arguments = "COMMAND [flags]",
    .summary = "run a command",
    .description = "informerctl reads objects, changes and the state of a running informerd over "
                   "its Unix socket.",
    .flags = ctl_plain_flags,
    .notes = "Run 'informerctl COMMAND --help' for the flags of a command.\n",
    .size = sizeof(struct ctl_plain_options),
    .parse = overview_parse,
    .run = overview_run,
};

int ctl_plain_parse(void *options, int argc, char **argv)
{
    (void)options;
    return argc ? command_usage_error(command_program.commands[0], "unexpected argument '%s'",
                                      argv[0])
                : 0;
}

/* ---- for commands ---- */

void ctl_print_error(const char *text)
{
    if (strncmp(text, "Error from server", 17) == 0) /* as kubectl prints it */
        fprintf(stderr, "%s\n", text);
    else
        fprintf(stderr, "%s: %s\n", command_program_name(), text);
}

int ctl_fail(const struct inf_error *err)
{
    ctl_print_error(err->text);
    return ctl_exit_code(err);
}

int ctl_exit_code(const struct inf_error *err)
{
    switch (err->code) {
    case INF_ENET:
    case INF_EPROTO: return EX_UNAVAILABLE;
    case INF_EFORBIDDEN:
    case INF_EUNAUTHORIZED: return EX_NOPERM;
    default: return EXIT_FAILURE;
    }
}

int ctl_connect(const char *socket, struct client **ret)
{
    struct inf_error err;
    return client_open(socket, ret, &err) < 0 ? ctl_fail(&err) : 0;
}

int ctl_request(struct client *client, const char *target, const char *accept,
                struct ctl_answer *ret, struct inf_error *err)
{
    struct str body;
    int rc;
    *ret = (struct ctl_answer){0};
    rc = client_get(client, target, accept, &ret->reply, err);
    if (rc < 0)
        return rc;
    body = (struct str){ret->reply.body.bytes, ret->reply.body.len};
    if (ret->reply.status != 200) {
        rc = ctl_json_error(ret->reply.status, body, err);
        ctl_answer_free(ret);
        return rc;
    }
    ret->tree = json_tree_make(&ret->arena, body);
    ret->root = ret->tree;
    return 0;
}

int ctl_fetch(struct client *client, const char *target, const char *accept, struct ctl_answer *ret)
{
    struct inf_error err;
    return ctl_request(client, target, accept, ret, &err) < 0 ? ctl_fail(&err) : 0;
}

void ctl_answer_free(struct ctl_answer *answer)
{
    buf_free(&answer->reply.body);
    arena_free(&answer->arena);
    *answer = (struct ctl_answer){0};
}
