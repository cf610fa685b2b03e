/*
 * decode.c - makes source events from the text of watch events and list items.
 *
 * Normal path: decode_guess() finds the object of an event that is written as API servers write it,
 * without reading it twice; decode_event() reads any other JSON object. An ERROR event becomes the
 * error in its Status. Text that is not an event is INF_EDECODE; the message never contains it.
 */
#include "kube/source/decode.h"

#include <string.h>

#include <yyjson.h>

#include "base/base.h"
#include "base/err.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "kube/source/object_hint.h"
#include "kube/source/status.h"

#define END_ANNOTATION "k8s.io/initial-events-end"

/* ---- the envelope ---- */

struct envelope {
    struct str type; /* with its quotes */
    struct str object;
};

/* Removes @literal from the front of @text, if present. */
static bool take_front(struct str *text, struct str literal)
{
    if (text->len < literal.len || memcmp(text->at, literal.at, literal.len) != 0)
        return false;
    *text = (struct str){text->at + literal.len, text->len - literal.len};
    return true;
}

/*
 * {"type":"MODIFIED","object":{...}}, as API servers write it: the end of the type and the
 * position of the last brace are known without parsing the object. Whether it is a single valid
 * object is checked when it is parsed as JSON.
 */
static bool guess_envelope(struct str text, struct envelope *ret)
{
    const char *quote;
    if (!take_front(&text, STR("{\"type\":")) || !text.len || text.at[0] != '"' ||
        !(quote = memchr(text.at + 1, '"', text.len - 1)))
        return false;
    ret->type = (struct str){text.at, (size_t)(quote + 1 - text.at)};
    text = (struct str){quote + 1, text.len - ret->type.len};
    if (!take_front(&text, STR(",\"object\":")) || text.len < 2 || text.at[text.len - 1] != '}')
        return false;
    ret->object = (struct str){text.at, text.len - 1};
    return true;
}

static int read_envelope(struct str text, struct envelope *ret, struct inf_error *err)
{
    struct json_walk walk;
    struct json_member member;
    *ret = (struct envelope){.type = {0}};
    json_walk_start(&walk, text);
    while (json_walk_next(&walk, &member)) {
        if (json_key_is(member.key, "type"))
            ret->type = member.value;
        else if (json_key_is(member.key, "object"))
            ret->object = member.value;
    }
    if (!json_walk_complete(&walk))
        return err_set(err, INF_EDECODE, "watch event: %zu bytes that are not a JSON object",
                       text.len); /* not quoted: they may be a Secret */
    if (!ret->type.len || !ret->object.len)
        return err_set(err, INF_EDECODE, "watch event: 'type' or 'object' is missing");
    return 0;
}

/* ---- bookmarks ---- */

/* The version is optional, but if present it is checked like that of an object. */
static int read_bookmark(struct decoder *decoder, yyjson_val *root, struct source_event *ret,
                         struct inf_error *err)
{
    yyjson_val *metadata = yyjson_obj_get(root, "metadata");
    yyjson_val *value = yyjson_obj_get(metadata, "resourceVersion");
    yyjson_val *annotations = yyjson_obj_get(metadata, "annotations");
    struct str version = {yyjson_get_str(value), yyjson_get_len(value)};
    int rc;
    if (!yyjson_is_obj(metadata))
        return err_set(err, INF_EDECODE, "bookmark: no metadata");
    if (value && !yyjson_is_null(value) && !version.at)
        return err_set(err, INF_EDECODE, "bookmark: 'resourceVersion' is not a string");
    rc = object_check_name("resourceVersion", version, err);
    if (rc < 0)
        return rc;
    if (version.len)
        memcpy(decoder->version, version.at, version.len);
    decoder->version[version.len] = '\0';
    ret->resource_version = decoder->version;
    ret->initial_end = yyjson_equals_str(yyjson_obj_get(annotations, END_ANNOTATION), "true");
    return 0;
}

static int decode_bookmark(struct decoder *decoder, struct str object, struct source_event *ret,
                           struct inf_error *err)
{
    yyjson_doc *doc = yyjson_read(object.at, object.len, YYJSON_READ_NUMBER_AS_RAW);
    int rc = doc ? read_bookmark(decoder, yyjson_doc_get_root(doc), ret, err)
                 : err_set(err, INF_EDECODE, "bookmark: not JSON");
    yyjson_doc_free(doc);
    return rc;
}

/* ---- the event ---- */

static const struct {
    struct str name;
    enum source_type type;
} types[] = {
    {{"\"ADDED\"", 7}, SOURCE_ADDED},
    {{"\"MODIFIED\"", 10}, SOURCE_MODIFIED},
    {{"\"DELETED\"", 9}, SOURCE_DELETED},
    {{"\"BOOKMARK\"", 10}, SOURCE_BOOKMARK},
};

static bool read_type(struct str name, enum source_type *ret_type)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_eq(types[i].name, name)) {
            *ret_type = types[i].type;
            return true;
        }
    return false;
}

