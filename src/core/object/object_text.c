/*
 * object_text.c - servers write almost canonical texts: kind and apiVersion are at the front of an
 * event's object and missing in an item of a list, there is no white space, and managedFields are
 * cut by now. If that is so, and no other rule has a say, nothing needs to be walked through again.
 * All other texts are copied, member by member.
 */
#include "core/object/object_text.h"

#include <yyjson.h>

#include "base/json_string.h"
#include "core/json/json.h"

/* ---- as it is ---- */

static size_t count_members(yyjson_val *object, const char *name)
{
    size_t i, members, count = 0;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, i, members, key, value) count += yyjson_equals_str(key, name);
    return count;
}

/* Two of a name, or managedFields that were not where servers have them, are a matter of rules. */
static bool is_plain(const struct object_text *o, const struct shape *shape)
{
    yyjson_val *metadata = yyjson_obj_get(o->root, "metadata");
    return count_members(o->root, "metadata") == 1 &&
           !(shape->managed && yyjson_obj_get(metadata, "managedFields")) &&
           json_is_compact(o->text);
}

/* Whether the text begins with @front, and with a whole member. */
static bool begins_with(struct str text, const struct buf *front)
{
    return text.len > front->len && memcmp(text.at, front->bytes, front->len) == 0 &&
           (text.at[front->len] == ',' || text.at[front->len] == '}');
}

/* @scratch has the front of the canonical text, which names kind and apiVersion. */
static bool take_as_it_is(const struct object_text *o, struct buf *scratch, struct str *ret)
{
    size_t named = count_members(o->root, "kind") + count_members(o->root, "apiVersion");
    if (named == 2 && begins_with(o->text, scratch)) {
        *ret = o->text;
        return true;
    }
    if (named)
        return false;
    buf_putc(scratch, ',');
    buf_put(scratch, o->text.at + 1, o->text.len - 1); /* behind its brace */
    *ret = (struct str){scratch->bytes, scratch->len};
    return true;
}

/* ---- copied ---- */

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
    if (shape_is_done(shape, &subject) && is_plain(o, shape) && take_as_it_is(o, scratch, &text))
        return text;
    shape_copy_members(shape, &subject, scratch, o->text, comes_first);
    buf_putc(scratch, '}');
    return (struct str){scratch->bytes, scratch->len};
}
