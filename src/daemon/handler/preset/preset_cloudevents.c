/*
 * preset_cloudevents.c - CloudEvents 1.0 in JSON: one event in structured mode, or a JSON array in batched
 * mode if the handler has batches. The record is the event's data.
 *
 *     {"specversion":"1.0","id":"LOG-SEQ","source":"/clusters/prod/pods","type":"informerd.modified",
 *      "subject":"shop/web-0","time":"...","datacontenttype":"application/json","data":{...}}
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/text/json_string.h"
#include "daemon/handler/webhook_preset.h"

/* A URI path segment: other characters are escaped. */
static void put_segment(struct buf *out, const struct webhook_record *r, const char *name)
{
    struct buf text = {0};
    webhook_put_text(&text, r, name);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        if (isascii(c) && (isalnum(c) || (c && strchr("-._~", c))))
            buf_putc(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
    buf_free(&text);
}

static void put_source(struct buf *out, const struct webhook_record *r)
{
    buf_puts(out, "\"/clusters/");
    put_segment(out, r, "cluster");
    buf_putc(out, '/');
    put_segment(out, r, "resource");
    buf_putc(out, '"');
}

static void put_type(struct buf *out, const struct webhook_record *r)
{
    struct buf type = {0};
    webhook_put_text(&type, r, "type");
    buf_puts(out, "\"informerd.");
    for (size_t i = 0; i < type.len; i++)
        buf_putc(out, (char)tolower((unsigned char)type.bytes[i]));
    buf_putc(out, '"');
    buf_free(&type);
}

static void put_subject(struct buf *out, const struct webhook_record *r)
{
    struct buf subject = {0};
    webhook_put_text(&subject, r, "namespace");
    if (subject.len)
        buf_putc(&subject, '/');
    webhook_put_text(&subject, r, "name");
    json_put_string(out, (struct str){subject.bytes, subject.len});
    buf_free(&subject);
}

static void put_event(struct buf *out, const struct webhook_record *r)
{
    buf_puts(out, "{\"specversion\":\"1.0\",\"id\":\"");
    webhook_put_id(out, r);
    buf_puts(out, "\",\"source\":");
    put_source(out, r);
    buf_puts(out, ",\"type\":");
    put_type(out, r);
    buf_puts(out, ",\"subject\":");
    put_subject(out, r);
    buf_puts(out, ",\"time\":");
    webhook_put_field(out, r, "time");
    buf_puts(out, ",\"datacontenttype\":\"application/json\",\"data\":");
    buf_put(out, r->line.at, r->line.len);
    buf_putc(out, '}');
}

static void put_body(struct buf *out, const struct webhook_record *records, size_t n, bool batch)
{
    if (!batch) {
        put_event(out, &records[0]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        buf_putc(out, i ? ',' : '[');
        put_event(out, &records[i]);
    }
    buf_putc(out, ']');
}

const struct webhook_preset webhook_preset_cloudevents = {
    .name = "cloudevents",
    .content_type = "application/cloudevents+json; charset=utf-8",
    .batch_type = "application/cloudevents-batch+json; charset=utf-8",
    .put_body = put_body,
};
