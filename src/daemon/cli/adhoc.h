/*
 * adhoc.h - `informerd watch ...`: the command line as a conf.
 */
#ifndef DAEMON_CLI_ADHOC_H
#define DAEMON_CLI_ADHOC_H

#include "daemon/cli/options.h"
#include "daemon/conf/conf.h"

/* Makes the conf that says what the command line says. Returns 0, or an exit code after having said
 * on stderr what is wrong. */
int adhoc_conf(const struct options *options, struct conf *ret);

#endif
