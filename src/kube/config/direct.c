/*
 * direct.c - fills a struct kubeconfig from a server URL and file names, without a kubeconfig.
 *
 * The CA file is read now; of the token file only the path is kept, and the auth layer reads it on
 * use. Fails with INF_ECONF, prefixed with the origin, if the URL is malformed, a file can't be
 * read, or a token would be sent over http.
 */
#include "kube/config/direct.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "kube/config/kubeconfig_pem.h"
#include "wire/http/server_url.h"

static int read_direct(const struct direct *d, struct kubeconfig *c, struct inf_error *err)
{
    struct server_url url;
    if (server_url_parse(d->server, &url, err) < 0)
        return err_wrap(err, "server");
    c->server = xstrdup(d->server);
    c->https = url.https;
    c->host = url.host; /* owned by c now, as is the prefix */
    c->port = url.port;
    c->path_prefix = url.path_prefix;
    if (d->ca_file) {
        c->ca_file = path_beside(".", d->ca_file);
        if (pem_file_read(c->ca_file, &c->ca_pem, err) < 0)
            return err_wrap(err, "certificate authorities");
    }
    if (!d->token_file)
        return 0;
    if (!c->https)
        return err_set(err, INF_ECONF,
                       "credentials are sent only over https, but the server uses http");
    c->token_file = path_beside(".", d->token_file);
    if (access(c->token_file, R_OK) < 0)
        return err_set(err, INF_ECONF, "token file '%s': %s", c->token_file, strerror(errno));
    return 0;
}

int direct_load(const struct direct *d, struct kubeconfig *ret, struct inf_error *err)
{
    struct kubeconfig c = {.origin = xstrdup(d->origin),
                           .context = xstrdup(""),
                           .namespace = xstrdup(d->namespace ? d->namespace : "default")};
    if (read_direct(d, &c, err) < 0) {
        kubeconfig_free(&c);
        err->code = INF_ECONF;
        return err_wrap(err, "%s", d->origin);
    }
    *ret = c;
    return 0;
}
