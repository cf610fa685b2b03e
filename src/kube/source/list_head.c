/*
 * list_head.c - reads kind, apiVersion and metadata of a list with yyjson.
 *
 * Each member is checked when it arrives: type, length, control characters, duplicates. A Status or a
 * Table instead of a list, or a list without kind or items, is INF_EDECODE.
 */
#include "kube/source/list_head.h"

#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"

static const char *const member_names[] = {
    [LIST_KIND] = "kind",   [LIST_API_VERSION] = "apiVersion", [LIST_METADATA] = "metadata",
    [LIST_ITEMS] = "items", [LIST_OTHER] = "another member",
};

const char *list_member_name(enum list_member member)
{
    return member_names[member];
}

/* ---- keys ---- */

int list_head_key(struct list_head *head, struct str key, enum list_member *ret,
                  struct inf_error *err)
{
    yyjson_doc *doc = yyjson_read(key.at, key.len, 0);
    unsigned member = 0;
    while (doc && member < LIST_OTHER &&
           !yyjson_equals_str(yyjson_doc_get_root(doc), member_names[member]))
        member++;
    yyjson_doc_free(doc);
    if (!doc)
        return err_set(err, INF_EDECODE, "list: a key is not a JSON string");
    if (member != LIST_OTHER && head->seen & 1u << member)
        return err_set(err, INF_EDECODE, "list: duplicate %s", member_names[member]);
    head->seen |= 1u << member;
    *ret = (enum list_member)member;
    return 0;
}

/* ---- values ---- */

/* Null and absent mean "". */
static int read_string(yyjson_val *value, const char *name, size_t max, char **ret,
                       struct inf_error *err)
{
    struct str s = {yyjson_get_str(value), yyjson_get_len(value)};
    if (!value || yyjson_is_null(value))
        s = STR("");
    if (!s.at)
        return err_set(err, INF_EDECODE, "list: '%s' is not a string", name);
    if (s.len > max)
        return err_set(err, INF_EDECODE, "list: '%s' has %zu bytes, more than %zu", name, s.len,
                       max);
    if (str_has_control(s))
        return err_set(err, INF_EDECODE, "list: '%s' contains control characters", name);
    free(*ret);
    *ret = xstrndup(s.at, s.len);
    return 0;
}

static int read_member(struct list_head *head, enum list_member member, yyjson_val *value,
                       struct inf_error *err)
{
    int rc;
    switch (member) {
    case LIST_KIND:
        rc = read_string(value, "kind", OBJECT_NAME_MAX, &head->kind, err);
        if (rc < 0)
            return rc;
        if (strcmp(head->kind, "Status") == 0)
            return err_set(err, INF_EDECODE, "the server sent a Status instead of a list");
        if (strcmp(head->kind, "Table") == 0)
            return err_set(err, INF_EDECODE,
                           "the server sent a Table instead of a list; its rows are not objects");
        break;
    case LIST_API_VERSION:
        return read_string(value, "apiVersion", OBJECT_NAME_MAX, &head->api_version, err);
    case LIST_METADATA:
        if (!yyjson_is_obj(value))
            return err_set(err, INF_EDECODE, "list: 'metadata' is not an object");
        rc = read_string(yyjson_obj_get(value, "resourceVersion"), "resourceVersion",
                         OBJECT_NAME_MAX, &head->resource_version, err);
        if (rc < 0)
            return rc;
        return read_string(yyjson_obj_get(value, "continue"), "continue", LIST_TOKEN_MAX,
                           &head->continue_token, err);
    case LIST_ITEMS:
        if (!yyjson_is_null(value))
            return err_set(err, INF_EDECODE, "list: 'items' is not an array");
        break;
    case LIST_OTHER: break; /* only has to be JSON */
    }
    return 0;
}

int list_head_read(struct list_head *head, enum list_member member, struct str value,
                   struct inf_error *err)
{
    yyjson_doc *doc = yyjson_read(value.at, value.len, YYJSON_READ_NUMBER_AS_RAW);
    int rc = doc ? read_member(head, member, yyjson_doc_get_root(doc), err)
                 : err_set(err, INF_EDECODE, "list: %s is not JSON", member_names[member]);
    yyjson_doc_free(doc);
    return rc;
}

/* ---- the rest ---- */

static void default_to_empty(char **text)
{
    if (!*text)
        *text = xstrdup("");
}

int list_head_end(struct list_head *head, struct inf_error *err)
{
    if (!head->kind || !(head->seen & 1u << LIST_ITEMS))
        return err_set(err, INF_EDECODE, "the response is not a list: %s is missing",
                       head->kind ? "items" : "kind");
    default_to_empty(&head->api_version);
    default_to_empty(&head->resource_version);
    default_to_empty(&head->continue_token);
    return 0;
}

struct object_defaults list_head_defaults(const struct list_head *head)
{
    struct str kind = str_of(head->kind);
    bool is_list_kind = kind.len > 4 && memcmp(kind.at + kind.len - 4, "List", 4) == 0;
    return (struct object_defaults){
        .kind = is_list_kind ? (struct str){kind.at, kind.len - 4} : (struct str){0},
        .api_version = str_of(head->api_version),
    };
}

void list_head_free(struct list_head *head)
{
    free(head->kind);
    free(head->api_version);
    free(head->resource_version);
    free(head->continue_token);
    *head = (struct list_head){0};
}
