/*
 * api_passthrough.c - responds with documents of the API server. See api_passthrough.h.
 *
 * Normal path: the document is kept and fresh, or has the requested hash. Otherwise the call waits until it
 * was read. A request for another hash than the current one is redirected, as by kube-apiserver.
 */
#include "daemon/api/api_passthrough.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/api/api_document.h"
#include "daemon/api/api_send.h"
#include "daemon/api/api_view.h"
#include "daemon/daemon.h"

enum {
    WAIT_MS = 10 * 1000, /* for the API server: then the last text, or 504 */
};

static const char json_type[] = "application/json";

/* ---- failures ---- */

static int code_of(const struct inf_error *error)
{
    static const struct {
        int error, code;
    } codes[] = {{INF_ENOTFOUND, 404}, {INF_EFORBIDDEN, 403}, {INF_ETIMEOUT, 504}};
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (codes[i].error == error->code)
            return codes[i].code;
    return 503;
}

static void reply_failure(const struct api_document *doc, struct http_exchange *x)
{
    struct api_fault fault = {.code = 0};
    if (!doc) {
        fault.retry_after = 1;
        api_fault_set(&fault, 429, "too many documents are being read from the API server");
    } else if (doc->error.code && !doc->reading) {
        api_fault_set(&fault, code_of(&doc->error), "the API server: %s", doc->error.text);
    } else {
        api_fault_set(&fault, 504, "the API server did not send %s within %d seconds", doc->path,
                      WAIT_MS / 1000);
    }
    api_fault_reply(&fault, x);
}

/* ---- texts ---- */

/* In a list of documents, their addresses are those of the local API. */
static void put_prefixed(struct buf *out, const struct api_text *text, const char *cluster)
{
    static const char key[] = "\"serverRelativeURL\":\"";
    const char *at = text->bytes, *end = text->bytes + text->len, *found;
    while ((found = memmem(at, (size_t)(end - at), key, strlen(key)))) {
        found += strlen(key);
        buf_put(out, at, (size_t)(found - at));
        buf_printf(out, "/clusters/%s", cluster);
        at = found;
    }
    buf_put(out, at, (size_t)(end - at));
}

static bool has_tag(const struct http_server_request *request, const char *tag)
{
    const char *known = http_server_request_get(request, "If-None-Match");
    return known && strstr(known, tag);
}

static void redirect(const struct api_call *call, const struct api_request *r, const char *hash)
{
    char *location = xasprintf("%s%s%s?hash=%s", r->cluster ? "/clusters/" : "",
                               r->cluster ? r->cluster : "", r->document, hash);
    http_exchange_header(call->x, "Location", location);
    http_exchange_reply(call->x, 301, json_type, "", 0);
    free(location);
}

static void reply_text(const struct api_call *call, const struct api_request *r,
                       const struct api_document *doc)
{
    const struct api_text *text = doc->text;
    bool is_root = strcmp(r->document, "/openapi/v3") == 0;
    struct buf body = {0};
    char tag[TLS_HASH_SIZE + 2];
    if (r->hash && strcmp(r->hash, text->hash) != 0) {
        redirect(call, r, text->hash);
        return;
    }
    (void)snprintf(tag, sizeof(tag), "\"%s\"", text->hash);
    http_exchange_header(call->x, "ETag", tag);
    http_exchange_header(call->x, "Cache-Control",
                         r->hash ? "private, max-age=31536000, immutable" : "private, no-cache");
    if (doc->error.code || doc->reading)
        http_exchange_header(
            call->x, "Warning",
            "299 - \"informerd: this document may be outdated: the API server does "
            "not respond\"");
    if (has_tag(call->request, tag)) {
        http_exchange_reply(call->x, 304, json_type, "", 0);
        return;
    }
    if (r->cluster && is_root)
        put_prefixed(&body, text, r->cluster);
    else
        buf_put(&body, text->bytes, text->len);
    api_send(call->api, call->x, &body, r->gzip);
}

/* ---- the call ---- */

static bool is_usable(const struct api_document *doc, const struct api_request *r)
{
    return api_document_is_fresh(doc) ||
           (doc->text && r->hash && strcmp(r->hash, doc->text->hash) == 0);
}

static void respond(const struct api_call *call, const struct api_request *r,
                    const struct cluster *cluster)
{
    struct api_document *doc = api_document_get(call->api, cluster, r->document);
    if (doc && !call->waited && !is_usable(doc, r)) {
        api_document_read(doc, cluster);
        if (doc->reading) {
            api_park(call, &doc->waiters, WAIT_MS);
            return;
        }
    }
    if (doc && doc->text)
        reply_text(call, r, doc);
    else
        reply_failure(doc, call->x);
}

void api_passthrough_go(const struct api_call *call, struct api_request *r)
{
    struct api_fault fault = {.code = 0};
    const struct cluster *cluster = api_cluster_of(call->api->d, r, &fault);
    if (cluster)
        respond(call, r, cluster);
    else
        api_fault_reply(&fault, call->x);
    api_request_free(r);
}
