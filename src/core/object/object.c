/*
 * object.c - makes objects from JSON text.
 *
 * Normal path: managedFields are cut out unless they are kept (managed_fields.c); yyjson parses the
 * text, which validates it and finds the names; the text is converted to canonical form if
 * necessary (object_text.c); header, names and text are copied into one allocation
 * (object_layout.h). Text that is not JSON, has no usable name or exceeds a limit is -INF_EDECODE.
 */
#include "core/object/object.h"

#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "core/object/managed_fields.h"
#include "core/object/object_layout.h"
#include "core/object/object_text.h"

enum {
    SCRATCH_KEPT = 256 * 1024,
};

/* Without a key no values are revealed: all hash to the same text. */
static void no_digest(const struct digest *digest, const struct str *parts, size_t n_parts,
                      char ret[DIGEST_HEX + 1])
{
    (void)digest, (void)parts, (void)n_parts;
    memset(ret, '0', DIGEST_HEX);
    ret[DIGEST_HEX] = '\0';
}

static const struct shape *shape_of(struct object_maker *maker)
{
    static const struct digest none = {no_digest};
    if (maker->shape)
        return maker->shape;
    if (!maker->fallback.count)
        shape_init(&maker->fallback, false, &none);
    return &maker->fallback;
}

void object_maker_free(struct object_maker *maker)
{
    buf_free(&maker->lean);
    buf_free(&maker->text);
    shape_free(&maker->fallback);
}

/* The memory of one huge object is not kept for the small ones that follow. */
static void reset_scratch(struct buf *scratch)
{
    if (scratch->cap > SCRATCH_KEPT)
        buf_free(scratch);
    buf_clear(scratch);
}

/* ---- reading ---- */

int object_check_name(const char *field, struct str name, struct inf_error *err)
{
    if (name.len > OBJECT_NAME_MAX)
        return err_set(err, INF_EDECODE, "object: '%s' has %zu bytes; the limit is %d", field,
                       name.len, OBJECT_NAME_MAX);
    if (str_has_control(name))
        return err_set(err, INF_EDECODE, "object: '%s' contains control characters", field);
    return 0;
}

/* Reads the string member @field; an absent one leaves *@ret as it is. */
static int read_name(yyjson_val *object, const char *field, struct str *ret, struct inf_error *err)
{
    yyjson_val *value = yyjson_obj_get(object, field);
    struct str s;
    int rc;
    if (!value || yyjson_is_null(value))
        return 0;
    if (!yyjson_is_str(value))
        return err_set(err, INF_EDECODE, "object: '%s' is not a string", field);
    s = (struct str){yyjson_get_str(value), yyjson_get_len(value)};
    rc = object_check_name(field, s, err);
    if (rc == 0)
        *ret = s;
    return rc;
}

static int check_key(const struct object_identity *names, struct inf_error *err)
{
    if (!names->name.len)
        return err_set(err, INF_EDECODE, "object: metadata.name is missing");
    if (memchr(names->name.at, '/', names->name.len) ||
        (names->ns.len && memchr(names->ns.at, '/', names->ns.len)))
        return err_set(
            err, INF_EDECODE,
            "object: '/' in metadata.name or metadata.namespace makes its key ambiguous");
    return 0;
}

static int read_names(yyjson_val *root, struct object_identity *names, struct inf_error *err)
{
    yyjson_val *metadata = yyjson_obj_get(root, "metadata");
    int rc;
    if (!yyjson_is_obj(metadata))
        return err_set(err, INF_EDECODE, "object: metadata is missing");
    if ((rc = read_name(root, "kind", &names->kind, err)) < 0 ||
        (rc = read_name(root, "apiVersion", &names->api_version, err)) < 0 ||
        (rc = read_name(metadata, "namespace", &names->ns, err)) < 0 ||
        (rc = read_name(metadata, "name", &names->name, err)) < 0 ||
        (rc = read_name(metadata, "uid", &names->uid, err)) < 0 ||
        (rc = read_name(metadata, "resourceVersion", &names->version, err)) < 0)
        return rc;
    return check_key(names, err);
}

