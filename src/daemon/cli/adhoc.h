/*
 * adhoc.h - `informerd watch`: the command line as a configuration.
 */
#ifndef DAEMON_CLI_ADHOC_H
#define DAEMON_CLI_ADHOC_H

#include "daemon/cli/options.h"
#include "daemon/conf/conf.h"

/* Converts the command line to a configuration. Returns 0, or an exit code after printing the
 * error to stderr. The caller frees @ret with conf_free() after success. */
int adhoc_conf(const struct options *options, struct conf *ret);

#endif
