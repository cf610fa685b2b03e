/*
 * certificate.c - keeps the authority of api.listen in files and issues server certificates.
 *
 * Normal path: both files exist, a server certificate is issued and becomes the context of new
 * connections; it is replaced after two thirds of its validity. Files that can't be read, belong to
 * other keys or are readable by other users are an error with a remedy: nothing is replaced silently,
 * because every kubeconfig that was written would become invalid.
 */
#include "daemon/access/certificate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"
#include "daemon/state.h"

enum {
    PEM_MAX = 64 * 1024, /* LIMIT: bytes of a PEM file */
};

#define CA_CERT_FILE "api-ca.crt"
#define CA_KEY_FILE  "api-ca.key"
#define DAY_US       (INT64_C(24) * 3600 * 1000000)

/* ---- the authority ---- */

static int check_private(const char *path, struct inf_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && st.st_mode & 077)
        return err_set(err, INF_EIO,
                       "file '%s': readable by other users (mode %04o), who could impersonate "
                       "informerd; remove it and " CA_CERT_FILE
                       " to make a new authority, then write new kubeconfigs",
                       path, (unsigned)st.st_mode & 07777);
    return 0;
}

/* Returns -INF_ENOTFOUND if there is none. */
static int read_authority(const char *dir, struct tls_pair *ret, struct inf_error *err)
{
    char *cert_path = xasprintf("%s/" CA_CERT_FILE, dir);
    char *key_path = xasprintf("%s/" CA_KEY_FILE, dir);
    size_t len;
    int rc = check_private(key_path, err);
    if (rc == 0)
        rc = file_read(key_path, PEM_MAX, &ret->key_pem, &len, err);
    if (rc == 0 && file_read(cert_path, PEM_MAX, &ret->cert_pem, &len, err) < 0 &&
        err->code != INF_ENOTFOUND)
        rc = -err->code;
    free(cert_path);
    free(key_path);
    return rc;
}

static int write_authority(const char *dir, const struct tls_pair *ca, struct inf_error *err)
{
    int rc = state_write(dir, CA_KEY_FILE, str_of(ca->key_pem), err);
    return rc < 0 ? rc : state_write(dir, CA_CERT_FILE, str_of(ca->cert_pem), err);
}

/* Makes the authority if there is none, and renews its certificate if that is missing or more than half
 * of its validity is over. */
static int open_authority(const char *dir, int64_t now_us, struct tls_pair *ca,
                          struct inf_error *err)
{
    struct tls_pair made = {0};
    int64_t end = 0;
    int rc = read_authority(dir, ca, err);
    if (rc < 0 && rc != -INF_ENOTFOUND)
        return rc;
    if (ca->cert_pem && (end = tls_certificate_end_us(ca->cert_pem, err)) < 0)
        return (int)end;
    if (ca->cert_pem && end - now_us > TLS_AUTHORITY_DAYS / 2 * DAY_US)
        return 0;
    rc = tls_authority_make(now_us, ca->key_pem, &made, err);
    if (rc == 0)
        rc = write_authority(dir, &made, err);
    if (rc < 0) {
        tls_pair_free(&made);
        return rc;
    }
    tls_pair_free(ca);
    *ca = made;
    return 0;
}

/* ---- the server ---- */

static void add_name(struct api_certificate *c, struct str name)
{
    for (size_t i = 0; i < c->n_names; i++)
        if (str_eq(str_of(c->names[i]), name))
            return;
    c->names = xrealloc(c->names, (c->n_names + 1) * sizeof(char *));
    c->names[c->n_names++] = xstrndup(name.at, name.len);
}

/* "127.0.0.1:6444" and "[::1]:6444" have one; an address that means all interfaces has none. */
static void add_listen_name(struct api_certificate *c, const char *listen)
{
    struct str host = {listen, (size_t)(strrchr(listen, ':') - listen)};
    if (host.len && host.at[0] == '[')
        host = (struct str){host.at + 1, host.len - 2};
    if (host.len && !str_eq(host, STR("0.0.0.0")) && !str_eq(host, STR("::")))
        add_name(c, host);
}

static void add_names(struct api_certificate *c, const struct conf *conf)
{
    add_name(c, STR("localhost"));
    add_name(c, STR("127.0.0.1"));
    add_name(c, STR("::1"));
    add_listen_name(c, conf->api.listen);
    for (size_t i = 0; i < conf->http.allowed_hosts.count; i++)
        add_name(c, str_of(conf->http.allowed_hosts.items[i]));
}

int api_certificate_renew(struct api_certificate *c, int64_t now_us, struct inf_error *err)
{
    struct tls_names names = {(const char *const *)c->names, c->n_names};
    struct tls_context *context;
    struct tls_pair server = {0};
    int64_t end;
    if (tls_authority_issue(&c->authority, &names, now_us, &server, err) < 0)
        return -err->code;
    end = tls_certificate_end_us(server.cert_pem, err);
    context = tls_context_new_server(server.cert_pem, server.key_pem, err);
    tls_pair_free(&server);
    if (!context)
        return -err->code;
    tls_context_unref(c->context);
    c->context = context;
    c->renew_us = now_us + (end - now_us) * 2 / 3;
    return 0;
}

int api_certificate_open(const char *dir, const struct conf *conf, int64_t now_us,
                         struct api_certificate *ret, struct inf_error *err)
{
    struct api_certificate c = {0};
    int rc = open_authority(dir, now_us, &c.authority, err);
    if (rc == 0) {
        add_names(&c, conf);
        rc = api_certificate_renew(&c, now_us, err);
    }
    if (rc == 0) {
        *ret = c;
        return 0;
    }
    if (err->code == INF_ECONF)
        err_wrap(err,
                 "api.listen: " CA_CERT_FILE " and " CA_KEY_FILE
                 " in '%s' (remove both to make a new authority, then write new kubeconfigs)",
                 dir);
    api_certificate_close(&c);
    return rc;
}

void api_certificate_close(struct api_certificate *c)
{
    tls_pair_free(&c->authority);
    tls_context_unref(c->context);
    for (size_t i = 0; i < c->n_names; i++)
        free(c->names[i]);
    free(c->names);
    *c = (struct api_certificate){0};
}
