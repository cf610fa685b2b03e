/*
 * option_file.h - the contents of files that options name: certificates, keys, tokens. Errors name the option and the file, never
 * its contents.
 */
#ifndef DAEMON_HANDLER_OPTION_FILE_H
#define DAEMON_HANDLER_OPTION_FILE_H

#include <stddef.h>

#include "informer/error.h"

/* Reads a text of at most @max bytes, which the caller frees (with secret_free() if it may be secret), also after an
 * error. @path NULL: not configured; nothing is read. Returns 0 or a negative error. */
int option_file_text(const char *option, const char *path, size_t max, char **ret,
                     struct inf_error *err);

/* Reads a text that is not empty, without the blanks and line ends after it. */
int option_file_line(const char *option, const char *path, size_t max, char **ret,
                     struct inf_error *err);

#endif
