/*
 * test_kubeconfig.c - which files are read, the resulting configuration, and every kind of
 * error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "kubeconfig_place.h"

/* ---- the resulting configuration ---- */

static void reads_every_field(void **state)
{
    char *token_file = xasprintf("%s/var/token", (char *)*state);
    struct kubeconfig c;
    put_config(
        "config",
        "apiVersion: v1\n"
        "kind: Config\n"
        "preferences: {}\n"
        "current-context: prod-ro\n"
        "contexts:\n"
        "- name: prod-ro\n"
        "  context: {cluster: prod, user: reader, namespace: shop, extensions: [{name: x}]}\n"
        "clusters:\n"
        "- cluster:\n"
        "    certificate-authority-data: dGhlIGNhCg==\n"
        "    server: https://prod.test:6443/k8s/\n"
        "    tls-server-name: kubernetes.test\n"
        "    disable-compression: true\n"
        "  name: prod\n"
        "users:\n"
        "- name: reader\n"
        "  user:\n"
        "    client-certificate-data: dGhlIGNlcnQ=\n"
        "    client-key-data: dGhlIGtleQ==\n"
        "    token: abc.def\n"
        "    tokenFile: var/token\n"
        "    username: ''\n"
        "    exec: null\n"
        "    as-groups: []\n");
    c = load_config("config", NULL);
    assert_string_equal(c.origin, "config");
    assert_string_equal(c.context, "prod-ro");
    assert_string_equal(c.cluster, "prod");
    assert_string_equal(c.user, "reader");
    assert_string_equal(c.host, "prod.test");
    assert_int_equal(c.port, 6443);
    assert_string_equal(c.path_prefix, "/k8s");
    assert_true(c.https);
    assert_string_equal(c.tls_server_name, "kubernetes.test");
    assert_false(c.insecure);
    assert_string_equal(c.ca_pem, "the ca\n");
    assert_string_equal(c.cert_pem, "the cert");
    assert_string_equal(c.key_pem, "the key");
    assert_string_equal(c.token, "abc.def");
    assert_string_equal(c.token_file, token_file);
    assert_string_equal(c.namespace, "shop");
    kubeconfig_free(&c);
    kubeconfig_free(&c); /* harmless */
    free(token_file);
}

static void reads_a_minimal_file(void **state)
{
    struct kubeconfig c;
    (void)state;
    put_config("config", "contexts: [{name: c, context: {cluster: k}}]\n"
                         "clusters: [{name: k, cluster: {server: 'http://127.0.0.1:8001'}}]\n");
    c = load_config("config", "c");
    assert_null(c.user);
    assert_null(c.ca_pem);
    assert_null(c.token);
    assert_null(c.token_file);
    assert_null(c.tls_server_name);
    assert_false(c.https);
    assert_string_equal(c.path_prefix, "");
    assert_string_equal(c.namespace, "default");
    kubeconfig_free(&c);
}

static void reads_json_with_a_byte_order_mark(void **state)
{
    struct kubeconfig c;
    (void)state;
    put_config("config",
               "\xEF\xBB\xBF{\"kind\":\"Config\",\"apiVersion\":\"v1\",\"current-context\":\"c\","
               "\"contexts\":[{\"name\":\"c\",\"context\":{\"cluster\":\"k\",\"user\":\"u\"}}],"
               "\"clusters\":[{\"name\":\"k\",\"cluster\":{\"server\":\"https://h\","
               "\"insecure-skip-tls-verify\":true,\"disable-compression\":true}}],"
               "\"users\":[{\"name\":\"u\",\"user\":{\"token\":\"t\"}}]}");
    c = load_config("config", NULL);
    assert_true(c.insecure);
    assert_true(c.no_compression);
    assert_string_equal(c.token, "t");
    kubeconfig_free(&c);
}

/* A field that is null or "" counts as absent; an entry may have no body. */
static void finds_no_configuration(void **state)
{
    struct kubeconfig c;
    (void)state;
    put_config("config",
               "current-context: c\n"
               "contexts: [{name: c, context: {cluster: k, user: u, namespace: ''}}]\n"
               "clusters: [{name: k, cluster: {server: 'https://h', certificate-authority: '',\n"
               "  insecure-skip-tls-verify: ~, proxy-url: ''}}]\n"
               "users: [{name: u}]\n");
    c = load_config("config", NULL);
    assert_string_equal(c.user, "u");
    assert_null(c.ca_pem);
    assert_false(c.insecure);
    assert_false(c.no_compression);
    kubeconfig_free(&c);
}

