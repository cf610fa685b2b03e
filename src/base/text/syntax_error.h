/*
 * syntax_error.h - error messages with the column of a syntax error in one line of user input.
 *
 *     return syntax_error(err, "path", text, at, "a name is missing after the last '.'");
 *         ->  path 'spec.': column 6: a name is missing after the last '.'
 */
#ifndef BASE_TEXT_SYNTAX_ERROR_H
#define BASE_TEXT_SYNTAX_ERROR_H

#include "informer/error.h"

#include "base/str.h"

/* Sets @err (may be NULL) to a message about position @at, in @text or at its end. Columns count
 * characters, from 1; a long text is truncated. Returns -INF_EINVAL. */
__attribute__((format(printf, 5, 6))) int syntax_error(struct inf_error *err, const char *what,
                                                       struct str text, const char *at,
                                                       const char *fmt, ...);

#endif
