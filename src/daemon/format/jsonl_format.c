/*
 * jsonl_format.c - a record as one line of JSON, shortened until it fits.
 *
 * A line is UTF-8 without control characters, ends with its only newline, and has at most max_line
 * bytes including it. Normal path: the record is written with the first measure; if the line is
 * longer than max_line it is written again with the next one, which contains less, and has
 * `"truncated":true`: first the object is omitted, then values are replaced by their sizes, then
 * changes and labels are omitted.
 *
 * The identity of the object (namespace, name, uid, resource version and type) is always complete, as
 * long as it is not longer than Kubernetes allows. If a server sends longer ones, the type is cut
 * first, then the name; a uid as Kubernetes makes them still fits.
 */
#include <assert.h>
#include <inttypes.h>

#include "base/base.h"
#include "base/text/json_string.h"
#include "base/text/timestamp.h"
#include "base/text/utf8.h"
#include "daemon/format/record_format.h"
#include "daemon/record/diff_json.h"
#include "daemon/record/summary.h"

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
    size_t detail_max;  /* of each field about the manager, the owner, the node or the involved
                           object */
    size_t context_max; /* of all labels, and of each of the configured fields */
    bool bare;          /* only the identity */
    size_t type_max;    /* of each of group, version, resource and kind */
    size_t key_max;     /* of each of namespace, name, uid and resource versions */
};

/*
 * From everything to the minimum. The one marked LEGAL fits for everything that Kubernetes and
 * the conf file allow: names of 253 bytes, even if every byte is escaped, groups of 253 and other
 * names of 63 bytes. Those after it are for a server that exceeds these limits; the last one always
 * fits.
 */
static const struct measure measures[] = {
    {true, ALL, ALL, ALL, ALL, ALL, false, ALL, ALL},
    {false, ALL, ALL, ALL, ALL, ALL, false, ALL, ALL},
    {false, 1024, ALL, ALL, ALL, ALL, false, ALL, ALL},
    {false, 128, ALL, ALL, ALL, ALL, false, ALL, ALL},
    {false, 16, ALL, ALL, ALL, ALL, false, ALL, ALL},
    {false, 0, ALL, ALL, ALL, ALL, false, ALL, ALL},
    {false, 0, 64, 512, ALL, 4096, false, ALL, ALL},
    {false, 0, 16, 256, ALL, 1024, false, ALL, ALL},
    {false, 0, 4, 128, ALL, 512, false, ALL, ALL},
    {false, 0, 0, 128, ALL, 256, false, ALL, ALL},
    {false, 0, 0, 64, 64, 128, false, ALL, ALL},
    {false, 0, 0, 32, 0, 0, true, ALL, ALL},
    {false, 0, 0, 8, 0, 0, true, ALL, ALL}, /* LEGAL */
    {false, 0, 0, 8, 0, 0, true, 64, ALL},
    {false, 0, 0, 8, 0, 0, true, 8, ALL},
    {false, 0, 0, 8, 0, 0, true, 8, KEY_CUT},
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
    buf_puts(out, "{\"time\":\"");
    buf_puts(out, time);
    buf_puts(out, "\",\"seq\":");
    buf_put_u64(out, stamp->seq);
    buf_puts(out, ",\"log\":\"");
    buf_puts(out, stamp->log);
    buf_puts(out, "\",\"type\":\"");
    buf_puts(out, type);
    buf_putc(out, '"');
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
    if (c->old_unknown)
        buf_puts(out, ",\"old_unknown\":true");
    if (c->ignored) {
        buf_puts(out, ",\"ignored\":");
        buf_put_u64(out, c->ignored);
    }
}

/* ---- context ---- */

/* Adds ,"@name":{"kind":...,"name":... without the closing brace. */
static void put_reference(struct buf *out, const char *name, const char *kind,
                          const char *object_name, size_t max)
{
    buf_putc(out, ',');
    json_put_key(out, name);
    buf_puts(out, "{\"kind\":");
    json_put_string(out, utf8_cut(str_of(kind), max));
    put_field(out, "name", str_of(object_name), max);
}

struct label_list {
    struct buf *out;
    size_t end; /* length of `out` that may not be exceeded */
    const char *comma;
};

static bool put_label(void *ctx, const char *key, const char *value, size_t len)
{
    struct label_list *list = ctx;
    size_t start = list->out->len;
    buf_puts(list->out, list->comma);
    json_put_string(list->out, str_of(key));
    buf_putc(list->out, ':');
    json_put_string(list->out, (struct str){value, len});
    list->comma = ",";
    if (list->out->len <= list->end)
        return true;
    list->out->len = start;
    return false;
}

/* All labels, or the first ones that fit into @max bytes. */
static void put_labels(struct buf *out, const struct change *c, size_t max)
{
    buf_puts(out, ",\"labels\":");
    if (c->context.labels.len <= max) {
        json_put_json(out, c->context.labels);
    } else {
        struct label_list list = {out, out->len + max, ""};
        buf_putc(out, '{');
        inf_object_each_label(c->object, put_label, &list);
        buf_putc(out, '}');
    }
}

