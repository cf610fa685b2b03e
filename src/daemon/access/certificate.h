/*
 * certificate.h - the certificate of api.listen, from an authority in the state directory.
 *
 *     api-ca.crt   certificate of the authority, which kubeconfigs contain
 *     api-ca.key   its key; readable only by the owner
 *
 * The authority is made once, and renewed with its key at a start or reload after half of its ten years.
 * The key of the server is made at each start and is never written to disk.
 */
#ifndef DAEMON_API_CERTIFICATE_H
#define DAEMON_API_CERTIFICATE_H

#include <stdint.h>

#include "informer/error.h"

#include "daemon/conf/conf.h"
#include "wire/tls/tls_authority.h"
#include "wire/tls/tls_context.h"

/* A zeroed one is none. */
struct api_certificate {
    struct tls_pair authority;
    struct tls_context *context; /* for tls_accept() */
    char **names;
    size_t n_names;
    int64_t renew_us; /* when to call api_certificate_renew() */
};

/* Reads or makes the authority in @dir, and a server certificate for localhost, the address of
 * api.listen and the names of http.allowed_hosts. Blocks. Every error names the file and the remedy. */
int api_certificate_open(const char *dir, const struct conf *conf, int64_t now_us,
                         struct api_certificate *ret, struct inf_error *err);

/* Makes a new server certificate. On failure the previous one stays in use. Does not block. */
int api_certificate_renew(struct api_certificate *certificate, int64_t now_us,
                          struct inf_error *err);

void api_certificate_close(struct api_certificate *certificate);

#endif
