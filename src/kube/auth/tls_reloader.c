/*
 * tls_reloader.c - rereads the PEM files, compares them with the texts in use, and replaces the TLS
 * context if they differ.
 *
 * Normal path: a timer or a dial calls check_files(); unchanged files cost only reading them. Files
 * that can't be read or parsed leave the context as it is. Connections in use are cut by a timer
 * and not at once, since a caller may be in the middle of dialling.
 */
#include "kube/auth/tls_reloader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "kube/config/kubeconfig_pem.h"

/* The current contents of the files; NULL: not from a file, or not configured. */
struct pems {
    char *ca, *cert, *key;
};

static void pems_free(struct pems *pems)
{
    free(pems->ca);
    free(pems->cert);
    secret_free(pems->key);
}

static int read_pem(const char *path, char **ret, struct inf_error *err)
{
    return path ? pem_file_read(path, ret, err) : 0;
}

static bool pem_differs(const char *fresh, const char *kept)
{
    return fresh && strcmp(fresh, kept) != 0;
}

/* ---- the context ---- */

/* tls_context_new() names the field; adds the file that it comes from. */
static void append_file_name(const struct kubeconfig *config, struct inf_error *err)
{
    const struct {
        const char *field, *file;
    } all[] = {{"certificate-authority:", config->ca_file},
               {"client-certificate:", config->cert_file},
               {"client-key:", config->key_file}};
    size_t len = strlen(err->text);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i].file && strncmp(err->text, all[i].field, strlen(all[i].field)) == 0)
            snprintf(err->text + len, sizeof(err->text) - len, " (file '%s')", all[i].file);
}

static struct tls_context *make_tls_context(const struct tls_reloader *k, const struct pems *fresh,
                                            const char *cert_pem, const char *key_pem,
                                            struct inf_error *err)
{
    const struct kubeconfig *config = k->config;
    struct tls_context *context;
    struct tls_settings settings = {
        .ca_pem = fresh->ca ? fresh->ca : config->ca_pem,
        .cert_pem = fresh->cert ? fresh->cert : config->cert_pem,
        .key_pem = fresh->key ? fresh->key : config->key_pem,
        .insecure = config->insecure,
    };
    if (cert_pem) {
        settings.cert_pem = cert_pem;
        settings.key_pem = key_pem;
    }
    context = tls_context_new(&settings, err);
    if (!context)
        append_file_name(config, err);
    return context;
}

/* Takes ownership of @context. TLS sessions of the old context are not resumed. */
static void use_tls_context(struct tls_reloader *k, struct tls_context *context)
{
    tls_context_unref(k->context);
    k->context = k->tls.context = context;
    if (k->pool)
        http_pool_drop(k->pool);
}

static void tls_reloader_on_cut(struct timer *timer)
{
    struct tls_reloader *k = container_of(timer, struct tls_reloader, cut);
    struct inf_error why;
    err_set(&why, INF_ECUT, "client certificate changed; reconnecting");
    if (k->pool)
        http_pool_cut(k->pool, &why);
}

/* ---- reloading ---- */

/* "file, context 'x'", or only the origin if there is no context. */
static char *describe_config(const struct kubeconfig *config)
{
    return config->context[0] ? xasprintf("%s, context '%s'", config->origin, config->context)
                              : xstrdup(config->origin);
}

static void warn_once(struct tls_reloader *k, const struct inf_error *why)
{
    char *owner = describe_config(k->config);
    if (!k->warned)
        log_line(k->log, LOG_WARN, "%s: %s; keeping the previous certificates", owner, why->text);
    k->warned = true;
    free(owner);
}

static void replace_pem(char **kept, char **fresh)
{
    if (!*fresh)
        return;
    secret_free(*kept);
    *kept = *fresh;
    *fresh = NULL; /* owned by the config now */
}

static void use_pems(struct tls_reloader *k, struct pems *fresh, struct tls_context *context)
{
    struct kubeconfig *config = k->config;
    bool new_cert =
        pem_differs(fresh->cert, config->cert_pem) || pem_differs(fresh->key, config->key_pem);
    char *owner = describe_config(config);
    log_line(k->log, LOG_INFO, "%s: new %s", owner,
             new_cert ? "client certificate" : "certificate authorities");
    free(owner);
    replace_pem(&config->ca_pem, &fresh->ca);
    replace_pem(&config->cert_pem, &fresh->cert);
    replace_pem(&config->key_pem, &fresh->key);
    use_tls_context(k, context);
    if (new_cert && !k->cert_pem)
        timer_start(k->clock, &k->cut, 0); /* not at once: a caller may be dialling */
}

