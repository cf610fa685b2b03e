/*
 * conf_env.h - the environment in values: ${NAME}, ${NAME:-default}, and $$ for a dollar.
 */
#ifndef DAEMON_CONF_ENV_H
#define DAEMON_CONF_ENV_H

#include <stdbool.h>

#include "informer/error.h"

#include "base/buf.h"

enum {
    CONF_VALUE_MAX = 64 * 1024, /* LIMIT: bytes of a value with all that the environment puts in */
};

/*
 * Adds @text to @out with every ${NAME} replaced and NUL-terminated. As in a shell, a default
 * stands for a variable that is not set or empty; it is taken as it is, and ends at the first '}'.
 * A '$' before anything else means itself.
 *
 * Returns 0, or -INF_ECONF with a sentence that names the variable, never its value.
 */
int conf_env_expand(const char *text, struct buf *out, struct inf_error *err);

/* Adds what @text takes from the environment to @names: "${A}, ${B}", each once. */
void conf_env_names(const char *text, struct buf *names);

#endif
