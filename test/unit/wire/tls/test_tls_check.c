/*
 * test_tls_check.c - which servers TLS accepts, and whether the error names cause and remedy
 * otherwise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "tls_world.h"

#define MAY_NAME "; set tls-server-name to one of these"

/* Does a handshake as @plan says. Returns "" on success, otherwise the text of the error. */
static char *outcome(const struct tls_certs *certs, const struct tls_plan *plan)
{
    struct tls_world w;
    char *text;
    tls_world_init(&w, certs, plan);
    w.reader.write_in_open =
        "hello"; /* in TLS 1.3 a server refuses a client certificate only after the handshake */
    sim_run(&w.sim);
    if (w.peer.failed)
        pipe_end(w.pipe, INF_EEOF, "FIN");
    sim_run(&w.sim);
    text = xstrdup(w.reader.ended ? w.reader.why.text : "");
    assert_int_equal(w.reader.ended ? INF_ETLS : 0, w.reader.why.code);
    assert_int_equal(w.reader.ended ? 0 : 5, w.peer.received.len);
    tls_world_done(&w);
    return text;
}

static void expect_outcome(void **state, const struct tls_plan *plan, const char *expected)
{
    struct tls_plan p = *plan;
    for (int tls12 = 0; tls12 <= 1; tls12++) {
        char *text;
        p.tls12 = tls12;
        text = outcome(*state, &p);
        assert_string_equal(text, expected);
        free(text);
    }
}

static struct cert *signed_cert(void **state, const char *sans, int from_days, int to_days)
{
    const struct tls_certs *certs = *state;
    return cert_make(&(struct cert_spec){.cn = "server",
                                         .sans = sans,
                                         .issuer = certs->ca,
                                         .from_days = from_days,
                                         .to_days = to_days});
}

static void trusts_a_server_of_our_authority_with_the_right_name(void **state)
{
    expect_outcome(state, &(struct tls_plan){.host = "localhost"}, "");
    expect_outcome(state, &(struct tls_plan){.host = "127.0.0.1"}, "");
    expect_outcome(state, &(struct tls_plan){.host = "api.example.com"}, "");
    expect_outcome(state, &(struct tls_plan){.host = "api.example.com."}, "");
    expect_outcome(state, &(struct tls_plan){.host = "10.9.9.9", .server_name = "localhost"}, "");
}

static void checks_an_ipv6_address_as_an_address(void **state)
{
    struct cert *cert = signed_cert(state, "IP:::1", 0, 0);
    expect_outcome(state, &(struct tls_plan){.host = "::1", .server = cert}, "");
    expect_outcome(state, &(struct tls_plan){.host = "::2", .server = cert},
                   "certificate of [::2]:6443 is valid for ::1, not for ::2" MAY_NAME);
    cert_free(cert);
}

static void refuses_a_certificate_for_another_host(void **state)
{
    struct cert *cert = signed_cert(state, "IP:10.0.0.1,DNS:kubernetes.default", 0, 0);
    expect_outcome(
        state,
        &(struct tls_plan){.host = "127.0.0.1", .server_name = "example.com", .server = cert},
        "certificate of 127.0.0.1:6443 is valid for 10.0.0.1, kubernetes.default, not for "
        "example.com" MAY_NAME);
    expect_outcome(
        state, &(struct tls_plan){.host = "10.0.0.2", .server = cert},
        "certificate of 10.0.0.2:6443 is valid for 10.0.0.1, kubernetes.default, not for "
        "10.0.0.2" MAY_NAME);
    cert_free(cert);
}

static void accepts_a_wildcard_for_one_whole_label(void **state)
{
    struct cert *cert = signed_cert(state, "DNS:a*.example.com", 0, 0);
    expect_outcome(state, &(struct tls_plan){.host = "a.b.example.com"},
                   "certificate of a.b.example.com:6443 is valid for localhost, *.example.com, "
                   "127.0.0.1, not for a.b.example.com" MAY_NAME);
    expect_outcome(state, &(struct tls_plan){.host = "api.example.com", .server = cert},
                   "certificate of api.example.com:6443 is valid for a*.example.com, not for "
                   "api.example.com" MAY_NAME);
    cert_free(cert);
}

