/*
 * logfile_internal.h - shared by logfile.c and logfile_rotate.c; no other file includes it.
 */
#ifndef DAEMON_JOURNAL_LOGFILE_INTERNAL_H
#define DAEMON_JOURNAL_LOGFILE_INTERNAL_H

#include "daemon/journal/logfile.h"

/* Starts @step; its end is handled in logfile.c. */
void logfile_begin(struct logfile *file, enum logfile_step step);

/* Ends the operation: done() gets @result. */
void logfile_end(struct logfile *file, int64_t result);

/* Whether both are the same file. */
bool logfile_is_same(const struct disk_stat *a, const struct disk_stat *b);

/* Start and end of a step of a rotation; @result is what the disk returned. */
void logfile_rotate_begin(struct logfile *file);
void logfile_rotate_step(struct logfile *file, int64_t result);

#endif
