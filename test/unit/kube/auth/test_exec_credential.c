/*
 * test_exec_credential.c - valid and invalid output of plugins, which never appears in errors.
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
#include "kube/auth/exec_credential.h"

#define V1         "client.authentication.k8s.io/v1"
#define HEAD       "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\""
#define SAYS(text) HEAD ",\"status\":{" text "}}"

static void parses_valid_credentials(void **state)
{
    struct exec_credential c;
    struct inf_error err;
    (void)state;
    assert_int_equal(exec_credential_parse(str_of(SAYS("\"token\":\"s3cr3t\"")), V1, &c, &err), 0);
    assert_string_equal(c.token, "s3cr3t");
    assert_null(c.cert_pem);
    assert_null(c.key_pem);
    assert_true(c.expires_us == INT64_MAX);
    exec_credential_free(&c);
    assert_int_equal(
        exec_credential_parse(
            str_of(SAYS("\"token\":null,\"clientCertificateData\":\"cert\\n\",\"clientKeyData\":"
                        "\"key\",\"expirationTimestamp\":\"2026-01-01T01:00:00+01:00\",\"x\":[]")),
            V1, &c, &err),
        0);
    assert_null(c.token);
    assert_string_equal(c.cert_pem, "cert\n");
    assert_string_equal(c.key_pem, "key");
    assert_true(c.expires_us == INT64_C(1767225600000000));
    exec_credential_free(&c);
    exec_credential_free(&c); /* harmless */
}

#define HALF    "status has only one of clientCertificateData and clientKeyData"
#define NEITHER "status has neither a token nor a certificate with its key"
#define WHITE   "status.token must not contain white space or control characters"
#define EXPIRES "status.expirationTimestamp must be a time (2026-11-15T23:09:29Z)"

static void names_the_invalid_field_of_a_credential(void **state)
{
    static const char *const cases[][2] = {
        {"", "not a JSON object"},
        {"s3cr3t", "not a JSON object"},
        {"[\"s3cr3t\"]", "not a JSON object"},
        {SAYS("\"token\":\"s3cr3t\"") "x", "not a JSON object"},
        {"{}", "kind must be 'ExecCredential'"},
        {"{\"kind\":7}", "kind must be a string"},
        {"{\"kind\":\"s3cr3t\"}", "kind must be 'ExecCredential'"},
        {"{\"kind\":\"ExecCredential\"}", "apiVersion must be '" V1 "'"},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1\"}",
         "apiVersion must be '" V1 "'"},
        {HEAD "}", "status is missing"},
        {HEAD ",\"status\":null}", "status is missing"},
        {HEAD ",\"status\":[\"s3cr3t\"]}", "status is missing"},
        {SAYS(""), NEITHER},
        {SAYS("\"token\":\"\""), NEITHER},
        {SAYS("\"token\":7"), "token must be a string"},
        {SAYS("\"token\":\"s3cr3t\\u0000x\""), "token must be a string"},
        {SAYS("\"token\":\"s3cr3t\\r\\nX: y\""), WHITE},
        {SAYS("\"token\":\"s3 cr3t\""), WHITE},
        {SAYS("\"clientCertificateData\":\"s3cr3t\""), HALF},
        {SAYS("\"token\":\"s3cr3t\",\"clientKeyData\":\"s3cr3t\""), HALF},
        {SAYS("\"clientCertificateData\":{},\"clientKeyData\":\"s3cr3t\""),
         "clientCertificateData must be a string"},
        {SAYS("\"token\":\"s3cr3t\",\"expirationTimestamp\":\"s3cr3t\""), EXPIRES},
        {SAYS("\"token\":\"s3cr3t\",\"expirationTimestamp\":7"),
         "expirationTimestamp must be a string"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct exec_credential c = {.expires_us = 7};
        struct inf_error err;
        assert_int_equal(exec_credential_parse(str_of(cases[i][0]), V1, &c, &err), -INF_EDECODE);
        assert_string_equal(err.text, cases[i][1]);
        assert_null(strstr(err.text, "s3cr3t"));
        assert_null(c.token);
        assert_int_equal(c.expires_us, 7);
    }
}

/* Every prefix is refused, and nothing beyond its end is read: each one is a block of its own. */
static void refuses_every_prefix_of_a_credential(void **state)
{
    static const char whole[] =
        SAYS("\"token\":\"t\",\"expirationTimestamp\":\"2026-01-01T00:00:00Z\"");
    (void)state;
    for (size_t len = 0; len < sizeof(whole) - 1; len++) {
        struct exec_credential c;
        struct inf_error err;
        char *part = xmalloc(len ? len : 1);
        memcpy(part, whole, len);
        assert_int_equal(exec_credential_parse((struct str){part, len}, V1, &c, &err),
                         -INF_EDECODE);
        free(part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_valid_credentials),
        cmocka_unit_test(names_the_invalid_field_of_a_credential),
        cmocka_unit_test(refuses_every_prefix_of_a_credential),
    };
    return cmocka_run_group_tests_name("exec_credential", tests, NULL, NULL);
}
