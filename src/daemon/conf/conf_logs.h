/*
 * conf_logs.h - checks that no two event logs write to the same file, and none to a rotated file of
 * another.
 */
#ifndef DAEMON_CONF_LOGS_H
#define DAEMON_CONF_LOGS_H

#include "daemon/conf/conf_read.h"

enum {
    CONF_LOGS_TIMEOUT_MS = 5000, /* timeout for examining files */
};

/* Compares paths only and reports conflicts. Never blocks, so it is also used by a reload. Files
 * that are equal through links are detected when the second one is locked. */
void conf_logs_compare(struct conf_reader *reader, const struct conf *conf);

/* Compares existing files by device and inode, others by those of their directory. Returns 0, or
 * -INF_ECONF with the conflicts in @errors. Blocks up to CONF_LOGS_TIMEOUT_MS if a disk hangs and
 * then returns 0; for use at start and by checks, before the event loop runs. */
int conf_logs_check(const struct conf *conf, struct conf_errors *errors);

#endif