/* ---- files ---- */

static void reads_the_file_in_the_home_directory(void **state)
{
    char *path = xasprintf("%s/.kube/config", (char *)*state);
    struct kubeconfig c;
    assert_int_equal(mkdir(".kube", 0700), 0);
    put_config(path, CONFIG(HTTPS ", certificate-authority: ../ca.pem", ""));
    c = load_config(NULL, NULL);
    assert_string_equal(c.origin, path);
    assert_string_equal(c.ca_pem, "the authority\n");
    kubeconfig_free(&c);
    assert_int_equal(setenv("KUBECONFIG", "", 1), 0); /* counts as not set */
    c = load_config(NULL, NULL);
    kubeconfig_free(&c);
    free(path);
}

static void works_without_a_home_directory(void **state)
{
    char *text = xasprintf(
        "no kubeconfig: KUBECONFIG is not set and '%s/.kube/config' doesn't exist", (char *)*state);
    assert_config_error(NULL, NULL, INF_ENOTFOUND, text);
    unsetenv("HOME");
    assert_config_error(NULL, NULL, INF_ENOTFOUND,
                        "no kubeconfig: neither KUBECONFIG nor HOME is set");
    free(text);
}

/* The entry of the first file is used as a whole: its cluster has no CA, and that of the second
 * file does not add one. */
