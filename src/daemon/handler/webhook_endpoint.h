/*
 * webhook_endpoint.h - where webhook requests go: the URL, its proxy, TLS, headers and the key of
 * signatures, and the connections to it.
 *
 *     texts = contents of the configured files                    webhook_files.c
 *     endpoint = webhook_endpoint_open(clock, tcp, &settings, texts, err)
 *     call = webhook_endpoint_post(endpoint, &request, user)
 *
 * An endpoint does not change. If a file or the conf changes, another one replaces it, and requests in
 * progress keep a reference to theirs.
 *
 *      wire/tls            to the server
 *      [wire/proxy         requests a connection from the proxy
 *      [wire/tls]]         to an https proxy
 *      loop/tcp
 */
#ifndef DAEMON_HANDLER_WEBHOOK_ENDPOINT_H
#define DAEMON_HANDLER_WEBHOOK_ENDPOINT_H

#include "base/scrubber.h"
#include "daemon/conf/conf.h"
#include "daemon/handler/handler.h"
#include "daemon/handler/webhook_files.h"
#include "wire/http/http_pool.h"
#include "wire/http/http_url.h"

struct webhook_endpoint;

struct webhook_request {
    const char *content_type;
    const char *idempotency_key;
    const char *body; /* ends with a NUL */
    size_t body_len;
};

/* Makes an endpoint with one reference. @host must outlive it; the others are copied. Returns NULL, with @err
 * naming the option, if a text can't be used. */
struct webhook_endpoint *webhook_endpoint_open(struct handler_host *host,
                                               const struct conf_webhook *conf, uint64_t timeout_ms,
                                               const struct webhook_texts *texts,
                                               struct inf_error *err);

struct webhook_endpoint *webhook_endpoint_ref(struct webhook_endpoint *endpoint);

/* The last one closes the connections; all calls must be closed. NULL is allowed. */
void webhook_endpoint_unref(struct webhook_endpoint *endpoint);

/* Sends a request; as http_pool_request(). */
struct http_call *webhook_endpoint_post(struct webhook_endpoint *endpoint,
                                        const struct webhook_request *request,
                                        struct http_user *user);

/* Removes credentials from text of the server. */
const struct scrubber *webhook_endpoint_scrubber(const struct webhook_endpoint *endpoint);

#endif
