/*
 * test_kubeconfig_user.c - the user entry: each kind of credentials, impersonation, and errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "kubeconfig_place.h"

static void reads_name_and_password(void **state)
{
    struct kubeconfig c;
    (void)state;
    put_config("config", CONFIG(HTTPS, "username: me, password: 's3: cr3t'"));
    c = load_config("config", NULL);
    assert_string_equal(c.basic, "bWU6czM6IGNyM3Q=");
    kubeconfig_free(&c);
}

/* Also over plain HTTP: it is not a secret. */
static void reads_impersonation(void **state)
{
    static const struct {
        const char *name, *value;
    } expected[] = {
        {"Impersonate-User", "jane"},
        {"Impersonate-Uid", "7"},
        {"Impersonate-Group", "dev"},
        {"Impersonate-Group", "ops team"},
        {"Impersonate-Extra-example.com%2Fa%25b%C3%A9", "1"},
        {"Impersonate-Extra-example.com%2Fa%25b%C3%A9", ""},
        {"Impersonate-Extra-Scopes", "view"},
    };
    struct kubeconfig c, other;
    (void)state;
    put_config("config", CONFIG("server: 'http://h'",
                                "as: jane, as-uid: 7, as-groups: [dev, ops team], as-user-extra: "
                                "{example.com/a%b\xC3\xA9: ['1', ''], Scopes: [view], none: []}"));
    put_config("other", CONFIG("server: 'http://h'", "as: jane"));
    c = load_config("config", NULL);
    assert_int_equal(c.n_impersonate, ARRAY_LEN(expected));
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_string_equal(c.impersonate[i].name, expected[i].name);
        assert_string_equal(c.impersonate[i].value, expected[i].value);
    }
    other = load_config("other", NULL);
    assert_false(kubeconfig_equal(&c, &other));
    assert_true(kubeconfig_equal(&c, &c));
    kubeconfig_free(&other);
    kubeconfig_free(&c);
}

static void limits_impersonated_groups(void **state)
{
    struct buf text = {0};
    struct inf_error err;
    struct kubeconfig c;
    (void)state;
    buf_puts(&text, "{'current-context': c, contexts: [{name: c, context: {cluster: k, user: u}}], "
                    "clusters: [{name: k, cluster: {server: 'http://h'}}], "
                    "users: [{name: u, user: {as: x, as-groups: [g");
    for (int i = 0; i < 255; i++)
        buf_puts(&text, ", g");
    buf_puts(&text, "]}}]}");
    buf_putc(&text, 0);
    put_config("config", text.bytes);
    assert_int_equal(kubeconfig_load(&(struct kubeconfig_choice){.path = "config"}, &c, &err),
                     -INF_ECONF);
    assert_non_null(strstr(err.text, "too many groups and extras; at most 256"));
    buf_free(&text);
}

static void reads_an_exec_plugin(void **state)
{
    char *command = xasprintf("%s/bin/get-token", (char *)*state);
    struct kubeconfig c, other;
    put_config(
        "config",
        CONFIG(HTTPS ", extensions: [{name: other, extension: {x: 1}}, {name: "
                     "client.authentication.k8s.io/exec, extension: {audience: me, n: [1, 1.50, "
                     "-2e3, 010, '7', true, no, null, ''], deep: {a: {}}}}]",
               "exec: {command: bin/get-token, args: [--for, '', 7], env: [{name: A, value: b=c}, "
               "{name: E}], apiVersion: client.authentication.k8s.io/v1beta1, installHint: 'get "
               "it', provideClusterInfo: true}"));
    c = load_config("config", NULL);
    assert_string_equal(c.server, "https://h");
    assert_string_equal(c.exec->argv[0], command);
    assert_string_equal(c.exec->argv[1], "--for");
    assert_string_equal(c.exec->argv[2], "");
    assert_string_equal(c.exec->argv[3], "7");
    assert_null(c.exec->argv[4]);
    assert_string_equal(c.exec->env[0], "A=b=c");
    assert_string_equal(c.exec->env[1], "E=");
    assert_null(c.exec->env[2]);
    assert_string_equal(c.exec->api_version, "client.authentication.k8s.io/v1beta1");
    assert_string_equal(c.exec->install_hint, "get it");
    assert_true(c.exec->cluster_info);
    assert_string_equal(c.exec_extension,
                        "{\"audience\":\"me\",\"n\":[1,1.50,-2e3,\"010\",\"7\",true,false,null,"
                        "\"\"],\"deep\":{\"a\":{}}}");
    put_config("other", CONFIG(HTTPS, EXEC ", interactiveMode: IfAvailable}"));
    other = load_config("other", NULL);
    assert_string_equal(other.exec->argv[0], "x"); /* for PATH */
    assert_null(other.exec_extension);
    assert_false(kubeconfig_equal(&c, &other));
    assert_true(kubeconfig_equal(&other, &other));
    kubeconfig_free(&other);
    kubeconfig_free(&c);
    free(command);
}

