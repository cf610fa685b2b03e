/*
 * rbac.h - `informerd rbac`: the minimal RBAC roles for the watches of a configuration, as YAML.
 */
#ifndef DAEMON_CLI_RBAC_H
#define DAEMON_CLI_RBAC_H

#include "daemon/cli/options.h"

/* Prints the roles to stdout and errors to stderr. Returns the exit code. */
int rbac_run(const struct options *options);

#endif
