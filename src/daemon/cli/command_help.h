/*
 * command_help.h - `informerd help`, which is also what --help runs.
 */
#ifndef DAEMON_CLI_COMMAND_HELP_H
#define DAEMON_CLI_COMMAND_HELP_H

#include "daemon/cli/command.h"

/* Options of command_help that print the help of @topic. The caller frees them. */
void *help_options_new(const struct command *topic);

#endif
