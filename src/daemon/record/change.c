/*
 * change.c - computes what all event logs need of a change, and writes the text of `msg`.
 *
 * Normal path: change_init() once for each change, with a reader that is made once, then one of the
 * change_put functions for each line. Nothing here fails: unknown details are omitted.
 */
#include "daemon/record/change.h"

#include <string.h>

#include "daemon/record/attribution.h"
#include "daemon/record/summary.h"

/* Group and version of the watch. If it does not know them, of the object: "apps/v1" is group apps,
 * version v1; "v1" has no group. */
static void set_group_and_version(struct change *c)
{
    struct str all = str_of(inf_object_api_version(c->object));
    const char *slash = memchr(all.at, '/', all.len);
    size_t len = slash ? (size_t)(slash - all.at) : 0;
    c->group = c->watch->group ? str_of(c->watch->group) : (struct str){all.at, len};
    len += slash ? 1 : 0;
    c->version =
        c->watch->version ? str_of(c->watch->version) : (struct str){all.at + len, all.len - len};
}

void change_reader_init(struct change_reader *reader)
{
    *reader = (struct change_reader){.context_parts = 0};
    core_event_reader_init(&reader->core_events);
    context_reader_init(&reader->context);
}

void change_reader_done(struct change_reader *reader)
{
    core_event_reader_done(&reader->core_events);
    context_reader_done(&reader->context);
}

void change_init(struct change *ret, const struct change_reader *reader,
                 const struct watch_id *watch, const struct inf_event *event, struct inf_diff *diff)
{
    const struct selection *selection = watch->selection;
    *ret = (struct change){.watch = watch, .event = event, .diff = diff, .level = INF_LOG_INFO};
    ret->object = inf_event_object(event);
    ret->stamp.time_us = event->received_us;
    if (event->verb == INF_MODIFIED)
        ret->old_rv = inf_object_resource_version(event->old_object);
    ret->kind = inf_object_kind(ret->object);
    if (watch->kind && strcmp(ret->kind, "PartialObjectMetadata") == 0)
        ret->kind = watch->kind; /* a metadata-only object does not have its real kind */
    set_group_and_version(ret);
    ret->has_writer = attribution_find(event, diff, &ret->writer);
    ret->selected = event->verb == INF_DELETED && selection && selection->selects;
    if (ret->selected)
        ret->why = selection_why(selection, ret->object);
    ret->is_core_event = core_event_read(&reader->core_events, ret->object, &ret->core_event);
    context_read(&reader->context, reader->context_parts, watch->cluster, ret->object,
                 &ret->context);
}

void change_set_reason(struct change *change, const char *reason)
{
    if (change->event->verb != INF_DELETED)
        return;
    change->selected = true;
    change->why = reason;
}

int64_t change_time_us(const struct change *change)
{
    bool own = change->is_core_event && change->core_event.time_us != CORE_EVENT_NO_TIME;
    return own ? change->core_event.time_us : change->stamp.time_us;
}

void change_put_name(struct buf *out, const struct change *change)
{
    const char *ns = inf_object_namespace(change->object);
    if (ns[0]) {
        buf_puts(out, ns);
        buf_putc(out, '/');
    }
    buf_puts(out, inf_object_name(change->object));
}

void change_put_core_event(struct buf *out, const struct change *change, size_t max)
{
    const struct core_event *event = &change->core_event;
    size_t used;
    buf_printf(out, "%s: ", event->reason);
    used = out->len < max ? out->len : max;
    summary_put_cut(out, str_of(event->message), max - used);
    if (event->count[0] && strcmp(event->count, "1") != 0)
        buf_printf(out, " (x%s)", event->count);
}

static void put_modified(struct buf *out, const struct change *change, bool values, size_t max)
{
    size_t used;
    if (change->old_unknown) {
        buf_puts(out, " changed, previous state unknown");
        return;
    }
    if (!inf_diff_count(change->diff)) {
        buf_puts(out, " updated, but no kept field changed");
        return;
    }
    buf_puts(out, " changed: ");
    used = out->len < max ? out->len : max;
    summary_put_changes(out, change->diff, change->lines, values, max - used);
    if (change->has_writer && change->writer.manager[0]) {
        buf_puts(out, " by ");
        buf_puts(out, change->writer.manager);
    }
}

/* With selectors, "deleted" is written only if that is known. */
static void put_deleted(struct buf *out, const struct change *change)
{
    if (change->why && strcmp(change->why, SELECTION_LEFT) == 0)
        buf_puts(out, " left the selection");
    else if (change->why && strcmp(change->why, SELECTION_NS_LEFT) == 0)
        buf_puts(out, " left the selection with its namespace");
    else
        buf_puts(out,
                 change->selected && !change->why ? " deleted or left the selection" : " deleted");
    if (!change->event->final)
        buf_puts(out, ", last state unknown");
}

void change_put_sentence(struct buf *out, const struct change *change, bool values, size_t max)
{
    const struct core_event *event = &change->core_event;
    struct buf text = {0};
    if (change->is_core_event) {
        if (change->event->verb == INF_DELETED)
            buf_puts(&text, "deleted: ");
        buf_printf(&text, "%s %s%s%s: ", event->kind, event->ns, event->ns[0] ? "/" : "",
                   event->name);
        change_put_core_event(&text, change,
                              max > CORE_EVENT_MESSAGE_MAX ? max : CORE_EVENT_MESSAGE_MAX);
    } else {
        buf_puts(&text, change->kind);
        buf_putc(&text, ' ');
        change_put_name(&text, change);
        switch (change->event->verb) {
        case INF_ADDED: buf_puts(&text, " added"); break;
        case INF_MODIFIED: put_modified(&text, change, values, max); break;
        case INF_DELETED: put_deleted(&text, change); break;
        }
    }
    buf_put(out, text.bytes, text.len);
    buf_free(&text);
}
