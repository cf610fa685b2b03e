/*
 * base64.h - standard base64 (RFC 4648 §4), as the *-data fields of a kubeconfig hold it.
 */
#ifndef BASE_TEXT_BASE64_H
#define BASE_TEXT_BASE64_H

#include <stddef.h>

/*
 * Decodes @len characters. Line ends are skipped, as Go's decoder does; everything else must be exact:
 * the alphabet, the padding, and no bits left over. The caller frees the result (with secret_free if
 * it may be secret); a NUL follows its @ret_len bytes. Returns 0, or -INF_EDECODE.
 */
int base64_decode(const char *text, size_t len, char **ret_bytes, size_t *ret_len);

/* Encodes @len bytes on one line, with padding. The caller frees the result (or secret_free). */
char *base64_encode(const char *bytes, size_t len);

#endif
