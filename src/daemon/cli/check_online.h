/*
 * check_online.h - `informerd --check-config --online`: what the clusters say to the conf, for people.
 */
#ifndef DAEMON_CLI_CHECK_ONLINE_H
#define DAEMON_CLI_CHECK_ONLINE_H

#include <stdbool.h>

#include "base/buf.h"
#include "daemon/conf/conf.h"

struct preflight;

/* Asks the clusters of the conf at @path and adds a report to @out. Returns the exit code. */
int online_check(const struct conf *conf, const char *path, bool colour, struct buf *out);

/* The report alone, of an preflight that was run. */
void online_put(const struct preflight *preflight, const char *path, bool colour, struct buf *out);

#endif
