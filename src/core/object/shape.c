/*
 * shape.c - copies the text of an object without the fields that are cut, and with hashes in place
 * of values that are hidden.
 *
 * Normal path: all rules are followed together (path.h). At each level a member is either the end of
 * a rule (cut it, or hash its values), on the way of a rule (descend), or matches no rule (copy it in
 * one piece). Duplicate keys are all treated alike, and escapes in keys are decoded.
 *
 * Hashing replaces every scalar at or below the end of a rule by a keyed digest of uid, place and
 * value. The structure of the data stays and changes remain visible. Values do not, and equal values
 * in two objects or in two places have different hashes.
 *
 * The number of hashes is limited, because the server chooses it and each costs time and memory. A
 * part of the object with more scalars is hashed as one value: it is written again from its
 * beginning. Parts are the members at the top (data), and the members of metadata (annotations). The
 * result of a part depends on its value alone, so a part that did not change has the same hashes.
 */
#include "core/object/shape.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/err.h"
#include "base/json/json.h"
#include "core/object/path.h"

#define MANAGED_FIELDS "metadata.managedFields"

/* ---- the rules ---- */

static void add_builtin(struct shape *shape, const char *text, bool hashed, bool secrets_only)
{
    struct inf_path *path = inf_path_parse(text, NULL);
    uint64_t bit = UINT64_C(1) << shape->count;
    shape->paths[shape->count++] = path; /* our own texts parse */
    shape->hashed |= hashed ? bit : 0;
    shape->secrets_only |= secrets_only ? bit : 0;
}

void shape_init_bare(struct shape *shape, bool secrets, const struct digest *digest)
{
    *shape = (struct shape){.secrets = secrets, .digest = digest};
}

void shape_hash_secrets(struct shape *shape)
{
    add_builtin(shape, "data", true, true);
    add_builtin(shape, "stringData", true, true);
    add_builtin(shape, "metadata.annotations[\"kubectl.kubernetes.io/last-applied-configuration\"]",
                true, true);
}

void shape_cut_managed_fields(struct shape *shape)
{
    shape->managed |= UINT64_C(1) << shape->count;
    add_builtin(shape, MANAGED_FIELDS, false, false);
}

void shape_init(struct shape *shape, bool secrets, const struct digest *digest)
{
    shape_init_bare(shape, secrets, digest);
    shape_cut_managed_fields(shape);
    shape_hash_secrets(shape);
}

void shape_free(struct shape *shape)
{
    for (size_t i = 0; i < shape->count; i++)
        inf_path_free(shape->paths[i]);
    *shape = (struct shape){.count = 0};
}

int shape_add(struct shape *shape, struct inf_path *path, bool hashed, struct inf_error *err)
{
    uint64_t bit;
    if (shape->count == SHAPE_RULES_MAX) {
        inf_path_free(path);
        return err_set(err, INF_EINVAL, "more than %d fields to drop or redact", SHAPE_RULES_MAX);
    }
    bit = UINT64_C(1) << shape->count;
    shape->hashed |= hashed ? bit : 0;
    shape->managed |= !hashed && strcmp(inf_path_text(path), MANAGED_FIELDS) == 0 ? bit : 0;
    shape->paths[shape->count++] = path;
    return 0;
}

/* ---- copying ---- */

struct copy {
    const struct shape *shape;
    const struct shape_subject *subject;
    struct buf *out;
    struct buf place; /* keys and positions on the way down, each after a '/' */
    bool in_metadata;
    unsigned hashed; /* scalars of the part that is being copied */
    unsigned parts;  /* that have hashes */
};

/* Then the part is hashed as one value, and what was written of it is discarded. */
static bool has_too_many(const struct copy *c)
{
    return c->hashed > SHAPE_HASHES_MAX;
}

static void put_comma(struct buf *out)
{
    char last = out->bytes[out->len - 1];
    if (last != '{' && last != '[')
        buf_putc(out, ',');
}

static void put_key(struct buf *out, struct str key)
{
    put_comma(out);
    buf_putc(out, '"');
    buf_put(out, key.at, key.len);
    buf_puts(out, "\":");
}

static size_t go_down(struct copy *c, struct str key)
{
    size_t before = c->place.len;
    buf_putc(&c->place, '/');
    buf_put(&c->place, key.at, key.len);
    return before;
}

static size_t go_down_item(struct copy *c, size_t index)
{
    size_t before = c->place.len;
    buf_printf(&c->place, "/%zu", index);
    return before;
}

/* Writes one hash of @value, which does not depend on white space. */
static void hash_whole(struct copy *c, struct str value)
{
    struct buf compact = {.secret = true};
    struct str parts[] = {c->subject->uid, {c->place.bytes, c->place.len}, value};
    char digest[DIGEST_HEX + 1];
    if (!json_is_compact(value)) {
        json_compact(&compact, value);
        parts[2] = (struct str){compact.bytes, compact.len};
    }
    c->shape->digest->make(c->shape->digest, parts, ARRAY_LEN(parts), digest);
    buf_puts(c->out, "\"hmac:");
    buf_puts(c->out, digest);
    buf_putc(c->out, '"');
    buf_free(&compact);
}

static void hash_scalar(struct copy *c, struct str value)
{
    c->hashed++;
    if (!has_too_many(c))
        hash_whole(c, value);
}

enum {
    HASH_DEPTH_MAX = 64, /* LIMIT: levels whose scalars have a hash each; deeper values have one */
};

