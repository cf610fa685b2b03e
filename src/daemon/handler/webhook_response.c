/*
 * webhook_response.c - collects the part of a response that is needed, and decides by the status. The body
 * of an error is quoted in part, without credentials and without control characters.
 */
#include "daemon/handler/webhook_response.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/utf8.h"
#include "wire/http/http_retry_after.h"

static const struct rule {
    int first, last; /* status */
    enum handler_outcome outcome;
} rules[] = {
    {200, 299, HANDLER_DONE},  {300, 399, HANDLER_REFUSED}, {400, 400, HANDLER_SPLIT},
    {408, 408, HANDLER_RETRY}, {413, 413, HANDLER_SPLIT},   {422, 422, HANDLER_SPLIT},
    {425, 425, HANDLER_RETRY}, {429, 429, HANDLER_RETRY},   {400, 499, HANDLER_REFUSED},
    {502, 504, HANDLER_RETRY},
};

static enum handler_outcome outcome_of(int status, size_t n)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (status >= rules[i].first && status <= rules[i].last)
            return rules[i].outcome == HANDLER_SPLIT && n == 1 ? HANDLER_REFUSED : rules[i].outcome;
    return HANDLER_FAILED;
}

static bool is_success(const struct webhook_response *r)
{
    return r->status >= 200 && r->status <= 299;
}

void webhook_response_head(struct webhook_response *response, const struct http_head *head)
{
    const char *retry_after = http_head_get(head, "Retry-After");
    response->status = head->status;
    response->retry_after = retry_after ? xstrdup(retry_after) : NULL;
}

bool webhook_response_body(struct webhook_response *response, const struct webhook_preset *preset,
                           const char *bytes, size_t len)
{
    bool all = is_success(response) && preset->read_response;
    size_t max = all ? WEBHOOK_BODY_MAX : WEBHOOK_QUOTE_MAX;
    size_t room = max - response->body.len;
    buf_put(&response->body, bytes, len < room ? len : room);
    response->body_len += len;
    return response->body_len <= WEBHOOK_BODY_MAX;
}

/* "HTTP 500: the beginning of the body" */
static void put_reason(struct webhook_response *r, const struct scrubber *scrubber, struct buf *why)
{
    size_t len = r->body.len ? scrubber_clean(scrubber, r->body.bytes, r->body.len) : 0;
    while (len && (r->body.bytes[len - 1] == '\n' || r->body.bytes[len - 1] == '\r'))
        len--;
    buf_printf(why, "HTTP %d", r->status);
    if (r->status >= 300 && r->status <= 399)
        buf_puts(why, ": redirects are not followed; configure the final URL");
    else if (len) {
        buf_puts(why, ": ");
        utf8_put_visible(why, (struct str){r->body.bytes, len});
    }
}

/* Some records may have failed although the request succeeded. */
static void read_success(struct webhook_response *r, const struct webhook_preset *preset, size_t n,
                         bool complete, const struct scrubber *scrubber,
                         enum handler_outcome *ret_outcomes, struct buf *why,
                         struct handler_result *ret)
{
    struct str body = {r->body.bytes, r->body.len};
    *ret = (struct handler_result){.outcome = HANDLER_DONE};
    if (!preset->read_response)
        return;
    if (!complete || !preset->read_response(body, n, ret_outcomes, why)) {
        why->len = 0;
        buf_printf(why, "HTTP %d, but the response %s", r->status,
                   complete ? "is not that of the preset" : "is too long");
        ret->outcome = HANDLER_FAILED;
        return;
    }
    why->len = why->len ? scrubber_clean(scrubber, why->bytes, why->len) : 0;
    ret->outcomes = ret_outcomes;
    for (size_t i = 0; i < n && ret->outcome == HANDLER_DONE; i++)
        ret->outcome = ret_outcomes[i];
}

void webhook_response_end(struct webhook_response *response, const struct webhook_preset *preset,
                          size_t n, int64_t now_us, const struct scrubber *scrubber, bool complete,
                          enum handler_outcome *ret_outcomes, struct buf *why,
                          struct handler_result *ret)
{
    if (is_success(response)) {
        read_success(response, preset, n, complete, scrubber, ret_outcomes, why, ret);
    } else {
        *ret = (struct handler_result){.outcome = outcome_of(response->status, n)};
        put_reason(response, scrubber, why);
        if (ret->outcome == HANDLER_RETRY && response->retry_after) {
            uint64_t wait_s = http_retry_after_s(response->retry_after, now_us);
            ret->wait_ms =
                wait_s < HANDLER_WAIT_MAX_MS / 1000 ? wait_s * 1000 : HANDLER_WAIT_MAX_MS;
        }
    }
    buf_putc(why, '\0');
    ret->why = why->bytes;
}

void webhook_response_free(struct webhook_response *response)
{
    free(response->retry_after);
    buf_free(&response->body);
    *response = (struct webhook_response){0};
}
