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

static int read_one(const char *path, char **ret, struct inf_error *err)
{
    return path ? pem_file_read(path, ret, err) : 0;
}

static int pems_read(const struct kubeconfig *config, struct pems *ret, struct inf_error *err)
{
    *ret = (struct pems){0};
    if (read_one(config->ca_file, &ret->ca, err) == 0 &&
        read_one(config->cert_file, &ret->cert, err) == 0 &&
        read_one(config->key_file, &ret->key, err) == 0)
        return 0;
    pems_free(ret);
    return -err->code;
}

static bool differs(const char *fresh, const char *kept)
{
    return fresh && strcmp(fresh, kept) != 0;
}

/* ---- the context ---- */

/* tls_context_new() names the field; adds the file that it comes from. */
static void name_file(const struct kubeconfig *config, struct inf_error *err)
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

static struct tls_context *make_context(const struct tls_reloader *k, const struct pems *fresh,
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
        name_file(config, err);
    return context;
}

/* Takes ownership of @context. TLS sessions of the old context are not resumed. */
static void use_context(struct tls_reloader *k, struct tls_context *context)
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
    if (!k->complained)
        log_line(k->log, LOG_WARN, "%s: %s; keeping the previous certificates", owner, why->text);
    k->complained = true;
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
    bool new_cert = differs(fresh->cert, config->cert_pem) || differs(fresh->key, config->key_pem);
    char *owner = describe_config(config);
    log_line(k->log, LOG_INFO, "%s: new %s", owner,
             new_cert ? "client certificate" : "certificate authorities");
    free(owner);
    replace_pem(&config->ca_pem, &fresh->ca);
    replace_pem(&config->cert_pem, &fresh->cert);
    replace_pem(&config->key_pem, &fresh->key);
    use_context(k, context);
    if (new_cert && !k->cert_pem)
        timer_start(k->clock, &k->cut, 0); /* not at once: a caller may be dialling */
}

/* Uses the files if they have changed. Returns whether they are usable. */
static bool reload_files(struct tls_reloader *k)
{
    const struct kubeconfig *config = k->config;
    struct tls_context *context;
    struct inf_error why;
    struct pems fresh;
    bool good = true;
    if (pems_read(config, &fresh, &why) < 0) {
        warn_once(k, &why);
        return false;
    }
    if (differs(fresh.ca, config->ca_pem) || differs(fresh.cert, config->cert_pem) ||
        differs(fresh.key, config->key_pem)) {
        context = make_context(k, &fresh, k->cert_pem, k->key_pem, &why);
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
    k->looked_ms = clock_now_ms(k->clock);
    k->complained = k->complained && !good;
    timer_start(k->clock, &k->look, good ? TLS_RELOADER_EVERY_MS : TLS_RELOADER_AGAIN_MS);
}

static void tls_reloader_on_look(struct timer *timer)
{
    check_files(container_of(timer, struct tls_reloader, look));
}

void tls_reloader_look(struct tls_reloader *k)
{
    if (has_files(k))
        check_files(k);
}

static struct stream *tls_reloader_dial(struct dialer *dialer, const char *host, uint16_t port,
                                        struct stream_user *user)
{
    struct tls_reloader *k = container_of(dialer, struct tls_reloader, dialer);
    if (has_files(k) && clock_now_ms(k->clock) - k->looked_ms >= TLS_RELOADER_LOOK_MS)
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
    k->look.fire = tls_reloader_on_look;
    k->cut.fire = tls_reloader_on_cut;
    k->context = make_context(k, &(struct pems){0}, NULL, NULL, err);
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
    k->looked_ms = clock_now_ms(clock);
    tls_dialer_init(&k->tls, lower, clock, k->context, k->config->tls_server_name);
    if (has_files(k))
        timer_start(clock, &k->look, TLS_RELOADER_EVERY_MS);
}

static bool same_string(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

int tls_reloader_present(struct tls_reloader *k, const char *cert_pem, const char *key_pem,
                         struct inf_error *err)
{
    struct tls_context *context;
    if (same_string(cert_pem, k->cert_pem) && same_string(key_pem, k->key_pem))
        return 0;
    context = make_context(k, &(struct pems){0}, cert_pem, key_pem, err);
    if (!context)
        return -err->code;
    free(k->cert_pem);
    secret_free(k->key_pem);
    k->cert_pem = cert_pem ? xstrdup(cert_pem) : NULL;
    k->key_pem = key_pem ? xstrdup(key_pem) : NULL;
    use_context(k, context);
    timer_start(k->clock, &k->cut, 0);
    return 0;
}

void tls_reloader_stop(struct tls_reloader *k)
{
    timer_stop(k->clock, &k->look);
    timer_stop(k->clock, &k->cut);
}

void tls_reloader_close(struct tls_reloader *k)
{
    tls_context_unref(k->context);
    free(k->cert_pem);
    secret_free(k->key_pem);
    *k = (struct tls_reloader){0};
}
