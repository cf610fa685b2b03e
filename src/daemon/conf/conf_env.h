/*
 * conf_env.h - environment variables in values: ${NAME}, ${NAME:-default}, and $$ for a dollar
 * sign.
 */
#ifndef DAEMON_CONF_ENV_H
#define DAEMON_CONF_ENV_H

#include <stdbool.h>

#include "informer/error.h"

#include "base/buf.h"

enum {
    CONF_VALUE_MAX = 64 * 1024, /* LIMIT: bytes of a value after expansion */
};

/*
 * Appends @text to @out with every reference expanded, and a NUL. As in a shell, a default replaces
 * a variable that is unset or empty; it is copied as it is and ends at the first '}'. A '$' before
 * any other character is literal.
 *
 * Returns 0, or -INF_ECONF with a message that names the variable, never its value.
 */
int conf_env_expand(const char *text, struct buf *out, struct inf_error *err);

/* Appends the variables that @text refers to to @names, without duplicates: "${A}, ${B}". */
void conf_env_names(const char *text, struct buf *names);

#endif
