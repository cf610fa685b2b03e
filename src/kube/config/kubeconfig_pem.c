/*
 * kubeconfig_pem.c - reads PEM texts from files or from base64 data.
 *
 * Only checks that the text is not empty and has no NUL; wire/tls_context.c parses it. Buffers are
 * overwritten before they are freed because they may hold a key.
 */
#include "kube/config/kubeconfig_pem.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/err.h"
#include "base/file.h"

enum {
    PEM_MAX = 1024 * 1024, /* LIMIT: bytes of a certificate, bundle or key file */
};

/* Takes ownership of @pem. */
static int keep_text(char *pem, size_t len, char **ret, struct inf_error *err)
{
    if (len && strlen(pem) == len) {
        *ret = pem;
        return 0;
    }
    secret_wipe(pem, len);
    free(pem);
    return err_set(err, INF_EIO, "is %s; must be PEM (-----BEGIN ...)", len ? "binary" : "empty");
}

static int from_data(const struct yaml_node *data, char **ret, struct inf_error *err)
{
    char *pem;
    size_t len;
    if (base64_decode(data->text, strlen(data->text), &pem, &len) < 0)
        return err_set(err, INF_EIO, "must be base64 on one line, including its padding");
    return keep_text(pem, len, ret, err);
}

static int from_file(const char *path, char **ret, struct inf_error *err)
{
    char *pem;
    size_t len;
    if (file_read_unnamed(path, PEM_MAX, &pem, &len, err) < 0)
        return err_wrap(err, "cannot read the file");
    return keep_text(pem, len, ret, err);
}

int kubeconfig_pem(const struct entry *entry, const struct yaml_node *file,
                   const struct yaml_node *data, char **ret_pem, char **ret_path,
                   struct inf_error *err)
{
    struct inf_error why;
    char *path;
    int rc;
    if (!file && !data)
        return 0;
    if (file && data)
        return entry_error(entry, data, err, "cannot be combined with %s; remove one of them",
                           file->key->text);
    path = file ? path_beside(file->file, file->text) : NULL;
    rc = data ? from_data(data, ret_pem, &why) : from_file(path, ret_pem, &why);
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
        rc = keep_text(pem, len, ret_pem, &why);
    return rc ? err_set(err, INF_EIO, "file '%s': %s", path, why.text) : 0;
}
