/*
 * check.h - `informerd --check-config` and `--print-config`.
 */
#ifndef DAEMON_CLI_CHECK_H
#define DAEMON_CLI_CHECK_H

#include "daemon/cli/options.h"
#include "daemon/conf/conf.h"

/* Prints to stdout that the configuration is valid, or the configuration itself. Prints all
 * errors of an invalid one to stderr. Returns the exit code.
 *
 * A configuration is valid only if the daemon can open its clusters: kubeconfigs and the files
 * they name are read too. Without --online no credential plugin runs and no request is sent. */
int check_run(const struct options *options);

/* Loads the configuration, or prints all its errors to stderr. Returns 0 or the exit code. */
int check_load(const char *path, struct conf *ret);

#endif
