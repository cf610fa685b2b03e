/*
 * tls_reloader.h - the TLS context of a cluster, reloaded when its files change.
 *
 *     tls_reloader_open(&k, &config, log, err);
 *     tls_reloader_start(&k, clock, lower);
 *     pool = http_pool_new(clock, &k.dialer, ...);
 *     k.pool = pool;
 *
 * Certificate, key and authorities that the kubeconfig takes from files are checked before a
 * connection is dialled (at most once a second) and every five minutes. Changes apply to new
 * connections; idle ones are closed. A new client certificate also ends connections in use, because
 * they are authenticated with the old one; new authorities do not. Files that can't be used change
 * nothing: one warning is logged, and they are checked again after 10 seconds.
 */
#ifndef KUBE_AUTH_TLS_RELOADER_H
#define KUBE_AUTH_TLS_RELOADER_H

#include <stdbool.h>

#include "informer/error.h"

#include "base/log.h"
#include "kube/config/kubeconfig.h"
#include "seam/clock.h"
#include "seam/stream.h"
#include "wire/http/http_pool.h"
#include "wire/tls/tls.h"

enum {
    TLS_RELOADER_DIAL_CHECK_MS = 1000,  /* minimum between two checks when dialling */
    TLS_RELOADER_RETRY_MS = 10 * 1000,  /* after files that could not be used */
    TLS_RELOADER_CHECK_MS = 300 * 1000, /* otherwise */
};

/* Embedded in its owner. Only `dialer` and `pool` are public. */
struct tls_reloader {
    struct dialer dialer;   /* dials with the current context */
    struct http_pool *pool; /* uses `dialer`; its connections are closed on changes; set by owner */

    struct kubeconfig *config;
    struct log *log;
    struct clock *clock;
    struct tls_context *context;
    struct tls_dialer tls;
    char *cert_pem, *key_pem; /* set by tls_reloader_present(), override the kubeconfig's */
    struct timer check, cut;
    uint64_t checked_ms;
    bool warned; /* since the files were last usable */
};

/* Creates the first context. @config (whose PEM texts are updated on a reload) and @log (may be
 * NULL) are borrowed. Returns 0, or -INF_ECONF; then there is nothing to close. */
int tls_reloader_open(struct tls_reloader *k, struct kubeconfig *config, struct log *log,
                      struct inf_error *err);

void tls_reloader_start(struct tls_reloader *k, struct clock *clock, struct dialer *lower);

/* Presents this certificate from now on; copied. NULL: that of the kubeconfig, if any. Returns 0,
 * or -INF_ECONF, and then nothing has changed. */
int tls_reloader_present(struct tls_reloader *k, const char *cert_pem, const char *key_pem,
                         struct inf_error *err);

/* Checks the files now, if there are any. */
void tls_reloader_check(struct tls_reloader *k);

/* Stops the timers. Call before the clock is freed. */
void tls_reloader_stop(struct tls_reloader *k);

/* Call when all its streams are closed. */
void tls_reloader_close(struct tls_reloader *k);

#endif
