/*
 * file.h - reads small files completely: conf, kubeconfig, certificates, tokens.
 *
 *     rc = file_read(path, TOKEN_MAX, &text, &len, err);
 *
 * These reads block. They are for small files on local disks only.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>

#include "informer/error.h"

/*
 * Reads a regular file of at most @limit bytes. The caller frees the text (with secret_free if it may
 * be secret); a NUL follows its @ret_len bytes.
 *
 * Returns 0; -INF_ENOTFOUND if the file does not exist; -INF_ETOOBIG; or -INF_EIO (no permission, a
 * directory, changed while it was read, ...). The error text begins with "file '<path>'".
 */
int file_read(const char *path, size_t limit, char **ret_text, size_t *ret_len,
              struct inf_error *err);

/* The same, with a sentence that does not name the file: for a path that may be a secret in the wrong
 * place. */
int file_read_unnamed(const char *path, size_t limit, char **ret_text, size_t *ret_len,
                      struct inf_error *err);

/* Resolves @path relative to the directory of @file, which mentions it. The result is absolute, so that
 * it stays valid after a chdir; the caller frees it. */
char *path_beside(const char *file, const char *path);

#endif
