/*
 * api_status.c - writes `Status` objects. See api_status.h.
 *
 * Clients decide by `code` and `reason` what to do, so both are those of kube-apiserver; people read
 * the message, which kubectl prints.
 */
#include "daemon/api/api_status.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"
#include "base/text/json_string.h"
#include "wire/http/http_exchange.h"

static const struct {
    int code;
    const char *reason;
} reasons[] = {
    {400, "BadRequest"},      {401, "Unauthorized"},          {403, "Forbidden"},
    {404, "NotFound"},        {405, "MethodNotAllowed"},      {406, "NotAcceptable"},
    {410, "Expired"},         {413, "RequestEntityTooLarge"}, {422, "Invalid"},
    {429, "TooManyRequests"}, {503, "ServiceUnavailable"},    {504, "Timeout"},
};

static const char *reason_of(int code)
{
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].code == code)
            return reasons[i].reason;
    return "";
}

int api_fault_set(struct api_fault *fault, int code, const char *fmt, ...)
{
    va_list args;
    fault->code = code;
    va_start(args, fmt);
    (void)vsnprintf(fault->message, sizeof(fault->message), fmt, args);
    va_end(args);
    return -1;
}

static void put_member(struct buf *out, const char *separator, const char *key, const char *value)
{
    buf_puts(out, separator);
    json_put_key(out, key);
    json_put_string(out, str_of(value));
}

static void put_details(const struct api_fault *fault, struct buf *out)
{
    const char *separator = "";
    if (!fault->resource && !fault->too_large && !fault->retry_after)
        return;
    buf_puts(out, ",\"details\":{");
    if (fault->name) {
        put_member(out, separator, "name", fault->name);
        separator = ",";
    }
    if (fault->group && *fault->group) {
        put_member(out, separator, "group", fault->group);
        separator = ",";
    }
    if (fault->resource) {
        put_member(out, separator, "kind", fault->resource);
        separator = ",";
    }
    if (fault->too_large) {
        buf_printf(out,
                   "%s\"causes\":[{\"reason\":\"ResourceVersionTooLarge\",\"message\":\"Too large "
                   "resource version\"}]",
                   separator);
        separator = ",";
    }
    if (fault->retry_after)
        buf_printf(out, "%s\"retryAfterSeconds\":%u", separator, fault->retry_after);
    buf_putc(out, '}');
}

void api_fault_put(const struct api_fault *fault, struct buf *out)
{
    const char *reason = reason_of(fault->code);
    buf_puts(out,
             "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\"");
    put_member(out, ",", "message", fault->message);
    if (*reason)
        put_member(out, ",", "reason", reason);
    put_details(fault, out);
    buf_printf(out, ",\"code\":%d}", fault->code);
}

void api_fault_reply(const struct api_fault *fault, struct http_exchange *x)
{
    struct buf body = {0};
    if (fault->retry_after) {
        char seconds[16];
        (void)snprintf(seconds, sizeof(seconds), "%u", fault->retry_after);
        http_exchange_header(x, "Retry-After", seconds);
    }
    api_fault_put(fault, &body);
    buf_putc(&body, '\n');
    http_exchange_reply(x, fault->code, "application/json", body.bytes, body.len);
    buf_free(&body);
}

void api_reply_fault(struct http_exchange *x, int code, const char *message)
{
    struct api_fault fault = {.code = 0};
    api_fault_set(&fault, code, "%s", message);
    api_fault_reply(&fault, x);
}
