/*
 * preset_otlp_json.c - a logs request of OpenTelemetry (OTLP/HTTP with JSON, /v1/logs).
 *
 * `msg` is the body of a log record, and the record itself is the attribute informerd.record. Records of
 * one cluster share a resource; adjacent ones are grouped. A response may report that records were rejected
 * (partialSuccess): by the specification they must not be sent again, so they are parked.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/json/json_text.h"
#include "base/text/json_string.h"
#include "base/text/utf8.h"
#include "daemon/handler/webhook_preset.h"

enum {
    REASON_MAX = 200, /* LIMIT: bytes of the server's message */
};

struct attribute {
    const char *key;
    const char *field;
};

static const struct attribute attributes[] = {
    {"k8s.namespace.name", "namespace"},
    {"k8s.object.kind", "kind"},
    {"k8s.object.name", "name"},
    {"k8s.object.uid", "uid"},
    {"informerd.resource", "resource"},
    {"informerd.type", "type"},
    {"informerd.log", "log"},
};

static const struct {
    const char *level, *text;
    int number;
} severities[] = {{"error", "ERROR", 17}, {"warn", "WARN", 13}, {"info", "INFO", 9}};

static void put_severity(struct buf *out, const struct webhook_record *r)
{
    size_t at = 0;
    while (at + 1 < ARRAY_LEN(severities) && !webhook_field_is(r, "level", severities[at].level))
        at++;
    buf_printf(out, "\"severityNumber\":%d,\"severityText\":\"%s\"", severities[at].number,
               severities[at].text);
}

static void put_attributes(struct buf *out, const struct webhook_record *r)
{
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++) {
        struct str value = webhook_field(r, attributes[i].field);
        if (value.len <= 2) /* missing or "" */
            continue;
        buf_printf(out, "{\"key\":\"%s\",\"value\":{\"stringValue\":", attributes[i].key);
        buf_put(out, value.at, value.len);
        buf_puts(out, "}},");
    }
    buf_printf(out, "{\"key\":\"informerd.seq\",\"value\":{\"intValue\":\"%.*s\"}},",
               STR_FMT(r->seq));
    buf_puts(out, "{\"key\":\"informerd.record\",\"value\":{\"stringValue\":");
    json_put_string(out, r->line);
    buf_puts(out, "}}");
}

static void put_record(struct buf *out, const struct webhook_record *r)
{
    buf_printf(out, "{\"timeUnixNano\":\"%" PRId64 "000\",", r->time_us);
    put_severity(out, r);
    buf_puts(out, ",\"body\":{\"stringValue\":");
    webhook_put_field(out, r, "msg");
    buf_puts(out, "},\"attributes\":[");
    put_attributes(out, r);
    buf_puts(out, "]}");
}

static void begin_resource(struct buf *out, const struct webhook_record *r)
{
    buf_puts(out, "{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
                  "{\"stringValue\":\"informerd\"}},{\"key\":\"k8s.cluster.name\",\"value\":"
                  "{\"stringValue\":");
    webhook_put_field(out, r, "cluster");
    buf_puts(out, "}}]},\"scopeLogs\":[{\"scope\":{\"name\":\"informerd\"},\"logRecords\":[");
}

static void put_body(struct buf *out, const struct webhook_record *records, size_t n, bool batch)
{
    (void)batch;
    buf_puts(out, "{\"resourceLogs\":[");
    for (size_t i = 0; i < n; i++) {
        bool same = i && str_eq(webhook_field(&records[i - 1], "cluster"),
                                webhook_field(&records[i], "cluster"));
        if (same) {
            buf_putc(out, ',');
        } else {
            buf_puts(out, i ? "]}]}," : "");
            begin_resource(out, &records[i]);
        }
        put_record(out, &records[i]);
    }
    buf_puts(out, "]}]}]}");
}

/* ---- the response ---- */

/* A number, as proto3 JSON writes 64-bit ones: in quotes or not. */
static bool is_positive(struct str value)
{
    char text[24];
    json_value_copy(value, text, sizeof(text));
    return strtoll(text, NULL, 10) > 0;
}

/* Which records were rejected is not reported: all of them are parked. An empty body accepts all. */
static bool read_response(struct str body, size_t n, enum handler_outcome *ret_outcomes,
                          struct buf *why)
{
    struct str partial, rejected, message;
    bool failed = json_member_get(body, STR("partialSuccess"), &partial) &&
                  json_member_get(partial, STR("rejectedLogRecords"), &rejected) &&
                  is_positive(rejected);
    for (size_t i = 0; i < n; i++)
        ret_outcomes[i] = failed ? HANDLER_REFUSED : HANDLER_DONE;
    if (!failed)
        return true;
    buf_puts(why, "the server rejected records of the request");
    if (json_member_get(partial, STR("errorMessage"), &message)) {
        struct buf text = {0};
        json_value_put(&text, message);
        buf_puts(why, ": ");
        utf8_put_visible(why, utf8_cut((struct str){text.bytes, text.len}, REASON_MAX));
        buf_free(&text);
    }
    return true;
}

const struct webhook_preset webhook_preset_otlp_json = {
    .name = "otlp-json",
    .content_type = "application/json",
    .put_body = put_body,
    .read_response = read_response,
};