/* Hashes every scalar in @value. */
static void hash_value(struct copy *c, struct str value, unsigned depth)
{
    struct json_walk walk;
    struct json_member member;
    struct str item;
    size_t n = 0, before;
    if (depth == HASH_DEPTH_MAX) {
        hash_scalar(c, value);
    } else if (value.len && value.at[0] == '{') {
        buf_putc(c->out, '{');
        json_walk_start(&walk, value);
        for (; !has_too_many(c) && json_walk_next(&walk, &member); c->place.len = before) {
            before = go_down(c, member.key);
            put_key(c->out, member.key);
            hash_value(c, member.value, depth + 1);
        }
        buf_putc(c->out, '}');
    } else if (json_items_start(&walk, value)) {
        buf_putc(c->out, '[');
        for (; !has_too_many(c) && json_items_next(&walk, &item); c->place.len = before) {
            before = go_down_item(c, n++);
            put_comma(c->out);
            hash_value(c, item, depth + 1);
        }
        buf_putc(c->out, ']');
    } else if (str_eq(value, STR("null"))) {
        buf_puts(c->out, "null");
    } else {
        hash_scalar(c, value);
    }
}

static void copy_value(struct copy *c, struct str value, uint64_t live, size_t depth);

/* Copies or hashes one value. The caller has written its key or comma. */
static void copy_matched(struct copy *c, struct str value, struct path_match match, size_t depth)
{
    if (match.ended)
        hash_value(c, value, 0);
    else if (match.live)
        copy_value(c, value, match.live, depth + 1);
    else
        json_compact(c->out, value);
}

bool shape_hides(const struct shape *shape)
{
    return shape->hashed & ~(shape->secrets ? 0 : shape->secrets_only);
}

/* Cutting takes precedence over hashing. */
static bool is_cut(const struct shape *shape, struct path_match match)
{
    return match.ended & ~shape->hashed;
}

/* A server may send whole objects although only metadata was requested; the result is the same. */
static bool is_left_out(const struct shape *shape, struct str key, size_t depth)
{
    return depth == 0 && shape->metadata_only && !json_key_is(key, "metadata") &&
           !json_key_is(key, "kind") && !json_key_is(key, "apiVersion");
}

/* Without duplicate keys there are no more parts than rules; further parts get no hash. */
static void copy_part(struct copy *c, struct str value, struct path_match match, size_t depth)
{
    size_t start = c->out->len;
    if (c->parts == SHAPE_RULES_MAX && (match.ended | match.live)) {
        buf_puts(c->out, "\"hmac:\"");
        return;
    }
    copy_matched(c, value, match, depth);
    c->parts += c->hashed > 0;
    if (has_too_many(c)) {
        c->out->len = start;
        hash_whole(c, value);
    }
    c->hashed = 0;
}

static void copy_members(struct copy *c, struct str object, uint64_t live, size_t depth,
                         bool (*skip)(struct str key))
{
    const struct inf_path *const *paths = (const struct inf_path *const *)c->shape->paths;
    struct json_walk walk;
    struct json_member member;
    json_walk_start(&walk, object);
    while (!has_too_many(c) && json_walk_next(&walk, &member)) {
        struct path_match match = path_set_key(paths, live, depth, member.key);
        size_t before = go_down(c, member.key);
        if ((!skip || !skip(member.key)) && !is_left_out(c->shape, member.key, depth) &&
            !is_cut(c->shape, match)) {
            put_key(c->out, member.key);
            if (depth == 0)
                c->in_metadata = json_key_is(member.key, "metadata") && !match.ended;
            if (depth == (c->in_metadata ? 1 : 0))
                copy_part(c, member.value, match, depth);
            else
                copy_matched(c, member.value, match, depth);
        }
        c->place.len = before;
    }
}

static void copy_value(struct copy *c, struct str value, uint64_t live, size_t depth)
{
    const struct inf_path *const *paths = (const struct inf_path *const *)c->shape->paths;
    struct json_walk walk;
    struct str item;
    if (value.len && value.at[0] == '{') {
        buf_putc(c->out, '{');
        copy_members(c, value, live, depth, NULL);
        buf_putc(c->out, '}');
    } else if (json_items_start(&walk, value)) {
        buf_putc(c->out, '[');
        for (size_t n = 0; !has_too_many(c) && json_items_next(&walk, &item); n++) {
            struct path_match match = path_set_item(paths, live, depth, n, item);
            size_t before = go_down_item(c, n);
            if (!is_cut(c->shape, match)) {
                put_comma(c->out);
                copy_matched(c, item, match, depth);
            }
            c->place.len = before;
        }
        buf_putc(c->out, ']');
    } else {
        json_compact(c->out, value);
    }
}

static uint64_t rules_for(const struct shape *shape, const struct shape_subject *subject)
{
    bool secret = shape->secrets || str_eq(subject->kind, STR("Secret"));
    return path_set_all(shape->count) & ~(secret ? 0 : shape->secrets_only);
}

bool shape_is_done(const struct shape *shape, const struct shape_subject *subject)
{
    return !shape->metadata_only && !(rules_for(shape, subject) & ~shape->managed);
}

void shape_copy_members(const struct shape *shape, const struct shape_subject *subject,
                        struct buf *out, struct str object, bool (*skip)(struct str key))
{
    struct copy copy = {.shape = shape, .subject = subject, .out = out};
    copy_members(&copy, object, rules_for(shape, subject), 0, skip);
    buf_free(&copy.place);
}
