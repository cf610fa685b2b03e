/*
 * api_response.c - head, body and end of an HTTP response.
 *
 * Normal path: 200 with JSON, whose body is returned piece by piece, decompressed if necessary. Any
 * other status keeps the beginning of its body, which contains the reason; api_response_end() makes
 * the error from it. A body that can't be decompressed costs only the reason: the status is enough.
 */
#include "kube/source/api_response.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/err.h"
#include "kube/source/status.h"

enum {
    HTTP_OK = 200,
    HTTP_CREATED = 201,   /* for POST */
    HTTP_REDIRECTS = 300, /* to 399; including 304, which we never request */
    HTTP_REFUSALS = 400,
    HTTP_NOT_FOUND = 404,
    REASON_MAX =
        64 * 1024,   /* LIMIT: bytes of an error response that are kept; the rest is skipped */
    SHOWN_MAX = 200, /* LIMIT: bytes of a header's value in a message */
};

/* ---- the head ---- */

struct http_head clean_head_make(struct clean_head *clean, const struct http_head *head,
                                 const struct scrubber *scrubber)
{
    size_t at = 0;
    *clean = (struct clean_head){.headers = xcalloc(head->n_headers + 1, sizeof(head->headers[0]))};
    for (size_t i = 0; i < head->n_headers; i++) {
        const char *value = head->headers[i].value;
        size_t start = clean->values.len, len = strlen(value);
        buf_put(&clean->values, value, len);
        clean->values.len = start + scrubber_clean(scrubber, clean->values.bytes + start, len);
        buf_putc(&clean->values, '\0');
    }
    for (size_t i = 0; i < head->n_headers; i++) {
        clean->headers[i] = (struct http_header){head->headers[i].name, clean->values.bytes + at};
        at += strlen(clean->values.bytes + at) + 1;
    }
    return (struct http_head){head->status, clean->headers, head->n_headers};
}

void clean_head_free(struct clean_head *clean)
{
    free(clean->headers);
    buf_free(&clean->values);
}

/* Types are case-insensitive and may have parameters. */
static bool is_json(const char *content_type)
{
    return content_type && strncasecmp(content_type, "application/json", 16) == 0 &&
           strchr("; \t", content_type[16]); /* the NUL at its end counts too */
}

/* Redirects are not followed: only the kubeconfig decides where credentials are sent. The query of the
 * location may contain a secret and is not shown. */
static int refuse_redirect(int status, const char *location, struct inf_error *err)
{
    int len = location ? (int)strcspn(location, "?#") : 0;
    return err_set(err, INF_EPROTO,
                   "redirects to '%.*s' (HTTP %d), which is not followed to protect credentials; "
                   "if that is the API server, set it as `server:` in the kubeconfig",
                   len < SHOWN_MAX ? len : SHOWN_MAX, location ? location : "", status);
}

static int read_encoding(struct api_response *a, const char *encoding, struct inf_error *err)
{
    if (!encoding || !encoding[0] || strcasecmp(encoding, "identity") == 0)
        return 0;
    if (strcasecmp(encoding, "gzip") == 0 || strcasecmp(encoding, "x-gzip") == 0) {
        a->gunzip = gunzip_new();
        return 0;
    }
    a->unreadable = true;
    if (!api_response_succeeded(a))
        return 0; /* the status is enough */
    return err_set(err, INF_EPROTO, "sent content encoding '%.*s', which was not requested",
                   SHOWN_MAX, encoding);
}

int api_response_start(struct api_response *a, const struct http_head *head, struct inf_error *err)
{
    const char *retry_after = http_head_get(head, "Retry-After");
    const char *type = http_head_get(head, "Content-Type");
    a->status = head->status;
    a->retry_after = retry_after ? xstrdup(retry_after) : NULL;
    if (a->status >= HTTP_REDIRECTS && a->status < HTTP_REFUSALS)
        return refuse_redirect(a->status, http_head_get(head, "Location"), err);
    if (api_response_succeeded(a) && !a->any_type && !is_json(type))
        return err_set(err, INF_EPROTO, "sent '%.*s' instead of JSON; is it an API server?",
                       SHOWN_MAX, type ? type : "no content type");
    return read_encoding(a, http_head_get(head, "Content-Encoding"), err);
}

bool api_response_succeeded(const struct api_response *a)
{
    return a->status == HTTP_OK || a->status == HTTP_CREATED;
}

bool api_response_failed(const struct api_response *a)
{
    return a->status && !api_response_succeeded(a);
}

/* ---- the body ---- */

static int next_decoded(struct api_response *a, struct str *input, struct str *ret_piece,
                        struct inf_error *err)
{
    if (a->gunzip)
        return gunzip_next(a->gunzip, input, ret_piece, err);
    *ret_piece = *input;
    return input->len > 0;
}

int api_response_next(struct api_response *a, struct str *input, struct str *ret_piece,
                      struct inf_error *err)
{
    if (api_response_succeeded(a))
        return next_decoded(a, input, ret_piece, err);
    while (a->reason.len < REASON_MAX && next_decoded(a, input, ret_piece, err) == 1) {
        size_t room = REASON_MAX - a->reason.len;
        if (!a->unreadable)
            buf_put(&a->reason, ret_piece->at, ret_piece->len < room ? ret_piece->len : room);
        api_response_took(a, input, ret_piece->len);
    }
    input->len = 0; /* skip what is over the limit or can't be decompressed */
    return 0;
}

void api_response_took(struct api_response *a, struct str *input, size_t len)
{
    if (a->gunzip) {
        gunzip_took(a->gunzip, len);
        return;
    }
    input->at += len;
    input->len -= len;
}

bool api_response_holds(const struct api_response *a)
{
    return a->gunzip && gunzip_holds(a->gunzip);
}

void api_response_scrub(struct api_response *a, const struct scrubber *scrubber)
{
    a->reason.len = scrubber_clean(scrubber, a->reason.bytes, a->reason.len);
}

int api_response_end(const struct api_response *a, int64_t now_us, struct inf_error *err)
{
    if (api_response_succeeded(a))
        return a->gunzip ? gunzip_end(a->gunzip, err) : 0;
    status_from_response(a->status, (struct str){a->reason.bytes, a->reason.len}, a->retry_after,
                         now_us, err);
    return -err->code;
}

bool api_response_denies(const struct api_response *a, const char *group, const char *name)
{
    return a->status == HTTP_NOT_FOUND &&
           status_denies_resource((struct str){a->reason.bytes, a->reason.len}, group, name);
}

void api_response_reset(struct api_response *a)
{
    gunzip_free(a->gunzip);
    free(a->retry_after);
    buf_free(&a->reason);
    *a = (struct api_response){.status = 0};
}
