/*
 * preset_jsonl.c - the records as they are, one line of JSON each (NDJSON).
 */
#include "daemon/handler/webhook_preset.h"

static void put_body(struct buf *out, const struct webhook_record *records, size_t n, bool batch)
{
    (void)batch;
    for (size_t i = 0; i < n; i++) {
        buf_put(out, records[i].line.at, records[i].line.len);
        buf_putc(out, '\n');
    }
}

const struct webhook_preset webhook_preset_jsonl = {
    .name = "jsonl",
    .content_type = "application/x-ndjson",
    .put_body = put_body,
};
