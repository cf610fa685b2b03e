/*
 * preset_elastic_bulk.c - a bulk request of Elasticsearch and OpenSearch: .../INDEX/_bulk.
 *
 *     {"create":{"_id":"LOG-SEQ"}}
 *     {"@timestamp":"...","time":"...","seq":...}
 *
 * The id identifies a repetition: a record that exists already (409) was delivered. The response to a bulk
 * request is 200 even if items failed: `errors` is true then, and each item has its own status.
 */
#include "base/json/json.h"
#include "base/text/utf8.h"
#include "daemon/handler/webhook_preset.h"

enum {
    REASON_MAX = 200, /* LIMIT: bytes of the reason of the first item that failed */
    STATUS_CONFLICT = 409,
    STATUS_THROTTLED = 429,
};

static void put_body(struct buf *out, const struct webhook_record *records, size_t n, bool batch)
{
    (void)batch;
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, "{\"create\":{\"_id\":\"");
        webhook_put_id(out, &records[i]);
        buf_puts(out, "\"}}\n{\"@timestamp\":");
        webhook_put_field(out, &records[i], "time");
        buf_putc(out, ',');
        buf_put(out, records[i].line.at + 1, records[i].line.len - 1); /* without its brace */
        buf_putc(out, '\n');
    }
}

/* ---- the response ---- */

static int status_of(struct str text)
{
    int status = 0;
    for (size_t i = 0; i < text.len && i < 3 && text.at[i] >= '0' && text.at[i] <= '9'; i++)
        status = status * 10 + (text.at[i] - '0');
    return status;
}

static enum handler_outcome outcome_of(int status)
{
    if ((status >= 200 && status < 300) || status == STATUS_CONFLICT)
        return HANDLER_DONE;
    if (status == STATUS_THROTTLED || status == 503)
        return HANDLER_RETRY;
    return status >= 400 && status < 500 ? HANDLER_REFUSED : HANDLER_FAILED;
}

static void put_reason(struct buf *why, int status, struct str result)
{
    struct str error, reason;
    struct buf text = {0};
    buf_printf(why, "the server reports status %d for an item", status);
    if (json_member_get(result, STR("error"), &error) &&
        (json_member_get(error, STR("reason"), &reason) ||
         json_member_get(error, STR("type"), &reason))) {
        json_value_put(&text, reason);
        buf_puts(why, ": ");
        utf8_put_visible(why, utf8_cut((struct str){text.bytes, text.len}, REASON_MAX));
        buf_free(&text);
    }
}

/* An item is {"create":{"status":201,...}}. */
static enum handler_outcome read_item(struct str item, struct buf *why)
{
    struct json_walk walk;
    struct json_member action;
    struct str text;
    enum handler_outcome outcome;
    int status;
    json_walk_start(&walk, item);
    if (!json_walk_next(&walk, &action) || !json_member_get(action.value, STR("status"), &text))
        return HANDLER_FAILED;
    status = status_of(text);
    outcome = outcome_of(status);
    if (outcome != HANDLER_DONE && !why->len)
        put_reason(why, status, action.value);
    return outcome;
}

static bool read_response(struct str body, size_t n, enum handler_outcome *ret_outcomes,
                          struct buf *why)
{
    struct str errors, items, item;
    struct json_walk walk;
    for (size_t i = 0; i < n; i++)
        ret_outcomes[i] = HANDLER_DONE;
    if (!json_member_get(body, STR("errors"), &errors))
        return false;
    if (str_eq(errors, STR("false")))
        return true;
    if (!json_member_get(body, STR("items"), &items) || !json_items_start(&walk, items))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!json_items_next(&walk, &item))
            return false;
        ret_outcomes[i] = read_item(item, why);
    }
    return true;
}

const struct webhook_preset webhook_preset_elastic_bulk = {
    .name = "elastic-bulk",
    .content_type = "application/x-ndjson",
    .put_body = put_body,
    .read_response = read_response,
};