static void truncates_a_long_list_of_names(void **state)
{
    char sans[4096] = "DNS:a.example.com", *text;
    struct cert *cert;
    for (int i = 0; i < 100; i++)
        strcat(sans, ",DNS:another.example.com");
    cert = signed_cert(state, sans, 0, 0);
    text = outcome(*state, &(struct tls_plan){.host = "x.org", .server = cert});
    assert_non_null(strstr(text, "is valid for a.example.com, another.example.com, "));
    assert_non_null(strstr(text, "..., not for x.org"));
    free(text);
    cert_free(cert);
}

static void refuses_a_certificate_without_names(void **state)
{
    struct cert *cert = signed_cert(state, NULL, 0, 0);
    expect_outcome(
        state, &(struct tls_plan){.host = "127.0.0.1", .server = cert},
        "certificate of 127.0.0.1:6443 is valid for no server (subject 'CN=server'), not for "
        "127.0.0.1");
    expect_outcome(
        state, &(struct tls_plan){.host = "server", .server = cert},
        "certificate of server:6443 is valid for no server (subject 'CN=server'), not for "
        "server"); /* like kubectl: the subject is not used as a name */
    cert_free(cert);
    cert = signed_cert(state, "email:admin@example.com,URI:https://example.com", 0, 0);
    expect_outcome(
        state, &(struct tls_plan){.host = "example.com", .server = cert},
        "certificate of example.com:6443 is valid for no server (subject 'CN=server'), not "
        "for example.com");
    cert_free(cert);
}

static void refuses_an_address_given_as_dns_name(void **state)
{
    struct cert *cert = signed_cert(state, "DNS:10.0.0.1,DNS:::1,DNS:localhost", 0, 0);
    expect_outcome(
        state, &(struct tls_plan){.host = "10.0.0.1", .server = cert},
        "certificate of 10.0.0.1:6443 is valid for 10.0.0.1 (as a DNS name, which does not cover an address), ::1 (as a DNS name, which does not cover an address), localhost, not for "
        "10.0.0.1" MAY_NAME);
    expect_outcome(state, &(struct tls_plan){.server = cert}, "");
    cert_free(cert);
}

static void removes_control_characters_from_names(void **state)
{
    struct cert *cert = signed_cert(state, "DNS:a\x1b[2Jb\x7f\xc3", 0, 0);
    expect_outcome(
        state, &(struct tls_plan){.server = cert},
        "certificate of localhost:6443 is valid for a?[2Jb??, not for localhost" MAY_NAME);
    cert_free(cert);
}

static void refuses_an_expired_certificate_by_the_clock_of_the_seam(void **state)
{
    struct cert *cert = signed_cert(state, "DNS:localhost", -10, -1);
    expect_outcome(state, &(struct tls_plan){.server = cert},
                   "certificate of localhost:6443 expired on 2025-12-31 00:00:00 UTC");
    cert_free(cert);
    cert = signed_cert(state, "DNS:localhost", 1, 10);
    expect_outcome(state, &(struct tls_plan){.server = cert},
                   "certificate of localhost:6443 is not valid before 2026-01-02 00:00:00 UTC");
    cert_free(cert);
}

static void names_an_expired_authority(void **state)
{
    struct cert *ca =
        cert_make(&(struct cert_spec){.cn = "old-ca", .ca = true, .from_days = -10, .to_days = -1});
    struct cert *cert =
        cert_make(&(struct cert_spec){.cn = "server", .sans = "DNS:localhost", .issuer = ca});
    expect_outcome(state, &(struct tls_plan){.ca = ca, .server = cert},
                   "certificate of localhost:6443: its authority 'CN=old-ca' expired on 2025-12-31 "
                   "00:00:00 UTC");
    cert_free(cert);
    cert_free(ca);
}

static void refuses_and_names_an_unknown_authority(void **state)
{
    const struct tls_certs *certs = *state;
    static const char *const text = "certificate of localhost:6443 is signed by unknown authority "
                                    "'CN=test-ca'; set certificate-authority";
    struct cert *namesake = cert_make(&(struct cert_spec){.cn = "test-ca", .ca = true});
    expect_outcome(state, &(struct tls_plan){.ca = certs->other_ca}, text);
    expect_outcome(state, &(struct tls_plan){.ca = namesake}, text);
    cert_free(namesake);
}

static void refuses_a_self_signed_certificate_unless_it_is_trusted(void **state)
{
    struct cert *cert = cert_make(&(struct cert_spec){.cn = "self", .sans = "DNS:localhost"});
    expect_outcome(state, &(struct tls_plan){.server = cert},
                   "certificate of localhost:6443 is signed by unknown authority 'CN=self'; set "
                   "certificate-authority");
    expect_outcome(state, &(struct tls_plan){.server = cert, .ca = cert}, "");
    cert_free(cert);
}

