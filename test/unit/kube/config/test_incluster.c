/*
 * test_incluster.c - clusters without a kubeconfig: the one a pod is in, and one whose server is
 * given directly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "kube/auth/impersonate.h"
#include "kube/config/direct.h"
#include "kube/config/incluster.h"
#include "kubeconfig_place.h"

static int setup(void **state)
{
    unsetenv("POD_NAMESPACE");
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    if (kubeconfig_place_setup(state) < 0)
        return -1;
    put_config("token", "t");
    put_config("ca.crt", "the ca\n");
    return 0;
}

static struct kubeconfig inside(const char *dir)
{
    struct kubeconfig c;
    struct inf_error err;
    if (incluster_load(dir, &c, &err) < 0)
        fail_msg("%s", err.text);
    return c;
}

static void reads_the_in_cluster_configuration(void **state)
{
    const char *dir = *state;
    char *token = xasprintf("%s/token", dir), *ca = xasprintf("%s/ca.crt", dir);
    struct kubeconfig c;
    put_config("namespace", "shop\n");
    assert_true(incluster_possible(dir));
    c = inside(dir);
    assert_string_equal(c.host, "10.0.0.1");
    assert_int_equal(c.port, 443);
    assert_true(c.https);
    assert_false(c.insecure);
    assert_string_equal(c.ca_pem, "the ca\n");
    assert_string_equal(c.ca_file, ca);
    assert_string_equal(c.token_file, token);
    assert_string_equal(c.namespace, "shop");
    kubeconfig_free(&c);
    free(token);
    free(ca);
}

static void reads_the_namespace_of_the_service_account(void **state)
{
    struct kubeconfig c = inside(*state);
    assert_string_equal(c.namespace, "default");
    kubeconfig_free(&c);
    put_config("namespace", " \n");
    c = inside(*state);
    assert_string_equal(c.namespace, "default");
    kubeconfig_free(&c);
    put_config("namespace", "shop");
    setenv("POD_NAMESPACE", "billing", 1);
    c = inside(*state);
    assert_string_equal(c.namespace, "billing");
    kubeconfig_free(&c);
}

static void accepts_an_ipv6_address(void **state)
{
    struct kubeconfig c;
    setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "6443", 1);
    c = inside(*state);
    assert_string_equal(c.host, "fd00::1");
    assert_int_equal(c.port, 6443);
    assert_string_equal(c.server, "https://[fd00::1]:6443");
    kubeconfig_free(&c);
}

static void reports_that_it_does_not_run_in_a_cluster(void **state)
{
    setenv("KUBERNETES_SERVICE_HOST", "", 1);
    assert_false(incluster_possible(*state));
    setenv("KUBERNETES_SERVICE_HOST", "h", 1);
    unsetenv("KUBERNETES_SERVICE_PORT");
    assert_false(incluster_possible(*state));
    setenv("KUBERNETES_SERVICE_PORT", "1", 1);
    unlink("token");
    assert_false(incluster_possible(*state));
    assert_int_equal(mkdir("token", 0700), 0);
    assert_false(incluster_possible(*state));
}

/* The authorities of the system are never used instead. */
static void refuses_invalid_authorities(void **state)
{
    const char *dir = *state;
    char *missing = xasprintf("in-cluster configuration: certificate authorities: file "
                              "'%s/ca.crt': No such file or directory",
                              dir);
    char *empty = xasprintf("in-cluster configuration: certificate authorities: file '%s/ca.crt': "
                            "is empty; must be PEM (-----BEGIN ...)",
                            dir);
    struct kubeconfig c;
    struct inf_error err;
    put_config("ca.crt", "");
    assert_int_equal(incluster_load(dir, &c, &err), -INF_ECONF);
    assert_string_equal(err.text, empty);
    unlink("ca.crt");
    assert_int_equal(incluster_load(dir, &c, &err), -INF_ECONF);
    assert_string_equal(err.text, missing);
    free(missing);
    free(empty);
}

static void reads_a_direct_configuration(void **state)
{
    struct kubeconfig c;
    struct inf_error err;
    char *token = xasprintf("%s/token", (char *)*state);
    assert_int_equal(direct_load(&(struct direct){.origin = "here",
                                                  .server = "https://h:6443/k8s",
                                                  .ca_file = "ca.crt",
                                                  .token_file = "token"},
                                 &c, &err),
                     0);
    assert_string_equal(c.path_prefix, "/k8s");
    assert_string_equal(c.token_file, token);
    assert_string_equal(c.namespace, "default");
    assert_int_equal(impersonate_user(&c, "jane", &err), 0);
    assert_int_equal(impersonate_user(&c, "joe", &err), 0);
    assert_int_equal(c.n_impersonate, 1);
    assert_string_equal(c.impersonate[0].value, "joe");
    assert_int_equal(impersonate_user(&c, "", &err), -INF_ECONF);
    assert_int_equal(impersonate_user(&c, "a\nb", &err), -INF_ECONF);
    kubeconfig_free(&c);
    free(token);
}

static void refuses_an_invalid_direct_configuration(void **state)
{
    static const struct {
        struct direct direct;
        const char *text;
    } cases[] = {
        {{.server = "h"}, "here: server: must begin with https:// or http://"},
        {{.server = "http://h", .token_file = "token"},
         "here: credentials are sent only over https, but the server uses http"},
        {{.server = "https://h", .token_file = "/nowhere/token"},
         "here: token file '/nowhere/token': No such file or directory"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct direct direct = cases[i].direct;
        struct kubeconfig c;
        struct inf_error err;
        direct.origin = "here";
        assert_int_equal(direct_load(&direct, &c, &err), -INF_ECONF);
        assert_string_equal(err.text, cases[i].text);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, kubeconfig_place_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_the_in_cluster_configuration),
        TEST(reads_the_namespace_of_the_service_account),
        TEST(accepts_an_ipv6_address),
        TEST(reports_that_it_does_not_run_in_a_cluster),
        TEST(refuses_invalid_authorities),
        TEST(reads_a_direct_configuration),
        TEST(refuses_an_invalid_direct_configuration),
    };
    return cmocka_run_group_tests_name("incluster", tests, NULL, NULL);
}
