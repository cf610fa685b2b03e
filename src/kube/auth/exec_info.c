/*
 * exec_info.c - writes the ExecCredential for the plugin's environment as JSON. Can't fail.
 */
#include "kube/auth/exec_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/json_string.h"
#include "base/str.h"
#include "kube/config/kubeconfig.h"

/* Writes nothing if @value is NULL. */
static void put_member(struct buf *out, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(out, ",\"%s\":", name);
    json_put_string(out, str_of(value));
}

static void put_authorities(struct buf *out, const char *ca_pem)
{
    char *data = ca_pem ? base64_encode(ca_pem, strlen(ca_pem)) : NULL;
    put_member(out, "certificate-authority-data", data);
    free(data);
}

static void put_cluster(struct buf *out, const struct kubeconfig *c)
{
    buf_puts(out, ",\"cluster\":{\"server\":");
    json_put_string(out, str_of(c->server));
    put_member(out, "tls-server-name", c->tls_server_name);
    if (c->insecure)
        buf_puts(out, ",\"insecure-skip-tls-verify\":true");
    put_authorities(out, c->ca_pem);
    put_member(out, "proxy-url", c->proxy_url);
    if (c->no_compression)
        buf_puts(out, ",\"disable-compression\":true");
    buf_printf(out, ",\"config\":%s}", c->exec_extension ? c->exec_extension : "null");
}

/* Never interactive: the plugin has no terminal. */
char *exec_info_variable(const struct kubeconfig *c)
{
    struct buf out = {0};
    buf_printf(&out,
               "KUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\",\"apiVersion\":\"%s\","
               "\"spec\":{\"interactive\":false",
               c->exec->api_version);
    if (c->exec->cluster_info)
        put_cluster(&out, c);
    buf_puts(&out, "}}");
    buf_putc(&out, '\0');
    return out.bytes;
}
