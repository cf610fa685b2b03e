/*
 * api_request.h - a request to the local API: its path, its query and its Accept header.
 *
 *     /api  /apis  /apis/GROUP                                   discovery
 *     /api/v1   /apis/GROUP/VERSION                              the resources of a version
 *     /api/v1/pods?watch=true                                    objects of all namespaces
 *     /apis/apps/v1/namespaces/NS/deployments/NAME               one object
 *     /version  /openapi/v3  /openapi/v3/apis/GROUP/VERSION      documents of the API server
 *
 * Each may begin with /clusters/NAME. What a request says is checked here; whether the object exists
 * and may be read, elsewhere.
 */
#ifndef DAEMON_API_REQUEST_H
#define DAEMON_API_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/selector.h"

#include "daemon/api/api_status.h"
#include "wire/http/http_server.h"

enum {
    API_TIMEOUT_MAX_S = 24 * 3600, /* LIMIT: of timeoutSeconds; larger values are reduced */
};

enum api_page {
    API_CORE,      /* /api */
    API_GROUPS,    /* /apis */
    API_GROUP,     /* /apis/GROUP */
    API_RESOURCES, /* of one group and version */
    API_GET,
    API_LIST,
    API_WATCH,
    API_DOCUMENT, /* passed through from the API server */
    API_UNKNOWN,
};

/* In which form objects are sent. */
enum api_form {
    API_FULL,
    API_METADATA, /* PartialObjectMetadata */
    API_TABLE_NONE,
    API_TABLE_METADATA,
    API_TABLE_OBJECT,
    API_FORMS,
};

/* The form of discovery documents. */
enum api_aggregation {
    API_LEGACY,
    API_AGGREGATED_V2,
    API_AGGREGATED_V2BETA1,
};

enum api_match {
    API_MATCH_NONE,
    API_MATCH_EXACT,
    API_MATCH_NOT_OLDER,
};

/* Strings are owned; NULL: not given. */
struct api_request {
    enum api_page page;
    char *cluster;
    char *group; /* "": the core group */
    char *version;
    char *resource;
    char *ns;
    char *name;
    char *document; /* its path at the API server */
    char *hash;     /* of the document that the client wants */
    enum api_form form;
    enum api_aggregation aggregation;

    struct inf_selector *labels; /* NULL: any */
    struct inf_selector *fields;
    char *resource_version; /* NULL: none, or "0" */
    enum api_match match;
    bool any_version; /* resourceVersion is "0" */
    bool has_limit;
    bool initial;    /* watch: begin with the objects that exist */
    bool watch_list; /* and mark the end of them with a bookmark */
    bool bookmarks;
    uint64_t timeout_s; /* 0: not given */
    bool gzip;          /* the response may be compressed; set by the caller */
};

/* Reads @http. Returns 0, or -1 with @fault, whose details point into @r. Free @r in both cases. */
int api_request_read(struct api_request *r, const struct http_server_request *http,
                     struct api_fault *fault);
void api_request_free(struct api_request *r);

#endif
