/*
 * webhook_endpoint.c - parses the URL, makes the TLS contexts, chooses the proxy and stacks the dialers.
 *
 * All errors of the configuration are found by webhook_endpoint_open(); errors of a connection are reported
 * by the callbacks of a call.
 */
#include "daemon/handler/webhook_endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "informer/informer.h"

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/proxy/proxy_url.h"
#include "wire/tls/tls.h"
#include "wire/tls/tls_digest.h"

enum {
    OWN_HEADERS = 4, /* User-Agent, Content-Type, Idempotency-Key, Informerd-Signature */
};

struct webhook_endpoint {
    struct handler_host *host;
    struct clock *clock;
    size_t refs;
    struct deferred_free deferred_free;
    struct http_url url;
    struct proxy proxy; /* without a host: none */
    struct tls_context *context, *proxy_context;
    struct dialer *tcp; /* its own, so that its name lookups wait for no other server */
    struct tls_dialer tls, proxy_tls;
    struct proxy_dialer proxy_dialer;
    struct http_pool *pool;
    struct http_header headers[WEBHOOK_HEADERS_MAX + WEBHOOK_HEADER_FILES_MAX]; /* owned */
    size_t n_headers;
    char *user_agent;
    char *signature_key; /* NULL: not signed */
    struct scrubber scrubber;
};

/* ---- what it is made of ---- */

static int parse_url(struct webhook_endpoint *e, const struct conf_webhook *conf,
                     const struct webhook_texts *texts, struct inf_error *err)
{
    const char *option = conf->url_file ? "url_file" : "url";
    if (http_url_parse(conf->url_file ? texts->url : conf->url, &e->url, err) < 0)
        return err_wrap(err, "%s", option);
    if (conf->header_files.count && !e->url.https && !http_url_is_local(&e->url))
        return err_set(err, INF_ECONF,
                       "%s: headers from files are sent only over https, or to this machine",
                       option);
    if (conf->url_file)
        scrubber_add(&e->scrubber, SCRUBBER_SERVER, e->url.target);
    return 0;
}

/* As for clusters: the option, or else the environment. */
static int choose_proxy(struct webhook_endpoint *e, const char *option, struct inf_error *err)
{
    int rc = 0;
    if (option && strcmp(option, "none") == 0)
        return 0;
    if (option && strcmp(option, "env") != 0)
        rc = proxy_url_parse(option, &e->proxy, err) < 0 ? err_wrap(err, "proxy") : 0;
    else
        rc = proxy_from_env(e->url.https, e->url.host, e->url.port, &e->proxy, err);
    if (rc == 0)
        proxy_hide_login(&e->proxy, &e->scrubber);
    return rc;
}

static bool has_https_proxy(const struct webhook_endpoint *e)
{
    return e->proxy.host && e->proxy.kind == PROXY_HTTPS;
}

/* Our certificate is not sent to the proxy. */
static int make_contexts(struct webhook_endpoint *e, const struct webhook_texts *texts,
                         struct inf_error *err)
{
    if (e->url.https) {
        e->context = tls_context_new(&(struct tls_settings){.ca_pem = texts->ca,
                                                            .cert_pem = texts->cert,
                                                            .key_pem = texts->key},
                                     err);
        if (!e->context)
            return -err->code;
    }
    if (has_https_proxy(e)) {
        e->proxy_context = tls_context_new(&(struct tls_settings){.ca_pem = texts->ca}, err);
        if (!e->proxy_context)
            return err_wrap(err, "proxy");
    }
    return 0;
}

static int add_header(struct webhook_endpoint *e, const char *option, const char *name,
                      const char *value, struct inf_error *err)
{
    if (str_has_control(str_of(value)))
        return err_set(err, INF_ECONF, "%s: the value of header '%s' has control characters",
                       option, name);
    e->headers[e->n_headers++] = (struct http_header){xstrdup(name), xstrdup(value)};
    return 0;
}

static int add_headers(struct webhook_endpoint *e, const struct conf_webhook *conf,
                       const struct webhook_texts *texts, struct inf_error *err)
{
    for (size_t i = 0; i < conf->headers.count; i++)
        if (add_header(e, "headers", conf->headers.items[i].name, conf->headers.items[i].path,
                       err) < 0)
            return -err->code;
    for (size_t i = 0; i < conf->header_files.count; i++) {
        if (add_header(e, "header_files", conf->header_files.items[i].name, texts->headers[i],
                       err) < 0)
            return -err->code;
        scrubber_add(&e->scrubber, SCRUBBER_SERVER, texts->headers[i]);
    }
    return 0;
}