/* The contents of files may change; tls_reloader.c and auth_token_file.c watch them. */
static void compares_files_by_path(void **state)
{
    struct kubeconfig c, other;
    (void)state;
    put_config("config", CONFIG(HTTPS ", certificate-authority: ca.pem",
                                "client-certificate: ca.pem, client-key: ca.pem"));
    c = load_config("config", NULL);
    other = load_config("config", NULL);
    other.ca_pem[0] = other.cert_pem[0] = other.key_pem[0] = '+';
    assert_true(kubeconfig_equal(&c, &other));
    other.ca_file[0] = '+';
    assert_false(kubeconfig_equal(&c, &other));
    str_replace(&other.ca_file, c.ca_file);
    free(c.cert_file);
    free(other.cert_file);
    c.cert_file = other.cert_file = NULL; /* from data */
    assert_false(kubeconfig_equal(&c, &other));
    kubeconfig_free(&other);
    kubeconfig_free(&c);
}

static void uses_the_plugin_only_without_other_credentials(void **state)
{
    static const char *const users[] = {
        "token: t, " EXEC ", interactiveMode: Never}",
        "tokenFile: t, " EXEC ", interactiveMode: Never}",
        "username: t, " EXEC ", interactiveMode: Never}",
        "client-certificate: ca.pem, client-key: ca.pem, " EXEC ", interactiveMode: Never}",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(users); i++) {
        char *text = xasprintf(CONFIG("%s", "%s"), HTTPS, users[i]);
        struct kubeconfig c;
        put_config("config", text);
        c = load_config("config", NULL);
        assert_null(c.exec);
        kubeconfig_free(&c);
        free(text);
    }
}

/* ---- errors ---- */

#define OF_OLD   "not supported; use exec with a plugin instead: "
#define NEEDS_AS "requires 'as', the user to impersonate"
#define VERSION \
    "apiVersion must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1"
#define MODE       "interactiveMode must be Never, IfAvailable or Always"
#define ENV        "env must be a list of {name: NAME, value: TEXT}"
#define WHITE      "must not contain white space, line ends or control characters"
#define ONLY_HTTPS "credentials are sent only over https, but the server of cluster 'k' uses http"

