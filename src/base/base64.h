/*
 * base64.h - standard base64 (RFC 4648 §4), as the *-data fields of a kubeconfig hold it.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

/*
 * Decodes @len characters; line ends are skipped as Go's decoder does, all else must be exact: the
 * alphabet, the padding, and no bits left over. The caller frees the bytes (secret_free if they may
 * be one), which have a NUL after @ret_len of them. Returns 0, or -INF_EDECODE.
 */
int base64_decode(const char *text, size_t len, char **ret_bytes, size_t *ret_len);

/* @len bytes as base64 on one line, with its padding; the caller frees it (or secret_free). */
char *base64_encode(const char *bytes, size_t len);

#endif
