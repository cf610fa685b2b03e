/*
 * api_document.h - documents of the API servers that the local API passes on or needs: /version,
 * /openapi/v3 and below, definitions of custom resources.
 *
 *     doc = api_document_get(api, cluster, "/openapi/v3");       NULL: too many are being read
 *     if (!api_document_is_fresh(doc))
 *         api_document_read(doc, cluster);
 *     if (doc->reading)                                          park the call in doc->waiters
 *     doc->text, or doc->error
 *
 * A document is requested when a client needs it, and kept. When it can't be read again, the last text
 * remains.
 */
#ifndef DAEMON_API_DOCUMENT_H
#define DAEMON_API_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/access.h"

#include "base/list.h"
#include "wire/tls/tls_digest.h"

struct api;
struct cluster;

enum {
    API_DOCUMENTS_MAX = 128,                   /* LIMIT: documents that are kept */
    API_DOCUMENT_BYTES_MAX = 32 * 1024 * 1024, /* LIMIT: memory of their texts */
};

/* A text that is shared by the document and the responses in progress. */
struct api_text {
    unsigned refs;
    char hash[TLS_HASH_SIZE]; /* as kube-apiserver computes it */
    size_t len;
    char bytes[];
};

struct api_document {
    struct list node; /* in the documents of the API; the most recently used is the last one */
    struct api *api;
    char *cluster; /* its name */
    char *path;
    struct inf_request request;
    bool reading;
    bool closing;           /* to be freed when the request has ended */
    struct api_text *text;  /* NULL: it was never read */
    struct inf_error error; /* of the last request; code 0: none */
    uint64_t read_ms;       /* when the last request ended */
    struct list waiters;    /* see api_park.h */
};

/* The document at @path, perhaps not read yet; its least recently used neighbours make room. NULL: all of
 * them are in use. Valid until control returns to the loop, or while it is being read. */
struct api_document *api_document_get(struct api *api, const struct cluster *cluster,
                                      const char *path);

/* Whether it was requested so recently that it is not requested again. */
bool api_document_is_fresh(const struct api_document *doc);

/* Requests it, unless that is in progress. The waiters continue at the end. */
void api_document_read(struct api_document *doc, const struct cluster *cluster);

struct api_text *api_text_ref(struct api_text *text);
void api_text_unref(struct api_text *text); /* NULL is allowed */

void api_documents_close(struct api *api);

#endif