static void trusts_an_intermediate_authority(void **state)
{
    const struct tls_certs *certs = *state;
    struct cert *middle =
        cert_make(&(struct cert_spec){.cn = "middle", .ca = true, .issuer = certs->other_ca});
    struct cert *cert =
        cert_make(&(struct cert_spec){.cn = "server", .sans = "DNS:localhost", .issuer = middle});
    expect_outcome(state, &(struct tls_plan){.server = cert, .ca = middle}, "");
    cert_free(cert);
    cert_free(middle);
}

static void refuses_a_certificate_for_another_purpose(void **state)
{
    const struct tls_certs *certs = *state;
    struct cert *client = cert_make(&(struct cert_spec){
        .cn = "client", .sans = "DNS:localhost", .usage = "clientAuth", .issuer = certs->ca});
    struct cert *by_server =
        cert_make(&(struct cert_spec){.cn = "x", .sans = "DNS:localhost", .issuer = certs->server});
    expect_outcome(state, &(struct tls_plan){.server = client},
                   "certificate of localhost:6443: unsuitable certificate purpose");
    expect_outcome(state, &(struct tls_plan){.server = by_server, .middle = certs->server},
                   "certificate of localhost:6443: invalid CA certificate");
    cert_free(by_server);
    cert_free(client);
}

static void insecure_accepts_any_certificate(void **state)
{
    const struct tls_certs *certs = *state;
    expect_outcome(
        state, &(struct tls_plan){.host = "x.org", .ca = certs->other_ca, .insecure = true}, "");
}

static void refuses_an_empty_server_name(void **state)
{
    expect_outcome(state, &(struct tls_plan){.server_name = ""},
                   "localhost:6443: no server name to check the certificate against");
    expect_outcome(state, &(struct tls_plan){.server_name = "."},
                   "localhost:6443: no server name to check the certificate against");
}

static void sends_the_client_certificate_on_request(void **state)
{
    const struct tls_certs *certs = *state;
    expect_outcome(state, &(struct tls_plan){.client = certs->client, .client_ca = certs->ca}, "");
}

static void reports_a_missing_client_certificate_with_the_remedy(void **state)
{
    const struct tls_certs *certs = *state;
    expect_outcome(state, &(struct tls_plan){.client_ca = certs->ca},
                   "localhost:6443 requires a client certificate; set client-certificate and "
                   "client-key");
}

static void reports_a_client_certificate_of_an_unknown_issuer(void **state)
{
    const struct tls_certs *certs = *state;
    expect_outcome(state, &(struct tls_plan){.client = certs->client, .client_ca = certs->other_ca},
                   "localhost:6443 does not trust the issuer of the client certificate");
}

static void reports_an_expired_client_certificate(void **state)
{
    const struct tls_certs *certs = *state;
    struct cert *old = signed_cert(state, NULL, -10, -1);
    expect_outcome(state, &(struct tls_plan){.client = old, .client_ca = certs->ca},
                   "localhost:6443 reports that the client certificate has expired");
    cert_free(old);
}

