/*
 * change.c - computes what all outputs need of a change, and writes the text of `msg`.
 */
#include "daemon/journal/change.h"

#include <string.h>

#include "daemon/journal/attribution.h"
#include "daemon/journal/summary.h"

/* A metadata-only object does not have its real kind; its watch has. */
static const char *kind_of(const struct watch_id *watch, const struct inf_object *object)
{
    const char *kind = inf_object_kind(object);
    return watch->kind && strcmp(kind, "PartialObjectMetadata") == 0 ? watch->kind : kind;
}

/* "apps/v1" is group apps, version v1; "v1" has no group. */
static void split_api_version(struct change *c)
{
    struct str all = str_of(inf_object_api_version(c->object));
    const char *slash = memchr(all.at, '/', all.len);
    size_t len = slash ? (size_t)(slash - all.at) : 0;
    c->group = c->watch->group ? str_of(c->watch->group) : (struct str){all.at, len};
    len += slash ? 1 : 0;
    c->version =
        c->watch->version ? str_of(c->watch->version) : (struct str){all.at + len, all.len - len};
}

static void find_deletion_reason(struct change *c)
{
    const struct selection *selection = c->watch->selection;
    bool selects = (selection && selection->selects) || c->watch->why;
    c->selected = c->event->verb == INF_DELETED && selects;
    if (c->selected)
        c->why = c->watch->why ? c->watch->why : selection_why(selection, c->object);
}

void change_init(struct change *ret, const struct watch_id *watch, const struct inf_event *event,
                 struct inf_diff *diff)
{
    *ret = (struct change){.watch = watch, .event = event, .diff = diff};
    ret->object = inf_event_object(event);
    if (event->verb == INF_MODIFIED)
        ret->old_rv = inf_object_resource_version(event->old_object);
    ret->kind = kind_of(watch, ret->object);
    ret->stamp.time_us = event->received_us;
    split_api_version(ret);
    ret->has_who = attribution_find(event, diff, &ret->who);
    find_deletion_reason(ret);
    ret->tells = core_event_read(ret->object, &ret->told);
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

void change_put_told(struct buf *out, const struct change *change, size_t max)
{
    const struct core_event *told = &change->told;
    size_t used;
    buf_printf(out, "%s: ", told->reason);
    used = out->len < max ? out->len : max;
    summary_put_cut(out, str_of(told->message), max - used);
    if (told->count[0] && strcmp(told->count, "1") != 0)
        buf_printf(out, " (x%s)", told->count);
}

/* "Pod shop/web-0: BackOff: Back-off restarting failed container (x12)" */
static void put_core_event(struct buf *out, const struct change *change, size_t max)
{
    const struct core_event *told = &change->told;
    if (change->event->verb == INF_DELETED)
        buf_puts(out, "deleted: ");
    buf_printf(out, "%s %s%s%s: ", told->kind, told->ns, told->ns[0] ? "/" : "", told->name);
    change_put_told(out, change, max);
}

static void put_modified(struct buf *out, const struct change *change, bool values, size_t max)
{
    size_t used;
    if (!inf_diff_count(change->diff)) {
        buf_puts(out, " updated, but no kept field changed");
        return;
    }
    buf_puts(out, " changed: ");
    used = out->len < max ? out->len : max;
    summary_put_changes(out, change->diff, values, max - used);
    if (change->has_who && change->who.manager[0]) {
        buf_puts(out, " by ");
        buf_puts(out, change->who.manager);
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

static void put_verb(struct buf *out, const struct change *change, bool values, size_t max)
{
    switch (change->event->verb) {
    case INF_ADDED: buf_puts(out, " added"); break;
    case INF_MODIFIED: put_modified(out, change, values, max); break;
    case INF_DELETED: put_deleted(out, change); break;
    }
}

void change_put_sentence(struct buf *out, const struct change *change, bool values, size_t max)
{
    struct buf text = {0};
    if (change->tells) {
        put_core_event(&text, change, max > CORE_EVENT_MESSAGE_MAX ? max : CORE_EVENT_MESSAGE_MAX);
    } else {
        buf_puts(&text, change->kind);
        buf_putc(&text, ' ');
        change_put_name(&text, change);
        put_verb(&text, change, values, max);
    }
    buf_put(out, text.bytes, text.len);
    buf_free(&text);
}