static const struct bad_config bad[] = {
    {CONFIG(HTTPS, "exec: x"),
     "config:8:10: context 'c': user 'u': exec: must be a mapping of fields"},
    {CONFIG(HTTPS, "exec: {apiVersion: x}"),
     "config:8:10: context 'c': user 'u': exec: needs a command"},
    {CONFIG(HTTPS, "exec: {command: [x]}"),
     "config:8:10: context 'c': user 'u': exec: command must be a string"},
    {CONFIG(HTTPS, "exec: {command: x, args: y}"),
     "config:8:10: context 'c': user 'u': exec: args must be a list"},
    {CONFIG(HTTPS, "exec: {command: x, args: [[y]]}"),
     "config:8:10: context 'c': user 'u': exec: args must be a list of strings"},
    {CONFIG(HTTPS, "exec: {command: x}"), "config:8:10: context 'c': user 'u': exec: " VERSION},
    {CONFIG(HTTPS, "exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}"),
     "config:8:10: context 'c': user 'u': exec: " VERSION},
    {CONFIG(HTTPS, EXEC "}"), "config:8:10: context 'c': user 'u': exec: " MODE},
    {CONFIG(HTTPS, EXEC ", interactiveMode: maybe}"),
     "config:8:10: context 'c': user 'u': exec: " MODE},
    {CONFIG(HTTPS, EXEC ", interactiveMode: Always}"),
     "config:8:10: context 'c': user 'u': exec: interactiveMode Always is not supported; there is "
     "no terminal"},
    {CONFIG(HTTPS, EXEC ", interactiveMode: Never, env: [{name: '', value: x}]}"),
     "config:8:10: context 'c': user 'u': exec: " ENV},
    {CONFIG(HTTPS, EXEC ", interactiveMode: Never, env: [{name: A=B, value: x}]}"),
     "config:8:10: context 'c': user 'u': exec: " ENV},
    {CONFIG(HTTPS, EXEC ", interactiveMode: Never, env: [{name: A, value: [x]}]}"),
     "config:8:10: context 'c': user 'u': exec: " ENV},
    {CONFIG(HTTPS, EXEC ", interactiveMode: Never, env: [A]}"),
     "config:8:10: context 'c': user 'u': exec: " ENV},
    {CONFIG(HTTPS, EXEC ", interactiveMode: Never, provideClusterInfo: 7}"),
     "config:8:10: context 'c': user 'u': exec: provideClusterInfo must be true or false"},
    {CONFIG(HTTPS, "token: t, exec: {command: x}"),
     "config:8:20: context 'c': user 'u': exec: " VERSION},
    {CONFIG("server: 'http://h'", EXEC ", interactiveMode: Never}"),
     "config:8:10: context 'c': user 'u': exec: " ONLY_HTTPS},
    {CONFIG(HTTPS, "auth-provider: {name: x}"),
     "config:8:10: context 'c': user 'u': auth-provider: " OF_OLD "the plugin of your provider"},
    {CONFIG(HTTPS, "auth-provider: {name: gcp, config: {}}, token: t"),
     "config:8:10: context 'c': user 'u': auth-provider: " OF_OLD "gke-gcloud-auth-plugin"},
    {CONFIG(HTTPS, "auth-provider: {name: oidc}"),
     "config:8:10: context 'c': user 'u': auth-provider: " OF_OLD "kubectl-oidc_login"},
    {CONFIG(HTTPS, "auth-provider: {name: azure}"),
     "config:8:10: context 'c': user 'u': auth-provider: " OF_OLD "kubelogin (convert-kubeconfig)"},
    {CONFIG(HTTPS, "auth-provider: x"),
     "config:8:10: context 'c': user 'u': auth-provider: must be a mapping of fields"},
    {CONFIG(HTTPS, "username: x, token: t"),
     "config:8:10: context 'c': user 'u': username: cannot be combined with a token; remove one "
     "of them"},
    {CONFIG(HTTPS, "tokenFile: t, password: x"),
     "config:8:24: context 'c': user 'u': password: cannot be combined with a token; remove one "
     "of them"},
    {CONFIG(HTTPS, "username: 'a:b'"),
     "config:8:10: context 'c': user 'u': username: must not contain ':'"},
    {CONFIG("server: 'http://h'", "username: x"),
     "config:8:10: context 'c': user 'u': username: " ONLY_HTTPS},
    {CONFIG(HTTPS, "as-uid: 1"), "config:8:10: context 'c': user 'u': as-uid: " NEEDS_AS},
    {CONFIG(HTTPS, "as-groups: [x]"), "config:8:10: context 'c': user 'u': as-groups: " NEEDS_AS},
    {CONFIG(HTTPS, "as-user-extra: {x: [y]}"),
     "config:8:10: context 'c': user 'u': as-user-extra: " NEEDS_AS},
    {CONFIG(HTTPS, "as: \"a\\r\\nX: y\""),
     "config:8:10: context 'c': user 'u': as: must not contain control characters"},
    {CONFIG(HTTPS, "as: x, as-groups: [a, \"\\e\"]"),
     "config:8:17: context 'c': user 'u': as-groups: must not contain control characters"},
    {CONFIG(HTTPS, "as: x, as-groups: y"),
     "config:8:17: context 'c': user 'u': as-groups: must be a list of strings"},
    {CONFIG(HTTPS, "as: x, as-groups: [[y]]"),
     "config:8:17: context 'c': user 'u': as-groups: must be a list of strings"},
    {CONFIG(HTTPS, "as: x, as-user-extra: {a: b}"),
     "config:8:17: context 'c': user 'u': as-user-extra: must map names to lists of strings"},
    {CONFIG(HTTPS, "as: x, as-user-extra: {a: [[b]]}"),
     "config:8:17: context 'c': user 'u': as-user-extra: must map names to lists of strings"},
    {CONFIG(HTTPS, "as: x, as-user-extra: {'': [b]}"),
     "config:8:17: context 'c': user 'u': as-user-extra: must map names to lists of strings"},
    {CONFIG(HTTPS, "client-certificate: ca.pem, client-certificate-data: eA==, client-key: ca.pem"),
     "config:8:38: context 'c': user 'u': client-certificate-data: cannot be combined with "
     "client-certificate; remove one of them"},
    {CONFIG(HTTPS, "client-certificate: ca.pem, client-key: ca.pem, client-key-data: eA=="),
     "config:8:58: context 'c': user 'u': client-key-data: cannot be combined with client-key; "
     "remove one of them"},
    {CONFIG(HTTPS, "client-certificate: ca.pem"),
     "config:8:10: context 'c': user 'u': client-certificate: needs a client-key or client-key-data"},
    {CONFIG(HTTPS, "client-key-data: eA=="),
     "config:8:10: context 'c': user 'u': client-key-data: needs a client-certificate or "
     "client-certificate-data"},
    {CONFIG(HTTPS, "token: [t]"), "config:8:10: context 'c': user 'u': token: must be a string"},
    {CONFIG(HTTPS, "token: 'a b'"), "config:8:10: context 'c': user 'u': token: " WHITE},
    {CONFIG(HTTPS, "token: \"a\\n\""), "config:8:10: context 'c': user 'u': token: " WHITE},
    {CONFIG("server: 'http://h'", "token: t"),
     "config:8:10: context 'c': user 'u': token: " ONLY_HTTPS},
    {CONFIG("server: 'http://h'", "tokenFile: t"),
     "config:8:10: context 'c': user 'u': tokenFile: " ONLY_HTTPS},
    {CONFIG("server: 'http://h'", "client-key: ca.pem, client-certificate: ca.pem"),
     "config:8:30: context 'c': user 'u': client-certificate: " ONLY_HTTPS},
};

static void refuses_invalid_users(void **state)
{
    (void)state;
    assert_bad_configs(bad, ARRAY_LEN(bad));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KUBECONFIG_TEST(reads_name_and_password),
        KUBECONFIG_TEST(reads_impersonation),
        KUBECONFIG_TEST(limits_impersonated_groups),
        KUBECONFIG_TEST(reads_an_exec_plugin),
        KUBECONFIG_TEST(compares_files_by_path),
        KUBECONFIG_TEST(uses_the_plugin_only_without_other_credentials),
        KUBECONFIG_TEST(refuses_invalid_users),
    };
    return cmocka_run_group_tests_name("kubeconfig_user", tests, NULL, NULL);
}
