/*
 * item_values.c - the values of a path in an object, each with the identity of the items that contain it.
 *
 * Values and items come in the order of the object's text, so that one pass assigns each value to its items.
 * Keys are read from the items that have a value: the cost does not depend on the length of the list,
 * beyond the search for values. Nothing here fails.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/siphash.h"
#include "daemon/rule/item_path_internal.h"

enum {
    IDENTITY_MAX = 256, /* LIMIT: bytes of an item's name, as written; longer ones are hashed */
};

/* In the order of preference. */
static const char *const item_keys[] = {"name", "type", "uid", "key", "ip"};

/* ---- identities ---- */

struct texts {
    struct str at[ITEM_VALUES_MAX];
    size_t count;
    size_t next; /* those before it are before the current value */
};

static bool add_text(void *ctx, const char *json, size_t len)
{
    struct texts *texts = ctx;
    texts->at[texts->count++] = (struct str){json, len};
    return texts->count < ITEM_VALUES_MAX;
}

/* The quote that ends the string whose first character is at @at; @end if there is none. */
static const char *string_end(const char *at, const char *end)
{
    while (at < end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    return at < end ? at : end;
}

/* The end of the value at @at, in compact JSON: the comma or the bracket after it. */
static const char *value_end(const char *at, const char *end)
{
    size_t depth = 0;
    for (; at < end; at++) {
        if (*at == '"')
            at = string_end(at + 1, end);
        else if (*at == '{' || *at == '[')
            depth++;
        else if (depth == 0 && (*at == '}' || *at == ',')) /* of the object that contains it */
            break;
        else if (*at == '}' || *at == ']')
            depth--;
    }
    return at < end ? at : end;
}

/* The member @name of @item; at is NULL if it has none or is not an object. */
static struct str item_member(struct str item, const char *name)
{
    const char *at = item.at + 1, *end = item.at + item.len;
    size_t len = strlen(name);
    while (item.len && item.at[0] == '{' && at < end && *at == '"') {
        const char *key = at + 1, *key_end = string_end(key, end), *value = key_end + 2;
        if (value >= end)
            break;
        at = value_end(value, end);
        if ((size_t)(key_end - key) == len && memcmp(key, name, len) == 0)
            return (struct str){value, (size_t)(at - value)};
        at++;
    }
    return (struct str){NULL, 0};
}

/* The quoted key before a member's value: objects are compact JSON. */
static struct str member_key(const char *value)
{
    const char *end = value - 1, *at = end - 1;
    size_t slashes;
    do {
        while (*--at != '"')
            ;
        for (slashes = 0; at[-1 - (ptrdiff_t)slashes] == '\\'; slashes++)
            ;
    } while (slashes % 2);
    return (struct str){at, (size_t)(end - at)};
}

static bool is_scalar(struct str json)
{
    return json.len && json.at[0] != '{' && json.at[0] != '[';
}

/* Each value has the names of its items, so very long ones would be copied very often. */
static void put_name(struct buf *out, struct str name)
{
    static const struct siphash_key key = {0};
    if (name.len <= IDENTITY_MAX)
        buf_put(out, name.at, name.len);
    else
        buf_printf(out, "#%zu:%" PRIx64, name.len, siphash13(&key, name.at, name.len));
}

static void put_item_identity(struct buf *out, size_t position, struct str item)
{
    struct str id = {NULL, 0};
    if (item.at[-1] == ':')
        id = member_key(item.at);
    for (size_t k = 0; !id.at && k < ARRAY_LEN(item_keys); k++) {
        struct str key = item_member(item, item_keys[k]);
        if (is_scalar(key)) {
            buf_printf(out, "%s=", item_keys[k]);
            id = key;
        }
    }
    if (!id.at && is_scalar(item))
        id = item;
    if (id.at)
        put_name(out, id);
    else
        buf_printf(out, "%zu", position);
    buf_putc(out, ';');
}

/* Adds the identity of the item of one `[*]` to each value; @parts has an identity for each so
 * far. */
static void add_identities(struct buf *parts, const struct star *star,
                           const struct item_values *values, const struct inf_object *object)
{
    struct texts *items = NEW(struct texts);
    inf_path_each(star->items, object, add_text, items);
    for (size_t i = 0; i < values->count; i++) {
        const char *at = values->at[i].json.at;
        while (items->next < items->count &&
               items->at[items->next].at + items->at[items->next].len <= at)
            items->next++;
        if (items->next < items->count) /* else: one of more items than are compared */
            put_item_identity(&parts[i], items->next, items->at[items->next]);
    }
    free(items);
}

struct collector {
    struct item_values *values;
    item_value_fn *is_wanted;
    const void *ctx;
};

static bool add_value(void *ctx, const char *json, size_t len)
{
    struct collector *c = ctx;
    struct str value = {json, len};
    if (!c->is_wanted || c->is_wanted(c->ctx, value))
        c->values->at[c->values->count++].json = value;
    return c->values->count < ITEM_VALUES_MAX;
}

void item_values_collect(struct item_values *ret, const struct item_path *path,
                         const struct inf_object *object, item_value_fn *is_wanted, const void *ctx)
{
    struct collector c = {ret, is_wanted, ctx};
    struct buf *parts;
    *ret = (struct item_values){.at = xcalloc(ITEM_VALUES_MAX, sizeof(*ret->at))};
    inf_path_each(path->path, object, add_value, &c);
    parts = xcalloc(ret->count ? ret->count : 1, sizeof(*parts));
    for (size_t i = 0; i < path->n_stars && ret->count; i++)
        add_identities(parts, &path->stars[i], ret, object);
    for (size_t i = 0; i < ret->count; i++) {
        ret->at[i].id = ret->ids.len;
        ret->at[i].id_len = parts[i].len;
        buf_put(&ret->ids, parts[i].bytes, parts[i].len);
        buf_free(&parts[i]);
    }
    free(parts);
}

void item_values_free(struct item_values *values)
{
    free(values->at);
    buf_free(&values->ids);
}

static struct str identity(const struct item_values *values, size_t i)
{
    return (struct str){values->ids.bytes + values->at[i].id, values->at[i].id_len};
}

const struct item_value *item_values_same(const struct item_values *values, size_t i,
                                          const struct item_values *in)
{
    struct str id = identity(values, i);
    for (size_t k = 0; k < in->count; k++)
        if (str_eq(id, identity(in, k)))
            return &in->at[k];
    return NULL;
}

/* ---- comparison ---- */

static bool collect_text(void *ctx, const char *json, size_t len)
{
    buf_put(ctx, (const char *)&(struct str){json, len}, sizeof(struct str));
    return true;
}

struct comparison {
    const struct buf *before; /* of struct str */
    size_t at;
    bool differs;
};

static bool compare_text(void *ctx, const char *json, size_t len)
{
    struct comparison *c = ctx;
    struct str old;
    if (c->at == c->before->len) {
        c->differs = true;
        return false;
    }
    memcpy(&old, c->before->bytes + c->at, sizeof(old));
    c->at += sizeof(old);
    c->differs = !str_eq(old, (struct str){json, len});
    return !c->differs;
}

bool item_path_differs(const struct inf_path *path, const struct inf_object *old_object,
                       const struct inf_object *new_object)
{
    struct buf before = {0};
    struct comparison c = {.before = &before};
    inf_path_each(path, old_object, collect_text, &before);
    inf_path_each(path, new_object, compare_text, &c);
    c.differs |= c.at < before.len;
    buf_free(&before);
    return c.differs;
}