static void merges_several_files(void **state)
{
    char *token_file = xasprintf("%s/two/token", (char *)*state);
    struct kubeconfig c;
    assert_int_equal(mkdir("two", 0700), 0);
    put_config("one", "current-context: ''\n"
                      "clusters: [{name: k, cluster: {server: 'https://first'}}]\n");
    put_config("two/config", "current-context: c\n"
                             "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                             "clusters: [{name: k, cluster: {server: 'https://second',\n"
                             "  certificate-authority: nowhere.pem}}]\n"
                             "users: [{name: u, user: {tokenFile: token}}]\n");
    put_config("three", "current-context: other\n");
    assert_int_equal(setenv("KUBECONFIG", ":one:absent:two/config::one:three", 1), 0);
    c = load_config(NULL, NULL);
    assert_string_equal(c.origin, "one:two/config:three");
    assert_string_equal(c.host, "first");
    assert_null(c.ca_pem);
    assert_string_equal(c.token_file, token_file); /* relative to its file */
    kubeconfig_free(&c);
    free(token_file);
}

static void reports_problems_of_listed_files(void **state)
{
    (void)state;
    put_config("good", CONFIG(HTTPS, ""));
    put_config("broken", "a: [\n");
    assert_int_equal(setenv("KUBECONFIG", "x/a:b", 1), 0);
    assert_config_error(NULL, NULL, INF_ENOTFOUND,
                        "none of the files in KUBECONFIG='x/a:b' exists");
    assert_int_equal(setenv("KUBECONFIG", "good:broken", 1), 0);
    assert_config_error(
        NULL, NULL, INF_ECONF,
        "broken:2:1: did not find expected node content, while parsing a flow node that "
        "begins on line 2");
    assert_int_equal(setenv("KUBECONFIG", "good:.", 1), 0);
    assert_config_error(NULL, NULL, INF_ECONF, "kubeconfig file '.': is a directory");
}

/* An explicit path is the only one; the environment is ignored. */
static void reads_only_an_explicit_path(void **state)
{
    struct kubeconfig c;
    (void)state;
    put_config("good", CONFIG(HTTPS, ""));
    put_config("other", "");
    assert_int_equal(setenv("KUBECONFIG", "broken", 1), 0);
    c = load_config("good", NULL);
    kubeconfig_free(&c);
    assert_int_equal(setenv("KUBECONFIG", "good", 1), 0);
    assert_config_error("absent", NULL, INF_ECONF, "kubeconfig file 'absent' doesn't exist");
    assert_config_error(
        "other", NULL, INF_ECONF,
        "other: no current-context is set and no context was selected; available contexts: none");
}

static void refuses_a_file_that_is_too_large(void **state)
{
    (void)state;
    put_config("big", "");
    assert_int_equal(truncate("big", 1024 * 1024 + 1), 0);
    assert_config_error("big", NULL, INF_ECONF, "kubeconfig file 'big': larger than 1048576 bytes");
}

static void refuses_too_many_files(void **state)
{
    struct buf b = {0};
    (void)state;
    buf_puts(&b, "users:\n");
    for (int i = 0; i <= 4096; i++)
        buf_printf(&b, "- name: u%d\n", i);
    buf_putc(&b, '\0');
    put_config("many", b.bytes);
    buf_free(&b);
    assert_config_error("many", NULL, INF_ECONF, "many:2:1: users has more than 4096 entries");
}

/* ---- overrides by the caller ---- */

static struct kubeconfig choose(const struct kubeconfig_choice *choice)
{
    struct kubeconfig c;
    struct inf_error err = {0};
    if (kubeconfig_load(choice, &c, &err) < 0)
        fail_msg("%s", err.text);
    return c;
}

static void assert_refused(const struct kubeconfig_choice *choice, const char *text)
{
    struct kubeconfig c;
    struct inf_error err = {0};
    assert_int_equal(kubeconfig_load(choice, &c, &err), -INF_ECONF);
    assert_string_equal(err.text, text);
}

static void overrides_cluster_and_user(void **state)
{
    struct kubeconfig c;
    (void)state;
    put_config("config", "current-context: a\n"
                         "contexts: [{name: a, context: {cluster: k, user: u, namespace: shop}}]\n"
                         "clusters: [{name: k, cluster: {server: 'https://k'}},\n"
                         "  {name: l, cluster: {server: 'https://l'}}]\n"
                         "users: [{name: u, user: {token: u}}, {name: v, user: {token: v}}]\n");
    c = choose(&(struct kubeconfig_choice){.path = "config", .cluster = "l"});
    assert_string_equal(c.host, "l");
    assert_string_equal(c.token, "u");
    assert_string_equal(c.namespace, "shop");
    kubeconfig_free(&c);
    c = choose(&(struct kubeconfig_choice){.path = "config", .user = "v"});
    assert_string_equal(c.host, "k");
    assert_string_equal(c.user, "v");
    assert_string_equal(c.token, "v");
    kubeconfig_free(&c);
    assert_refused(&(struct kubeconfig_choice){.path = "config", .cluster = "m"},
                   "config: cluster 'm' doesn't exist; available clusters: 'k', 'l'");
    assert_refused(&(struct kubeconfig_choice){.path = "config", .user = "w"},
                   "config: user 'w' doesn't exist; available users: 'u', 'v'");
}

static void needs_no_context_with_a_given_cluster(void **state)
{
    struct kubeconfig c;
    (void)state;
    put_config("config", "clusters: [{name: k, cluster: {server: 'https://k'}}]\n"
                         "users: [{name: u, user: {token: u}}]\n");
    c = choose(&(struct kubeconfig_choice){.path = "config", .cluster = "k", .user = "u"});
    assert_string_equal(c.token, "u");
    assert_string_equal(c.namespace, "default");
    assert_string_equal(c.context, "");
    kubeconfig_free(&c);
    assert_refused(&(struct kubeconfig_choice){.path = "config", .user = "u"},
                   "config: no current-context is set and no context was selected; available "
                   "contexts: none");
}

static void allows_only_listed_plugins(void **state)
{
    static const char *const none[] = {NULL}, *const others[] = {"y", "/bin/x", NULL},
                             *const this_one[] = {"y", "x", NULL};
    struct kubeconfig c;
    (void)state;
    put_config("config", CONFIG(HTTPS, EXEC ", interactiveMode: Never}"));
#define NOT_ALLOWED \
    "config: context 'c': user 'u': exec: command 'x' is not allowed to run; add it to exec_allow"
    assert_refused(&(struct kubeconfig_choice){.path = "config", .exec_allow = none}, NOT_ALLOWED);
    assert_refused(&(struct kubeconfig_choice){.path = "config", .exec_allow = others},
                   NOT_ALLOWED);
    c = choose(&(struct kubeconfig_choice){.path = "config", .exec_allow = this_one});
    kubeconfig_free(&c);
    put_config("config", CONFIG(HTTPS, "token: t"));
    c = choose(&(struct kubeconfig_choice){.path = "config", .exec_allow = none});
    kubeconfig_free(&c);
}

/* Overrides do not replace a missing kubeconfig: the in-cluster configuration is next. */
static void ignores_empty_files(void **state)
{
    (void)state;
    put_config("one", "");
    put_config("two", "users: [{name: u}]\ncontexts: []\n");
    assert_int_equal(setenv("KUBECONFIG", "one:two", 1), 0);
    assert_config_error(NULL, NULL, INF_ENOTFOUND,
                        "no kubeconfig: one:two has no contexts and no clusters");
    assert_config_error("one", NULL, INF_ECONF,
                        "one: no current-context is set and no context was selected; available "
                        "contexts: none");
    assert_config_error(NULL, "c", INF_ECONF,
                        "one:two: context 'c' doesn't exist; available contexts: none");
}

/* ---- errors ---- */

static void refuses_unknown_and_duplicate_names(void **state)
{
    (void)state;
    put_config("one",
               "current-context: gone\n"
               "contexts: [{name: a, context: {cluster: k}}, {name: b, context: {cluster: no}},\n"
               "  {name: d, context: {}}, {name: e}]\n"
               "clusters: [{name: k}]\n");
    put_config("two", "contexts: [{name: a}, {name: u, context: {cluster: k, user: no}}]\n");
    assert_int_equal(setenv("KUBECONFIG", "one:two", 1), 0);
    assert_config_error(NULL, NULL, INF_ECONF,
                        "one:1:1: current-context: no such context; available contexts: 'a', 'b', "
                        "'d', 'e', 'u'");
    assert_config_error(NULL, "x", INF_ECONF,
                        "one:two: context 'x' doesn't exist; available contexts: "
                        "'a', 'b', 'd', 'e', 'u'");
    assert_config_error(NULL, "a", INF_ECONF,
                        "one:4:12: context 'a': cluster 'k': needs a server (https://host:port)");
    assert_config_error(NULL, "b", INF_ECONF,
                        "one:2:66: context 'b': cluster: no such cluster; available clusters: 'k'");
    assert_config_error(NULL, "d", INF_ECONF, "one:3:3: context 'd': needs a cluster");
    assert_config_error(NULL, "e", INF_ECONF, "one:3:27: context 'e': needs a cluster");
    assert_config_error(NULL, "u", INF_ECONF,
                        "two:1:55: context 'u': user: no such user; available users: none");
}

#define FILE_AND_DATA "cannot be combined with certificate-authority; remove one of them"
#define NAMESPACE     "must be a namespace: a-z, 0-9 and '-', at most 63 characters"

static const struct bad_config bad[] = {
    /* the file */
    {"a: 1\na: 2\n", "config:2:1: duplicate key; first at 1:1"},
    {"just text\n", "config:1:1: not a kubeconfig: must be a mapping (clusters: ...)"},
    {"kind: Pod\n", "config:1:1: not a kubeconfig: kind must be 'Config'"},
    {"kind: [Config]\n", "config:1:1: not a kubeconfig: kind must be 'Config'"},
    {"apiVersion: v2\n", "config:1:1: not a kubeconfig: apiVersion must be 'v1'"},
    {"current-context: [c]\n", "config:1:18: current-context must be the name of a context"},
    {"users: {a: b}\n", "config:1:8: users must be a list of entries (- name: ...)"},
    {"users: [{user: {}}]\n", "config:1:9: an entry of users needs a name"},
    {"contexts: [{name: ''}]\n", "config:1:12: an entry of contexts needs a name"},
    {"clusters: [text]\n", "config:1:12: an entry of clusters needs a name"},
    {"users:\n- name: a\n- name: b\n- name: a\n",
     "config:4:3: users: duplicate name 'a'; first defined at 2:3"},
    /* the context */
    {"current-context: c\ncontexts: [{name: c, context: [x]}]\n",
     "config:2:22: context 'c': context: must be a mapping of fields"},
    {"current-context: c\ncontexts: [{name: c, context: {cluster: {}}}]\n",
     "config:2:12: context 'c': needs a cluster"},
    {"current-context: c\ncontexts: [{name: c, context: {cluster: [k]}}]\n",
     "config:2:32: context 'c': cluster: must be a string"},
    {"current-context: c\ncontexts: [{name: c, context: {cluster: k, namespace: ../x}}]\n"
     "clusters: [{name: k}]\n",
     "config:2:44: context 'c': namespace: " NAMESPACE},
    /* the cluster */
    {CONFIG("", ""), "config:4:3: context 'c': cluster 'k': needs a server (https://host:port)"},
    {CONFIG("server: 'h:6443'", ""),
     "config:5:13: context 'c': cluster 'k': server: must begin with https:// or http://"},
    {CONFIG("server: 'https://me:pw@h'", ""),
     "config:5:13: context 'c': cluster 'k': server: must not contain a user name or password; "
     "put credentials into the user entry"},
    {CONFIG(HTTPS ", proxy-url: 'ftp://me:pw@p'", ""),
     "config:5:34: context 'c': cluster 'k': proxy-url: must begin with http://, https:// or socks5://"},
    {CONFIG(HTTPS ", certificate-authority: ca.pem, certificate-authority-data: eA==", ""),
     "config:5:65: context 'c': cluster 'k': certificate-authority-data: " FILE_AND_DATA},
    {CONFIG(HTTPS ", certificate-authority: ca.pem, insecure-skip-tls-verify: true", ""),
     "config:5:34: context 'c': cluster 'k': certificate-authority: cannot be combined with "
     "insecure-skip-tls-verify; remove one of them"},
    {CONFIG(HTTPS ", insecure-skip-tls-verify: 'true'", ""),
     "config:5:34: context 'c': cluster 'k': insecure-skip-tls-verify: must be true or false"},
    {CONFIG(HTTPS ", disable-compression: yes please", ""),
     "config:5:34: context 'c': cluster 'k': disable-compression: must be true or false"},
    {CONFIG(HTTPS ", certificate-authority-data: 'no base64'", ""),
     "config:5:34: context 'c': cluster 'k': certificate-authority-data: must be base64 on one "
     "line, including its padding"},
    {CONFIG(HTTPS ", certificate-authority-data: AAAA", ""),
     "config:5:34: context 'c': cluster 'k': certificate-authority-data: is binary; must be PEM (-----BEGIN "
     "...)"},
    {CONFIG(HTTPS ", certificate-authority: empty.pem", ""),
     "config:5:34: context 'c': cluster 'k': certificate-authority: is empty; must be PEM (-----BEGIN ...)"},
    {CONFIG(HTTPS ", certificate-authority: /dev/null", ""),
     "config:5:34: context 'c': cluster 'k': certificate-authority: cannot read the file: is not a regular file"},
    {CONFIG(HTTPS ", certificate-authority: /nowhere/ca", ""),
     "config:5:34: context 'c': cluster 'k': certificate-authority: cannot read the file: No such file or "
     "directory"},
};

static void refuses_invalid_files(void **state)
{
    (void)state;
    assert_bad_configs(bad, ARRAY_LEN(bad));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KUBECONFIG_TEST(reads_every_field),
        KUBECONFIG_TEST(reads_a_minimal_file),
        KUBECONFIG_TEST(reads_json_with_a_byte_order_mark),
        KUBECONFIG_TEST(finds_no_configuration),
        KUBECONFIG_TEST(reads_the_file_in_the_home_directory),
        KUBECONFIG_TEST(works_without_a_home_directory),
        KUBECONFIG_TEST(merges_several_files),
        KUBECONFIG_TEST(reports_problems_of_listed_files),
        KUBECONFIG_TEST(reads_only_an_explicit_path),
        KUBECONFIG_TEST(refuses_a_file_that_is_too_large),
        KUBECONFIG_TEST(refuses_too_many_files),
        KUBECONFIG_TEST(overrides_cluster_and_user),
        KUBECONFIG_TEST(needs_no_context_with_a_given_cluster),
        KUBECONFIG_TEST(allows_only_listed_plugins),
        KUBECONFIG_TEST(ignores_empty_files),
        KUBECONFIG_TEST(refuses_unknown_and_duplicate_names),
        KUBECONFIG_TEST(refuses_invalid_files),
    };
    return cmocka_run_group_tests_name("kubeconfig", tests, NULL, NULL);
}
