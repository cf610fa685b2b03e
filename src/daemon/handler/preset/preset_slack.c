/*
 * preset_slack.c - a message for an incoming webhook of Slack, Mattermost or Rocket.Chat: one line for each
 * record.
 *
 *     {"text":":warning: *prod* Pod shop/web-0 changed: ..."}
 */
#include <string.h>

#include "base/base.h"
#include "base/text/json_string.h"
#include "base/text/utf8.h"
#include "daemon/handler/webhook_preset.h"

enum {
    RECORD_MAX = 3000,   /* LIMIT: bytes of the text of one record */
    MESSAGE_MAX = 30000, /* LIMIT: of a message; Slack truncates it at 40,000 characters */
};

static const struct {
    const char *level, *icon;
} icons[] = {{"error", ":red_circle: "}, {"warn", ":warning: "}};

/* Characters that start links and mentions are escaped as Slack requires. */
static void put_escaped(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        switch (text.at[i]) {
        case '&': buf_puts(out, "&amp;"); break;
        case '<': buf_puts(out, "&lt;"); break;
        case '>': buf_puts(out, "&gt;"); break;
        default: buf_putc(out, text.at[i]); break;
        }
}

static void put_escaped_field(struct buf *out, const struct webhook_record *r, const char *name)
{
    struct buf text = {0};
    webhook_put_text(&text, r, name);
    put_escaped(out, utf8_cut((struct str){text.bytes, text.len}, RECORD_MAX));
    buf_free(&text);
}

static void put_line(struct buf *out, const struct webhook_record *r)
{
    for (size_t i = 0; i < ARRAY_LEN(icons); i++)
        if (webhook_field_is(r, "level", icons[i].level))
            buf_puts(out, icons[i].icon);
    buf_putc(out, '*');
    put_escaped_field(out, r, "cluster");
    buf_puts(out, "* ");
    put_escaped_field(out, r, "msg");
}

static void put_body(struct buf *out, const struct webhook_record *records, size_t n, bool batch)
{
    struct buf text = {0};
    (void)batch;
    for (size_t i = 0; i < n; i++) {
        if (text.len > MESSAGE_MAX) {
            buf_printf(&text, "\n... and %zu more", n - i);
            break;
        }
        buf_puts(&text, i ? "\n" : "");
        put_line(&text, &records[i]);
    }
    buf_puts(out, "{\"text\":");
    json_put_string(out, (struct str){text.bytes, text.len});
    buf_putc(out, '}');
    buf_free(&text);
}

const struct webhook_preset webhook_preset_slack = {
    .name = "slack",
    .content_type = "application/json; charset=utf-8",
    .put_body = put_body,
};
