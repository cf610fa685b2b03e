/*
 * status.c - builds Status objects and writes them as JSON, with the fields in the order of the API
 * server.
 */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/text/json_string.h"

void status_set(struct status *s, int code, const char *reason, const char *fmt, ...)
{
    va_list args;
    memset(s, 0, sizeof(*s));
    s->code = code;
    s->reason = reason;
    va_start(args, fmt);
    vsnprintf(s->message, sizeof(s->message), fmt, args);
    va_end(args);
}

void status_forbid_option(struct status *s, const char *field, const char *why)
{
    status_set(s, 422, "Invalid", "ListOptions.meta.k8s.io \"\" is invalid: %s: Forbidden: %s",
               field, why);
    snprintf(s->group, sizeof(s->group), "meta.k8s.io");
    snprintf(s->kind, sizeof(s->kind), "ListOptions");
    s->cause_reason = "FieldValueForbidden";
    snprintf(s->cause_message, sizeof(s->cause_message), "Forbidden: %s", why);
    s->cause_field = field;
}

void status_too_large(struct status *s, unsigned long long requested, unsigned long long current)
{
    status_set(s, 504, "Timeout", "Timeout: Too large resource version: %llu, current: %llu",
               requested, current);
    s->cause_reason = "ResourceVersionTooLarge";
    snprintf(s->cause_message, sizeof(s->cause_message), "Too large resource version");
    s->retry_after = 1;
}

/* ,"key":"value" */
static void put_member(struct buf *out, const char *key, const char *value, const char *comma)
{
    buf_printf(out, "%s\"%s\":", comma, key);
    json_put_string(out, str_of(value));
}

static void put_causes(struct buf *out, const struct status *s, const char *comma)
{
    buf_printf(out, "%s\"causes\":[{", comma);
    put_member(out, "reason", s->cause_reason, "");
    put_member(out, "message", s->cause_message, ",");
    if (s->cause_field)
        put_member(out, "field", s->cause_field, ",");
    buf_puts(out, "}]");
}

static void put_details(struct buf *out, const struct status *s)
{
    const struct {
        const char *key;
        const char *value;
    } words[] = {{"name", s->name}, {"group", s->group}, {"kind", s->kind}};
    const char *comma = "";
    buf_puts(out, ",\"details\":{");
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!words[i].value[0])
            continue;
        put_member(out, words[i].key, words[i].value, comma);
        comma = ",";
    }
    if (s->cause_reason) {
        put_causes(out, s, comma);
        comma = ",";
    }
    if (s->retry_after)
        buf_printf(out, "%s\"retryAfterSeconds\":%d", comma, s->retry_after);
    buf_putc(out, '}');
}

void status_put(struct buf *out, const struct status *s)
{
    buf_puts(out, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{");
    if (s->next[0])
        put_member(out, "continue", s->next, "");
    buf_printf(out, "},\"status\":\"%s\"", s->code < 300 ? "Success" : "Failure");
    if (s->message[0])
        put_member(out, "message", s->message, ",");
    if (s->reason)
        put_member(out, "reason", s->reason, ",");
    if (s->name[0] || s->kind[0] || s->cause_reason || s->retry_after)
        put_details(out, s);
    if (s->code >= 300)
        buf_printf(out, ",\"code\":%d", s->code);
    buf_putc(out, '}');
}

static const struct {
    int code;
    const char *phrase;
    const char *reason;
} codes[] = {
    {200, "OK", NULL},
    {201, "Created", NULL},
    {302, "Found", NULL},
    {307, "Temporary Redirect", NULL},
    {400, "Bad Request", "BadRequest"},
    {401, "Unauthorized", "Unauthorized"},
    {403, "Forbidden", "Forbidden"},
    {404, "Not Found", "NotFound"},
    {405, "Method Not Allowed", "MethodNotAllowed"},
    {406, "Not Acceptable", "NotAcceptable"},
    {409, "Conflict", "Conflict"},
    {410, "Gone", "Expired"},
    {413, "Request Entity Too Large", "RequestEntityTooLarge"},
    {422, "Unprocessable Entity", "Invalid"},
    {429, "Too Many Requests", "TooManyRequests"},
    {500, "Internal Server Error", "InternalError"},
    {502, "Bad Gateway", "InternalError"},
    {503, "Service Unavailable", "ServiceUnavailable"},
    {504, "Gateway Timeout", "Timeout"},
};

const char *status_phrase(int code)
{
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        if (codes[i].code == code)
            return codes[i].phrase;
    }
    return "Whatever";
}

const char *status_reason(int code)
{
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        if (codes[i].code == code)
            return codes[i].reason;
    }
    return "InternalError";
}
