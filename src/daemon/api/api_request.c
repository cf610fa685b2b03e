/*
 * api_request.c - reads requests: see api_request.h.
 *
 * Normal path: the path selects the page, the Accept header the form, the query the objects. Refused,
 * each with a Status: impersonation, subresources, forms that we do not have, selectors that can't be
 * parsed, and combinations of versions that kube-apiserver refuses too.
 */
#include "daemon/api/api_request.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/str.h"
#include "daemon/api/api_accept.h"
#include "wire/http/http_target.h"

enum {
    SEGMENTS_MAX = 12, /* LIMIT: parts of a path that are distinguished; more are unknown */
};

void api_request_free(struct api_request *r)
{
    free(r->cluster);
    free(r->group);
    free(r->version);
    free(r->resource);
    free(r->ns);
    free(r->name);
    free(r->document);
    free(r->hash);
    free(r->resource_version);
    inf_selector_free(r->labels);
    inf_selector_free(r->fields);
    *r = (struct api_request){.page = API_UNKNOWN};
}

/* ---- path ---- */

struct segments {
    struct str items[SEGMENTS_MAX];
    size_t count;
    size_t at;
};

static bool split_path(const char *path, struct segments *s)
{
    *s = (struct segments){.count = 0};
    while (*path) {
        size_t len;
        path += strspn(path, "/");
        len = strcspn(path, "/");
        if (!len)
            break;
        if (s->count == SEGMENTS_MAX)
            return false;
        s->items[s->count++] = (struct str){path, len};
        path += len;
    }
    return true;
}

static bool next_is(const struct segments *s, const char *text)
{
    return s->at < s->count && str_eq(s->items[s->at], str_of(text));
}

static char *take_segment(struct segments *s)
{
    struct str one = s->items[s->at++];
    return xstrndup(one.at, one.len);
}

static size_t left(const struct segments *s)
{
    return s->count - s->at;
}

/* After the version: [namespaces/NS/]RESOURCE[/NAME[/SUBRESOURCE]]. A namespace itself is an object
 * of the resource "namespaces". */
static int read_objects_path(struct api_request *r, struct segments *s, struct api_fault *fault)
{
    bool is_core = !*r->group;
    if (next_is(s, "namespaces") && left(s) >= 3 &&
        !(is_core && left(s) == 3 &&
          (str_eq(s->items[s->at + 2], STR("status")) ||
           str_eq(s->items[s->at + 2], STR("finalize"))))) {
        s->at++;
        r->ns = take_segment(s);
    }
    r->resource = take_segment(s);
    r->page = API_LIST;
    if (!left(s))
        return 0;
    r->name = take_segment(s);
    r->page = API_GET;
    if (!left(s))
        return 0;
    fault->group = r->group;
    fault->resource = r->resource;
    return api_fault_set(fault, 405,
                         "%s/%.*s is not supported: informerd serves a read-only copy of objects, "
                         "without subresources; use the API server itself",
                         r->resource, STR_FMT(s->items[s->at]));
}

/* Whether @part can be a part of the path of a document: a group, a version, a name. */
static bool is_document_part(struct str part)
{
    for (size_t i = 0; i < part.len; i++)
        if (!isalnum((unsigned char)part.at[i]) && !strchr("-._", part.at[i]))
            return false;
    return !str_eq(part, STR(".")) && !str_eq(part, STR(".."));
}

/* /openapi/v3 and below. The old format /openapi/v2 is not served: its only clients request it as protobuf,
 * which is not available. */
static void read_openapi_path(struct api_request *r, struct segments *s)
{
    struct buf path = {0};
    bool valid = left(s) >= 2 && str_eq(s->items[s->at + 1], STR("v3"));
    for (; s->at < s->count; s->at++) {
        valid = valid && is_document_part(s->items[s->at]);
        buf_printf(&path, "/%.*s", STR_FMT(s->items[s->at]));
    }
    buf_putc(&path, '\0');
    if (valid) {
        r->page = API_DOCUMENT;
        r->document = path.bytes;
        return;
    }
    buf_free(&path);
}

