/*
 * test_kubeconfig_matrix.c - every field of a kubeconfig, one row each, and how it is handled.
 *
 * The list is that of the types of kubectl; a new field there needs a new row here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "kube/config/kubeconfig.h"
#include "kubeconfig_place.h"

enum fate {
    HEEDED,  /* `holds` checks it */
    REFUSED, /* refused by name, with the alternative */
    PASSED,  /* ignored */
};

struct row {
    const char *field;
    const char *cluster, *user, *context; /* in addition to server, cluster and user */
    enum fate fate;
    bool (*holds)(const struct kubeconfig *c);
};

#define HOLDS(name, what)                                \
    static bool holds_##name(const struct kubeconfig *c) \
    {                                                    \
        return what;                                     \
    }

static bool is(const char *text, const char *expected)
{
    return text && strcmp(text, expected) == 0;
}

static bool has(const struct kubeconfig *c, const char *name, const char *value)
{
    for (size_t i = 0; i < c->n_impersonate; i++)
        if (is(c->impersonate[i].name, name) && is(c->impersonate[i].value, value))
            return true;
    return false;
}

HOLDS(server, is(c->host, "h") && c->port == 443 && c->https)
HOLDS(server_name, is(c->tls_server_name, "n"))
HOLDS(insecure, c->insecure)
HOLDS(ca_file, is(c->ca_pem, "the authority\n") && c->ca_file)
HOLDS(ca_data, is(c->ca_pem, "x") && !c->ca_file)
HOLDS(no_compression, c->no_compression)
HOLDS(proxy, c->proxy.kind == PROXY_SOCKS5 && is(c->proxy.host, "p") && c->proxy.port == 1080 &&
                 is(c->proxy_url, "socks5://p"))
HOLDS(extension, is(c->exec_extension, "{\"a\":1}"))
HOLDS(namespace, is(c->namespace, "shop"))
HOLDS(cert_files, is(c->cert_pem, "the authority\n") && c->cert_file && c->key_file)
HOLDS(cert_data, is(c->cert_pem, "x") && is(c->key_pem, "y") && !c->cert_file)
HOLDS(token, is(c->token, "t"))
HOLDS(token_file, c->token_file[0] == '/')
HOLDS(basic, is(c->basic, "dTpw"))
HOLDS(as, has(c, "Impersonate-User", "jane"))
HOLDS(as_uid, has(c, "Impersonate-Uid", "7"))
HOLDS(as_groups, has(c, "Impersonate-Group", "dev"))
HOLDS(as_extra, has(c, "Impersonate-Extra-a", "b"))
HOLDS(exec, is(c->exec->argv[0], "x"))
HOLDS(exec_args, is(c->exec->argv[1], "--now"))
HOLDS(exec_env, is(c->exec->env[0], "A=b"))
HOLDS(exec_version, is(c->exec->api_version, "client.authentication.k8s.io/v1"))
HOLDS(exec_hint, is(c->exec->install_hint, "get it"))
HOLDS(exec_info, c->exec->cluster_info)

#define PLUGIN(more) EXEC ", interactiveMode: Never" more "}"
#define EXTENSION(n) ", extensions: [{name: " n ", extension: {a: 1}}]"

