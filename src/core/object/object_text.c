/*
 * object_text.c - makes the canonical text of an object.
 *
 * Servers send almost canonical texts: kind and apiVersion are at the front of an event's object and
 * missing in an item of a list, there is no white space, and managedFields were cut before. Such a
 * text is used as it is unless a rule of the shape applies. All other texts are copied member by
 * member. It can't fail: yyjson validated the text.
 */
#include "core/object/object_text.h"

#include <yyjson.h>

#include "base/json/json.h"
#include "base/text/json_string.h"

/* ---- canonical texts ---- */

static size_t count_members(yyjson_val *object, const char *name)
{
    size_t i, members, count = 0;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, i, members, key, value) count += yyjson_equals_str(key, name);
    return count;
}

/* Whether no rule applies: no duplicate metadata, and no managedFields in an unusual place. */
static bool is_unaffected(const struct object_text *o, const struct shape *shape)
{
    yyjson_val *metadata = yyjson_obj_get(o->root, "metadata");
    return count_members(o->root, "metadata") == 1 &&
           !(shape->managed && yyjson_obj_get(metadata, "managedFields")) &&
           json_is_compact(o->text);
}

/* Uses the text as it is, if it begins with the members in @scratch, kind and apiVersion, or after
 * these if it has none of its own. */
static bool use_text(const struct object_text *o, struct buf *scratch, struct str *ret)
{
    size_t named = count_members(o->root, "kind") + count_members(o->root, "apiVersion");
    struct str text = o->text;
    if (named == 2 && text.len > scratch->len &&
        memcmp(text.at, scratch->bytes, scratch->len) == 0 &&
        (text.at[scratch->len] == ',' || text.at[scratch->len] == '}')) {
        *ret = text;
        return true;
    }
    if (named)
        return false;
    buf_putc(scratch, ',');
    buf_put(scratch, text.at + 1, text.len - 1); /* after its brace */
    *ret = (struct str){scratch->bytes, scratch->len};
    return true;
}

/* ---- other texts ---- */

static bool comes_first(struct str key)
{
    return json_key_is(key, "kind") || json_key_is(key, "apiVersion");
}

static void put_front(const struct object_text *o, struct buf *out)
{
    buf_putc(out, '{');
    json_put_key(out, "kind");
    json_put_string(out, o->kind);
    buf_putc(out, ',');
    json_put_key(out, "apiVersion");
    json_put_string(out, o->api_version);
}

struct str object_text_make(const struct object_text *o, const struct shape *shape,
                            struct buf *scratch)
{
    struct shape_subject subject = {.kind = o->kind, .uid = o->uid};
    struct str text;
    put_front(o, scratch);
    if (shape_is_done(shape, &subject) && is_unaffected(o, shape) && use_text(o, scratch, &text))
        return text;
    shape_copy_members(shape, &subject, scratch, o->text, comes_first);
    buf_putc(scratch, '}');
    return (struct str){scratch->bytes, scratch->len};
}