static int decode_object(struct decoder *decoder, struct str object, struct source_event *ret,
                         struct inf_error *err)
{
    int rc = object_make(&decoder->maker, object, NULL, &ret->object, err);
    struct str kind;
    if (rc == 0)
        ret->resource_version = inf_object_resource_version(ret->object);
    else if (json_member_get(object, STR("kind"), &kind) && str_eq(kind, STR("\"Table\"")))
        err_set(err, INF_EDECODE, "watch event: a Table instead of an object");
    return rc;
}

bool decode_guess(struct decoder *decoder, struct str text, struct source_event *ret_event)
{
    struct source_event event = {.type = SOURCE_ADDED};
    struct envelope envelope;
    if (!guess_envelope(text, &envelope) || !read_type(envelope.type, &event.type) ||
        event.type == SOURCE_BOOKMARK ||
        object_make(&decoder->maker, envelope.object, NULL, &event.object, NULL) < 0)
        return false;
    event.resource_version = inf_object_resource_version(event.object);
    *ret_event = event;
    return true;
}

static bool is_one_value(struct str text)
{
    struct json_scan scan = {0};
    bool ended = false;
    return json_scan_value(&scan, text, &ended) == text.len && ended;
}

bool decode_is_other_shard(struct str text, struct shard shard)
{
    enum source_type type;
    struct envelope envelope;
    struct str uid;
    return guess_envelope(text, &envelope) && read_type(envelope.type, &type) &&
           type != SOURCE_BOOKMARK && hint_uid(envelope.object, &uid) && !shard_has(shard, uid) &&
           is_one_value(envelope.object);
}

int decode_event(struct decoder *decoder, struct str text, struct source_event *ret_event,
                 struct inf_error *err)
{
    struct source_event event = {.type = SOURCE_ADDED};
    struct envelope envelope;
    int rc;
    if (decode_guess(decoder, text, ret_event))
        return 0;
    rc = read_envelope(text, &envelope, err);
    if (rc < 0)
        return rc;
    if (str_eq(envelope.type, STR("\"ERROR\""))) {
        status_from_event(envelope.object, err);
        return -err->code;
    }
    if (!read_type(envelope.type, &event.type))
        return err_set(err, INF_EDECODE, "watch event: unknown type %.*s",
                       (int)(envelope.type.len < 40 ? envelope.type.len : 40), envelope.type.at);
    rc = event.type == SOURCE_BOOKMARK ? decode_bookmark(decoder, envelope.object, &event, err)
                                       : decode_object(decoder, envelope.object, &event, err);
    if (rc == 0)
        *ret_event = event;
    return rc;
}

/* ---- unreadable objects ---- */

static bool has_kind(const struct inf_object *object)
{
    return inf_object_kind(object)[0] && inf_object_api_version(object)[0];
}

static struct source_event skipped(struct inf_object *identity)
{
    return (struct source_event){.type = SOURCE_SKIPPED,
                                 .object = identity,
                                 .resource_version =
                                     identity ? inf_object_resource_version(identity) : ""};
}

bool decode_unreadable(struct str text, bool cut, struct source_event *ret_event)
{
    enum source_type type = SOURCE_SKIPPED;
    struct inf_object *identity;
    struct envelope envelope;
    bool found = cut ? json_member_get(text, STR("type"), &envelope.type) &&
                           json_member_get(text, STR("object"), &envelope.object)
                     : read_envelope(text, &envelope, NULL) == 0;
    if (!found || str_eq(envelope.type, STR("\"ERROR\"")) || !envelope.object.len ||
        envelope.object.at[0] != '{')
        return false;
    identity = hint_identity(envelope.object, NULL);
    if (!identity)
        return false;
    *ret_event = skipped(identity);
    if (read_type(envelope.type, &type) && type == SOURCE_DELETED && ret_event->resource_version[0])
        ret_event->type = SOURCE_DELETED;
    return true;
}

bool decode_unreadable_item(struct str text, const struct object_defaults *defaults,
                            struct source_event *ret_event)
{
    struct inf_object *identity = hint_identity(text, defaults);
    if (identity && !has_kind(identity)) {
        inf_object_unref(identity);
        return false;
    }
    *ret_event = skipped(identity);
    return true;
}

/* ---- an item ---- */

int decode_item(struct decoder *decoder, struct str text, const struct object_defaults *defaults,
                struct source_event *ret_event, struct inf_error *err)
{
    struct source_event event = {.type = SOURCE_ADDED};
    int rc = object_make(&decoder->maker, text, defaults, &event.object, err);
    if (rc < 0)
        return rc;
    if (!has_kind(event.object)) {
        inf_object_unref(event.object);
        return err_set(err, INF_EDECODE, "object: neither it nor its list has kind and apiVersion");
    }
    event.resource_version = inf_object_resource_version(event.object);
    *ret_event = event;
    return 0;
}

void decoder_free(struct decoder *decoder)
{
    object_maker_free(&decoder->maker);
}
