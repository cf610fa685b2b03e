/*
 * api_request.h - the HTTP request to an API server for a list, a watch or a document.
 */
#ifndef KUBE_SOURCE_API_REQUEST_H
#define KUBE_SOURCE_API_REQUEST_H

#include "kube/source/api_source.h"
#include "wire/http/http_conn.h"

struct api_request {
    enum source_want want;
    bool metadata_only; /* no more than the metadata of objects is needed */
    const char *target; /* path and query */
    const char *posted; /* its body; NULL: none */
    const char *method; /* with a body; NULL: POST */
    const char *accept; /* of a document: see struct source_request; NULL: by `metadata_only` */
};

/* Sends it with the headers of @auth on a connection of the pool. Everything is copied. The caller
 * closes the call. */
struct http_call *api_request_send(const struct api_server *server,
                                   const struct api_request *request,
                                   const struct auth_headers *auth, struct http_user *user);

#endif
