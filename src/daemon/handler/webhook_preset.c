/*
 * webhook_preset.c - the table of presets, and what they have in common.
 */
#include "daemon/handler/webhook_preset.h"

#include <string.h>

#include "base/base.h"
#include "base/err.h"
#include "base/json/json_text.h"

static const struct webhook_preset *const presets[] = {
    &webhook_preset_jsonl,        &webhook_preset_cloudevents, &webhook_preset_loki,
    &webhook_preset_elastic_bulk, &webhook_preset_otlp_json,   &webhook_preset_slack,
};

const struct webhook_preset *webhook_preset_find(const char *name, struct inf_error *err)
{
    struct buf names = {0};
    for (size_t i = 0; i < ARRAY_LEN(presets); i++) {
        if (strcmp(presets[i]->name, name) == 0) {
            buf_free(&names);
            return presets[i];
        }
        buf_printf(&names, "%s%s", i ? ", " : "", presets[i]->name);
    }
    err_set(err, INF_EINVAL, "is not a preset; use one of %.*s", (int)names.len, names.bytes);
    buf_free(&names);
    return NULL;
}

struct str webhook_field(const struct webhook_record *record, const char *name)
{
    struct str value;
    return json_member_get(record->line, str_of(name), &value) ? value : (struct str){0};
}

bool webhook_field_is(const struct webhook_record *record, const char *name, const char *text)
{
    struct str value = webhook_field(record, name);
    return value.len && json_value_is(value, str_of(text));
}

void webhook_put_field(struct buf *out, const struct webhook_record *record, const char *name)
{
    struct str value = webhook_field(record, name);
    buf_put(out, value.len ? value.at : "\"\"", value.len ? value.len : 2);
}

void webhook_put_text(struct buf *out, const struct webhook_record *record, const char *name)
{
    struct str value = webhook_field(record, name);
    if (value.len)
        json_value_put(out, value);
}

void webhook_put_id(struct buf *out, const struct webhook_record *record)
{
    buf_put(out, record->log.at, record->log.len);
    buf_putc(out, '-');
    buf_put(out, record->seq.at, record->seq.len);
}
