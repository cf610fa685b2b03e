#include "daemon/eventlog.h"

#include "base/json_string.h"
#include "base/timestamp.h"

static void put_field(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, ",\"%s\":", name);
    json_put_string(out, str_of(value));
}

static void begin_record(struct buf *out, int64_t received_us)
{
    char time[TIMESTAMP_SIZE];
    timestamp_format(received_us, time);
    buf_printf(out, "{\"time\":\"%s\"", time);
}

void eventlog_put_gap(struct buf *out, const struct inf_gap *gap)
{
    begin_record(out, gap->received_us);
    put_field(out, "type", gap->reason == INF_GAP_RELIST ? "RELIST" : "GAP");
    if (gap->reason != INF_GAP_RELIST)
        put_field(out, "reason", inf_gap_reason_name(gap->reason));
    put_field(out, "msg", gap->text);
    buf_puts(out, "}\n");
}

void eventlog_put(struct buf *out, const struct inf_event *event)
{
    const struct inf_object *object = inf_event_object(event);
    begin_record(out, event->received_us);
    put_field(out, "type", inf_verb_name(event->verb));
    put_field(out, "origin", inf_origin_name(event->origin));
    put_field(out, "kind", inf_object_kind(object));
    put_field(out, "namespace", inf_object_namespace(object));
    put_field(out, "name", inf_object_name(object));
    put_field(out, "uid", inf_object_uid(object));
    put_field(out, "rv", inf_object_resource_version(object));
    if (event->verb == INF_DELETED)
        buf_printf(out, ",\"final\":%s", event->final ? "true" : "false");
    buf_puts(out, "}\n");
}
