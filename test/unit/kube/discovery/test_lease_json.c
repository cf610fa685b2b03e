/*
 * test_lease_json.c - a Lease is read, changed without losing what others wrote, and made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "kube/discovery/lease_json.h"

static const char by_client_go[] =
    "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"a\","
    "\"resourceVersion\":\"17\",\"labels\":{\"team\":\"x\"},\"uid\":\"u\"},\"spec\":{\"holderIdentity\":\"h\","
    "\"leaseDurationSeconds\":15,\"acquireTime\":\"2026-01-01T00:00:00.000000Z\","
    "\"renewTime\":\"2026-01-01T00:00:01.500000Z\",\"leaseTransitions\":3,\"strategy\":\"OldestEmulationVersion\"}}";

static void reads_what_client_go_writes(void **state)
{
    struct lease_json json;
    (void)state;
    assert_true(lease_json_read(by_client_go, &json));
    assert_string_equal(json.lease.version, "17");
    assert_string_equal(json.lease.holder, "h");
    assert_int_equal(json.lease.duration_s, 15);
    assert_int_equal(json.lease.transitions, 3);
    assert_int_equal(json.lease.renewed_us - json.lease.acquired_us, 1500000);
    assert_string_equal(json.lease.note, "");
    lease_json_free(&json);
}

static void keeps_what_others_have_written(void **state)
{
    struct inf_lease lease = {
        .holder = "\"me\"", .duration_s = 3, .transitions = 4, .note = "a\tb\n"};
    struct lease_json json;
    char *text = lease_json_change(by_client_go, &lease), *again;
    (void)state;
    assert_non_null(strstr(text, "\"labels\":{\"team\":\"x\"}"));
    assert_non_null(strstr(text, "\"strategy\":\"OldestEmulationVersion\""));
    assert_true(lease_json_read(text, &json));
    assert_string_equal(json.lease.version, "17"); /* which the server compares */
    assert_string_equal(json.lease.holder, "\"me\"");
    assert_string_equal(json.lease.note, "a\tb\n");
    lease.note = NULL; /* it is kept */
    again = lease_json_change(text, &lease);
    assert_string_equal(again, text);
    lease_json_free(&json);
    free(again);
    free(text);
}

static void makes_a_new_one(void **state)
{
    char *text = lease_json_make("ops", "a", &(struct inf_lease){.holder = "me", .duration_s = 3});
    (void)state;
    assert_non_null(strstr(text, "\"metadata\":{\"name\":\"a\",\"namespace\":\"ops\"}"));
    assert_null(strstr(text, "annotations"));
    free(text);
}

static void refuses_what_is_no_lease(void **state)
{
    static const char *const texts[] = {
        "", "{", "[]", "{\"kind\":\"Lease\"}",
        "{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"1\"}}"};
    struct inf_lease lease = {.holder = "me", .duration_s = 3};
    struct lease_json json;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_false(lease_json_read(texts[i], &json));
        assert_null(lease_json_change(texts[i], &lease));
    }
}

static void odd_fields_are_empty(void **state)
{
    struct lease_json json;
    (void)state;
    assert_true(lease_json_read(
        "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"1\",\"annotations\":[]},\"spec\":{"
        "\"holderIdentity\":7,\"leaseDurationSeconds\":-1,\"leaseTransitions\":\"x\",\"renewTime\":\"soon\"}}",
        &json));
    assert_string_equal(json.lease.holder, "");
    assert_int_equal(json.lease.duration_s, 0);
    assert_int_equal(json.lease.transitions, 0);
    assert_int_equal(json.lease.renewed_us, 0);
    lease_json_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_client_go_writes),
        cmocka_unit_test(keeps_what_others_have_written),
        cmocka_unit_test(makes_a_new_one),
        cmocka_unit_test(refuses_what_is_no_lease),
        cmocka_unit_test(odd_fields_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
