/*
 * test_override.c - options that replace parts of a kubeconfig: certificate authorities, token and
 * groups to impersonate.
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
#include "kube/auth/impersonate.h"
#include "kube/config/override.h"
#include "kubeconfig_place.h"

static struct kubeconfig load_text(const char *text)
{
    put_config("config", text);
    return load_config("config", NULL);
}

static void a_file_replaces_the_certificate_authorities(void **state)
{
    const char *dir = *state;
    struct kubeconfig c = load_text(CONFIG(HTTPS ", insecure-skip-tls-verify: true", ""));
    char *file = xasprintf("%s/ca.pem", dir);
    struct inf_error err;
    assert_true(c.insecure);
    assert_int_equal(override_ca(&c, "missing.pem", &err), -INF_ECONF);
    assert_non_null(strstr(err.text, "missing.pem"));
    assert_true(c.insecure); /* unchanged */
    assert_int_equal(override_ca(&c, "ca.pem", &err), 0);
    assert_string_equal(c.ca_file, file);
    assert_non_null(c.ca_pem);
    assert_false(c.insecure);
    free(file);
    kubeconfig_free(&c);
}

static void a_token_replaces_all_other_credentials(void **state)
{
    static const char *const configs[] = {
        CONFIG(HTTPS, "token: old"),
        CONFIG(HTTPS, "tokenFile: ca.pem"),
        CONFIG(HTTPS, "username: jane, password: old"),
        CONFIG(HTTPS, EXEC ", interactiveMode: Never}"),
        CONFIG(HTTPS, ""),
    };
    struct inf_error err;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(configs); i++) {
        struct kubeconfig c = load_text(configs[i]);
        assert_int_equal(override_token(&c, "new", NULL, &err), 0);
        assert_string_equal(c.token, "new");
        assert_null(c.token_file);
        assert_true(!c.basic && !c.exec && !c.cert_pem && !c.key_pem);
        assert_int_equal(override_token(&c, NULL, "ca.pem", &err), 0);
        assert_null(c.token);
        assert_non_null(strstr(c.token_file, "/ca.pem"));
        kubeconfig_free(&c);
    }
}

static void refuses_tokens_without_repeating_them(void **state)
{
    static const char *const tokens[] = {"", "s3cr3t value", "s3cr3t\n", "s3cr3t\r\nX: y"};
    struct kubeconfig c = load_text(CONFIG(HTTPS, "token: old"));
    struct inf_error err;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
        assert_int_equal(override_token(&c, tokens[i], NULL, &err), -INF_ECONF);
        assert_null(strstr(err.text, "s3cr3t"));
    }
    assert_int_equal(override_token(&c, NULL, "missing", &err), -INF_ECONF);
    assert_non_null(strstr(err.text, "missing"));
    kubeconfig_free(&c);
    c = load_text(CONFIG("server: 'http://h'", ""));
    assert_int_equal(override_token(&c, "s3cr3t", NULL, &err), -INF_ECONF);
    assert_string_equal(err.text, "credentials are sent only over https, but the server uses http");
    kubeconfig_free(&c);
}

static void groups_replace_those_of_the_file(void **state)
{
    static const char *const groups[] = {"a", "b", NULL}, *const wrong[] = {"a\nb", NULL};
    struct kubeconfig c = load_text(CONFIG(HTTPS, "token: t, as: jane, as-groups: [x, y, z]"));
    struct inf_error err;
    (void)state;
    assert_int_equal(c.n_impersonate, 4);
    assert_int_equal(impersonate_groups(&c, groups, &err), 0);
    assert_int_equal(c.n_impersonate, 3);
    assert_string_equal(c.impersonate[0].value, "jane");
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(c.impersonate[1 + i].name, "Impersonate-Group");
        assert_string_equal(c.impersonate[1 + i].value, groups[i]);
    }
    assert_int_equal(impersonate_groups(&c, wrong, &err), -INF_ECONF);
    assert_non_null(strstr(err.text, "as_groups"));
    kubeconfig_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KUBECONFIG_TEST(a_file_replaces_the_certificate_authorities),
        KUBECONFIG_TEST(a_token_replaces_all_other_credentials),
        KUBECONFIG_TEST(refuses_tokens_without_repeating_them),
        KUBECONFIG_TEST(groups_replace_those_of_the_file),
    };
    return cmocka_run_group_tests_name("override", tests, NULL, NULL);
}
