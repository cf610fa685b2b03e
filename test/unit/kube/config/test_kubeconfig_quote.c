/*
 * test_kubeconfig_quote.c - errors about a kubeconfig contain none of its values: a password
 * without quotes or in the wrong field is not shown. Names of entries are shown, and the first
 * word of a plugin's command if it does not look like a secret.
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
#include "kubeconfig_place.h"

#define SECRET "hunter2"

/* Effects of an unquoted password in YAML; % is the password. */
static const char *const values[] = {
    "%",
    "'%",
    "\"%",
    "\"\\%\"",
    "&% x",
    "&%",
    "*%",
    "!% x",
    "!!% x",
    "!<% x",
    "!%!% x",
    "@%",
    "`%",
    "|%",
    ">%",
    "|9%",
    "%% x",
    "{%, %}",
    "{%: 1, %: 2}",
    "{% ",
    "[%",
    "[%, [%]]",
    "%: %",
    "%: %: %",
    "? %",
    "- %",
    "{<<: %}",
    "{? %}",
    "% # %",
    "#%",
    "a\n%: b\n%: c",
    "a\n  %\n %",
    "'%' %",
    "\"%\" %",
    "\t%",
    "%\n\t%",
    "--- %",
    "\n--- %",
    "\n... %",
    "\n%%YAML %",
    "\n%%TAG ! %\n---",
    "https://me:%@h",
    "https://%@h",
    "http://%",
    "%://h",
    "https://h:%",
    "https://h?%",
    "https://h/%{}",
    "\"a\\n%\"",
    "\"a\\0%\"",
    "\"\\x%\"",
    "/%",
    "/%/%",
    "{a: {b: %}}",
    "[a, {b: %}]",
    "{name: %, value: [%]}",
    "{command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{name: '=%'}]}",
    "[{name: A, value: [%]}]",
    "{name: %, config: {%: %}}",
    "{command: 'x %'}",
    "{command: x, args: [[%]]}",
    "{command: x, apiVersion: %}",
    "{command: x, args: %}",
    "{command: x, env: [%]}",
    "{command: 'x --password=%', apiVersion: client.authentication.k8s.io/v1, interactiveMode: %}",
    "{command: 'x --password=%', apiVersion: client.authentication.k8s.io/v1beta1, provideClusterInfo: %}",
    "{command: '/%/get --token %', apiVersion: client.authentication.k8s.io/v1beta1}",
};

static const char *const user_keys[] = {
    "client-certificate",
    "client-certificate-data",
    "client-key",
    "client-key-data",
    "token",
    "tokenFile",
    "exec",
    "auth-provider",
    "username",
    "password",
    "as",
    "as-uid",
    "as-groups",
    "as-user-extra",
    "unknown",
};

static const char *const cluster_keys[] = {
    "server",     "certificate-authority",    "certificate-authority-data", "tls-server-name",
    "extensions", "insecure-skip-tls-verify", "disable-compression",        "proxy-url",
};

static const char *const other_keys[] = {"current-context", "kind",  "apiVersion", "clusters",
                                         "contexts",        "users", "preferences"};

/* @form with @secret in place of each %, and a % in place of each %%. */
static char *fill(const char *form, const char *secret)
{
    struct buf out = {0};
    for (; *form; form++) {
        if (form[0] == '%' && form[1] == '%')
            buf_putc(&out, *form++);
        else if (form[0] == '%')
            buf_puts(&out, secret);
        else
            buf_putc(&out, *form);
    }
    buf_putc(&out, '\0');
    return out.bytes;
}

/* Valid files load; errors of others do not contain the secret. Only some plugins are allowed. */
static bool loads_without_showing_the_secret(const char *text)
{
    static const char *const allow[] = {"y", NULL};
    struct kubeconfig c;
    struct inf_error err = {0};
    put_config("config", text);
    if (kubeconfig_load(&(struct kubeconfig_choice){.path = "config", .exec_allow = allow}, &c,
                        &err) == 0) {
        kubeconfig_free(&c);
        return true;
    }
    if (strstr(err.text, SECRET))
        fail_msg("%s\nis the error for\n%s", err.text, text);
    assert_int_equal(strncmp(err.text, "config", strlen("config")), 0);
    return false;
}

#define NAMED      "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
#define NO_USERS   "users: [{name: u}]\n"
#define GOOD_USERS "users: [{name: u, user: {token: t}}]\n"
#define CLUSTERS   "clusters: [{name: k, cluster: {server: 'https://h'}}]\n"

