/*
 * test_tls_authority.c - authorities and the certificates they issue: names, validity, renewal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim.h"
#include "wire/tls/tls_authority.h"

#define DAY_US (INT64_C(24) * 3600 * 1000000)

static const char *const names[] = {"localhost", "127.0.0.1", "::1"};

static void certificates_have_limited_validity(void **state)
{
    struct tls_names all = {names, 3};
    struct tls_pair ca = {0}, server = {0}, late = {0};
    struct inf_error err;
    int64_t now = SIM_START_US, end;
    (void)state;
    assert_int_equal(tls_authority_make(now, NULL, &ca, &err), 0);
    end = tls_certificate_end_us(ca.cert_pem, &err);
    assert_true(end == now + TLS_AUTHORITY_DAYS * DAY_US);
    assert_int_equal(tls_authority_issue(&ca, &all, now, &server, &err), 0);
    assert_true(tls_certificate_end_us(server.cert_pem, &err) == now + TLS_SERVER_DAYS * DAY_US);
    assert_int_equal(tls_authority_issue(&ca, &all, end - DAY_US, &late, &err), 0);
    assert_true(tls_certificate_end_us(late.cert_pem, &err) == end);
    tls_pair_free(&late);
    tls_pair_free(&server);
    tls_pair_free(&ca);
}

static void renews_an_authority_with_its_key(void **state)
{
    struct tls_pair ca = {0}, renewed = {0};
    struct inf_error err;
    (void)state;
    assert_int_equal(tls_authority_make(SIM_START_US, NULL, &ca, &err), 0);
    assert_int_equal(tls_authority_make(SIM_START_US + DAY_US, ca.key_pem, &renewed, &err), 0);
    assert_string_equal(ca.key_pem, renewed.key_pem);
    assert_string_not_equal(ca.cert_pem, renewed.cert_pem);
    tls_pair_free(&renewed);
    tls_pair_free(&ca);
}

static void refuses_bad_input(void **state)
{
    struct tls_names all = {names, 3}, bad = {(const char *const[]){"a,DNS:*"}, 1};
    struct tls_pair ca = {0}, other = {0}, mixed, ret = {0};
    struct inf_error err;
    (void)state;
    assert_int_equal(tls_authority_make(SIM_START_US, NULL, &ca, &err), 0);
    assert_int_equal(tls_authority_make(SIM_START_US, NULL, &other, &err), 0);
    assert_int_equal(tls_authority_make(SIM_START_US, "no key", &ret, &err), -INF_ECONF);
    mixed = (struct tls_pair){ca.cert_pem, other.key_pem};
    assert_int_equal(tls_authority_issue(&mixed, &all, SIM_START_US, &ret, &err), -INF_ECONF);
    assert_string_equal(err.text, "the key does not belong to the certificate");
    mixed = (struct tls_pair){(char[]){"x"}, ca.key_pem};
    assert_int_equal(tls_authority_issue(&mixed, &all, SIM_START_US, &ret, &err), -INF_ECONF);
    mixed = (struct tls_pair){ca.cert_pem, (char[]){"x"}};
    assert_int_equal(tls_authority_issue(&mixed, &all, SIM_START_US, &ret, &err), -INF_ECONF);
    assert_int_equal(tls_authority_issue(&ca, &bad, SIM_START_US, &ret, &err), -INF_ECONF);
    assert_int_equal(tls_certificate_end_us("x", &err), -INF_ECONF);
    assert_null(ret.cert_pem);
    tls_pair_free(&other);
    tls_pair_free(&ca);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certificates_have_limited_validity),
        cmocka_unit_test(renews_an_authority_with_its_key),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests_name("tls_authority", tests, NULL, NULL);
}
