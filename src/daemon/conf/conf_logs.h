/*
 * conf_logs.h - no two event logs may write to one file, nor one to a file that another's rotation
 * renames.
 */
#ifndef DAEMON_CONF_LOGS_H
#define DAEMON_CONF_LOGS_H

#include "daemon/conf/conf_read.h"

enum {
    CONF_LOGS_LOOK_MS = 5000,
};

/* Compares the paths only. What is wrong is told. Never blocks, so it is for each reload as well: files that
 * are the same by links are noticed when the second one is locked. */
void conf_logs_compare(struct conf_reader *reader, const struct conf *conf);

/* Compares files that exist by device and inode, and others by those of their directory. Returns 0, or
 * -INF_ECONF with what is wrong in @errors. Waits CONF_LOGS_LOOK_MS for a disk that hangs, then returns 0:
 * for the start and for checks, before there is a loop. */
int conf_logs_check(const struct conf *conf, struct conf_errors *errors);

#endif
