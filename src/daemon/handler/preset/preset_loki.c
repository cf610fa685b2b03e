/*
 * preset_loki.c - a push request of Grafana Loki (/loki/api/v1/push), also accepted by VictoriaLogs. The
 * record is the log line.
 *
 *     {"streams":[{"stream":{"job":"informerd","cluster":"prod","kind":"Pod",...},
 *                  "values":[["1700000000000000000","{...}"]]}]}
 *
 * Labels are only those that have few values: each set of labels is a stream of its own in Loki.
 */
#include <inttypes.h>

#include "base/base.h"
#include "base/text/json_string.h"
#include "daemon/handler/webhook_preset.h"

static const char *const labels[] = {"cluster", "namespace", "kind", "type", "level"};

static bool same_stream(const struct webhook_record *a, const struct webhook_record *b)
{
    for (size_t i = 0; i < ARRAY_LEN(labels); i++)
        if (!str_eq(webhook_field(a, labels[i]), webhook_field(b, labels[i])))
            return false;
    return true;
}

static void put_labels(struct buf *out, const struct webhook_record *r)
{
    buf_puts(out, "{\"job\":\"informerd\"");
    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        struct str value = webhook_field(r, labels[i]);
        if (value.len <= 2) /* missing or "" */
            continue;
        buf_printf(out, ",\"%s\":", labels[i]);
        buf_put(out, value.at, value.len);
    }
    buf_putc(out, '}');
}

/* Adjacent records with the same labels share a stream. */
static void put_body(struct buf *out, const struct webhook_record *records, size_t n, bool batch)
{
    (void)batch;
    buf_puts(out, "{\"streams\":[");
    for (size_t i = 0; i < n; i++) {
        bool same = i && same_stream(&records[i - 1], &records[i]);
        if (!same) {
            buf_puts(out, i ? "]},{\"stream\":" : "{\"stream\":");
            put_labels(out, &records[i]);
            buf_puts(out, ",\"values\":[");
        }
        buf_printf(out, "%s[\"%" PRId64 "000\",", same ? "," : "", records[i].time_us);
        json_put_string(out, records[i].line);
        buf_putc(out, ']');
    }
    buf_puts(out, "]}]}");
}

const struct webhook_preset webhook_preset_loki = {
    .name = "loki",
    .content_type = "application/json",
    .put_body = put_body,
};
