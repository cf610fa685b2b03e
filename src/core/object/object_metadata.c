/*
 * object_metadata.c - the getters of informer/object.h that read metadata from the object's text:
 * labels, annotations, the controller and the creation time.
 *
 * These fields are read rarely, so they are not kept in the header of the object (object_layout.h).
 * Each call scans the text in place. A field that is missing or has an unexpected type counts as not
 * found.
 */
#include <string.h>

#include "base/buf.h"
#include "base/json/json.h"
#include "base/text/timestamp.h"
#include "core/object/object.h"

/* The value of metadata.@name, as written; empty if there is none. */
static struct str metadata_field(const struct inf_object *object, const char *name)
{
    struct json_walk walk;
    struct str text;
    text.at = inf_object_json(object, &text.len);
    json_walk_start(&walk, text);
    if (json_walk_to(&walk, "metadata") && json_walk_pass(&walk, '{') && json_walk_to(&walk, name))
        return json_walk_value(&walk);
    return (struct str){"", 0};
}

/* ---- labels and annotations ---- */

static int copy_map_value(struct str map, const char *key, char *buf, size_t size)
{
    struct str value = {"", 0};
    bool found = json_member_get(map, str_of(key), &value);
    size_t len = json_value_copy(value, buf, size);
    return found ? (int)len : -INF_ENOTFOUND;
}

int inf_object_label(const struct inf_object *object, const char *key, char *buf, size_t size)
{
    return copy_map_value(metadata_field(object, "labels"), key, buf, size);
}

int inf_object_annotation(const struct inf_object *object, const char *key, char *buf, size_t size)
{
    return copy_map_value(metadata_field(object, "annotations"), key, buf, size);
}

static size_t each_map_member(struct str map, inf_object_pair_fn *each, void *ctx)
{
    struct json_walk walk;
    struct json_member member;
    struct buf text = {0};
    size_t calls = 0;
    bool more = true;
    json_walk_start(&walk, map);
    while (more && json_walk_next(&walk, &member)) {
        struct str quoted_key = {member.key.at - 1, member.key.len + 2};
        size_t value_at;
        buf_clear(&text);
        json_value_put(&text, quoted_key);
        buf_putc(&text, '\0');
        value_at = text.len;
        json_value_put(&text, member.value);
        buf_putc(&text, '\0');
        calls++;
        more = each(ctx, text.bytes, text.bytes + value_at, text.len - value_at - 1);
    }
    buf_free(&text);
    return calls;
}

size_t inf_object_each_label(const struct inf_object *object, inf_object_pair_fn *each, void *ctx)
{
    return each_map_member(metadata_field(object, "labels"), each, ctx);
}

size_t inf_object_each_annotation(const struct inf_object *object, inf_object_pair_fn *each,
                                  void *ctx)
{
    return each_map_member(metadata_field(object, "annotations"), each, ctx);
}

/* ---- the controller ---- */

/* The members of an owner reference that are read, in one walk: the first of each name. */
enum reference_field {
    CONTROLLER,
    API_VERSION,
    KIND,
    NAME,
    UID,
    REFERENCE_FIELDS
};

static void read_reference(struct str reference, struct str ret[REFERENCE_FIELDS])
{
    static const char *const names[] = {"controller", "apiVersion", "kind", "name", "uid"};
    struct json_walk walk;
    struct json_member member;
    for (size_t i = 0; i < REFERENCE_FIELDS; i++)
        ret[i] = (struct str){"", 0};
    json_walk_start(&walk, reference);
    while (json_walk_next(&walk, &member))
        for (size_t i = 0; i < REFERENCE_FIELDS; i++)
            if (!ret[i].len && json_key_is(member.key, names[i]))
                ret[i] = member.value;
}

static bool copy_reference(const struct str fields[REFERENCE_FIELDS], struct inf_owner *ret)
{
    const struct inf_owner *o = ret;
    *ret = (struct inf_owner){.reserved = {NULL}};
    return json_value_copy(fields[API_VERSION], ret->api_version, sizeof(o->api_version)) <
               sizeof(o->api_version) &&
           json_value_copy(fields[KIND], ret->kind, sizeof(o->kind)) < sizeof(o->kind) &&
           json_value_copy(fields[NAME], ret->name, sizeof(o->name)) < sizeof(o->name) &&
           json_value_copy(fields[UID], ret->uid, sizeof(o->uid)) < sizeof(o->uid);
}

int inf_object_controller(const struct inf_object *object, struct inf_owner *ret_owner)
{
    struct json_walk walk;
    struct str reference, fields[REFERENCE_FIELDS];
    json_items_start(&walk, metadata_field(object, "ownerReferences"));
    while (json_items_next(&walk, &reference)) {
        struct inf_owner owner;
        read_reference(reference, fields);
        if (!str_eq(fields[CONTROLLER], STR("true")))
            continue;
        if (!copy_reference(fields, &owner))
            return -INF_ETOOBIG;
        *ret_owner = owner;
        return 0;
    }
    return -INF_ENOTFOUND;
}

/* ---- the creation time ---- */

int inf_object_creation_time(const struct inf_object *object, int64_t *ret_us)
{
    char text[64]; /* RFC 3339 with nanoseconds and an offset has 35 bytes */
    size_t len = json_value_copy(metadata_field(object, "creationTimestamp"), text, sizeof(text));
    if (len >= sizeof(text) || strlen(text) != len || timestamp_parse(text, ret_us) < 0)
        return -INF_ENOTFOUND;
    return 0;
}