static void put_context(struct buf *out, const struct change *c,
                        const struct record_options *options, const struct measure *m)
{
    const struct context *context = &c->context;
    size_t max = m->detail_max;
    if (options->context & CONTEXT_LABELS && context->labels.len)
        put_labels(out, c, m->context_max);
    if (options->context & CONTEXT_OWNER && context->has_owner) {
        put_reference(out, "owner", context->owner.kind, context->owner.name, max);
        put_field(out, "uid", str_of(context->owner.uid), max);
        buf_putc(out, '}');
    }
    if (options->context & CONTEXT_OWNER && context->has_workload) {
        put_reference(out, "workload", context->workload.kind, context->workload.name, max);
        buf_putc(out, '}');
    }
    if (options->context & CONTEXT_NODE && context->node[0])
        put_field(out, "node", str_of(context->node), max);
    record_fields_put(out, options->fields, c->object, m->context_max);
}

/* ---- details ---- */

static void put_nonempty(struct buf *out, const char *name, const char *value, size_t max)
{
    if (value[0])
        put_field(out, name, str_of(value), max);
}

static void put_core_event(struct buf *out, const struct core_event *event, size_t max)
{
    char time[TIMESTAMP_SIZE];
    put_field(out, "reason", str_of(event->reason), max);
    put_nonempty(out, "event_type", event->type, max);
    if (event->time_us != CORE_EVENT_NO_TIME) {
        timestamp_format(event->time_us, time);
        put_field(out, "event_time", str_of(time), ALL);
    }
    if (event->count[0])
        buf_printf(out, ",\"count\":%s", event->count);
    put_nonempty(out, "message", event->message, max);
    buf_puts(out, ",\"involved\":{\"kind\":");
    json_put_string(out, utf8_cut(str_of(event->kind), max));
    put_field(out, "namespace", str_of(event->ns), max);
    put_field(out, "name", str_of(event->name), max);
    put_nonempty(out, "uid", event->uid, max);
    put_nonempty(out, "apiVersion", event->api_version, max);
    buf_putc(out, '}');
}

/* The contents of an Event, the manager of the change, and what changed. */
static void put_details(struct buf *out, const struct change *c, const struct measure *m,
                        bool values)
{
    size_t max = m->detail_max;
    if (c->is_core_event)
        put_core_event(out, &c->core_event, max);
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
            diff_json_put(out, c->diff, c->lines, m->changes, m->value_max);
        }
    }
}

/* What all attempts to write a record have in common. */
struct attempt {
    const struct change *change;
    const struct record_options *options;
    struct str msg;
    struct str object; /* empty: the record does not have it */
};

static void put_measured_change(struct buf *out, const struct attempt *attempt,
                                const struct measure *m)
{
    const struct change *c = attempt->change;
    bool cut = m != measures && (m != measures + 1 || attempt->object.len);
    put_stamp(out, &c->stamp, inf_verb_name(c->event->verb));
    put_field(out, "origin", str_of(inf_origin_name(c->event->origin)), ALL);
    put_identity(out, c, m);
    if (c->event->verb == INF_DELETED)
        buf_printf(out, ",\"final\":%s", c->event->final ? "true" : "false");
    put_optional(out, "why", c->why, ALL);
    if (!m->bare)
        put_context(out, c, attempt->options, m);
    put_field(out, "level", str_of(note_level_name(c->level)), ALL);
    put_optional(out, "rule", c->rule, CONF_NAME_MAX);
    put_msg(out, attempt->msg, m->msg_max);
    if (!m->bare)
        put_details(out, c, m, attempt->options->object != RECORD_NONE);
    if (m->object && attempt->object.len) {
        buf_puts(out, ",\"object\":");
        json_put_json(out, attempt->object);
    }
    if (cut || (c->diff && inf_diff_truncated(c->diff)))
        buf_puts(out, ",\"truncated\":true");
    buf_puts(out, "}\n");
}

static void jsonl_put_change(struct buf *out, const struct change *change,
                             const struct record_options *options)
{
    struct attempt attempt = {.change = change, .options = options};
    size_t start = out->len, first = 0;
    struct buf msg = {0};
    if (options->object_verbs & 1u << change->event->verb || change->old_unknown) {
        attempt.object.at = inf_object_json(change->object, &attempt.object.len);
        first = attempt.object.len > options->max_line; /* the object alone is too long */
    }
    change_put_sentence(&msg, change, options->object != RECORD_NONE, SENTENCE_MAX);
    attempt.msg = (struct str){msg.bytes, msg.len};
    for (size_t i = first; i < ARRAY_LEN(measures); i++) {
        put_measured_change(out, &attempt, &measures[i]);
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
    .has_context = true,
    .put_change = jsonl_put_change,
    .put_note = jsonl_put_note,
};
