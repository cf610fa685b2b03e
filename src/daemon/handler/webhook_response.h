/*
 * webhook_response.h - the response to a webhook request, and what it means for the records.
 *
 *     2xx                      delivered; some presets look at the body
 *     408, 425, 429, 502-504   repeated until it works, with respect to Retry-After
 *     400, 413, 422            a batch is sent again one by one, a single record is parked
 *     other 4xx, redirects     parked
 *     other                    repeated retry.max times, then parked
 */
#ifndef DAEMON_HANDLER_WEBHOOK_RESPONSE_H
#define DAEMON_HANDLER_WEBHOOK_RESPONSE_H

#include "base/scrubber.h"
#include "daemon/handler/webhook_preset.h"
#include "wire/http/http_conn.h"

enum {
    WEBHOOK_BODY_MAX = 4 * 1024 * 1024, /* LIMIT: bytes of a response; longer ones are an error */
    WEBHOOK_QUOTE_MAX = 300,            /* LIMIT: bytes of the body of an error in the log */
};

/* Zeroed: before the head. */
struct webhook_response {
    int status;
    char *retry_after; /* the header; NULL: none */
    struct buf body;   /* as much as is needed */
    size_t body_len;   /* of all of it */
};

void webhook_response_head(struct webhook_response *response, const struct http_head *head);

/* Returns false if the body is longer than WEBHOOK_BODY_MAX: the rest is not needed. @preset reads it. */
bool webhook_response_body(struct webhook_response *response, const struct webhook_preset *preset,
                           const char *bytes, size_t len);

/* What became of the @n records. *@ret refers to @ret_outcomes, an array of @n, and to @why, which gets a
 * sentence without credentials. @complete: the whole body was read. */
void webhook_response_end(struct webhook_response *response, const struct webhook_preset *preset,
                          size_t n, int64_t now_us, const struct scrubber *scrubber, bool complete,
                          enum handler_outcome *ret_outcomes, struct buf *why,
                          struct handler_result *ret);

void webhook_response_free(struct webhook_response *response);

#endif
