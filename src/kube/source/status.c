/*
 * status.c - makes an error from a Status object, or from the beginning of any other text.
 *
 * The HTTP status and the reason decide the code; Retry-After, from the header or the Status, is
 * limited to RETRY_MAX_S. A body that is not a Status is quoted in part: it is usually a proxy's page.
 */
#include "kube/source/status.h"

#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "base/base.h"
#include "base/err.h"
#include "wire/http/http_retry_after.h"

enum {
    QUOTED_MAX = 200,  /* LIMIT: bytes of a body that are quoted in a message */
    RETRY_MAX_S = 300, /* LIMIT: longer waits are shortened */
};

struct status {
    int code;
    const char *reason;
    const char *message;
    bool too_large;         /* the resource version is newer than the server's data */
    uint32_t retry_after_s; /* details.retryAfterSeconds */
};

static const char *text_of(yyjson_val *object, const char *field)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, field));
    return text ? text : "";
}

static bool read_status(yyjson_val *root, struct status *ret)
{
    yyjson_val *details = yyjson_obj_get(root, "details");
    int64_t wait = yyjson_get_sint(yyjson_obj_get(details, "retryAfterSeconds"));
    yyjson_val *cause;
    size_t i, n;
    if (strcmp(text_of(root, "kind"), "Status") != 0)
        return false;
    *ret = (struct status){
        .code = yyjson_get_int(yyjson_obj_get(root, "code")),
        .reason = text_of(root, "reason"),
        .message = text_of(root, "message"),
    };
    ret->too_large = strstr(ret->message, "Too large resource version") != NULL;
    yyjson_arr_foreach(yyjson_obj_get(details, "causes"), i, n, cause)
    {
        if (strcmp(text_of(cause, "reason"), "ResourceVersionTooLarge") == 0)
            ret->too_large = true;
    }
    if (wait > 0)
        ret->retry_after_s = wait < RETRY_MAX_S ? (uint32_t)wait : RETRY_MAX_S;
    return true;
}

static int code_for_http(int status)
{
    switch (status) {
    case 401: return INF_EUNAUTHORIZED;
    case 403: return INF_EFORBIDDEN;
    case 404: return INF_ENOTFOUND;
    case 410: return INF_EGONE;
    case 429: return INF_ETHROTTLED;
    default: break;
    }
    if (status >= 500)
        return INF_ESERVER;
    return status >= 400 ? INF_EREFUSED : INF_EPROTO;
}

static void set_from_status(const struct status *s, struct inf_error *err)
{
    bool expired = strcmp(s->reason, "Expired") == 0 || strcmp(s->reason, "Gone") == 0;
    int code = s->too_large ? INF_EFUTURE : expired ? INF_EGONE : code_for_http(s->code);
    err_set(err, code, "server error: %s (%d%s%s)", s->message[0] ? s->message : "no message",
            s->code, s->reason[0] ? " " : "", s->reason);
    err->http_status = s->code;
    err->retry_after_ms = s->retry_after_s * 1000;
}

void status_from_response(int http_status, struct str body, const char *retry_after, int64_t now_us,
                          struct inf_error *err)
{
    yyjson_doc *doc = body.len ? yyjson_read(body.at, body.len, 0) : NULL;
    struct status status;
    uint64_t wait_s;
    if (doc && read_status(yyjson_doc_get_root(doc), &status)) {
        if (!status.code)
            status.code = http_status;
        set_from_status(&status, err);
    } else {
        /* The beginning is enough to recognise the page of a proxy. */
        size_t len = body.len < QUOTED_MAX ? body.len : QUOTED_MAX;
        while (len && (body.at[len - 1] == '\n' || body.at[len - 1] == '\r'))
            len--;
        err_set(err, code_for_http(http_status), "the server returned HTTP %d%s%.*s", http_status,
                len ? ": " : "", (int)len, len ? body.at : "");
        err->http_status = http_status;
    }
    wait_s = retry_after ? http_retry_after_s(retry_after, now_us) : 0;
    if (wait_s)
        err->retry_after_ms = (uint32_t)(wait_s < RETRY_MAX_S ? wait_s : RETRY_MAX_S) * 1000;
    yyjson_doc_free(doc);
}

static bool is_empty_or(const char *text, const char *expected)
{
    return !text[0] || strcmp(text, expected) == 0;
}

bool status_denies_resource(struct str body, const char *group, const char *name)
{
    yyjson_doc *doc = body.len ? yyjson_read(body.at, body.len, 0) : NULL;
    yyjson_val *root = doc ? yyjson_doc_get_root(doc) : NULL;
    yyjson_val *details = yyjson_obj_get(root, "details");
    struct status status;
    bool denies = doc && read_status(root, &status) && strcmp(status.reason, "NotFound") == 0 &&
                  !text_of(details, "name")[0] && is_empty_or(text_of(details, "kind"), name) &&
                  is_empty_or(text_of(details, "group"), group);
    yyjson_doc_free(doc);
    return denies;
}

void status_from_event(struct str object, struct inf_error *err)
{
    yyjson_doc *doc = yyjson_read(object.at, object.len, 0);
    struct status status;
    if (doc && read_status(yyjson_doc_get_root(doc), &status))
        set_from_status(&status, err);
    else
        err_set(err, INF_EDECODE, "the server sent an ERROR event without a Status");
    yyjson_doc_free(doc);
}
