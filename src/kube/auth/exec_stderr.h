/*
 * exec_stderr.h - logs the stderr of a credential plugin.
 *
 * Plugins write the reason of a failure there ("session expired, run sso login"), but verbose ones
 * also write secrets. So it is logged only at level debug, limited in size, one record per line,
 * without control characters and without parts that may be secret (secret_filter.h).
 */
#ifndef KUBE_AUTH_EXEC_STDERR_H
#define KUBE_AUTH_EXEC_STDERR_H

#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"

enum {
    EXEC_STDERR_MAX = 4 * 1024, /* LIMIT: bytes of stderr that are kept, from its end */
    EXEC_STDERR_LINES = 10,     /* LIMIT: lines that are logged, from its end */
    EXEC_STDERR_LINE_MAX = 300, /* LIMIT: bytes of one line */
};

/* Appends @line (without its line end) in the form that may be logged. */
void exec_stderr_put(struct buf *out, struct str line);

/* Logs the last lines of @errors at level debug. */
void exec_stderr_log(struct log *log, const char *command, struct str errors);

#endif