static const struct row rows[] = {
    {"cluster.server", "", "", "", HEEDED, holds_server},
    {"cluster.tls-server-name", ", tls-server-name: n", "", "", HEEDED, holds_server_name},
    {"cluster.insecure-skip-tls-verify", ", insecure-skip-tls-verify: true", "", "", HEEDED,
     holds_insecure},
    {"cluster.certificate-authority", ", certificate-authority: ca.pem", "", "", HEEDED,
     holds_ca_file},
    {"cluster.certificate-authority-data", ", certificate-authority-data: eA==", "", "", HEEDED,
     holds_ca_data},
    {"cluster.disable-compression", ", disable-compression: true", "", "", HEEDED,
     holds_no_compression},
    {"cluster.proxy-url", ", proxy-url: 'socks5://p'", "", "", HEEDED, holds_proxy},
    {"cluster.extensions[exec]", EXTENSION("client.authentication.k8s.io/exec"), "", "", HEEDED,
     holds_extension},
    {"cluster.extensions[other]", EXTENSION("other"), "", "", PASSED, NULL},
    {"context.namespace", "", "", ", namespace: shop", HEEDED, holds_namespace},
    {"context.extensions", "", "", EXTENSION("other"), PASSED, NULL},
    {"user.client-certificate", "", "client-certificate: ca.pem, client-key: ca.pem", "", HEEDED,
     holds_cert_files},
    {"user.client-certificate-data", "", "client-certificate-data: eA==, client-key-data: eQ==", "",
     HEEDED, holds_cert_data},
    {"user.token", "", "token: t", "", HEEDED, holds_token},
    {"user.tokenFile", "", "tokenFile: t", "", HEEDED, holds_token_file},
    {"user.username", "", "username: u, password: p", "", HEEDED, holds_basic},
    {"user.as", "", "as: jane", "", HEEDED, holds_as},
    {"user.as-uid", "", "as: jane, as-uid: 7", "", HEEDED, holds_as_uid},
    {"user.as-groups", "", "as: jane, as-groups: [dev]", "", HEEDED, holds_as_groups},
    {"user.as-user-extra", "", "as: jane, as-user-extra: {a: [b]}", "", HEEDED, holds_as_extra},
    {"user.auth-provider", "", "auth-provider: {name: gcp}", "", REFUSED, NULL},
    {"user.exec.command", "", PLUGIN(""), "", HEEDED, holds_exec},
    {"user.exec.args", "", PLUGIN(", args: [--now]"), "", HEEDED, holds_exec_args},
    {"user.exec.env", "", PLUGIN(", env: [{name: A, value: b}]"), "", HEEDED, holds_exec_env},
    {"user.exec.apiVersion", "", PLUGIN(""), "", HEEDED, holds_exec_version},
    {"user.exec.installHint", "", PLUGIN(", installHint: get it"), "", HEEDED, holds_exec_hint},
    {"user.exec.provideClusterInfo", "", PLUGIN(", provideClusterInfo: true"), "", HEEDED,
     holds_exec_info},
    {"user.exec.interactiveMode", "", EXEC ", interactiveMode: Always}", "", REFUSED, NULL},
    {"user.extensions", "", "extensions: [{name: x, extension: 1}]", "", PASSED, NULL},
};

static void write_config(const struct row *row)
{
    struct buf text = {0};
    buf_printf(&text,
               "current-context: c\n"
               "preferences: {colors: true}\n"
               "extensions: [{name: x, extension: 1}]\n"
               "contexts: [{name: c, context: {cluster: k, user: u%s}}]\n"
               "clusters: [{name: k, cluster: {server: 'https://h'%s}}]\n"
               "users: [{name: u, user: {%s}}]\n",
               row->context, row->cluster, row->user);
    buf_putc(&text, '\0');
    put_config("config", text.bytes);
    buf_free(&text);
}

static void handles_every_field_of_a_kubeconfig(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kubeconfig c = {0};
        struct inf_error err = {0};
        int rc;
        write_config(&rows[i]);
        rc = kubeconfig_load(&(struct kubeconfig_choice){.path = "config"}, &c, &err);
        if ((rc < 0) != (rows[i].fate == REFUSED))
            fail_msg("%s: %s", rows[i].field, rc ? err.text : "not refused");
        if (rows[i].holds && !rows[i].holds(&c))
            fail_msg("%s: does not come out", rows[i].field);
        assert_int_equal(rows[i].holds != NULL, rows[i].fate == HEEDED);
        kubeconfig_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(handles_every_field_of_a_kubeconfig, kubeconfig_place_setup,
                                        kubeconfig_place_teardown),
    };
    return cmocka_run_group_tests_name("kubeconfig_matrix", tests, NULL, NULL);
}
