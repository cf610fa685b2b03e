/*
 * test_kubeconfig.c - which files are read, what comes out of them, and each way they can be wrong.
 *
 * Every test runs in an empty directory of its own, which is also its HOME; KUBECONFIG is not set.
 */
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "kube/kubeconfig.h"

/* Cluster fields are on line 5, from column 13; user fields on line 8, from column 10. */
#define CONFIG(cluster, user)                                 \
    "current-context: c\n"                                    \
    "contexts: [{name: c, context: {cluster: k, user: u}}]\n" \
    "clusters:\n"                                             \
    "- name: k\n"                                             \
    "  cluster: {" cluster "}\n"                              \
    "users:\n"                                                \
    "- name: u\n"                                             \
    "  user: {" user "}\n"
#define HTTPS "server: 'https://h'"

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static void put(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static int setup(void **state)
{
    char *dir = xstrdup("/tmp/test_kubeconfig.XXXXXX");
    *state = dir;
    if (!mkdtemp(dir) || chdir(dir) < 0 || setenv("HOME", dir, 1) < 0)
        return -1;
    unsetenv("KUBECONFIG");
    put("ca.pem", "the authority\n");
    put("empty.pem", "");
    return 0;
}

static int teardown(void **state)
{
    char *dir = *state;
    int rc = chdir("/") || nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(dir);
    return rc;
}

static struct kubeconfig load(const char *path, const char *context)
{
    struct kubeconfig c;
    struct inf_error err = {0};
    if (kubeconfig_load(path, context, &c, &err) < 0)
        fail_msg("%s", err.text);
    return c;
}

static void assert_error(const char *path, const char *context, int code, const char *text)
{
    struct kubeconfig c = {.port = 7};
    struct inf_error err = {0};
    int rc = kubeconfig_load(path, context, &c, &err);
    assert_string_equal(err.text, text);
    assert_int_equal(rc, -code);
    assert_int_equal(c.port, 7); /* untouched */
    assert_null(c.origin);
}

/* -- what comes out ------------------------------------------------------------------------------
 */

static void test_everything(void **state)
{
    char *token_file = xasprintf("%s/var/token", (char *)*state);
    struct kubeconfig c;
    put("config",
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
    c = load("config", NULL);
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

static void test_least(void **state)
{
    struct kubeconfig c;
    (void)state;
    put("config", "contexts: [{name: c, context: {cluster: k}}]\n"
                  "clusters: [{name: k, cluster: {server: 'http://127.0.0.1:8001'}}]\n");
    c = load("config", "c");
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

static void test_json_with_mark(void **state)
{
    struct kubeconfig c;
    (void)state;
    put("config",
        "\xEF\xBB\xBF{\"kind\":\"Config\",\"apiVersion\":\"v1\",\"current-context\":\"c\","
        "\"contexts\":[{\"name\":\"c\",\"context\":{\"cluster\":\"k\",\"user\":\"u\"}}],"
        "\"clusters\":[{\"name\":\"k\",\"cluster\":{\"server\":\"https://h\","
        "\"insecure-skip-tls-verify\":true,\"disable-compression\":true}}],"
        "\"users\":[{\"name\":\"u\",\"user\":{\"token\":\"t\"}}]}");
    c = load("config", NULL);
    assert_true(c.insecure);
    assert_true(c.no_compression);
    assert_string_equal(c.token, "t");
    kubeconfig_free(&c);
}

/* A field that is null or "" is as good as absent; an entry may have no body at all. */
static void test_nothing_said(void **state)
{
    struct kubeconfig c;
    (void)state;
    put("config", "current-context: c\n"
                  "contexts: [{name: c, context: {cluster: k, user: u, namespace: ''}}]\n"
                  "clusters: [{name: k, cluster: {server: 'https://h', certificate-authority: '',\n"
                  "  insecure-skip-tls-verify: ~, proxy-url: ''}}]\n"
                  "users: [{name: u}]\n");
    c = load("config", NULL);
    assert_string_equal(c.user, "u");
    assert_null(c.ca_pem);
    assert_false(c.insecure);
    assert_false(c.no_compression);
    kubeconfig_free(&c);
}

/* -- which files ---------------------------------------------------------------------------------
 */

static void test_home(void **state)
{
    char *path = xasprintf("%s/.kube/config", (char *)*state);
    struct kubeconfig c;
    assert_int_equal(mkdir(".kube", 0700), 0);
    put(path, CONFIG(HTTPS ", certificate-authority: ../ca.pem", ""));
    c = load(NULL, NULL);
    assert_string_equal(c.origin, path);
    assert_string_equal(c.ca_pem, "the authority\n");
    kubeconfig_free(&c);
    assert_int_equal(setenv("KUBECONFIG", "", 1), 0); /* as good as not set */
    c = load(NULL, NULL);
    kubeconfig_free(&c);
    free(path);
}

static void test_no_home(void **state)
{
    char *text = xasprintf(
        "no kubeconfig: KUBECONFIG is not set and '%s/.kube/config' doesn't exist", (char *)*state);
    assert_error(NULL, NULL, INF_ENOTFOUND, text);
    unsetenv("HOME");
    assert_error(NULL, NULL, INF_ENOTFOUND, "no kubeconfig: neither KUBECONFIG nor HOME is set");
    free(text);
}

/* The first file's entry wins whole: its cluster has no CA, and the second's doesn't add one. */
static void test_merge(void **state)
{
    char *token_file = xasprintf("%s/two/token", (char *)*state);
    struct kubeconfig c;
    assert_int_equal(mkdir("two", 0700), 0);
    put("one", "current-context: ''\n"
               "clusters: [{name: k, cluster: {server: 'https://first'}}]\n");
    put("two/config", "current-context: c\n"
                      "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                      "clusters: [{name: k, cluster: {server: 'https://second',\n"
                      "  certificate-authority: nowhere.pem}}]\n"
                      "users: [{name: u, user: {tokenFile: token}}]\n");
    put("three", "current-context: other\n");
    assert_int_equal(setenv("KUBECONFIG", ":one:absent:two/config::one:three", 1), 0);
    c = load(NULL, NULL);
    assert_string_equal(c.origin, "one:two/config:three");
    assert_string_equal(c.host, "first");
    assert_null(c.ca_pem);
    assert_string_equal(c.token_file, token_file); /* beside the file that says so */
    kubeconfig_free(&c);
    free(token_file);
}

static void test_list_troubles(void **state)
{
    (void)state;
    put("good", CONFIG(HTTPS, ""));
    put("broken", "a: [\n");
    assert_int_equal(setenv("KUBECONFIG", "x/a:b", 1), 0);
    assert_error(NULL, NULL, INF_ENOTFOUND, "no file of KUBECONFIG='x/a:b' exists");
    assert_int_equal(setenv("KUBECONFIG", "good:broken", 1), 0);
    assert_error(NULL, NULL, INF_ECONF,
                 "broken:2:1: did not find expected node content, while parsing a flow node that "
                 "begins on line 2");
    assert_int_equal(setenv("KUBECONFIG", "good:.", 1), 0);
    assert_error(NULL, NULL, INF_ECONF, "kubeconfig file '.': is a directory");
}

/* A path that was given is the only one; the environment isn't asked. */
static void test_explicit(void **state)
{
    struct kubeconfig c;
    (void)state;
    put("good", CONFIG(HTTPS, ""));
    put("other", "");
    assert_int_equal(setenv("KUBECONFIG", "broken", 1), 0);
    c = load("good", NULL);
    kubeconfig_free(&c);
    assert_int_equal(setenv("KUBECONFIG", "good", 1), 0);
    assert_error("absent", NULL, INF_ECONF, "kubeconfig file 'absent' doesn't exist");
    assert_error("other", NULL, INF_ECONF,
                 "other: no current-context is set and no context was asked for; contexts there "
                 "are: none");
}

static void test_too_big(void **state)
{
    (void)state;
    put("big", "");
    assert_int_equal(truncate("big", 1024 * 1024 + 1), 0);
    assert_error("big", NULL, INF_ECONF, "kubeconfig file 'big': larger than 1048576 bytes");
}

static void test_too_many(void **state)
{
    struct buf b = {0};
    (void)state;
    buf_puts(&b, "users:\n");
    for (int i = 0; i <= 4096; i++)
        buf_printf(&b, "- name: u%d\n", i);
    buf_putc(&b, '\0');
    put("many", b.bytes);
    buf_free(&b);
    assert_error("many", NULL, INF_ECONF, "many:2:1: users has more than 4096 entries");
}

static void test_password(void **state)
{
    struct kubeconfig c;
    (void)state;
    put("config", CONFIG(HTTPS, "username: me, password: 's3: cr3t'"));
    c = load("config", NULL);
    assert_string_equal(c.basic, "bWU6czM6IGNyM3Q=");
    kubeconfig_free(&c);
}

/* Also to http: it is no secret. */
static void test_impersonation(void **state)
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
    put("config", CONFIG("server: 'http://h'",
                         "as: jane, as-uid: 7, as-groups: [dev, ops team], as-user-extra: "
                         "{example.com/a%b\xC3\xA9: ['1', ''], Scopes: [view], none: []}"));
    put("other", CONFIG("server: 'http://h'", "as: jane"));
    c = load("config", NULL);
    assert_int_equal(c.n_impersonate, ARRAY_LEN(expected));
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_string_equal(c.impersonate[i].name, expected[i].name);
        assert_string_equal(c.impersonate[i].value, expected[i].value);
    }
    other = load("other", NULL);
    assert_false(kubeconfig_equal(&c, &other));
    assert_true(kubeconfig_equal(&c, &c));
    kubeconfig_free(&other);
    kubeconfig_free(&c);
}

static void test_too_many_groups(void **state)
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
    put("config", text.bytes);
    assert_int_equal(kubeconfig_load("config", NULL, &c, &err), -INF_ECONF);
    assert_non_null(strstr(err.text, "too many groups and extras; at most 256"));
    buf_free(&text);
}

/* -- what is wrong with them ---------------------------------------------------------------------
 */

static void test_names(void **state)
{
    (void)state;
    put("one", "current-context: gone\n"
               "contexts: [{name: a, context: {cluster: k}}, {name: b, context: {cluster: no}},\n"
               "  {name: d, context: {}}, {name: e}]\n"
               "clusters: [{name: k}]\n");
    put("two", "contexts: [{name: a}, {name: u, context: {cluster: k, user: no}}]\n");
    assert_int_equal(setenv("KUBECONFIG", "one:two", 1), 0);
    assert_error(NULL, NULL, INF_ECONF,
                 "one:1:1: current-context: 'gone' doesn't exist; contexts "
                 "there are: 'a', 'b', 'd', 'e', 'u'");
    assert_error(NULL, "x", INF_ECONF,
                 "one:two: context 'x' doesn't exist; contexts there are: "
                 "'a', 'b', 'd', 'e', 'u'");
    assert_error(NULL, "a", INF_ECONF, "one:4:12: cluster 'k': needs a server (https://host:port)");
    assert_error(NULL, "b", INF_ECONF,
                 "one:2:66: context 'b': cluster: 'no' doesn't exist; clusters there are: 'k'");
    assert_error(NULL, "d", INF_ECONF, "one:3:3: context 'd': needs a cluster");
    assert_error(NULL, "e", INF_ECONF, "one:3:27: context 'e': needs a cluster");
    assert_error(NULL, "u", INF_ECONF,
                 "two:1:55: context 'u': user: 'no' doesn't exist; users there are: none");
}

#define FILE_AND_DATA "given together with certificate-authority; keep one of them"
#define LATER         "not supported yet by this version; "
#define CREDENTIALS   LATER "use token, tokenFile or client-certificate with client-key"
#define ONLY_HTTPS    "credentials go only to https, and the server of cluster 'k' is http"
#define OF_OLD        " is a provider of old; use exec with a plugin instead: "
#define NEEDS_AS      "needs an as: the user to act as"
#define WHITE         "must have no white space, line ends or control characters"
#define NAMESPACE     "must be a namespace: a-z, 0-9 and '-', at most 63 characters"

static const struct {
    const char *text;
    const char *error;
} bad[] = {
    /* the file */
    {"a: 1\na: 2\n", "config:2:1: key 'a' is given twice; first at 1:1"},
    {"just text\n", "config:1:1: not a kubeconfig: must be a mapping (clusters: ...)"},
    {"kind: Pod\n", "config:1:1: not a kubeconfig: its kind must be 'Config'"},
    {"kind: [Config]\n", "config:1:1: not a kubeconfig: its kind must be 'Config'"},
    {"apiVersion: v2\n", "config:1:1: not a kubeconfig: its apiVersion must be 'v1'"},
    {"current-context: [c]\n", "config:1:18: current-context must be the name of a context"},
    {"users: {a: b}\n", "config:1:8: users must be a list of entries (- name: ...)"},
    {"users: [{user: {}}]\n", "config:1:9: an entry of users needs a name"},
    {"contexts: [{name: ''}]\n", "config:1:12: an entry of contexts needs a name"},
    {"clusters: [text]\n", "config:1:12: an entry of clusters needs a name"},
    {"users:\n- name: a\n- name: b\n- name: a\n",
     "config:4:3: users: name 'a' is given twice; first at 2:3"},
    /* the context */
    {"current-context: c\ncontexts: [{name: c, context: [x]}]\n",
     "config:2:22: context 'c': context: must be a mapping of fields"},
    {"current-context: c\ncontexts: [{name: c, context: {cluster: {}}}]\n",
     "config:2:12: context 'c': needs a cluster"},
    {"current-context: c\ncontexts: [{name: c, context: {cluster: [k]}}]\n",
     "config:2:32: context 'c': cluster: must be a text"},
    {"current-context: c\ncontexts: [{name: c, context: {cluster: k, namespace: ../x}}]\n"
     "clusters: [{name: k}]\n",
     "config:2:44: context 'c': namespace: " NAMESPACE},
    /* the cluster */
    {CONFIG("", ""), "config:4:3: cluster 'k': needs a server (https://host:port)"},
    {CONFIG("server: 'h:6443'", ""),
     "config:5:13: cluster 'k': server: must begin with https:// or http://"},
    {CONFIG("server: 'https://me:pw@h'", ""),
     "config:5:13: cluster 'k': server: must have no user name or password; credentials belong to "
     "the user entry"},
    {CONFIG(HTTPS ", proxy-url: 'http://p'", ""),
     "config:5:34: cluster 'k': proxy-url: " LATER "use a server that is reached directly"},
    {CONFIG(HTTPS ", certificate-authority: ca.pem, certificate-authority-data: eA==", ""),
     "config:5:65: cluster 'k': certificate-authority-data: " FILE_AND_DATA},
    {CONFIG(HTTPS ", certificate-authority: ca.pem, insecure-skip-tls-verify: true", ""),
     "config:5:34: cluster 'k': certificate-authority: given together with "
     "insecure-skip-tls-verify; keep one of them"},
    {CONFIG(HTTPS ", insecure-skip-tls-verify: 'true'", ""),
     "config:5:34: cluster 'k': insecure-skip-tls-verify: must be true or false"},
    {CONFIG(HTTPS ", certificate-authority-data: 'no base64'", ""),
     "config:5:34: cluster 'k': certificate-authority-data: must be base64 on one line, with its "
     "padding"},
    {CONFIG(HTTPS ", certificate-authority-data: AAAA", ""),
     "config:5:34: cluster 'k': certificate-authority-data: is binary; must be PEM (-----BEGIN "
     "...)"},
    {CONFIG(HTTPS ", certificate-authority: empty.pem", ""),
     "config:5:34: cluster 'k': certificate-authority: is empty; must be PEM (-----BEGIN ...)"},
    {CONFIG(HTTPS ", certificate-authority: /dev/null", ""),
     "config:5:34: cluster 'k': certificate-authority: file '/dev/null': is not a regular file"},
    {CONFIG(HTTPS ", certificate-authority: /nowhere/ca", ""),
     "config:5:34: cluster 'k': certificate-authority: file '/nowhere/ca': No such file or "
     "directory"},
    /* the user */
    {CONFIG(HTTPS, "exec: {command: x}"), "config:8:10: user 'u': exec: " CREDENTIALS},
    {CONFIG(HTTPS, "auth-provider: {name: x}"),
     "config:8:10: user 'u': auth-provider: 'x'" OF_OLD "the one of your provider"},
    {CONFIG(HTTPS, "auth-provider: {name: gcp, config: {}}, token: t"),
     "config:8:10: user 'u': auth-provider: 'gcp'" OF_OLD "gke-gcloud-auth-plugin"},
    {CONFIG(HTTPS, "auth-provider: {name: oidc}"),
     "config:8:10: user 'u': auth-provider: 'oidc'" OF_OLD "kubectl-oidc_login"},
    {CONFIG(HTTPS, "auth-provider: {name: azure}"),
     "config:8:10: user 'u': auth-provider: 'azure'" OF_OLD "kubelogin (convert-kubeconfig)"},
    {CONFIG(HTTPS, "auth-provider: x"),
     "config:8:10: user 'u': auth-provider: must be a mapping of fields"},
    {CONFIG(HTTPS, "username: x, token: t"),
     "config:8:10: user 'u': username: given together with a token; keep one of them"},
    {CONFIG(HTTPS, "tokenFile: t, password: x"),
     "config:8:24: user 'u': password: given together with a token; keep one of them"},
    {CONFIG(HTTPS, "username: 'a:b'"), "config:8:10: user 'u': username: must have no ':'"},
    {CONFIG("server: 'http://h'", "username: x"), "config:8:10: user 'u': username: " ONLY_HTTPS},
    {CONFIG(HTTPS, "as-uid: 1"), "config:8:10: user 'u': as-uid: " NEEDS_AS},
    {CONFIG(HTTPS, "as-groups: [x]"), "config:8:10: user 'u': as-groups: " NEEDS_AS},
    {CONFIG(HTTPS, "as-user-extra: {x: [y]}"), "config:8:10: user 'u': as-user-extra: " NEEDS_AS},
    {CONFIG(HTTPS, "as: \"a\\r\\nX: y\""),
     "config:8:10: user 'u': as: must have no control characters"},
    {CONFIG(HTTPS, "as: x, as-groups: [a, \"\\e\"]"),
     "config:8:17: user 'u': as-groups: must have no control characters"},
    {CONFIG(HTTPS, "as: x, as-groups: y"),
     "config:8:17: user 'u': as-groups: must be a list of texts"},
    {CONFIG(HTTPS, "as: x, as-groups: [[y]]"),
     "config:8:17: user 'u': as-groups: must be a list of texts"},
    {CONFIG(HTTPS, "as: x, as-user-extra: {a: b}"),
     "config:8:17: user 'u': as-user-extra: must map names to lists of texts"},
    {CONFIG(HTTPS, "as: x, as-user-extra: {a: [[b]]}"),
     "config:8:17: user 'u': as-user-extra: must map names to lists of texts"},
    {CONFIG(HTTPS, "as: x, as-user-extra: {'': [b]}"),
     "config:8:17: user 'u': as-user-extra: must map names to lists of texts"},
    {CONFIG(HTTPS, "client-certificate: ca.pem, client-certificate-data: eA==, client-key: ca.pem"),
     "config:8:38: user 'u': client-certificate-data: given together with client-certificate; keep "
     "one of them"},
    {CONFIG(HTTPS, "client-certificate: ca.pem, client-key: ca.pem, client-key-data: eA=="),
     "config:8:58: user 'u': client-key-data: given together with client-key; keep one of them"},
    {CONFIG(HTTPS, "client-certificate: ca.pem"),
     "config:8:10: user 'u': client-certificate: needs a client-key or client-key-data"},
    {CONFIG(HTTPS, "client-key-data: eA=="),
     "config:8:10: user 'u': client-key-data: needs a client-certificate or "
     "client-certificate-data"},
    {CONFIG(HTTPS, "token: [t]"), "config:8:10: user 'u': token: must be a text"},
    {CONFIG(HTTPS, "token: 'a b'"), "config:8:10: user 'u': token: " WHITE},
    {CONFIG(HTTPS, "token: \"a\\n\""), "config:8:10: user 'u': token: " WHITE},
    {CONFIG("server: 'http://h'", "token: t"), "config:8:10: user 'u': token: " ONLY_HTTPS},
    {CONFIG("server: 'http://h'", "tokenFile: t"), "config:8:10: user 'u': tokenFile: " ONLY_HTTPS},
    {CONFIG("server: 'http://h'", "client-key: ca.pem, client-certificate: ca.pem"),
     "config:8:30: user 'u': client-certificate: " ONLY_HTTPS},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct kubeconfig c;
        put("config", bad[i].text);
        assert_error("config", NULL, INF_ECONF, bad[i].error);
        assert_int_equal(kubeconfig_load("config", NULL, &c, NULL), -INF_ECONF);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_everything),
        TEST(test_least),
        TEST(test_json_with_mark),
        TEST(test_nothing_said),
        TEST(test_home),
        TEST(test_no_home),
        TEST(test_merge),
        TEST(test_list_troubles),
        TEST(test_explicit),
        TEST(test_too_big),
        TEST(test_too_many),
        TEST(test_password),
        TEST(test_impersonation),
        TEST(test_too_many_groups),
        TEST(test_names),
        TEST(test_bad),
    };
    return cmocka_run_group_tests_name("kubeconfig", tests, NULL, NULL);
}
