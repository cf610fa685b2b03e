#include "kube/hint.h"

#include "base/alloc.h"
#include "core/json_text.h"

enum {
    PART_MAX = 100, /* bytes shown of each name */
};

/* A string member, as spelled; one that is cut off is none. */
static struct str member(struct str object, struct str name)
{
    struct str value;
    if (!object.len || !json_member_get(object, name, &value) || value.len < 2 ||
        value.at[0] != '"' || value.at[value.len - 1] != '"')
        return (struct str){"", 0};
    value = (struct str){value.at + 1, value.len - 2};
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
