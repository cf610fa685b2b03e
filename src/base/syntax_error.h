/*
 * syntax_error.h - says where in a line that a person wrote something is wrong, and what would be
 * right.
 *
 *     return syntax_error(err, "path", text, at, "a name is missing behind the last '.'");
 *         ->  path 'spec.': column 6: a name is missing behind the last '.'
 */
#ifndef BASE_SYNTAX_ERROR_H
#define BASE_SYNTAX_ERROR_H

#include "informer/error.h"

#include "base/str.h"

/* Fills @err (may be NULL) about the place @at, in @text or right behind it. Columns are
 * characters, from 1; a long text is shown in part. Returns -INF_EINVAL. */
__attribute__((format(printf, 5, 6))) int syntax_error(struct inf_error *err, const char *what,
                                                       struct str text, const char *at,
                                                       const char *fmt, ...);

#endif
