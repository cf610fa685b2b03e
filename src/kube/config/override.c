/*
 * override.c - sets certificate authorities and a token after a configuration was loaded.
 *
 * Files are checked now and read again later, as those of a kubeconfig are. A token is refused if it
 * would be sent over http.
 */
#include "kube/config/override.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "kube/config/kubeconfig_pem.h"

int override_ca(struct kubeconfig *c, const char *path, struct inf_error *err)
{
    char *file = path_beside(".", path), *pem;
    if (pem_file_read(file, &pem, err) < 0) {
        free(file);
        err->code = INF_ECONF;
        return err_wrap(err, "certificate authorities");
    }
    free(c->ca_pem);
    free(c->ca_file);
    c->ca_pem = pem;
    c->ca_file = file;
    c->insecure = false;
    return 0;
}

/* Whether it can be sent in a header. */
static bool is_token(const char *text)
{
    const char *at = text;
    while (isgraph((unsigned char)*at))
        at++;
    return text[0] && !*at;
}

static void drop_credentials(struct kubeconfig *c)
{
    secret_free(c->basic);
    secret_free(c->token);
    secret_free(c->key_pem);
    exec_plugin_free(c->exec);
    free(c->exec_extension);
    free(c->token_file);
    free(c->cert_pem);
    free(c->cert_file);
    free(c->key_file);
    c->basic = c->token = c->key_pem = c->exec_extension = NULL;
    c->token_file = c->cert_pem = c->cert_file = c->key_file = NULL;
    c->exec = NULL;
}

int override_token(struct kubeconfig *c, const char *token, const char *token_file,
                   struct inf_error *err)
{
    if (!c->https)
        return err_set(err, INF_ECONF,
                       "credentials are sent only over https, but the server uses http");
    if (token && !is_token(token))
        return err_set(err, INF_ECONF,
                       "token: is empty, or has characters that a token cannot have");
    drop_credentials(c);
    c->token = xstrdup_or_null(token);
    c->token_file = token_file ? path_beside(".", token_file) : NULL;
    if (c->token_file && access(c->token_file, R_OK) < 0)
        return err_set(err, INF_ECONF, "token file '%s': %s", c->token_file, strerror(errno));
    return 0;
}
