/*
 * nats_texts.c - checks and copies the options, and reads the files.
 */
#include "daemon/nats/nats_texts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "daemon/handler/option_file.h"
#include "daemon/nats/nats_record.h"
#include "wire/nats/nats_url.h"

/* ---- the options ---- */

static const size_t texts[] = {
    offsetof(struct conf_nats, url),           offsetof(struct conf_nats, stream),
    offsetof(struct conf_nats, subject),       offsetof(struct conf_nats, credentials),
    offsetof(struct conf_nats, nkey_file),     offsetof(struct conf_nats, user),
    offsetof(struct conf_nats, password_file), offsetof(struct conf_nats, token_file),
    offsetof(struct conf_nats, ca_file),       offsetof(struct conf_nats, cert_file),
    offsetof(struct conf_nats, key_file),      offsetof(struct conf_nats, inbox),
    offsetof(struct conf_nats, domain),
};

static char **text_at(const struct conf_nats *conf, size_t i)
{
    return (char **)((uintptr_t)conf + texts[i]);
}

void nats_conf_copy(const struct conf_nats *conf, struct conf_nats *ret)
{
    *ret = (struct conf_nats){.tls_first = conf->tls_first};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *text_at(ret, i) = xstrdup_or_null(*text_at(conf, i));
}

void nats_conf_free(struct conf_nats *copy)
{
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free(*text_at(copy, i));
    *copy = (struct conf_nats){0};
}

bool nats_conf_equal(const struct conf_nats *a, const struct conf_nats *b)
{
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!cstr_eq(*text_at(a, i), *text_at(b, i)))
            return false;
    return a->tls_first == b->tls_first;
}

static bool has_credentials(const struct conf_nats *c)
{
    return c->credentials || c->nkey_file || c->user || c->password_file || c->token_file;
}

static int check_urls(const struct conf_nats *c, struct inf_error *err)
{
    struct nats_urls urls;
    bool open_text;
    bool tls;
    if (nats_urls_parse(c->url, &urls, err) < 0)
        return err_wrap(err, "url");
    tls = urls.tls;
    open_text = !urls.tls && !urls.is_local;
    nats_urls_free(&urls);
    if (open_text && has_credentials(c))
        return err_set(err, INF_ECONF,
                       "url: credentials are sent only over TLS, or to this machine; write tls:// "
                       "instead of nats://");
    if (!tls && (c->ca_file || c->cert_file || c->key_file || c->tls_first))
        return err_set(
            err, INF_ECONF,
            "url: ca_file, cert_file, key_file and tls_first need tls:// instead of nats://");
    return 0;
}

static bool is_subject_name(const char *text)
{
    return text && *text && !strpbrk(text, " \t.*>/\\") && !str_has_control(str_of(text));
}

static int check_names(const struct conf_nats *c, struct inf_error *err)
{
    if (!is_subject_name(c->stream))
        return err_set(err, INF_ECONF,
                       "stream: is not a valid stream name; it has no '.', '*', '>' "
                       "and no blanks");
    if (c->domain && !is_subject_name(c->domain))
        return err_set(err, INF_ECONF,
                       "domain: is not a valid domain name; it has no '.', '*', '>' and no blanks");
    if (c->inbox && (!*c->inbox || strpbrk(c->inbox, " \t*>") || str_has_control(str_of(c->inbox))))
        return err_set(err, INF_ECONF, "inbox: is not a valid subject; write it like _INBOX");
    if (nats_template_check(c->subject, err) < 0)
        return err_wrap(err, "subject");
    return 0;
}

int nats_conf_check(const struct conf_nats *conf, struct inf_error *err)
{
    int ways = !!conf->credentials + !!conf->nkey_file + !!conf->token_file +
               (conf->user || conf->password_file);
    if (!conf->url || !conf->stream || !conf->subject)
        return err_set(err, INF_ECONF, "url and stream are required");
    if (ways > 1)
        return err_set(err, INF_ECONF,
                       "only one of credentials, nkey_file, token_file and user is possible");
    if (!conf->user != !conf->password_file)
        return err_set(err, INF_ECONF, "user and password_file are required together");
    if (!conf->cert_file != !conf->key_file)
        return err_set(err, INF_ECONF, "cert_file and key_file are required together");
    if (check_urls(conf, err) < 0 || check_names(conf, err) < 0)
        return -err->code;
    return 0;
}

/* ---- the files ---- */

/* A seed or a .creds file, read with @set. */
static int read_key(const char *option, const char *path, struct nats_credentials *credentials,
                    int (*set)(struct nats_credentials *credentials, const char *text,
                               struct inf_error *err),
                    struct inf_error *err)
{
    char *text = NULL;
    int rc;
    if (!path)
        return 0;
    rc = option_file_text(option, path, NATS_FILE_MAX, &text, err);
    if (rc == 0 && set(credentials, text, err) < 0)
        rc = err_wrap(err, "%s: file '%s'", option, path);
    secret_free(text);
    return rc;
}

static int read_credentials(const struct conf_nats *conf, struct nats_credentials *c,
                            struct inf_error *err)
{
    c->user = xstrdup_or_null(conf->user);
    if (option_file_line("password_file", conf->password_file, NATS_FILE_MAX, &c->password, err) <
            0 ||
        option_file_line("token_file", conf->token_file, NATS_FILE_MAX, &c->token, err) < 0 ||
        read_key("nkey_file", conf->nkey_file, c, nats_credentials_set_seed, err) < 0 ||
        read_key("credentials", conf->credentials, c, nats_credentials_set_file, err) < 0)
        return -err->code;
    return 0;
}

static int make_context(const struct conf_nats *conf, struct nats_texts *t, struct inf_error *err)
{
    char *ca = NULL, *cert = NULL, *key = NULL;
    int rc = 0;
    if (option_file_text("ca_file", conf->ca_file, NATS_CA_FILE_MAX, &ca, err) < 0 ||
        option_file_text("cert_file", conf->cert_file, NATS_FILE_MAX, &cert, err) < 0 ||
        option_file_text("key_file", conf->key_file, NATS_FILE_MAX, &key, err) < 0)
        rc = -err->code;
    if (rc == 0) {
        t->context = tls_context_new(
            &(struct tls_settings){.ca_pem = ca, .cert_pem = cert, .key_pem = key}, err);
        rc = t->context ? 0 : -err->code;
    }
    free(ca);
    free(cert);
    secret_free(key);
    return rc;
}

int nats_texts_read(const struct conf_nats *conf, bool tls, struct nats_texts *ret,
                    struct inf_error *err)
{
    struct nats_texts t = {0};
    int rc = read_credentials(conf, &t.credentials, err);
    if (rc == 0 && tls)
        rc = make_context(conf, &t, err);
    if (rc < 0) {
        nats_texts_free(&t);
    } else {
        scrubber_add(&t.scrubber, SCRUBBER_SERVER, t.credentials.password);
        scrubber_add(&t.scrubber, SCRUBBER_SERVER, t.credentials.token);
        scrubber_add(&t.scrubber, SCRUBBER_SERVER, t.credentials.jwt);
    }
    *ret = t;
    return rc;
}

void nats_texts_free(struct nats_texts *t)
{
    nats_credentials_free(&t->credentials);
    scrubber_free(&t->scrubber);
    tls_context_unref(t->context);
    *t = (struct nats_texts){0};
}