static struct dialer *stack_dialers(struct webhook_endpoint *e)
{
    struct dialer *way = e->tcp;
    if (has_https_proxy(e)) {
        tls_dialer_init(&e->proxy_tls, way, e->clock, e->proxy_context, NULL);
        way = &e->proxy_tls.dialer;
    }
    if (e->proxy.host) {
        proxy_dialer_init(&e->proxy_dialer, way, e->clock, &e->proxy);
        way = &e->proxy_dialer.dialer;
    }
    if (e->url.https) {
        tls_dialer_init(&e->tls, way, e->clock, e->context, NULL);
        way = &e->tls.dialer;
    }
    return way;
}

/* ---- life ---- */

static void free_endpoint(struct webhook_endpoint *e)
{
    if (e->tcp)
        e->host->close_dialer(e->tcp);
    tls_context_unref(e->context);
    tls_context_unref(e->proxy_context);
    proxy_free(&e->proxy);
    http_url_free(&e->url);
    for (size_t i = 0; i < e->n_headers; i++) {
        free((char *)(uintptr_t)e->headers[i].name);
        secret_free((char *)(uintptr_t)e->headers[i].value);
    }
    free(e->user_agent);
    secret_free(e->signature_key);
    scrubber_free(&e->scrubber);
    free(e);
}

struct webhook_endpoint *webhook_endpoint_open(struct handler_host *host,
                                               const struct conf_webhook *conf, uint64_t timeout_ms,
                                               const struct webhook_texts *texts,
                                               struct inf_error *err)
{
    struct webhook_endpoint *e = NEW(struct webhook_endpoint);
    struct http_limits limits = {.open_timeout_ms = timeout_ms, .head_timeout_ms = timeout_ms};
    e->host = host;
    e->clock = host->clock;
    e->refs = 1;
    if (parse_url(e, conf, texts, err) < 0 || choose_proxy(e, conf->proxy, err) < 0 ||
        make_contexts(e, texts, err) < 0 || add_headers(e, conf, texts, err) < 0) {
        free_endpoint(e);
        return NULL;
    }
    e->user_agent = xasprintf("informerd/%s", inf_version());
    e->signature_key = xstrdup_or_null(texts->signature_key);
    e->tcp = host->open_dialer(host);
    e->pool = http_pool_new(e->clock, stack_dialers(e), e->url.host, e->url.port, &limits);
    return e;
}

struct webhook_endpoint *webhook_endpoint_ref(struct webhook_endpoint *endpoint)
{
    endpoint->refs++;
    return endpoint;
}

static void free_deferred(struct deferred_free *deferred_free)
{
    free_endpoint(container_of(deferred_free, struct webhook_endpoint, deferred_free));
}

/* The streams are freed in the reap phase, before the dialers and contexts. */
void webhook_endpoint_unref(struct webhook_endpoint *endpoint)
{
    if (!endpoint || --endpoint->refs)
        return;
    http_pool_free(endpoint->pool);
    clock_free_later(endpoint->clock, &endpoint->deferred_free, free_deferred);
}

/* ---- requests ---- */

/* "sha256=5bdc..." */
static char *make_signature(const struct webhook_endpoint *e, const struct webhook_request *request)
{
    unsigned char digest[TLS_DIGEST_BYTES];
    struct buf text = {0};
    tls_digest_sign(str_of(e->signature_key), (struct str){request->body, request->body_len},
                    digest);
    buf_puts(&text, "sha256=");
    for (size_t i = 0; i < sizeof(digest); i++)
        buf_printf(&text, "%02x", digest[i]);
    buf_putc(&text, '\0');
    return text.bytes;
}

struct http_call *webhook_endpoint_post(struct webhook_endpoint *endpoint,
                                        const struct webhook_request *request,
                                        struct http_user *user)
{
    struct http_header headers[ARRAY_LEN(endpoint->headers) + OWN_HEADERS];
    char *signature = endpoint->signature_key ? make_signature(endpoint, request) : NULL;
    size_t n = 0;
    struct http_call *call;
    headers[n++] = (struct http_header){"User-Agent", endpoint->user_agent};
    headers[n++] = (struct http_header){"Content-Type", request->content_type};
    headers[n++] = (struct http_header){"Idempotency-Key", request->idempotency_key};
    if (signature)
        headers[n++] = (struct http_header){"Informerd-Signature", signature};
    for (size_t i = 0; i < endpoint->n_headers; i++)
        headers[n++] = endpoint->headers[i];
    call = http_pool_request(endpoint->pool,
                             &(struct http_request){
                                 .method = "POST",
                                 .target = endpoint->url.target,
                                 .host = endpoint->url.host_header,
                                 .headers = headers,
                                 .n_headers = n,
                                 .body = request->body,
                             },
                             user);
    free(signature);
    return call;
}

const struct scrubber *webhook_endpoint_scrubber(const struct webhook_endpoint *endpoint)
{
    return &endpoint->scrubber;
}