static int read_path(struct api_request *r, const char *path, struct api_fault *fault)
{
    struct segments s;
    r->page = API_UNKNOWN;
    if (!split_path(path, &s))
        return 0;
    if (next_is(&s, "clusters") && left(&s) >= 2) {
        s.at++;
        r->cluster = take_segment(&s);
    }
    if (next_is(&s, "version") && left(&s) == 1) {
        r->page = API_DOCUMENT;
        r->document = xstrdup("/version");
    } else if (next_is(&s, "openapi")) {
        read_openapi_path(r, &s);
    } else if (next_is(&s, "api")) {
        s.at++;
        r->page = API_CORE;
        if (!left(&s))
            return 0;
        r->group = xstrdup("");
        r->version = take_segment(&s);
        r->page = API_RESOURCES;
        return left(&s) ? read_objects_path(r, &s, fault) : 0;
    } else if (next_is(&s, "apis")) {
        s.at++;
        r->page = API_GROUPS;
        if (!left(&s))
            return 0;
        r->group = take_segment(&s);
        r->page = API_GROUP;
        if (!left(&s))
            return 0;
        r->version = take_segment(&s);
        r->page = API_RESOURCES;
        return left(&s) ? read_objects_path(r, &s, fault) : 0;
    }
    return 0;
}

/* ---- query ---- */

/* The value of a parameter, which the caller frees; NULL: not given or empty. */
static char *query_value(const char *query, const char *name)
{
    char *value = NULL;
    if (http_query_get(query, name, &value) <= 0 || *value)
        return value;
    free(value);
    return NULL;
}

/* As kube-apiserver reads booleans: "?watch" and "?watch=1" are true. */
static bool query_flag(const char *query, const char *name, bool *ret_given)
{
    char *value = NULL;
    bool given = http_query_get(query, name, &value) > 0;
    bool set = given && strcasecmp(value, "false") != 0 && strcmp(value, "0") != 0;
    if (ret_given)
        *ret_given = given;
    free(value);
    return set;
}

typedef struct inf_selector *parse_selector_fn(const char *text, struct inf_error *err);

static int read_selector(const char *query, const char *name, parse_selector_fn *parse,
                         struct inf_selector **ret, struct api_fault *fault)
{
    struct inf_error err;
    char *text = query_value(query, name);
    int rc = 0;
    if (text && !(*ret = parse(text, &err)))
        rc = api_fault_set(fault, 400, "%s: %s", name, err.text);
    free(text);
    return rc;
}

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

static int read_match(struct api_request *r, const char *query, struct api_fault *fault)
{
    char *text = query_value(query, "resourceVersionMatch");
    int rc = 0;
    if (text && strcmp(text, "Exact") == 0)
        r->match = API_MATCH_EXACT;
    else if (text && strcmp(text, "NotOlderThan") == 0)
        r->match = API_MATCH_NOT_OLDER;
    else if (text)
        rc = api_fault_set(fault, 422,
                           "resourceVersionMatch: Unsupported value: \"%s\": supported values: "
                           "\"Exact\", \"NotOlderThan\"",
                           text);
    free(text);
    return rc;
}

static int read_version(struct api_request *r, const char *query, struct api_fault *fault)
{
    char *text = query_value(query, "resourceVersion");
    if (read_match(r, query, fault) < 0) {
        free(text);
        return -1;
    }
    if (text && !is_number(text)) {
        int rc =
            api_fault_set(fault, 400, "invalid resource version: resourceVersion: \"%s\"", text);
        free(text);
        return rc;
    }
    r->any_version = text && strcmp(text, "0") == 0;
    if (r->any_version) {
        free(text);
        text = NULL;
    }
    r->resource_version = text;
    if (r->match == API_MATCH_EXACT && r->any_version)
        return api_fault_set(fault, 422,
                             "resourceVersionMatch: Forbidden: resourceVersionMatch \"Exact\" is "
                             "forbidden for resourceVersion \"0\"");
    if (r->match != API_MATCH_NONE && r->page == API_LIST && !r->resource_version &&
        !r->any_version)
        return api_fault_set(fault, 422,
                             "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden "
                             "unless resourceVersion is provided");
    return 0;
}