/* Recursive, like the readers of objects; it stops at the limit. */
static bool is_deeper(yyjson_val *value, size_t levels)
{
    size_t i, n;
    yyjson_val *key, *child;
    if (!yyjson_is_ctn(value))
        return false;
    if (levels == 0)
        return true;
    yyjson_arr_foreach(value, i, n, child) if (is_deeper(child, levels - 1)) return true;
    yyjson_obj_foreach(value, i, n, key, child) if (is_deeper(child, levels - 1)) return true;
    return false;
}

/* Fast path: an object that has no more containers than the limit can't exceed it. Scalars are counted
 * until that is certain. */
static int check_depth(yyjson_doc *doc, struct inf_error *err)
{
    yyjson_val *values = yyjson_doc_get_root(doc); /* an array of all values */
    size_t count = yyjson_doc_get_val_count(doc);
    size_t excess = count > OBJECT_DEPTH_MAX ? count - OBJECT_DEPTH_MAX : 0;
    for (size_t i = 0; i < count && excess; i++)
        excess -= !yyjson_is_ctn(&values[i]);
    if (excess && is_deeper(values, OBJECT_DEPTH_MAX))
        return err_set(err, INF_EDECODE, "object: nested more than %d levels deep",
                       OBJECT_DEPTH_MAX);
    return 0;
}

/* ---- the allocation ---- */

/* The key is `namespace/name`; its second half is the name. */
static struct inf_object *assemble(const struct object_identity *n, struct str parts[OBJECT_PARTS])
{
    size_t ns_in_key = n->ns.len ? n->ns.len + 1 : 0, size = ns_in_key, at = ns_in_key;
    struct inf_object *o;
    parts[PART_NAME] = n->name;
    for (int i = 0; i < OBJECT_PARTS; i++)
        size += parts[i].len + 1;
    o = xmalloc(sizeof(*o) + size);
    *o = (struct inf_object){.refs = 1, .text_len = (uint32_t)parts[PART_TEXT].len};
    if (ns_in_key) {
        memcpy(o->bytes, n->ns.at, n->ns.len);
        o->bytes[n->ns.len] = '/';
    }
    for (int i = 0; i < OBJECT_PARTS; i++) {
        o->at[i] = (uint16_t)at;
        if (parts[i].len)
            memcpy(o->bytes + at, parts[i].at, parts[i].len);
        o->bytes[at + parts[i].len] = '\0';
        at += parts[i].len + 1;
    }
    return o;
}

static struct inf_object *make_from(const struct object_identity *n,
                                    const struct last_writers *writers, struct str text)
{
    struct inf_object *o = assemble(n, (struct str[OBJECT_PARTS]){
                                           [PART_NAMESPACE] = n->ns,
                                           [PART_UID] = n->uid,
                                           [PART_VERSION] = n->version,
                                           [PART_KIND] = n->kind,
                                           [PART_API_VERSION] = n->api_version,
                                           [PART_MANAGER] = writers->manager,
                                           [PART_SUBRESOURCE] = writers->subresource,
                                           [PART_TIME] = writers->time,
                                           [PART_STATUS_MANAGER] = writers->status_manager,
                                           [PART_STATUS_TIME] = writers->status_time,
                                           [PART_TEXT] = text,
                                       });
    o->sole_status = writers->sole_status;
    o->sole_other = writers->sole_other;
    return o;
}

/* ---- memory of a parse ---- */

