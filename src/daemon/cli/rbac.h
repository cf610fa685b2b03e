/*
 * rbac.h - `informerd rbac`: the smallest roles that let a conf's watches be watched, as YAML.
 */
#ifndef DAEMON_CLI_RBAC_H
#define DAEMON_CLI_RBAC_H

#include "daemon/cli/options.h"

/* Prints them to stdout. Returns the exit code, after having said on stderr what is wrong. */
int rbac_run(const struct options *options);

#endif
