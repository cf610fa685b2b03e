#include "kube/source/api_response.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/err.h"
#include "kube/source/status.h"

enum {
    HTTP_OK = 200,
    HTTP_CREATED = 201,   /* the same for what was posted */
    HTTP_REDIRECTS = 300, /* to 399; 304 is one of them, but we never ask for it */
    HTTP_REFUSALS = 400,
    HTTP_NOT_FOUND = 404,
    REASON_MAX = 64 * 1024, /* LIMIT: kept of an answer that is not 200; the rest is passed over */
    SHOWN_MAX = 200,        /* LIMIT: of a header's value in a message */
};

/* ---- the head ---- */

/* Types have no case, and may have parameters behind them. */
static bool is_json(const char *content_type)
{
    return content_type && strncasecmp(content_type, "application/json", 16) == 0 &&
           strchr("; \t", content_type[16]); /* the NUL at its end counts too */
}

/* Not followed: where our credentials go is for the kubeconfig to say. What is behind a '?' can be
 * a secret of whoever redirects. */
static int refuse_redirect(int status, const char *location, struct inf_error *err)
{
    int len = location ? (int)strcspn(location, "?#") : 0;
    return err_set(err, INF_EPROTO,
                   "redirects to '%.*s' (HTTP %d), where we don't go with our credentials; if that "
                   "is the API server, make it the `server:` of the kubeconfig",
                   len < SHOWN_MAX ? len : SHOWN_MAX, location ? location : "", status);
}

static int read_encoding(struct answer *a, const char *encoding, struct inf_error *err)
{
    if (!encoding || !encoding[0] || strcasecmp(encoding, "identity") == 0)
        return 0;
    if (strcasecmp(encoding, "gzip") == 0 || strcasecmp(encoding, "x-gzip") == 0) {
        a->gunzip = gunzip_new();
        return 0;
    }
    a->unreadable = true;
    if (!answer_good(a))
        return 0; /* the status says enough */
    return err_set(err, INF_EPROTO, "answered in encoding '%.*s', which nobody asked for",
                   SHOWN_MAX, encoding);
}

int answer_start(struct answer *a, const struct http_head *head, struct inf_error *err)
{
    const char *retry_after = http_head_get(head, "Retry-After");
    const char *type = http_head_get(head, "Content-Type");
    a->status = head->status;
    a->retry_after = retry_after ? xstrdup(retry_after) : NULL;
    if (a->status >= HTTP_REDIRECTS && a->status < HTTP_REFUSALS)
        return refuse_redirect(a->status, http_head_get(head, "Location"), err);
    if (answer_good(a) && !is_json(type))
        return err_set(err, INF_EPROTO,
                       "answered with '%.*s' instead of JSON; is it an API server?", SHOWN_MAX,
                       type ? type : "no content type");
    return read_encoding(a, http_head_get(head, "Content-Encoding"), err);
}

bool answer_good(const struct answer *a)
{
    return a->status == HTTP_OK || a->status == HTTP_CREATED;
}

bool answer_bad(const struct answer *a)
{
    return a->status && !answer_good(a);
}

/* ---- the body ---- */

static int next_decoded(struct answer *a, struct str *input, struct str *ret_piece,
                        struct inf_error *err)
{
    if (a->gunzip)
        return gunzip_next(a->gunzip, input, ret_piece, err);
    *ret_piece = *input;
    return input->len > 0;
}

static void keep_reason(struct answer *a, struct str piece)
{
    size_t room = REASON_MAX - a->reason.len;
    if (!a->unreadable)
        buf_put(&a->reason, piece.at, piece.len < room ? piece.len : room);
}

int answer_next(struct answer *a, struct str *input, struct str *ret_piece, struct inf_error *err)
{
    if (answer_good(a))
        return next_decoded(a, input, ret_piece, err);
    while (a->reason.len < REASON_MAX && next_decoded(a, input, ret_piece, err) == 1) {
        keep_reason(a, *ret_piece);
        answer_took(a, input, ret_piece->len);
    }
    input->len = 0; /* what is too much, or can't be inflated: the status says enough */
    return 0;
}

void answer_took(struct answer *a, struct str *input, size_t len)
{
    if (a->gunzip) {
        gunzip_took(a->gunzip, len);
        return;
    }
    input->at += len;
    input->len -= len;
}

bool answer_holds(const struct answer *a)
{
    return a->gunzip && gunzip_holds(a->gunzip);
}

void answer_scrub(struct answer *a, const struct scrubber *scrubber)
{
    a->reason.len = scrubber_clean(scrubber, a->reason.bytes, a->reason.len);
}

int answer_end(const struct answer *a, int64_t now_us, struct inf_error *err)
{
    if (answer_good(a))
        return a->gunzip ? gunzip_end(a->gunzip, err) : 0;
    status_from_answer(a->status, (struct str){a->reason.bytes, a->reason.len}, a->retry_after,
                       now_us, err);
    return -err->code;
}

bool answer_denies(const struct answer *a, const char *group, const char *name)
{
    return a->status == HTTP_NOT_FOUND &&
           status_denies_resource((struct str){a->reason.bytes, a->reason.len}, group, name);
}

void answer_reset(struct answer *a)
{
    gunzip_free(a->gunzip);
    free(a->retry_after);
    buf_free(&a->reason);
    *a = (struct answer){.status = 0};
}
