/*
 * kubeconfig_pem.c - reads PEM texts from files or from base64 data.
 *
 * Only checks that the text is not empty and has no NUL; wire/tls/tls_context.c parses it. Buffers are
 * overwritten before they are freed because they may hold a key.
 */
#include "kube/config/kubeconfig_pem.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text/base64.h"

enum {
    PEM_MAX = 1024 * 1024, /* LIMIT: bytes of a certificate, bundle or key file */
};

/* Takes ownership of @pem. */
static int keep_pem(char *pem, size_t len, char **ret, struct inf_error *err)
{
    if (len && strlen(pem) == len) {
        *ret = pem;
        return 0;
    }
    secret_wipe(pem, len);
    free(pem);
    return err_set(err, INF_EIO, "is %s; must be PEM (-----BEGIN ...)", len ? "binary" : "empty");
}

int kubeconfig_pem(const struct entry *entry, const struct yaml_node *file,
                   const struct yaml_node *data, char **ret_pem, char **ret_path,
                   struct inf_error *err)
{
    struct inf_error why;
    char *path = NULL, *pem;
    size_t len;
    int rc;
    if (!file && !data)
        return 0;
    if (file && data)
        return entry_error(entry, data, err, "cannot be combined with %s; remove one of them",
                           file->key->text);
    if (file) {
        path = path_beside(file->file, file->text);
        rc = file_read_unnamed(path, PEM_MAX, &pem, &len, &why);
        if (rc)
            err_wrap(&why, "cannot read the file");
    } else {
        rc = base64_decode(data->text, strlen(data->text), &pem, &len);
        if (rc)
            err_set(&why, INF_EIO, "must be base64 on one line, including its padding");
    }
    if (!rc)
        rc = keep_pem(pem, len, ret_pem, &why);
    if (rc) {
        free(path);
        return entry_error(entry, data ? data : file, err, "%s", why.text);
    }
    *ret_path = path;
    return 0;
}

int pem_file_read(const char *path, char **ret_pem, struct inf_error *err)
{
    struct inf_error why;
    char *pem;
    size_t len;
    int rc = file_read_unnamed(path, PEM_MAX, &pem, &len, &why);
    if (!rc)
        rc = keep_pem(pem, len, ret_pem, &why);
    return rc ? err_set(err, INF_EIO, "file '%s': %s", path, why.text) : 0;
}
