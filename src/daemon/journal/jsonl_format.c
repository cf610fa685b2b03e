/*
 * jsonl_format.c - a record as one line of JSON, shortened until it fits.
 *
 * A line is UTF-8 without control characters, ends with its only newline, and has at most max_line
 * bytes including it. Normal path: the record is written with the first measure; if the line is
 * longer than max_line it is written again with the next one, which contains less, and has
 * `"truncated":true`: first the object is omitted, then values are replaced by their sizes, then
 * changes are omitted.
 *
 * The identity of the object (namespace, name, uid, resource version and type) is always complete, as
 * long as it is not longer than Kubernetes allows. If a server sends longer ones, the type is cut
 * first, then the name; a uid as Kubernetes makes them still fits.
 */
#include <assert.h>
#include <inttypes.h>

#include "base/base.h"
#include "base/json_string.h"
#include "base/timestamp.h"
#include "base/utf8.h"
#include "daemon/journal/diff_json.h"
#include "daemon/journal/record_format.h"
#include "daemon/journal/summary.h"

#define ALL ((size_t)-1)

enum {
    SENTENCE_MAX = 200,  /* bytes of `msg`, approximately; the message of an Event may be longer */
    CONF_NAME_MAX = 384, /* LIMIT: bytes of a cluster or watch name; the conf allows no more */
    KEY_CUT = 64,        /* longer than any uid that Kubernetes makes */
};

/* How much a line contains. */
struct measure {
    bool object;
    size_t value_max;
    size_t changes;
    size_t msg_max;
    size_t detail_max; /* of each field about the manager or the involved object */
    bool bare;         /* only the identity */
    size_t type_max;   /* of each of group, version, resource and kind */
    size_t key_max;    /* of each of namespace, name, uid and resource versions */
};

/*
 * From everything to the minimum. The one marked LEGAL fits for everything that Kubernetes and
 * the conf file allow: names of 253 bytes, even if every byte is escaped, groups of 253 and other
 * names of 63 bytes. Those after it are for a server that exceeds these limits; the last one always
 * fits.
 */
static const struct measure measures[] = {
    {true, ALL, ALL, ALL, ALL, false, ALL, ALL},
    {false, ALL, ALL, ALL, ALL, false, ALL, ALL},
    {false, 1024, ALL, ALL, ALL, false, ALL, ALL},
    {false, 128, ALL, ALL, ALL, false, ALL, ALL},
    {false, 16, ALL, ALL, ALL, false, ALL, ALL},
    {false, 0, ALL, ALL, ALL, false, ALL, ALL},
    {false, 0, 64, 512, ALL, false, ALL, ALL},
    {false, 0, 16, 256, ALL, false, ALL, ALL},
    {false, 0, 4, 128, ALL, false, ALL, ALL},
    {false, 0, 0, 128, ALL, false, ALL, ALL},
    {false, 0, 0, 64, 64, false, ALL, ALL},
    {false, 0, 0, 32, 0, true, ALL, ALL},
    {false, 0, 0, 8, 0, true, ALL, ALL}, /* LEGAL */
    {false, 0, 0, 8, 0, true, 64, ALL},
    {false, 0, 0, 8, 0, true, 8, ALL},
    {false, 0, 0, 8, 0, true, 8, KEY_CUT},
};

/* ---- fields ---- */

static void put_field(struct buf *out, const char *name, struct str value, size_t max)
{
    buf_putc(out, ',');
    json_put_key(out, name);
    json_put_string(out, utf8_cut(value, max));
}

static void put_optional(struct buf *out, const char *name, const char *value, size_t max)
{
    if (value)
        put_field(out, name, str_of(value), max);
}

static void put_stamp(struct buf *out, const struct stamp *stamp, const char *type)
{
    char time[TIMESTAMP_SIZE];
    timestamp_format(stamp->time_us, time);
    buf_printf(out, "{\"time\":\"%s\",\"seq\":%" PRIu64 ",\"log\":\"%s\",\"type\":\"%s\"", time,
               stamp->seq, stamp->log, type);
}

/* Whether the line that starts at @start fits. If not, it is removed. */
static bool line_fits(struct buf *out, size_t start, const struct record_options *options)
{
    if (out->len - start <= options->max_line)
        return true;
    out->len = start;
    return false;
}

static void put_msg(struct buf *out, struct str msg, size_t max)
{
    struct buf text = {0};
    summary_put_cut(&text, msg, max);
    put_field(out, "msg", (struct str){text.bytes, text.len}, ALL);
    buf_free(&text);
}

/* ---- changes ---- */

static void put_identity(struct buf *out, const struct change *c, const struct measure *m)
{
    put_optional(out, "cluster", c->watch->cluster, CONF_NAME_MAX);
    put_optional(out, "watch", c->watch->name, CONF_NAME_MAX);
    put_field(out, "group", c->group, m->type_max);
    put_field(out, "version", c->version, m->type_max);
    put_optional(out, "resource", c->watch->resource, m->type_max);
    put_field(out, "kind", str_of(c->kind), m->type_max);
    put_field(out, "namespace", str_of(inf_object_namespace(c->object)), m->key_max);
    put_field(out, "name", str_of(inf_object_name(c->object)), m->key_max);
    put_field(out, "uid", str_of(inf_object_uid(c->object)), m->key_max);
    put_field(out, "rv", str_of(inf_object_resource_version(c->object)), m->key_max);
    put_optional(out, "old_rv", c->old_rv, m->key_max);
    if (c->ignored)
        buf_printf(out, ",\"ignored\":%" PRIu64, c->ignored);
}

