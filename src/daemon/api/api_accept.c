/*
 * api_accept.c - reads media types such as
 *
 *     application/json;as=Table;v=v1;g=meta.k8s.io,application/json
 *     application/vnd.kubernetes.protobuf,application/json
 *     application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList
 *
 * Types are tried in their order, as kube-apiserver does; quality values are ignored. The parameters
 * `as`, `v` and `g` must match exactly: kubectl before 1.30 can't decode v2 discovery.
 */
#include "daemon/api/api_accept.h"

#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/str.h"

/* A media type with its parameters; empty: not given. */
struct media_type {
    struct str type;
    struct str as;
    struct str v;
    struct str g;
};

static struct str trim(struct str s)
{
    while (s.len && (*s.at == ' ' || *s.at == '\t'))
        s.at++, s.len--;
    while (s.len && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t'))
        s.len--;
    return s;
}

/* Takes the text up to @separator from the front of @rest. */
static struct str cut_at(struct str *rest, char separator)
{
    const char *end = rest->len ? memchr(rest->at, separator, rest->len) : NULL;
    struct str part = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    size_t used = part.len + (end != NULL);
    *rest = (struct str){rest->at + used, rest->len - used};
    return trim(part);
}

static struct media_type read_type(struct str text)
{
    struct media_type m = {.type = cut_at(&text, ';')};
    while (text.len) {
        struct str value = cut_at(&text, ';');
        struct str key = cut_at(&value, '=');
        if (str_eq(key, STR("as")))
            m.as = value;
        else if (str_eq(key, STR("v")))
            m.v = value;
        else if (str_eq(key, STR("g")))
            m.g = value;
    }
    return m;
}

static bool is_json(struct str type)
{
    return str_eq(type, STR("application/json")) || str_eq(type, STR("*/*")) ||
           str_eq(type, STR("application/*"));
}

static bool choose_form(const struct media_type *m, struct api_request *r)
{
    if (!m->as.len) {
        r->form = API_FULL;
        return true;
    }
    if (!str_eq(m->g, STR("meta.k8s.io")) || !str_eq(m->v, STR("v1")))
        return false;
    if (str_eq(m->as, STR("Table")))
        r->form = API_TABLE_METADATA;
    else if (str_eq(m->as, STR("PartialObjectMetadata")) ||
             str_eq(m->as, STR("PartialObjectMetadataList")))
        r->form = API_METADATA;
    else
        return false;
    return true;
}

static bool choose_aggregation(const struct media_type *m, struct api_request *r)
{
    if (!m->as.len) {
        r->aggregation = API_LEGACY;
        return true;
    }
    if (!str_eq(m->g, STR("apidiscovery.k8s.io")) || !str_eq(m->as, STR("APIGroupDiscoveryList")))
        return false;
    r->aggregation = str_eq(m->v, STR("v2")) ? API_AGGREGATED_V2 : API_AGGREGATED_V2BETA1;
    return str_eq(m->v, STR("v2")) || str_eq(m->v, STR("v2beta1"));
}

bool api_accept_choose(const char *accept, bool discovery, struct api_request *r)
{
    struct str rest = str_of(accept ? accept : "*/*");
    if (!trim(rest).len)
        rest = STR("*/*");
    while (rest.len) {
        struct media_type m = read_type(cut_at(&rest, ','));
        if (is_json(m.type) && (discovery ? choose_aggregation(&m, r) : choose_form(&m, r)))
            return true;
    }
    return false;
}