static void sends_sni_for_names_only(void **state)
{
    static const struct {
        const char *host, *server_name, *sni;
    } rows[] = {
        {"localhost", NULL, "localhost"}, {"api.example.com.", NULL, "api.example.com"},
        {"127.0.0.1", NULL, ""},          {"127.0.0.1", "localhost", "localhost"},
        {"localhost", "127.0.0.1", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tls_world w;
        tls_world_init(
            &w, *state,
            &(struct tls_plan){.host = rows[i].host, .server_name = rows[i].server_name});
        sim_run(&w.sim);
        assert_int_equal(w.reader.opened, 1);
        assert_string_equal(w.peer.sni, rows[i].sni);
        assert_string_equal(w.peer.alpn, "\x08http/1.1");
        assert_string_equal(w.pipe->host, rows[i].host);
        tls_world_done(&w);
    }
}

static void refuses_a_protocol_that_was_not_offered(void **state)
{
    expect_outcome(state, &(struct tls_plan){.protocol = "http/1.1"}, "");
    expect_outcome(state, &(struct tls_plan){.protocol = "h2"},
                   "localhost:6443 selected protocol 'h2'; only http/1.1 was offered (ALPN)");
    expect_outcome(state, &(struct tls_plan){.protocol = "http/1.0"},
                   "localhost:6443 selected protocol 'http/1.0'; only http/1.1 was offered (ALPN)");
    expect_outcome(state, &(struct tls_plan){.protocol = "\n"},
                   "localhost:6443 selected protocol '?'; only http/1.1 was offered (ALPN)");
}

static void explains_every_alert(void **state)
{
    static const struct {
        char alert;
        const char *text;
    } rows[] = {
        {40, "TLS with localhost:6443: sslv3 alert handshake failure"},
        {42, "localhost:6443 rejected the client certificate"},
        {43, "localhost:6443 rejected the client certificate"},
        {44, "localhost:6443 reports that the client certificate is revoked"},
        {45, "localhost:6443 reports that the client certificate has expired"},
        {46, "localhost:6443 rejected the client certificate"},
        {48, "localhost:6443 does not trust the issuer of the client certificate"},
        {49, "localhost:6443 rejected the client certificate"},
        {70, "localhost:6443 does not support TLS 1.2 or later"},
        {80, "TLS with localhost:6443: tlsv1 alert internal error"},
        {112, "localhost:6443 does not serve the requested server name (SNI)"},
        {116, "localhost:6443 requires a client certificate; set client-certificate and "
              "client-key"},
        {120, "localhost:6443 does not support HTTP/1.1 (ALPN)"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char record[] = {21, 3, 3, 0, 2, 2, rows[i].alert};
        struct tls_world w;
        tls_world_init(&w, *state, &(struct tls_plan){.no_peer = true});
        sim_run(&w.sim);
        pipe_send(w.pipe, record, sizeof(record));
        pipe_end(w.pipe, INF_EEOF, "FIN");
        sim_run(&w.sim);
        assert_int_equal(w.reader.ended, 1);
        assert_string_equal(w.reader.why.text, rows[i].text);
        assert_int_equal(w.reader.why.code, INF_ETLS);
        tls_world_done(&w);
    }
}

/* --- contexts --------------------------------------------------------------------------------- */

static void expect_unusable(const struct tls_settings *settings, const char *expected)
{
    struct inf_error err;
    struct tls_context *context = tls_context_new(settings, &err);
    assert_null(context);
    assert_int_equal(err.code, INF_ECONF);
    if (!strstr(err.text, expected))
        assert_string_equal(err.text, expected);
    assert_null(tls_context_new(settings, NULL));
}

static void reports_unusable_authorities(void **state)
{
    const struct tls_certs *certs = *state;
    char *broken = xstrdup(certs->ca->pem), *second;
    expect_unusable(&(struct tls_settings){.ca_pem = ""},
                    "certificate-authority: no certificate in PEM format found");
    expect_unusable(&(struct tls_settings){.ca_pem = "/etc/ca.crt"},
                    "certificate-authority: no certificate in PEM format found");
    expect_unusable(&(struct tls_settings){.ca_pem = certs->ca->key_pem},
                    "certificate-authority: no certificate in PEM format found");
    memset(broken + 40, '!', 8);
    expect_unusable(&(struct tls_settings){.ca_pem = broken},
                    "certificate-authority: certificate 1 can't be read: ");
    second = xasprintf("%s%s", certs->ca->pem, broken);
    expect_unusable(&(struct tls_settings){.ca_pem = second},
                    "certificate-authority: certificate 2 can't be read: ");
    free(second);
    free(broken);
}

static void reports_an_unusable_client_certificate(void **state)
{
    const struct tls_certs *certs = *state;
    const char *ca = certs->ca->pem, *cert = certs->client->pem, *key = certs->client->key_pem;
    char *locked = cert_encrypted_key(certs->client);
    expect_unusable(&(struct tls_settings){.ca_pem = ca, .cert_pem = cert},
                    "client-certificate without client-key");
    expect_unusable(&(struct tls_settings){.ca_pem = ca, .key_pem = key},
                    "client-key without client-certificate");
    expect_unusable(&(struct tls_settings){.ca_pem = ca, .cert_pem = key, .key_pem = key},
                    "client-certificate: no certificate in PEM format found");
    expect_unusable(&(struct tls_settings){.ca_pem = ca, .cert_pem = cert, .key_pem = cert},
                    "client-key: ");
    expect_unusable(&(struct tls_settings){.ca_pem = ca, .cert_pem = cert, .key_pem = locked},
                    "client-key: encrypted keys are not supported; use a key without a passphrase");
    expect_unusable(
        &(struct tls_settings){.ca_pem = ca, .cert_pem = cert, .key_pem = certs->server->key_pem},
        "client-key does not belong to client-certificate: ");
    free(locked);
}

static void accepts_several_authorities_and_a_chain(void **state)
{
    const struct tls_certs *certs = *state;
    char *both = xasprintf("# ours\n%s\n# theirs\n%s", certs->ca->pem, certs->other_ca->pem);
    struct inf_error err;
    struct tls_context *context = tls_context_new(&(struct tls_settings){.ca_pem = both}, &err);
    assert_non_null(context);
    tls_context_unref(tls_context_ref(context));
    tls_context_unref(context);
    free(both);
    both = xasprintf("%s%s", certs->client->pem, certs->ca->pem);
    context = tls_context_new(&(struct tls_settings){.ca_pem = certs->ca->pem,
                                                     .cert_pem = both,
                                                     .key_pem = certs->client->key_pem},
                              &err);
    assert_non_null(context);
    tls_context_unref(context);
    tls_context_unref(NULL);
    free(both);
}

/* A connection with the system's authorities: a file that contains @cert. */
static char *outcome_with_system(const struct tls_certs *certs, const struct cert *cert)
{
    char path[] = "/tmp/test_tls_check.XXXXXX", *text;
    FILE *file = fdopen(mkstemp(path), "w");
    struct tls_world w;
    assert_true(fputs(cert->pem, file) >= 0 && fclose(file) == 0);
    setenv("SSL_CERT_FILE", path, 1); /* documented by OpenSSL */
    tls_world_init(&w, certs, &(struct tls_plan){0});
    tls_context_unref(w.context);
    w.context = tls_context_new(&(struct tls_settings){.ca_pem = NULL}, NULL);
    assert_non_null(w.context);
    unsetenv("SSL_CERT_FILE");
    unlink(path);
    tls_world_again(&w, &(struct tls_plan){0});
    sim_run(&w.sim);
    text = xstrdup(w.reader.ended ? w.reader.why.text : "");
    assert_int_equal(w.reader.opened, !w.reader.ended);
    tls_world_done(&w);
    return text;
}

static void uses_the_authorities_of_the_system_by_default(void **state)
{
    const struct tls_certs *certs = *state;
    char *text = outcome_with_system(certs, certs->ca);
    assert_string_equal(text, "");
    free(text);
    text = outcome_with_system(certs, certs->other_ca);
    assert_string_equal(text, "certificate of localhost:6443 is signed by unknown authority "
                              "'CN=test-ca'; set certificate-authority");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trusts_a_server_of_our_authority_with_the_right_name),
        cmocka_unit_test(checks_an_ipv6_address_as_an_address),
        cmocka_unit_test(refuses_a_certificate_for_another_host),
        cmocka_unit_test(accepts_a_wildcard_for_one_whole_label),
        cmocka_unit_test(truncates_a_long_list_of_names),
        cmocka_unit_test(refuses_a_certificate_without_names),
        cmocka_unit_test(refuses_an_address_given_as_dns_name),
        cmocka_unit_test(removes_control_characters_from_names),
        cmocka_unit_test(refuses_an_expired_certificate_by_the_clock_of_the_seam),
        cmocka_unit_test(names_an_expired_authority),
        cmocka_unit_test(refuses_and_names_an_unknown_authority),
        cmocka_unit_test(refuses_a_self_signed_certificate_unless_it_is_trusted),
        cmocka_unit_test(trusts_an_intermediate_authority),
        cmocka_unit_test(refuses_a_certificate_for_another_purpose),
        cmocka_unit_test(insecure_accepts_any_certificate),
        cmocka_unit_test(refuses_an_empty_server_name),
        cmocka_unit_test(sends_the_client_certificate_on_request),
        cmocka_unit_test(reports_a_missing_client_certificate_with_the_remedy),
        cmocka_unit_test(reports_a_client_certificate_of_an_unknown_issuer),
        cmocka_unit_test(reports_an_expired_client_certificate),
        cmocka_unit_test(sends_sni_for_names_only),
        cmocka_unit_test(refuses_a_protocol_that_was_not_offered),
        cmocka_unit_test(explains_every_alert),
        cmocka_unit_test(reports_unusable_authorities),
        cmocka_unit_test(reports_an_unusable_client_certificate),
        cmocka_unit_test(accepts_several_authorities_and_a_chain),
        cmocka_unit_test(uses_the_authorities_of_the_system_by_default),
    };
    return cmocka_run_group_tests(tests, tls_certs_make, tls_certs_drop);
}
