/*
 * file.h - small files, read whole: conf, kubeconfig, certificates, tokens.
 *
 *     rc = file_read(path, TOKEN_MAX, &text, &len, err);
 *
 * These reads block, as reads of local disks do; nothing large or slow is read this way.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>

#include "informer/error.h"

/*
 * Reads a regular file of at most @limit bytes; the caller frees the text (secret_free if it may be
 * one), which has a NUL after its @ret_len bytes.
 *
 * Returns 0; -INF_ENOTFOUND if there is no such file; -INF_ETOOBIG; or -INF_EIO (no permission, a
 * directory, changed while it was read, ...). The sentence begins with "file '<path>'".
 */
int file_read(const char *path, size_t limit, char **ret_text, size_t *ret_len,
              struct inf_error *err);

/* @path as meant by somebody who wrote it into @file: beside it, unless it is absolute. The answer
 * is absolute (so it outlives a chdir) and the caller's to free. */
char *path_beside(const char *file, const char *path);

#endif
