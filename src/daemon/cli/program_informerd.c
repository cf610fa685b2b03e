/*
 * program_informerd.c - the table of informerd's commands. Alone in its file: informerctl, which shares the
 * rest of the command line, has its own.
 */
#include "daemon/cli/command.h"

static const struct command *const informerd_commands[] = {
    &command_service,    &command_watch, &command_rbac,    &command_state,
    &command_completion, &command_help,  &command_version, NULL,
};

const struct program command_program = {
    .name = "informerd",
    .commands = informerd_commands,
    .flags_heading = "Service flags",
};
