/*
 * err.h - errors gain context on the way up; one place at the top logs them.
 *
 *     return err_set(err, INF_EIO, "token file '%s': %s", path, strerror(errno));
 *     ...
 *     return err_wrap(err, "user '%s'", user);    ->  user 'ci': token file 'x': No such file
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "informer/error.h"

/* Fills @err (may be NULL) and returns -@code. Clears http_status and retry_after_ms. */
__attribute__((format(printf, 3, 4))) int err_set(struct inf_error *err, int code, const char *fmt,
                                                  ...);

/* Prepends "context: " to the text of @err and returns -err->code. */
__attribute__((format(printf, 2, 3))) int err_wrap(struct inf_error *err, const char *fmt, ...);

#endif
