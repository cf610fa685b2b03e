/*
 * nats_texts.h - the credentials of a NATS sink and its TLS context, from the files that are configured.
 *
 * They are read before each connection, so that a renewed file is used without a reload. Errors name the option and the
 * file, never its contents.
 */
#ifndef DAEMON_NATS_NATS_TEXTS_H
#define DAEMON_NATS_NATS_TEXTS_H

#include "base/scrubber.h"
#include "daemon/conf/conf.h"
#include "wire/nats/nats_credentials.h"
#include "wire/tls/tls_context.h"

enum {
    NATS_FILE_MAX = 64 * 1024,      /* LIMIT: bytes of a file */
    NATS_CA_FILE_MAX = 1024 * 1024, /* LIMIT: of certificate authorities */
};

/* Zeroed: nothing. */
struct nats_texts {
    struct nats_credentials credentials;
    struct scrubber scrubber;    /* of text of the server */
    struct tls_context *context; /* NULL: without TLS */
};

/* Whether the options fit together. Returns 0, or -INF_ECONF with the remedy. */
int nats_conf_check(const struct conf_nats *conf, struct inf_error *err);

/* Copies of the options; freed with nats_conf_free(). */
void nats_conf_copy(const struct conf_nats *conf, struct conf_nats *ret);
void nats_conf_free(struct conf_nats *copy);
bool nats_conf_equal(const struct conf_nats *a, const struct conf_nats *b);

/* Returns 0, or a negative error; then @ret is empty. @tls: a context is needed. */
int nats_texts_read(const struct conf_nats *conf, bool tls, struct nats_texts *ret,
                    struct inf_error *err);

/* Overwrites the secrets. */
void nats_texts_free(struct nats_texts *t);

#endif