static int read_watch(struct api_request *r, const char *query, struct api_fault *fault)
{
    bool given;
    bool initial = query_flag(query, "sendInitialEvents", &given);
    r->bookmarks = query_flag(query, "allowWatchBookmarks", NULL);
    if (!given && r->match != API_MATCH_NONE)
        return api_fault_set(fault, 422,
                             "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden "
                             "for watch unless sendInitialEvents is provided");
    if (given && r->match != API_MATCH_NOT_OLDER)
        return api_fault_set(fault, 422,
                             "resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
                             "resourceVersionMatch to NotOlderThan");
    r->initial = given ? initial : !r->resource_version;
    r->watch_list = given && initial && r->bookmarks;
    return 0;
}

static void read_timeout(struct api_request *r, const char *query)
{
    char *text = query_value(query, "timeoutSeconds");
    if (text && is_number(text)) {
        r->timeout_s = strtoull(text, NULL, 10);
        if (r->timeout_s > API_TIMEOUT_MAX_S)
            r->timeout_s = API_TIMEOUT_MAX_S;
    }
    free(text);
}

static void read_include(struct api_request *r, const char *query)
{
    char *text = query_value(query, "includeObject");
    if (text && r->form == API_TABLE_METADATA && strcmp(text, "None") == 0)
        r->form = API_TABLE_NONE;
    else if (text && r->form == API_TABLE_METADATA && strcmp(text, "Object") == 0)
        r->form = API_TABLE_OBJECT;
    free(text);
}

static int read_query(struct api_request *r, const char *query, struct api_fault *fault)
{
    char *text = query_value(query, "continue");
    bool continues = text != NULL;
    free(text);
    text = query_value(query, "limit");
    r->has_limit = text && strcmp(text, "0") != 0;
    free(text);
    if (r->page == API_LIST && query_flag(query, "watch", NULL))
        r->page = API_WATCH;
    read_include(r, query);
    read_timeout(r, query);
    if (continues && r->page == API_LIST)
        return api_fault_set(fault, 410,
                             "The provided continue parameter is too old: informerd issues none; "
                             "list again without it");
    if (read_selector(query, "labelSelector", inf_selector_parse_labels, &r->labels, fault) < 0 ||
        read_selector(query, "fieldSelector", inf_selector_parse_fields, &r->fields, fault) < 0 ||
        read_version(r, query, fault) < 0)
        return -1;
    return r->page == API_WATCH ? read_watch(r, query, fault) : 0;
}

/* ---- all ---- */

static int refuse_impersonation(const struct http_server_request *http, struct api_fault *fault)
{
    for (size_t i = 0; i < http->n_headers; i++)
        if (strncasecmp(http->headers[i].name, "Impersonate-", 12) == 0)
            return api_fault_set(
                fault, 403, "impersonation is not supported: informerd does not evaluate RBAC");
    return 0;
}

int api_request_read(struct api_request *r, const struct http_server_request *http,
                     struct api_fault *fault)
{
    bool objects;
    *r = (struct api_request){.page = API_UNKNOWN};
    *fault = (struct api_fault){.code = 0};
    if (refuse_impersonation(http, fault) < 0 || read_path(r, http->path, fault) < 0)
        return -1;
    if (r->page == API_UNKNOWN)
        return 0;
    objects = r->page == API_GET || r->page == API_LIST;
    if (!api_accept_choose(http_server_request_get(http, "Accept"), !objects, r))
        return api_fault_set(fault, 406,
                             "only the following media types are accepted: application/json, also "
                             "with as=Table and as=PartialObjectMetadata");
    if (r->page == API_DOCUMENT)
        r->hash = query_value(http->query, "hash");
    return objects ? read_query(r, http->query, fault) : 0;
}
