/*
 * exec_stderr.h - what a credential plugin says on stderr, fit for a log that others read.
 *
 * Plugins write their reasons there ("session expired, run sso login"), and sometimes, being
 * verbose, what nobody should see. So it is only for who asked for details: bounded, a line each,
 * without control characters, and without what may be a secret (secret_filter.h).
 */
#ifndef KUBE_AUTH_EXEC_STDERR_H
#define KUBE_AUTH_EXEC_STDERR_H

#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"

enum {
    COMPLAINT_MAX = 4 * 1024, /* LIMIT: bytes of stderr that are kept, the last ones */
    COMPLAINT_LINES = 10,     /* LIMIT: of these, that are shown */
    COMPLAINT_LINE_MAX = 300, /* LIMIT: bytes of one */
};

/* Adds @line (no line end in it) as it may be shown. */
void exec_stderr_put(struct buf *out, struct str line);

/* The last lines of @errors, at level debug. */
void exec_stderr_log(struct log *log, const char *command, struct str errors);

#endif
