/*
 * check_dirs.h - for --check-config: whether the state directory and the event logs can be written,
 * and the programs of handlers can be executed.
 */
#ifndef DAEMON_CLI_CHECK_DIRS_H
#define DAEMON_CLI_CHECK_DIRS_H

#include "daemon/conf/conf.h"

/* Calls @warn with a line for each directory, file or program that the current user cannot use as the daemon
 * would. A state directory that the daemon would create is not reported. */
void check_dirs(const struct conf *conf, void (*warn)(void *ctx, const char *line), void *ctx);

#endif
