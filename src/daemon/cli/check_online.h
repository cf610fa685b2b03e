/*
 * check_online.h - `informerd --check-config --online`: access to each cluster, as text.
 */
#ifndef DAEMON_CLI_CHECK_ONLINE_H
#define DAEMON_CLI_CHECK_ONLINE_H

#include <stdbool.h>

#include "base/buf.h"
#include "daemon/conf/conf.h"

/* Checks access to the clusters of @conf, which was loaded from @path, and appends a report to
 * @out. Blocks until all checks are complete or timed out. Returns the exit code. */
int check_online(const struct conf *conf, const char *path, bool colour, struct buf *out);

#endif
