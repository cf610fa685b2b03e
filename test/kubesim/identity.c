/*
 * Generates certificates and a kubeconfig that trusts them (--self-signed DIR).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/alloc.h"
#include "kubesim.h"

static int syntax_error(const char *what, const char *path)
{
    fprintf(stderr, "kubesim: %s '%s': %s\n", what, path, strerror(errno));
    return -1;
}

static void must(long ok)
{
    if (ok > 0)
        return;
    ERR_print_errors_fp(stderr);
    exit(EXIT_FAILURE);
}

static void add_extension(X509 *x, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509_EXTENSION *e;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
    e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    must(e != NULL);
    must(X509_add_ext(x, e, -1));
    X509_EXTENSION_free(e);
}

enum {
    HOUR = 3600,
    DAY = 24 * HOUR,
    YEARS = 10 * 365 * DAY,
};

/* A certificate for @key, valid for @names until @end seconds from now, signed with @issuer_key;
 * without issuer, a self-signed CA certificate. */
static X509 *make_certificate(const char *names, long end, EVP_PKEY *key, X509 *issuer,
                              EVP_PKEY *issuer_key)
{
    const char *cn = issuer ? "kubesim" : "kubesim CA";
    X509 *x = X509_new();
    X509_NAME *name = X509_get_subject_name(x);
    must(X509_set_version(x, X509_VERSION_3));
    must(ASN1_INTEGER_set(X509_get_serialNumber(x), issuer ? 2 : 1));
    must(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)cn, -1, -1,
                                    0));
    must(X509_set_issuer_name(x, issuer ? X509_get_subject_name(issuer) : name));
    must(X509_set_pubkey(x, key));
    must(X509_gmtime_adj(X509_getm_notBefore(x), -DAY) != NULL);
    must(X509_gmtime_adj(X509_getm_notAfter(x), end) != NULL);
    if (issuer)
        add_extension(x, issuer, NID_subject_alt_name, names);
    else
        add_extension(x, x, NID_basic_constraints, "critical,CA:TRUE");
    must(X509_sign(x, issuer_key, EVP_sha256()));
    return x;
}

static FILE *create(const char *folder, const char *name, char **ret_path)
{
    char *path = xasprintf("%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    *ret_path = path;
    return fd < 0 ? NULL : fdopen(fd, "w");
}

static int write_pem(const char *folder, const char *name, X509 *x, EVP_PKEY *key)
{
    char *path;
    FILE *f = create(folder, name, &path);
    int rc = 0;
    if (!f)
        rc = syntax_error("can't write", path);
    else
        must(x ? PEM_write_X509(f, x)
               : PEM_write_PKCS8PrivateKey(f, key, NULL, NULL, 0, NULL, NULL));
    if (f && fclose(f) != 0)
        rc = syntax_error("can't write", path);
    free(path);
    return rc;
}

static int use(SSL_CTX *ctx, X509 *x, EVP_PKEY *key)
{
    must(SSL_CTX_use_certificate(ctx, x));
    must(SSL_CTX_use_PrivateKey(ctx, key));
    return 0;
}

static int make_identity(struct kubesim *sim)
{
    static const char here[] =
        "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default.svc,IP:127.0.0.1";
    const struct settings *s = &sim->settings;
    const char *folder = s->self_signed;
    EVP_PKEY *ca_key = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256");
    X509 *ca = make_certificate(NULL, YEARS, ca_key, NULL, ca_key);
    X509 *x =
        make_certificate(s->names ? s->names : here, s->expired ? -HOUR : YEARS, key, ca, ca_key);
    int rc = mkdir(folder, 0700) < 0 && errno != EEXIST ? syntax_error("can't make", folder) : 0;
    if (rc == 0)
        rc = write_pem(folder, "ca.crt", ca, NULL);
    if (rc == 0)
        rc = write_pem(folder, "server.crt", x, NULL);
    if (rc == 0)
        rc = write_pem(folder, "server.key", NULL, key);
    if (rc == 0)
        rc = use(sim->tls, x, key);
    X509_free(x);
    X509_free(ca);
    EVP_PKEY_free(key);
    EVP_PKEY_free(ca_key);
    return rc;
}

static int read_identity(struct kubesim *sim)
{
    const struct settings *s = &sim->settings;
    if (SSL_CTX_use_certificate_chain_file(sim->tls, s->cert) == 1 &&
        SSL_CTX_use_PrivateKey_file(sim->tls, s->key, SSL_FILETYPE_PEM) == 1)
        return 0;
    fprintf(stderr, "kubesim: '%s' and '%s' are not a certificate and its key\n", s->cert, s->key);
    return -1;
}

int identity_load(struct kubesim *sim)
{
    static const unsigned char session[] = "kubesim";
    if (!sim->settings.cert && !sim->settings.self_signed)
        return 0;
    sim->tls = SSL_CTX_new(TLS_server_method());
    must(sim->tls != NULL);
    SSL_CTX_set_session_id_context(sim->tls, session, sizeof(session) - 1);
    SSL_CTX_set_mode(sim->tls, SSL_MODE_RELEASE_BUFFERS);
    return sim->settings.self_signed ? make_identity(sim) : read_identity(sim);
}

/* Absolute: a relative path would be resolved relative to the kubeconfig. */
static void put_authority(FILE *f, const char *folder)
{
    char *whole = realpath(folder, NULL);
    fprintf(f, "    certificate-authority: %s/ca.crt\n", whole ? whole : folder);
    free(whole);
}

static void put_kubeconfig(FILE *f, const struct kubesim *sim)
{
    const struct settings *s = &sim->settings;
    fprintf(f, "apiVersion: v1\nkind: Config\nclusters:\n- name: kubesim\n  cluster:\n");
    fprintf(f, "    server: http%s://127.0.0.1:%d\n", sim->tls ? "s" : "", s->port);
    if (s->self_signed)
        put_authority(f, s->self_signed);
    fprintf(f, "users:\n- name: kubesim\n  user: {");
    if (sim->tokens.count)
        fprintf(f, "token: \"%s\"", sim->tokens.items[0]);
    fprintf(f, "}\ncontexts:\n- name: kubesim\n  context: {cluster: kubesim, user: kubesim}\n");
    fprintf(f, "current-context: kubesim\n");
}

void identity_add_token(struct kubesim *sim)
{
    unsigned char bytes[16];
    char token[2 * sizeof(bytes) + 1];
    must(RAND_bytes(bytes, sizeof(bytes)));
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    token_add(sim, token);
}

int identity_write_kubeconfig(struct kubesim *sim)
{
    const char *path = sim->settings.kubeconfig;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f)
        return syntax_error("can't write", path);
    put_kubeconfig(f, sim);
    return fclose(f) == 0 ? 0 : syntax_error("can't write", path);
}
