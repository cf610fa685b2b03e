/*
 * ctl_access.c - `informerctl kubeconfig` and `informerctl token`: kubectl and other clients over TLS.
 *
 * The kubeconfig contains the address and the certificate authority of api.listen, and no secret: its
 * user is a credential plugin, informerctl itself, which fetches a short-lived token over the Unix
 * socket whenever a client needs one.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text/base64.h"
#include "base/text/json_string.h"
#include "ctl/ctl.h"

/* ---- token ---- */

static int token_run(const void *options)
{
    const struct ctl_plain_options *o = options;
    struct client *client = NULL;
    struct ctl_answer answer = {0};
    struct buf out = {.secret = true};
    int rc = ctl_connect(o->socket, &client);
    if (rc == 0)
        rc = ctl_fetch(client, "/informerd/v1/token", NULL, &answer);
    if (rc == 0) {
        char *token = ctl_json_text(answer.root, "token");
        char *expires = ctl_json_text(answer.root, "expires");
        buf_puts(&out,
                 "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"
                 "v1\",\"spec\":{\"interactive\":false},\"status\":{\"expirationTimestamp\":");
        json_put_string(&out, str_of(expires));
        buf_puts(&out, ",\"token\":");
        json_put_string(&out, str_of(token));
        buf_puts(&out, "}}\n");
        secret_free(token);
        free(expires);
        rc = command_print(&out);
    }
    buf_free(&out);
    ctl_answer_free(&answer);
    client_close(client);
    return rc;
}

const struct command ctl_token = {
    .name = "token",
    .arguments = "",
    .summary = "print a short-lived token for api.listen",
    .description = "Print a token for api.listen as an ExecCredential, for kubectl. It is valid "
                   "for 10 minutes.",
    .flags = ctl_plain_flags,
    .size = sizeof(struct ctl_plain_options),
    .parse = ctl_plain_parse,
    .run = token_run,
};

/* ---- kubeconfig ---- */

/* The path of this program: kubectl may have another PATH. */
static void put_own_path(struct buf *out)
{
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path));
    json_put_string(out, len > 0 && (size_t)len < sizeof(path) ? (struct str){path, (size_t)len}
                                                               : STR("informerctl"));
}

/* An address that means all interfaces is reached at the local one. */
char *ctl_server_url(const char *address)
{
    const char *port = strrchr(address, ':');
    if (strncmp(address, "0.0.0.0:", 8) == 0 || strncmp(address, "[::]:", 5) == 0)
        return xasprintf("https://127.0.0.1%s", port);
    return xasprintf("https://%s", address);
}

/* The socket that the plugin uses: the one given, if any, as an absolute path. */
static void put_socket_arguments(struct buf *out, const char *socket)
{
    const char *own = socket ? socket : getenv("INFORMERD_SOCKET");
    char *real = own && own[0] ? realpath(own, NULL) : NULL;
    if (real) {
        buf_puts(out, "      - -s\n      - ");
        json_put_string(out, str_of(real));
        buf_putc(out, '\n');
    }
    free(real);
}

static void put_kubeconfig(struct buf *out, const struct json_node *access, const char *socket)
{
    char *address = ctl_json_text(access, "address"), *server = ctl_server_url(address);
    char *pem = ctl_json_text(access, "certificate_authority");
    char *ca = base64_encode(pem, strlen(pem));
    buf_printf(out,
               "apiVersion: v1\nkind: Config\nclusters:\n- name: informerd\n  cluster:\n"
               "    server: \"%s\"\n    certificate-authority-data: %s\n",
               server, ca);
    buf_puts(out, "users:\n- name: informerd\n  user:\n    exec:\n"
                  "      apiVersion: client.authentication.k8s.io/v1\n      command: ");
    put_own_path(out);
    buf_puts(out, "\n      args:\n      - token\n");
    put_socket_arguments(out, socket);
    buf_puts(out, "      interactiveMode: Never\n"
                  "contexts:\n- name: informerd\n  context:\n    cluster: informerd\n"
                  "    user: informerd\ncurrent-context: informerd\n");
    free(ca);
    free(pem);
    free(server);
    free(address);
}

static int kubeconfig_run(const void *options)
{
    const struct ctl_plain_options *o = options;
    struct client *client = NULL;
    struct ctl_answer answer = {0};
    struct buf out = {0};
    int rc = ctl_connect(o->socket, &client);
    if (rc == 0)
        rc = ctl_fetch(client, "/informerd/v1/access", NULL, &answer);
    if (rc == 0) {
        put_kubeconfig(&out, answer.root, o->socket);
        rc = command_print(&out);
    }
    buf_free(&out);
    ctl_answer_free(&answer);
    client_close(client);
    return rc;
}

const struct command ctl_kubeconfig = {
    .name = "kubeconfig",
    .arguments = "",
    .summary = "print a kubeconfig for api.listen",
    .description = "Print a kubeconfig with which kubectl and other Kubernetes clients read from "
                   "informerd. It contains no secret; clients fetch short-lived tokens with "
                   "'informerctl token'.",
    .flags = ctl_plain_flags,
    .notes = "Example:\n"
             "  informerctl kubeconfig > ~/.kube/informerd\n"
             "  kubectl --kubeconfig ~/.kube/informerd get pods\n",
    .size = sizeof(struct ctl_plain_options),
    .parse = ctl_plain_parse,
    .run = kubeconfig_run,
};
