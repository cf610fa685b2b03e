/*
 * tls_reloader.h - a cluster's TLS, as new as the files it is made of.
 *
 *     tls_reloader_open(&k, &config, log, err);
 *     tls_reloader_start(&k, clock, lower);
 *     pool = http_pool_new(clock, &k.dialer, ...);
 *     k.pool = pool;
 *
 * Certificate, key and authorities that the kubeconfig takes from files are looked at before a
 * connection is dialled (at most once a second) and every five minutes. What is new holds for new
 * connections; idle ones are closed. A new certificate of ours ends the ones in use too, for the
 * server knows us by the old one there; new authorities don't. Files that can't be used change
 * nothing: that is said once, and they are looked at again soon.
 */
#ifndef KUBE_AUTH_TLS_RELOADER_H
#define KUBE_AUTH_TLS_RELOADER_H

#include <stdbool.h>

#include "informer/error.h"

#include "base/log.h"
#include "kube/config/kubeconfig.h"
#include "seam/clock.h"
#include "seam/stream.h"
#include "wire/http_pool.h"
#include "wire/tls.h"

enum {
    TLS_KEEPER_LOOK_MS = 1000,       /* not more often, however many are dialled */
    TLS_KEEPER_AGAIN_MS = 10 * 1000, /* after files that could not be used */
    TLS_KEEPER_EVERY_MS = 300 * 1000,
};

/* Embed; not to be looked into, but for `dialer` and `pool`. */
struct tls_reloader {
    struct dialer dialer;   /* dials with what is new */
    struct http_pool *pool; /* whose connections are opened with it; set by the owner */

    struct kubeconfig *config;
    struct log *log;
    struct clock *clock;
    struct tls_context *context;
    struct tls_dialer tls;
    char *cert_pem, *key_pem; /* given by tls_reloader_present(), instead of the kubeconfig's */
    struct timer look, cut;
    uint64_t looked_ms;
    bool complained;
};

/* Makes the first context. @config (whose PEM texts it renews) and @log (may be NULL) are borrowed.
 * Returns 0, or -INF_ECONF; then there is nothing to close. */
int tls_reloader_open(struct tls_reloader *k, struct kubeconfig *config, struct log *log,
                      struct inf_error *err);

void tls_reloader_start(struct tls_reloader *k, struct clock *clock, struct dialer *lower);

/* Shows this certificate from now on; copied. NULL: the kubeconfig's, if it has one. Returns 0, or
 * -INF_ECONF, and then nothing has changed. */
int tls_reloader_present(struct tls_reloader *k, const char *cert_pem, const char *key_pem,
                         struct inf_error *err);

/* Looks at its files now, if it has any. */
void tls_reloader_look(struct tls_reloader *k);

/* Looks at nothing any more. Before the clock goes. */
void tls_reloader_stop(struct tls_reloader *k);

/* When no stream of it is left. */
void tls_reloader_close(struct tls_reloader *k);

#endif
