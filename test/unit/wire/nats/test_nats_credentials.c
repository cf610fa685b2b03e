/*
 * test_nats_credentials.c - seeds, .creds files and signatures. The seed and its public key are from the documentation of
 * NATS, the signature from RFC 8032.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "wire/nats/nats_credentials.h"

#define SEED              "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
#define PUBLIC            "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
#define JWT               "eyJ0eXAi.eyJqdGki.c2ln"
#define BLOCK(name, text) "-----BEGIN " name "-----\n" text "\n------END " name "------\n"

static void reads_a_seed(void **state)
{
    struct nats_credentials c = {0};
    struct inf_error err;
    (void)state;
    assert_false(nats_credentials_are_set(&c));
    assert_int_equal(nats_credentials_set_seed(&c, " \n" SEED "\r\n", &err), 0);
    assert_string_equal(c.public_key, PUBLIC);
    assert_true(nats_credentials_are_set(&c));
    nats_credentials_free(&c);
}

static void refuses_other_seeds_without_repeating_them(void **state)
{
    static const char *const rows[] = {
        "",
        "S",
        "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VX", /* the checksum */
        "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3V",
        "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VYA",
        "suacssl3uahudxkfsnvuzrf5uhpmwz6bfdtj7m6usdxiednppqyyycu3vy",
        "SAACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY", /* of an account */
        PUBLIC,
    };
    struct nats_credentials c = {0};
    struct inf_error err;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(nats_credentials_set_seed(&c, rows[i], &err), -INF_ECONF);
        assert_null(strstr(err.text, "CSSL3"));
        assert_null(c.public_key);
    }
}

static void reads_a_creds_file(void **state)
{
    static const char text[] =
        BLOCK("NATS USER JWT",
              JWT) "\n*** IMPORTANT ***\nkeep it secret\n\n" BLOCK("USER NKEY SEED", SEED);
    struct nats_credentials c = {0};
    struct inf_error err;
    (void)state;
    assert_int_equal(nats_credentials_set_file(&c, text, &err), 0);
    assert_string_equal(c.jwt, JWT);
    assert_string_equal(c.public_key, PUBLIC);
    nats_credentials_free(&c);
}

static void refuses_other_files(void **state)
{
    static const char *const rows[] = {
        "",
        SEED,
        BLOCK("NATS USER JWT", JWT),
        BLOCK("NATS USER JWT", "") BLOCK("USER NKEY SEED", SEED),
        BLOCK("NATS USER JWT", "a b") BLOCK("USER NKEY SEED", SEED),
        BLOCK("NATS USER JWT", JWT) BLOCK("USER NKEY SEED", JWT),
        "-----BEGIN NATS USER JWT-----",
    };
    struct nats_credentials c = {0};
    struct inf_error err;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(nats_credentials_set_file(&c, rows[i], &err), -INF_ECONF);
        assert_null(strstr(err.text, "eyJ"));
        assert_null(strstr(err.text, "CSSL3"));
    }
    nats_credentials_free(&c);
}

static void signs_the_nonce(void **state)
{
    struct nats_credentials c = {0};
    struct buf out = {0};
    struct inf_error err;
    (void)state;
    nats_credentials_set_seed(&c, SEED, &err);
    assert_int_equal(nats_credentials_put(&c, (struct str){0}, &out, &err), -INF_EUNAUTHORIZED);
    buf_clear(&out);
    assert_int_equal(nats_credentials_put(&c, STR("nonce"), &out, &err), 0);
    buf_putc(&out, '\0');
    assert_non_null(strstr(out.bytes, ",\"nkey\":\"" PUBLIC "\",\"sig\":\""));
    assert_null(strpbrk(out.bytes, "+/="));
    assert_int_equal(out.len,
                     strlen(",\"nkey\":\"" PUBLIC "\",\"sig\":\"\"") + NATS_SIGNATURE_TEXT + 1);
    buf_free(&out);
    nats_credentials_free(&c);
}

static void signs_the_test_vector(void **state)
{
    static const unsigned char seed[TLS_ED25519_KEY] = {
        0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a,
        0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32,
        0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60};
    static const unsigned char begin[] = {0xe5, 0x56, 0x43, 0x00, 0xc3, 0x60, 0xac, 0x72};
    static const unsigned char public_begin[] = {0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7};
    unsigned char signature[TLS_ED25519_SIGNATURE], public[TLS_ED25519_KEY];
    (void)state;
    tls_ed25519_sign(seed, STR(""), signature);
    assert_memory_equal(signature, begin, sizeof(begin));
    tls_ed25519_public(seed, public);
    assert_memory_equal(public, public_begin, sizeof(public_begin));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_seed),
        cmocka_unit_test(refuses_other_seeds_without_repeating_them),
        cmocka_unit_test(reads_a_creds_file),
        cmocka_unit_test(refuses_other_files),
        cmocka_unit_test(signs_the_nonce),
        cmocka_unit_test(signs_the_test_vector),
    };
    return cmocka_run_group_tests_name("nats_credentials", tests, NULL, NULL);
}
