/*
 * api_request.c - chooses the headers of a request and sends it. Can't fail: errors of the connection
 * are reported by its callbacks.
 */
#include "kube/source/api_request.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "wire/http/http_pool.h"

enum {
    OWN_HEADERS = 4, /* at most, in addition to those of the credentials */
};

struct headers {
    struct http_header *list;
    size_t count;
};

/* NULL: no such header. */
static void add_header(struct headers *headers, const char *name, const char *value)
{
    if (value)
        headers->list[headers->count++] = (struct http_header){name, value};
}

#define PARTIAL(kind)           \
    "application/json;as=" kind \
    ";g=meta.k8s.io;v=v1,application/json" /* or whole objects, if it can't */

static const char *accepted_types(const struct api_request *request)
{
    if (request->accept)
        return request->accept;
    if (!request->metadata_only)
        return "application/json";
    return request->want == SOURCE_LIST ? PARTIAL("PartialObjectMetadataList")
                                        : PARTIAL("PartialObjectMetadata");
}

struct http_call *api_request_send(const struct api_server *server,
                                   const struct api_request *request,
                                   const struct auth_headers *auth, struct http_user *user)
{
    /* no server compresses plain watches */
    bool gzip = request->want != SOURCE_WATCH && !server->no_compression;
    struct headers headers = {.list =
                                  xcalloc(OWN_HEADERS + auth->count, sizeof(struct http_header))};
    struct http_call *call;
    add_header(&headers, "Accept", accepted_types(request));
    add_header(&headers, "Accept-Encoding", gzip ? "gzip" : NULL);
    add_header(&headers, "User-Agent", server->user_agent);
    add_header(&headers, "Content-Type", request->posted ? "application/json" : NULL);
    for (size_t i = 0; i < auth->count; i++)
        add_header(&headers, auth->list[i].name, auth->list[i].value);
    call = http_pool_request(
        server->pool,
        &(struct http_request){
            .method = !request->posted  ? "GET"
                      : request->method ? request->method
                                        : "POST",
            .target = request->target,
            .host = server->host_header,
            .headers = headers.list,
            .n_headers = headers.count,
            .body = request->posted,
            .gather = request->want == SOURCE_WATCH || request->want == SOURCE_WATCH_LIST,
        },
        user);
    free(headers.list);
    return call;
}