/* The contents of an Event, the manager of the change, and what changed. */
static void put_details(struct buf *out, const struct change *c, const struct measure *m,
                        bool values)
{
    size_t max = m->detail_max;
    if (c->is_core_event) {
        put_field(out, "reason", str_of(c->core_event.reason), max);
        if (c->core_event.count[0])
            buf_printf(out, ",\"count\":%s", c->core_event.count);
        buf_puts(out, ",\"involved\":{\"kind\":");
        json_put_string(out, utf8_cut(str_of(c->core_event.kind), max));
        put_field(out, "namespace", str_of(c->core_event.ns), max);
        put_field(out, "name", str_of(c->core_event.name), max);
        buf_putc(out, '}');
    }
    if (c->has_writer) {
        if (c->writer.manager[0])
            put_field(out, "manager", str_of(c->writer.manager), max);
        put_field(out, "subresource", str_of(c->writer.subresource), max);
        if (c->writer.time[0])
            put_field(out, "changed_at", str_of(c->writer.time), max);
    }
    if (c->diff) {
        if (m->changes < inf_diff_count(c->diff))
            buf_printf(out, ",\"changes\":%zu", inf_diff_count(c->diff));
        buf_puts(out, ",\"changed\":");
        diff_json_put_paths(out, c->diff, m->changes);
        if (values) {
            buf_puts(out, ",\"diff\":");
            diff_json_put(out, c->diff, m->changes, m->value_max);
        }
    }
}

/* @object: empty unless the record has the whole object. */
static void put_measured_change(struct buf *out, const struct change *c, struct str msg,
                                struct str object, bool values, const struct measure *m)
{
    bool cut = m != measures && (m != measures + 1 || object.len);
    put_stamp(out, &c->stamp, inf_verb_name(c->event->verb));
    put_field(out, "origin", str_of(inf_origin_name(c->event->origin)), ALL);
    put_identity(out, c, m);
    if (c->event->verb == INF_DELETED)
        buf_printf(out, ",\"final\":%s", c->event->final ? "true" : "false");
    put_optional(out, "why", c->why, ALL);
    put_field(out, "level", str_of(c->is_core_event && c->core_event.warning ? "warn" : "info"),
              ALL);
    put_msg(out, msg, m->msg_max);
    if (!m->bare)
        put_details(out, c, m, values);
    if (m->object && object.len) {
        buf_puts(out, ",\"object\":");
        json_put_json(out, object);
    }
    if (cut || (c->diff && inf_diff_truncated(c->diff)))
        buf_puts(out, ",\"truncated\":true");
    buf_puts(out, "}\n");
}

static void jsonl_put_change(struct buf *out, const struct change *change,
                             const struct record_options *options)
{
    bool values = options->object != RECORD_NONE;
    size_t start = out->len, first = 0;
    struct buf msg = {0};
    struct str object = {0};
    if (options->object == RECORD_FULL) {
        object.at = inf_object_json(change->object, &object.len);
        first = object.len > options->max_line; /* the object alone is too long */
    }
    change_put_sentence(&msg, change, values, SENTENCE_MAX);
    for (size_t i = first; i < ARRAY_LEN(measures); i++) {
        put_measured_change(out, change, (struct str){msg.bytes, msg.len}, object, values,
                            &measures[i]);
        if (line_fits(out, start, options))
            break;
    }
    assert(out->len > start);
    buf_free(&msg);
}

/* ---- notes ---- */

static void put_measured_note(struct buf *out, const struct note *note, const struct stamp *stamp,
                              const struct watch_id *watch, const struct measure *m)
{
    put_stamp(out, stamp, note_type_name(note->type));
    if (watch) {
        put_optional(out, "cluster", watch->cluster, CONF_NAME_MAX);
        put_optional(out, "watch", watch->name, CONF_NAME_MAX);
        put_optional(out, "group", watch->group, m->type_max);
        put_optional(out, "version", watch->version, m->type_max);
        put_optional(out, "resource", watch->resource, m->type_max);
        put_optional(out, "namespace", note->ns, ALL);
    }
    put_optional(out, note->type == NOTE_SYNCED ? "rv" : "informerd", note->version, m->key_max);
    put_optional(out, "reason", note->reason, m->key_max);
    if (note->count >= 0)
        buf_printf(out, ",\"%s\":%" PRId64, note->type == NOTE_SYNCED ? "objects" : "dropped",
                   note->count);
    put_field(out, "level", str_of(note_level_name(note->level)), ALL);
    put_msg(out, str_of(note->msg), m->msg_max);
    if (m != measures)
        buf_puts(out, ",\"truncated\":true");
    buf_puts(out, "}\n");
}

static void jsonl_put_note(struct buf *out, const struct note *note, const struct stamp *stamp,
                           const struct watch_id *watch, const struct record_options *options)
{
    size_t start = out->len;
    for (size_t i = 0; i < ARRAY_LEN(measures); i++) {
        put_measured_note(out, note, stamp, watch, &measures[i]);
        if (line_fits(out, start, options))
            break;
    }
    assert(out->len > start);
}

const struct record_format jsonl_format = {
    .put_change = jsonl_put_change,
    .put_note = jsonl_put_note,
};
