/*
 * check.h - `informerd --check-config` and `--print-config`.
 */
#ifndef DAEMON_CLI_CHECK_H
#define DAEMON_CLI_CHECK_H

#include "daemon/cli/options.h"
#include "daemon/conf/conf.h"

/* Says on stdout that the conf is good, or prints it. Returns the exit code; of a bad conf, after
 * having told all its errors. It is good only if the daemon can open its clusters: the kubeconfigs and
 * the files they name are read too, but no plugin is run and no server asked. */
int check_run(const struct options *options);

/* Loads the conf, or tells all its errors on stderr. Returns 0 or the exit code. */
int check_load(const char *path, struct conf *ret);

#endif