static size_t refused;

static void try_value(const char *before, const char *key, const char *value, const char *behind)
{
    char *text = xasprintf("%s%s: %s\n%s", before, key, value, behind);
    refused += !loads_without_showing_the_secret(text);
    free(text);
}

static void try_everywhere(const char *value)
{
    for (size_t i = 0; i < ARRAY_LEN(user_keys); i++) {
        try_value(NAMED CLUSTERS "users:\n- name: u\n  user:\n    ", user_keys[i], value, "");
        try_value(NAMED CLUSTERS "users:\n- name: u\n  user:\n    ", user_keys[i], value,
                  "    client-key-data: eA==\n    token: t\n");
        try_value(NAMED "clusters: [{name: k, cluster: {server: 'http://h'}}]\n"
                        "users:\n- name: u\n  user:\n    ",
                  user_keys[i], value, "");
    }
    for (size_t i = 0; i < ARRAY_LEN(cluster_keys); i++) {
        try_value(NAMED NO_USERS "clusters:\n- name: k\n  cluster:\n    ", cluster_keys[i], value,
                  "");
        try_value(NAMED NO_USERS "clusters:\n- name: k\n  cluster:\n    server: https://h\n    ",
                  cluster_keys[i], value, "    certificate-authority-data: eA==\n");
    }
    for (size_t i = 0; i < ARRAY_LEN(other_keys); i++)
        try_value("", other_keys[i], value, "");
    try_value(GOOD_USERS CLUSTERS "current-context: c\ncontexts:\n- name: c\n  context:\n    ",
              "cluster", value, "");
    try_value(GOOD_USERS CLUSTERS
              "current-context: c\ncontexts:\n- name: c\n  context:\n    cluster: k\n    ",
              "user", value, "");
    try_value(GOOD_USERS CLUSTERS
              "current-context: c\ncontexts:\n- name: c\n  context:\n    cluster: k\n    ",
              "namespace", value, "");
}

static void errors_do_not_quote_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        char *value = fill(values[i], SECRET);
        try_everywhere(value);
        free(value);
    }
    assert_in_range(refused, 2000, SIZE_MAX);
}

/* PEM or a token in place of a path: it is not shown as a path. */
static void does_not_quote_a_key_in_place_of_a_path(void **state)
{
    static const char *const keys[] = {"client-key", "client-certificate"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        char *text = xasprintf(NAMED CLUSTERS "users:\n- name: u\n  user:\n"
                                              "    client-key: ca.pem\n"
                                              "    client-certificate-data: eA==\n");
        assert_true(loads_without_showing_the_secret(text));
        free(text);
        text =
            xasprintf(NAMED CLUSTERS "users:\n- name: u\n  user:\n    %s: LS0t%s\n    %s: eA==\n",
                      keys[i], SECRET, i ? "client-key-data" : "client-certificate-data");
        assert_false(loads_without_showing_the_secret(text));
        free(text);
    }
    assert_config_error("config", NULL, INF_ECONF,
                        "config:7:5: context 'c': user 'u': client-certificate: cannot read the "
                        "file: No such file or directory");
}

/* A path that exists is shown as a whole; otherwise the first word, without its directory. */
static void names_a_plugin_without_its_arguments(void **state)
{
    char *path = xasprintf("%s/ca.pem", (char *)*state);
    const char *const commands[][2] = {
        {"get-token", "get-token"},
        {"/nowhere/bin/get-token", "get-token"},
        {"get-token --password " SECRET, "get-token"},
        {"/" SECRET "/get-token -p " SECRET, "get-token"},
        {"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "[...]"},
        {path, path},
    };
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        char *text =
            xasprintf(NAMED CLUSTERS "users: [{name: u, user: {exec: {command: '%s', "
                                     "apiVersion: client.authentication.k8s.io/v1beta1}}}]",
                      commands[i][0]);
        struct kubeconfig c;
        put_config("config", text);
        c = load_config("config", NULL);
        assert_string_equal(c.exec->name, commands[i][1]);
        kubeconfig_free(&c);
        free(text);
    }
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KUBECONFIG_TEST(errors_do_not_quote_values),
        KUBECONFIG_TEST(does_not_quote_a_key_in_place_of_a_path),
        KUBECONFIG_TEST(names_a_plugin_without_its_arguments),
    };
    return cmocka_run_group_tests_name("kubeconfig_quote", tests, NULL, NULL);
}
