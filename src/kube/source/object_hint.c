/*
 * object_hint.c - finds the names of an object in its text with json_text.h, without validating it.
 *
 * A string that is not complete counts as missing, so a cut text never gives a wrong name.
 */
#include "kube/source/object_hint.h"

#include <string.h>

#include "base/alloc.h"
#include "base/json/json_text.h"

enum {
    PART_MAX = 100, /* bytes shown of each name */
};

/* A string member as written; empty if it is missing or incomplete. */
static struct str whole_member(struct str object, struct str name)
{
    struct str value;
    if (!object.len || !json_member_get(object, name, &value) || value.len < 2 ||
        value.at[0] != '"' || value.at[value.len - 1] != '"')
        return (struct str){"", 0};
    return (struct str){value.at + 1, value.len - 2};
}

static struct str member(struct str object, struct str name)
{
    struct str value = whole_member(object, name);
    if (value.len > PART_MAX)
        value.len = PART_MAX;
    return value;
}

char *hint_of(struct str object, struct str kind)
{
    struct str own_kind = member(object, STR("kind")), metadata = {0}, ns, name;
    if (own_kind.len || !kind.len)
        kind = own_kind;
    json_member_get(object, STR("metadata"), &metadata);
    ns = member(metadata, STR("namespace"));
    name = member(metadata, STR("name"));
    if (!name.len)
        return NULL;
    return xasprintf("%.*s%s%.*s%s%.*s", STR_FMT(kind), kind.len ? " " : "", STR_FMT(ns),
                     ns.len ? "/" : "", STR_FMT(name));
}

/* Names have no escapes; one that is written with escapes is not used. */
static struct str name_member(struct str object, struct str name)
{
    struct str value = whole_member(object, name);
    return value.len && memchr(value.at, '\\', value.len) ? (struct str){"", 0} : value;
}

struct inf_object *hint_identity(struct str object, const struct object_defaults *defaults)
{
    struct object_identity identity = {.kind = name_member(object, STR("kind")),
                                       .api_version = name_member(object, STR("apiVersion"))};
    struct inf_object *made = NULL;
    struct str metadata = {0};
    json_member_get(object, STR("metadata"), &metadata);
    identity.ns = name_member(metadata, STR("namespace"));
    identity.name = name_member(metadata, STR("name"));
    identity.uid = name_member(metadata, STR("uid"));
    identity.version = name_member(metadata, STR("resourceVersion"));
    if (defaults && !identity.kind.len)
        identity.kind = defaults->kind;
    if (defaults && !identity.api_version.len)
        identity.api_version = defaults->api_version;
    return object_make_identity(&identity, &made, NULL) == 0 ? made : NULL;
}

bool hint_uid(struct str object, struct str *ret_uid)
{
    struct str metadata = {0};
    json_member_get(object, STR("metadata"), &metadata);
    *ret_uid = name_member(metadata, STR("uid"));
    return ret_uid->len > 0;
}
