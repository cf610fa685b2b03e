/*
 * table_event.c - the row of an Event, of the core group and of events.k8s.io, which name the same
 * fields differently.
 */
#include <ctype.h>

#include "base/text/json_string.h"
#include "daemon/table/table_cell.h"

static const struct table_column columns[] = {
    {"Last Seen", "string", "", 0, "time since the last occurrence"},
    {"Type", "string", "", 0, "Normal or Warning"},
    {"Reason", "string", "", 0, "what happened, as one word"},
    {"Object", "string", "", 0, "object that the event is about"},
    {"Subobject", "string", "", 1, "part of the object"},
    {"Source", "string", "", 1, "component that reported the event"},
    {"Message", "string", "", 0, "what happened"},
    {"First Seen", "string", "", 1, "time since the first occurrence"},
    {"Count", "string", "", 1, "number of occurrences"},
    {"Name", "string", "name", 1, "name of the object"},
};

enum event_field {
    EVENT_FIRST,
    EVENT_LAST,
    EVENT_TIME,
    EVENT_SERIES,
    EVENT_COUNT,
    EVENT_OBJECT,
    EVENT_TYPE,
    EVENT_REASON,
    EVENT_MESSAGE,
    EVENT_SOURCE,
    EVENT_CONTROLLER,
    EVENT_INSTANCE,
    EVENT_FIELDS
};

static const struct str core_names[EVENT_FIELDS] = {
    [EVENT_FIRST] = FIELD_NAME("firstTimestamp"),
    [EVENT_LAST] = FIELD_NAME("lastTimestamp"),
    [EVENT_TIME] = FIELD_NAME("eventTime"),
    [EVENT_SERIES] = FIELD_NAME("series"),
    [EVENT_COUNT] = FIELD_NAME("count"),
    [EVENT_OBJECT] = FIELD_NAME("involvedObject"),
    [EVENT_TYPE] = FIELD_NAME("type"),
    [EVENT_REASON] = FIELD_NAME("reason"),
    [EVENT_MESSAGE] = FIELD_NAME("message"),
    [EVENT_SOURCE] = FIELD_NAME("source"),
    [EVENT_CONTROLLER] = FIELD_NAME("reportingComponent"),
    [EVENT_INSTANCE] = FIELD_NAME("reportingInstance"),
};

static const struct str new_names[EVENT_FIELDS] = {
    [EVENT_FIRST] = FIELD_NAME("deprecatedFirstTimestamp"),
    [EVENT_LAST] = FIELD_NAME("deprecatedLastTimestamp"),
    [EVENT_TIME] = FIELD_NAME("eventTime"),
    [EVENT_SERIES] = FIELD_NAME("series"),
    [EVENT_COUNT] = FIELD_NAME("deprecatedCount"),
    [EVENT_OBJECT] = FIELD_NAME("regarding"),
    [EVENT_TYPE] = FIELD_NAME("type"),
    [EVENT_REASON] = FIELD_NAME("reason"),
    [EVENT_MESSAGE] = FIELD_NAME("note"),
    [EVENT_SOURCE] = FIELD_NAME("deprecatedSource"),
    [EVENT_CONTROLLER] = FIELD_NAME("reportingController"),
    [EVENT_INSTANCE] = FIELD_NAME("reportingInstance"),
};

static void put_time(struct table_row *row, struct str timestamp)
{
    cell_open(row);
    text_put_age(row, timestamp);
    cell_close(row);
}

/* "pod/web-0". Kinds are plain ASCII. */
static void put_target(struct table_row *row, struct str object)
{
    struct str kind = value_text(field_get(object, "kind")), name = field_get(object, "name");
    cell_open(row);
    for (size_t i = 0; i < kind.len; i++)
        buf_putc(row->out, (char)tolower((unsigned char)kind.at[i]));
    if (!value_is_blank(name)) {
        buf_putc(row->out, '/');
        text_put(row, name);
    }
    cell_close(row);
}

static void put_source(struct table_row *row, const struct str *values)
{
    struct str component = field_get(values[EVENT_SOURCE], "component");
    struct str host = field_get(values[EVENT_SOURCE], "host");
    component = value_is_blank(component) ? values[EVENT_CONTROLLER] : component;
    host = value_is_blank(host) ? values[EVENT_INSTANCE] : host;
    cell_open(row);
    text_put(row, component);
    if (!value_is_blank(host)) {
        text_puts(row, ", ");
        text_put(row, host);
    }
    cell_close(row);
}

/* Without white space around it, which may be escaped in the object. */
static void put_message(struct table_row *row, struct str message)
{
    struct buf text = {0};
    size_t from = 0;
    json_value_put(&text, message);
    while (text.len && isspace((unsigned char)text.bytes[text.len - 1]))
        text.len--;
    while (from < text.len && isspace((unsigned char)text.bytes[from]))
        from++;
    json_put_string(row->out, (struct str){text.bytes ? text.bytes + from : "", text.len - from});
    buf_putc(row->out, ',');
    buf_free(&text);
}

static void put_count(struct table_row *row, const struct str *values)
{
    int64_t count = value_int(values[EVENT_COUNT]);
    if (values[EVENT_SERIES].len)
        cell_put_int(row, field_get(values[EVENT_SERIES], "count"));
    else
        cell_put_count(row, count ? (size_t)count : 1);
}

static void put_event(struct table_row *row, const struct str names[EVENT_FIELDS])
{
    struct str v[EVENT_FIELDS], first, last;
    fields_get(row->text, names, EVENT_FIELDS, v);
    first = v[EVENT_FIRST].len ? v[EVENT_FIRST] : v[EVENT_TIME];
    last = v[EVENT_LAST].len ? v[EVENT_LAST] : first;
    if (v[EVENT_SERIES].len)
        last = field_get(v[EVENT_SERIES], "lastObservedTime");
    put_time(row, last);
    cell_put_string(row, v[EVENT_TYPE], "");
    cell_put_string(row, v[EVENT_REASON], "");
    put_target(row, v[EVENT_OBJECT]);
    cell_put_string(row, field_get(v[EVENT_OBJECT], "fieldPath"), "");
    put_source(row, v);
    put_message(row, v[EVENT_MESSAGE]);
    put_time(row, first);
    put_count(row, v);
    cell_put_name(row);
}

static void event_put_cells(struct table_row *row)
{
    put_event(row, core_names);
}

static void event_new_put_cells(struct table_row *row)
{
    put_event(row, new_names);
}

const struct table_printer table_events = TABLE_PRINTER("", "events", columns, event_put_cells);
const struct table_printer table_events_new =
    TABLE_PRINTER("events.k8s.io", "events", columns, event_new_put_cells);
