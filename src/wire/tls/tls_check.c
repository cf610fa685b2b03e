/*
 * tls_check.c - verifies that the server is the intended one, and explains TLS failures in words.
 *
 * OpenSSL does the verification. We set the name and the time, and record the result while the
 * certificate is available: after a failed handshake it is gone. Strings from a certificate come
 * from the peer; they are truncated and cleaned of control characters before they are used in a
 * message.
 */
#include <arpa/inet.h>
#include <string.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/alloc.h"
#include "base/err.h"
#include "wire/tls/tls_internal.h"

enum {
    NAMES_MAX = 240, /* LIMIT: bytes of a certificate's names in a message */
};

static bool is_address(const char *name)
{
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

/* --- verification of a certificate ----------------------------------------------------------- */

static void name_text(const X509_NAME *name, char *ret_text, size_t size)
{
    BIO *bio = BIO_new(BIO_s_mem());
    int n = 0;
    if (bio && X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253) >= 0)
        n = BIO_read(bio, ret_text, (int)size - 1);
    ret_text[n > 0 ? n : 0] = '\0';
    BIO_free(bio);
}

static void time_text(const ASN1_TIME *time, char *ret_text, size_t size)
{
    struct tm tm;
    if (ASN1_TIME_to_tm(time, &tm) != 1 || strftime(ret_text, size, "%F %T UTC", &tm) == 0)
        snprintf(ret_text, size, "an invalid date");
}

static void put_clean(struct buf *text, const unsigned char *bytes, int len)
{
    for (int i = 0; i < len; i++)
        buf_putc(text, bytes[i] > ' ' && bytes[i] < 0x7f ? (char)bytes[i] : '?');
}

/* Appends a name of a certificate, if it is of a kind that identifies servers. */
static void put_name(struct buf *text, const GENERAL_NAME *name)
{
    int type;
    const ASN1_STRING *s = GENERAL_NAME_get0_value(name, &type);
    const unsigned char *bytes;
    char address[INET6_ADDRSTRLEN];
    size_t start;
    int len;
    if (type != GEN_DNS && type != GEN_IPADD)
        return;
    bytes = ASN1_STRING_get0_data(s);
    len = ASN1_STRING_length(s);
    if (text->len)
        buf_puts(text, ", ");
    start = text->len;
    if (type == GEN_DNS) {
        put_clean(text, bytes, len);
        buf_putc(text, '\0');
        text->len--;
        /* A frequent mistake, which would read "is valid for 10.0.0.1, not for 10.0.0.1". */
        if (is_address(text->bytes + start))
            buf_puts(text, " (as a DNS name, which does not cover an address)");
    } else if (len == 4 || len == 16) {
        buf_puts(text, inet_ntop(len == 4 ? AF_INET : AF_INET6, bytes, address, sizeof(address)));
    } else {
        buf_puts(text, "an invalid address");
    }
}

/* "10.0.0.1, kubernetes.default"; without such names, the subject, which is not used for
 * verification. Returns whether there are any names. */
static bool names_text(const X509 *cert, struct buf *ret_text)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    char subject[128];
    bool any;
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && ret_text->len < NAMES_MAX; i++)
        put_name(ret_text, sk_GENERAL_NAME_value(names, i));
    if (ret_text->len > NAMES_MAX) {
        ret_text->len = NAMES_MAX;
        buf_puts(ret_text, "...");
    }
    any = ret_text->len > 0;
    if (!any) {
        name_text(X509_get_subject_name(cert), subject, sizeof(subject));
        buf_printf(ret_text, "no server (subject '%s')", subject);
    }
    buf_putc(ret_text, '\0');
    GENERAL_NAMES_free(names);
    return any;
}

static void report_wrong_name(struct tls_check *check, const X509 *cert)
{
    struct buf names = {0};
    bool any = names_text(cert, &names);
    err_set(&check->why, INF_ETLS, "certificate of %s is valid for %s, not for %s%s", check->peer,
            names.bytes, check->name, any ? "; set tls-server-name to one of these" : "");
    buf_free(&names);
}

static void report_wrong_time(struct tls_check *check, const X509 *cert, int depth, bool expired)
{
    char when[64], subject[128], whose[160] = "";
    time_text(expired ? X509_get0_notAfter(cert) : X509_get0_notBefore(cert), when, sizeof(when));
    if (depth > 0) {
        name_text(X509_get_subject_name(cert), subject, sizeof(subject));
        snprintf(whose, sizeof(whose), ": its authority '%s'", subject);
    }
    err_set(&check->why, INF_ETLS, "certificate of %s%s %s %s", check->peer, whose,
            expired ? "expired on" : "is not valid before", when);
}

static void report_unknown_authority(struct tls_check *check, const X509 *cert)
{
    char issuer[160];
    name_text(X509_get_issuer_name(cert), issuer, sizeof(issuer));
    err_set(&check->why, INF_ETLS,
            "certificate of %s is signed by unknown authority '%s'; set certificate-authority",
            check->peer, issuer);
}

