/*
 * test_tls_hash.c - SHA-512 in the digits that kube-apiserver uses for OpenAPI documents.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/tls/tls_digest.h"

static void hashes_as_the_standard_says(void **state)
{
    char hash[TLS_HASH_SIZE];
    (void)state;
    tls_hash_sha512(STR("abc"), hash);
    assert_string_equal(hash, "DDAF35A193617ABACC417349AE20413112E6FA4E89A97EA20A9EEEE64B55D39A"
                              "2192992A274FC1A836BA3C23A3FEEBBD454D4423643CE80E2A9AC94FA54CA49F");
    tls_hash_sha512(STR(""), hash);
    assert_memory_equal(hash, "CF83E1357EEFB8BD", 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hashes_as_the_standard_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