/* Uses the files if they have changed. Returns whether they are usable. */
static bool reload_files(struct tls_reloader *k)
{
    const struct kubeconfig *config = k->config;
    struct tls_context *context;
    struct inf_error why;
    struct pems fresh = {0};
    bool good = true;
    if (read_pem(config->ca_file, &fresh.ca, &why) < 0 ||
        read_pem(config->cert_file, &fresh.cert, &why) < 0 ||
        read_pem(config->key_file, &fresh.key, &why) < 0) {
        warn_once(k, &why);
        good = false;
    } else if (pem_differs(fresh.ca, config->ca_pem) || pem_differs(fresh.cert, config->cert_pem) ||
               pem_differs(fresh.key, config->key_pem)) {
        context = make_tls_context(k, &fresh, k->cert_pem, k->key_pem, &why);
        if (context)
            use_pems(k, &fresh, context);
        else
            warn_once(k, &why);
        good = context;
    }
    pems_free(&fresh);
    return good;
}

static bool has_files(const struct tls_reloader *k)
{
    return k->config->ca_file || k->config->cert_file || k->config->key_file;
}

static void check_files(struct tls_reloader *k)
{
    bool good = reload_files(k);
    k->checked_ms = clock_now_ms(k->clock);
    k->warned = k->warned && !good;
    timer_start(k->clock, &k->check, good ? TLS_RELOADER_CHECK_MS : TLS_RELOADER_RETRY_MS);
}

static void tls_reloader_on_check(struct timer *timer)
{
    check_files(container_of(timer, struct tls_reloader, check));
}

void tls_reloader_check(struct tls_reloader *k)
{
    if (has_files(k))
        check_files(k);
}

static struct stream *tls_reloader_dial(struct dialer *dialer, const char *host, uint16_t port,
                                        struct stream_user *user)
{
    struct tls_reloader *k = container_of(dialer, struct tls_reloader, dialer);
    if (has_files(k) && clock_now_ms(k->clock) - k->checked_ms >= TLS_RELOADER_DIAL_CHECK_MS)
        check_files(k);
    return dialer_dial(&k->tls.dialer, host, port, user);
}

/* ---- life ---- */

int tls_reloader_open(struct tls_reloader *k, struct kubeconfig *config, struct log *log,
                      struct inf_error *err)
{
    char *owner;
    *k = (struct tls_reloader){.config = config, .log = log};
    k->dialer.dial = tls_reloader_dial;
    k->check.fire = tls_reloader_on_check;
    k->cut.fire = tls_reloader_on_cut;
    k->context = make_tls_context(k, &(struct pems){0}, NULL, NULL, err);
    if (k->context)
        return 0;
    owner = describe_config(config);
    err_wrap(err, "%s", owner);
    free(owner);
    return -err->code;
}

void tls_reloader_start(struct tls_reloader *k, struct clock *clock, struct dialer *lower)
{
    k->clock = clock;
    k->checked_ms = clock_now_ms(clock);
    tls_dialer_init(&k->tls, lower, clock, k->context, k->config->tls_server_name);
    if (has_files(k))
        timer_start(clock, &k->check, TLS_RELOADER_CHECK_MS);
}

int tls_reloader_present(struct tls_reloader *k, const char *cert_pem, const char *key_pem,
                         struct inf_error *err)
{
    struct tls_context *context;
    if (cstr_eq(cert_pem, k->cert_pem) && cstr_eq(key_pem, k->key_pem))
        return 0;
    context = make_tls_context(k, &(struct pems){0}, cert_pem, key_pem, err);
    if (!context)
        return -err->code;
    free(k->cert_pem);
    secret_free(k->key_pem);
    k->cert_pem = cert_pem ? xstrdup(cert_pem) : NULL;
    k->key_pem = key_pem ? xstrdup(key_pem) : NULL;
    use_tls_context(k, context);
    timer_start(k->clock, &k->cut, 0);
    return 0;
}

void tls_reloader_stop(struct tls_reloader *k)
{
    timer_stop(k->clock, &k->check);
    timer_stop(k->clock, &k->cut);
}

void tls_reloader_close(struct tls_reloader *k)
{
    tls_context_unref(k->context);
    free(k->cert_pem);
    secret_free(k->key_pem);
    *k = (struct tls_reloader){0};
}