int tls_check_verify(int ok, X509_STORE_CTX *store)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct tls_check *check = SSL_get_app_data(ssl);
    const X509 *cert = X509_STORE_CTX_get_current_cert(store);
    int error = X509_STORE_CTX_get_error(store), depth = X509_STORE_CTX_get_error_depth(store);
    if (ok)
        return 1;
    switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: report_wrong_name(check, cert); break;
    case X509_V_ERR_CERT_HAS_EXPIRED: report_wrong_time(check, cert, depth, true); break;
    case X509_V_ERR_CERT_NOT_YET_VALID: report_wrong_time(check, cert, depth, false); break;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE: /* a known authority of that name
                                               has another key */
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: report_unknown_authority(check, cert); break;
    default:
        err_set(&check->why, INF_ETLS, "certificate of %s: %s", check->peer,
                X509_verify_cert_error_string(error));
    }
    return 0;
}

int tls_check_on_cert_request(SSL *ssl, void *unused)
{
    struct tls_check *check = SSL_get_app_data(ssl);
    (void)unused;
    check->cert_missing = SSL_get_certificate(ssl) == NULL;
    return 1;
}

/* --- the protocol the server selected --------------------------------------------------------- */

/* Some versions of OpenSSL let a server select a protocol that was not offered, others end the
 * handshake with "bad extension". We therefore check the raw extension: the length of a list, of
 * its one name, the name. */
static void check_on_extension(SSL *ssl, int unused, int type, const unsigned char *bytes, int len,
                               void *unused_too)
{
    static const int head = 3, name_max = 255;
    struct tls_check *check = SSL_get_app_data(ssl);
    struct buf name = {0};
    (void)unused, (void)unused_too;
    if (type != TLSEXT_TYPE_application_layer_protocol_negotiation || len <= head ||
        len > head + name_max)
        return;
    put_clean(&name, bytes + head, len - head);
    buf_putc(&name, '\0');
    if (strcmp(name.bytes, TLS_PROTOCOL) != 0)
        err_set(&check->why, INF_ETLS,
                "%s selected protocol '%s'; only " TLS_PROTOCOL " was offered (ALPN)", check->peer,
                name.bytes);
    buf_free(&name);
}

/* --- before the handshake --------------------------------------------------------------------- */

int tls_check_init(SSL *ssl, struct tls_check *check, struct inf_error *err)
{
    bool ok;
    SSL_set_app_data(ssl, check);
    SSL_set_tlsext_debug_callback(ssl, check_on_extension);
    X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl), (time_t)(check->begun_us / 1000000));
    ERR_clear_error();
    if (check->name[0] == '\0') /* OpenSSL would accept any name */
        return err_set(err, INF_ETLS, "%s: no server name to check the certificate against",
                       check->peer);
    if (is_address(check->name)) {
        ok = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), check->name) == 1;
    } else {
        SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                   X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
        ok =
            SSL_set1_host(ssl, check->name) == 1 && SSL_set_tlsext_host_name(ssl, check->name) == 1;
    }
    if (!ok)
        return err_set(err, INF_ETLS, "%s: '%s' is not a valid server name: %s", check->peer,
                       check->name, tls_reason());
    return 0;
}

/* --- any other failure ------------------------------------------------------------------------ */

static const char *const CERT_WANTED =
    "requires a client certificate; set client-certificate and client-key";

/* The reason of an alert; the name of the server precedes it. */
static const char *alert_text(int reason, bool cert_missing)
{
    switch (reason) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: return CERT_WANTED;
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE: return cert_missing ? CERT_WANTED : NULL;
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
        return cert_missing ? CERT_WANTED : "rejected the client certificate";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA: return "does not trust the issuer of the client certificate";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
        return "reports that the client certificate has expired";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
        return "reports that the client certificate is revoked";
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
    case SSL_R_UNSUPPORTED_PROTOCOL: return "does not support TLS 1.2 or later";
    case SSL_R_TLSV1_UNRECOGNIZED_NAME: return "does not serve the requested server name (SNI)";
    case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: return "does not support HTTP/1.1 (ALPN)";
    default: return NULL;
    }
}

/* Every TLS connection begins with a handshake record or an alert, of major version 3. */
static bool speaks_tls(const struct tls_wire *wire)
{
    return wire->n_first < 2 ||
           ((wire->first[0] == 22 || wire->first[0] == 21) && wire->first[1] == 3);
}

void tls_check_explain(const struct tls_check *check, const struct tls_wire *wire,
                       struct inf_error *ret_why)
{
    const char *text = alert_text(ERR_GET_REASON(ERR_peek_last_error()), check->cert_missing);
    if (check->why.code)
        *ret_why = check->why;
    else if (wire->n_first == TLS_FIRST && memcmp(wire->first, "HTTP/", TLS_FIRST) == 0)
        err_set(ret_why, INF_ETLS, "%s speaks plain HTTP, not TLS; check the port", check->peer);
    else if (!speaks_tls(wire))
        err_set(ret_why, INF_ETLS, "%s does not speak TLS; check the port", check->peer);
    else if (text)
        err_set(ret_why, INF_ETLS, "%s %s", check->peer, text);
    else
        err_set(ret_why, INF_ETLS, "TLS with %s: %s", check->peer, tls_reason());
}
