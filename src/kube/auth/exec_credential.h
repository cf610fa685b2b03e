/*
 * exec_credential.h - the ExecCredential that a credential plugin writes to stdout.
 */
#ifndef KUBE_AUTH_EXEC_CREDENTIAL_H
#define KUBE_AUTH_EXEC_CREDENTIAL_H

#include <stdint.h>

#include "informer/error.h"

#include "base/str.h"

/* Owned strings; a token, or a certificate with its key, or both. */
struct exec_credential {
    char *token;
    char *cert_pem;
    char *key_pem;
    int64_t expires_us; /* INT64_MAX: never */
};

/*
 * Parses @text, which must have @api_version. Returns 0, or -INF_EDECODE with a message that
 * repeats nothing of @text.
 */
int exec_credential_parse(struct str text, const char *api_version, struct exec_credential *ret,
                          struct inf_error *err);

/* Overwrites the strings first. A zeroed struct is allowed. */
void exec_credential_free(struct exec_credential *c);

#endif