/* The context is a bool: true if the text has secret values, so that the memory must be wiped. */
static void *parse_take(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void parse_give(void *ctx, void *memory)
{
    if (*(const bool *)ctx)
        wipe_free(memory);
    else
        free(memory);
}

static void *parse_resize(void *ctx, void *memory, size_t old_size, size_t size)
{
    void *other = *(const bool *)ctx ? malloc(size) : realloc(memory, size);
    if (other && *(const bool *)ctx) {
        memcpy(other, memory, old_size < size ? old_size : size);
        wipe_free(memory);
    }
    return other;
}

/* ---- from a text ---- */

/* yyjson's reader does not write into the text without YYJSON_READ_INSITU. */
static yyjson_doc *parse_json(struct str text, bool *hides, yyjson_read_err *ret_why)
{
    yyjson_alc memory = {parse_take, parse_resize, parse_give, hides};
    return yyjson_read_opts((char *)(uintptr_t)text.at, text.len, YYJSON_READ_NUMBER_AS_RAW,
                            &memory, ret_why);
}

/* @text without managedFields, unless the shape keeps them. */
static struct str cut_managed_fields(struct object_maker *maker, struct str text, struct str cut)
{
    const char *end = text.at + text.len, *rest;
    struct buf *lean = &maker->lean;
    if (!cut.len || !shape_of(maker)->managed)
        return text;
    rest = cut.at + cut.len;
    lean->secret = shape_hides(shape_of(maker));
    buf_put(lean, text.at, (size_t)(cut.at - text.at));
    buf_put(lean, rest, (size_t)(end - rest));
    return (struct str){lean->bytes, lean->len};
}

int object_make(struct object_maker *maker, struct str text, const struct object_defaults *defaults,
                struct inf_object **ret_object, struct inf_error *err)
{
    struct object_identity names = {.kind = {0}};
    bool hides = shape_hides(shape_of(maker));
    struct managed managed;
    struct object_text source;
    struct str lean;
    yyjson_read_err why;
    yyjson_doc *doc;
    int rc;
    managed_read(text, &managed);
    lean = cut_managed_fields(maker, text, managed.cut);
    doc = parse_json(lean, &hides, &why);
    if (!doc && lean.at != text.at) {
        lean = text;
        doc = parse_json(text, &hides, &why); /* for the position in the text that was given */
    }
    if (defaults) {
        names.kind = defaults->kind;
        names.api_version = defaults->api_version;
    }
    rc = doc ? check_depth(doc, err)
             : err_set(err, INF_EDECODE, "object: %s at byte %zu", why.msg, why.pos);
    if (rc == 0)
        rc = read_names(yyjson_doc_get_root(doc), &names, err);
    if (rc == 0) {
        source = (struct object_text){lean, yyjson_doc_get_root(doc), names.kind, names.api_version,
                                      names.uid};
        *ret_object = make_from(&names, &managed.writers,
                                object_text_make(&source, shape_of(maker), &maker->text));
    }
    yyjson_doc_free(doc);
    reset_scratch(&maker->lean);
    reset_scratch(&maker->text);
    return rc;
}

/* ---- without a text ---- */

int object_make_identity(const struct object_identity *identity, struct inf_object **ret_object,
                         struct inf_error *err)
{
    const struct last_writers unknown_writers = {.manager = {"", 0}};
    int rc;
    if ((rc = object_check_name("kind", identity->kind, err)) < 0 ||
        (rc = object_check_name("apiVersion", identity->api_version, err)) < 0 ||
        (rc = object_check_name("namespace", identity->ns, err)) < 0 ||
        (rc = object_check_name("name", identity->name, err)) < 0 ||
        (rc = object_check_name("uid", identity->uid, err)) < 0 ||
        (rc = object_check_name("resourceVersion", identity->version, err)) < 0 ||
        (rc = check_key(identity, err)) < 0)
        return rc;
    *ret_object = make_from(identity, &unknown_writers, (struct str){"", 0});
    return 0;
}

/* The text of every other object is at least {}. */
bool object_is_identity(const struct inf_object *object)
{
    return object->text_len == 0;
}

bool object_may_be(const struct inf_object *object, const struct inf_object *identity)
{
    const char *uid = inf_object_uid(identity);
    return !uid[0] || strcmp(uid, inf_object_uid(object)) == 0;
}
