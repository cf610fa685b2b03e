/*
 * adhoc.h - `informerd watch ...`: the command line as a conf.
 */
#ifndef DAEMON_ADHOC_H
#define DAEMON_ADHOC_H

#include "daemon/conf.h"
#include "daemon/options.h"

/* Makes the conf that says what the command line says. Returns 0, or an exit code after having said
 * on stderr what is wrong. */
int adhoc_conf(const struct options *options, struct conf *ret);

#endif
