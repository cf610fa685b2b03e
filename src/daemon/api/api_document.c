/*
 * api_document.c - requests documents of the API servers and keeps them. See api_document.h.
 *
 * At most one request for a document is in progress. Documents without a request in progress are dropped
 * at the limits, the least recently used first.
 */
#include "daemon/api/api_document.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/api/api.h"
#include "daemon/api/api_park.h"
#include "daemon/watch/cluster.h"

enum {
    FRESH_MS = 60 * 1000,
    FAILED_MS = 1000, /* between two requests if the last one failed */
};

/* ---- texts ---- */

static struct api_text *text_new(const char *bytes, size_t len)
{
    struct api_text *text = xmalloc(sizeof(*text) + len);
    *text = (struct api_text){.refs = 1, .len = len};
    tls_hash_sha512((struct str){bytes, len}, text->hash);
    memcpy(text->bytes, bytes, len);
    return text;
}

struct api_text *api_text_ref(struct api_text *text)
{
    text->refs++;
    return text;
}

void api_text_unref(struct api_text *text)
{
    if (text && --text->refs == 0)
        free(text);
}

/* ---- documents ---- */

static void document_free(struct api_document *doc)
{
    list_remove(&doc->node);
    api_text_unref(doc->text);
    free(doc->cluster);
    free(doc->path);
    free(doc);
}

static struct api_document *document_of_node(struct list *node)
{
    return container_of(node, struct api_document, node);
}

/* Drops documents that are not in use until the limits are met. Returns whether they are. */
static bool make_room(struct api *api, size_t count_max)
{
    size_t count = 0, bytes = 0;
    list_for_each(node, &api->documents) {
        const struct api_document *doc = document_of_node(node);
        count++;
        bytes += doc->text ? doc->text->len : 0;
    }
    list_for_each_safe(node, &api->documents) {
        struct api_document *doc = document_of_node(node);
        if (count <= count_max && bytes <= API_DOCUMENT_BYTES_MAX)
            break;
        if (doc->reading)
            continue;
        count--;
        bytes -= doc->text ? doc->text->len : 0;
        document_free(doc);
    }
    return count <= count_max;
}

struct api_document *api_document_get(struct api *api, const struct cluster *cluster,
                                      const char *path)
{
    struct api_document *doc;
    list_for_each(node, &api->documents) {
        doc = document_of_node(node);
        if (strcmp(doc->path, path) == 0 && strcmp(doc->cluster, cluster->conf->name) == 0) {
            list_remove(&doc->node);
            list_push(&api->documents, &doc->node);
            return doc;
        }
    }
    if (!make_room(api, API_DOCUMENTS_MAX - 1))
        return NULL;
    doc = NEW(struct api_document);
    doc->api = api;
    doc->cluster = xstrdup(cluster->conf->name);
    doc->path = xstrdup(path);
    list_init(&doc->waiters);
    list_push(&api->documents, &doc->node);
    return doc;
}

bool api_document_is_fresh(const struct api_document *doc)
{
    uint64_t age_ms = clock_now_ms(doc->api->clock) - doc->read_ms;
    return (doc->text || doc->error.code) && age_ms < (doc->error.code ? FAILED_MS : FRESH_MS);
}

static void document_on_end(struct inf_request *request, const char *json, size_t len,
                            const struct inf_error *err)
{
    struct api_document *doc = container_of(request, struct api_document, request);
    doc->reading = false;
    if (doc->closing) {
        document_free(doc);
        return;
    }
    doc->error = err ? *err : (struct inf_error){.code = 0};
    doc->read_ms = clock_now_ms(doc->api->clock);
    if (json) {
        api_text_unref(doc->text);
        doc->text = text_new(json, len);
    }
    api_unpark_all(&doc->waiters);
    doc->reading = true; /* it is in use */
    make_room(doc->api, API_DOCUMENTS_MAX);
    doc->reading = false;
}

void api_document_read(struct api_document *doc, const struct cluster *cluster)
{
    if (!doc->reading &&
        inf_document_request(cluster->client, &doc->request, doc->path, NULL, document_on_end) == 0)
        doc->reading = true;
}

void api_documents_close(struct api *api)
{
    list_for_each_safe(node, &api->documents) {
        struct api_document *doc = document_of_node(node);
        if (!doc->reading) {
            document_free(doc);
            continue;
        }
        list_remove(&doc->node);
        doc->closing = true;
        inf_request_cancel(&doc->request);
    }
}
