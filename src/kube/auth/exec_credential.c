/*
 * exec_credential.c - parses an ExecCredential and checks its kind, apiVersion and status.
 *
 * The JSON document is parsed in a copy that is overwritten afterwards. The first problem is the
 * error; its message names the field but never its value.
 */
#include "kube/auth/exec_credential.h"

#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "base/text/timestamp.h"

/* The string @key; NULL if it is absent, null or "". -INF_EDECODE if it is not a string, or
 * contains a NUL. */
static int get_string(yyjson_val *object, const char *key, const char **ret, struct inf_error *err)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    const char *text = yyjson_get_str(value);
    *ret = NULL;
    if (!value || yyjson_is_null(value))
        return 0;
    if (!text || strlen(text) != yyjson_get_len(value))
        return err_set(err, INF_EDECODE, "%s must be a string", key);
    *ret = *text ? text : NULL;
    return 0;
}

static int check_string(yyjson_val *root, const char *key, const char *expected,
                        struct inf_error *err)
{
    const char *text;
    int rc = get_string(root, key, &text, err);
    if (!rc && (!text || strcmp(text, expected) != 0))
        rc = err_set(err, INF_EDECODE, "%s must be '%s'", key, expected);
    return rc;
}

static int read_credential_status(yyjson_val *status, struct exec_credential *ret,
                                  struct inf_error *err)
{
    const char *token, *cert, *key, *expires;
    int64_t expires_us = INT64_MAX;
    int rc = get_string(status, "token", &token, err);
    if (!rc)
        rc = get_string(status, "clientCertificateData", &cert, err);
    if (!rc)
        rc = get_string(status, "clientKeyData", &key, err);
    if (!rc)
        rc = get_string(status, "expirationTimestamp", &expires, err);
    if (rc)
        return rc;
    if (!cert != !key)
        return err_set(err, INF_EDECODE,
                       "status has only one of clientCertificateData and clientKeyData");
    if (!token && !cert)
        return err_set(err, INF_EDECODE,
                       "status has neither a token nor a certificate with its key");
    if (!str_is_token(str_of(token)))
        return err_set(err, INF_EDECODE,
                       "status.token must not contain white space or control characters");
    if (expires && timestamp_parse(expires, &expires_us) < 0)
        return err_set(err, INF_EDECODE,
                       "status.expirationTimestamp must be a time (2026-11-15T23:09:29Z)");
    *ret = (struct exec_credential){xstrdup_or_null(token), xstrdup_or_null(cert),
                                    xstrdup_or_null(key), expires_us};
    return 0;
}

static int read_credential(yyjson_val *root, const char *api_version, struct exec_credential *ret,
                           struct inf_error *err)
{
    yyjson_val *status = yyjson_obj_get(root, "status");
    int rc;
    if (!yyjson_is_obj(root))
        return err_set(err, INF_EDECODE, "not a JSON object");
    rc = check_string(root, "kind", "ExecCredential", err);
    if (!rc)
        rc = check_string(root, "apiVersion", api_version, err);
    if (rc)
        return rc;
    if (!yyjson_is_obj(status))
        return err_set(err, INF_EDECODE, "status is missing");
    return read_credential_status(status, ret, err);
}

/* Parses in situ, so that all strings of the document are in the copy that is wiped. */
int exec_credential_parse(struct str text, const char *api_version, struct exec_credential *ret,
                          struct inf_error *err)
{
    char *copied = xcalloc(1, text.len + YYJSON_PADDING_SIZE);
    yyjson_doc *doc;
    int rc;
    memcpy(copied, text.at ? text.at : "", text.len);
    doc = text.len ? yyjson_read_opts(copied, text.len, YYJSON_READ_INSITU, NULL, NULL) : NULL;
    rc = read_credential(yyjson_doc_get_root(doc), api_version, ret, err);
    yyjson_doc_free(doc);
    secret_wipe(copied, text.len);
    free(copied);
    return rc;
}

void exec_credential_free(struct exec_credential *c)
{
    secret_free(c->token);
    secret_free(c->cert_pem);
    secret_free(c->key_pem);
    *c = (struct exec_credential){0};
}
