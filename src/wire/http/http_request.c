/*
 * http_request.c - writes a request, and copies requests for a retry.
 *
 * Every part is checked before anything is written: a byte that could end a line is refused with
 * INF_EINVAL.
 */
#include "wire/http/http_request.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"

/* The token of RFC 9110: methods and header names. */
static bool is_token(const char *s)
{
    static const char letters[] = "!#$%&'*+-.^_`|~0123456789"
                                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return *s && s[strspn(s, letters)] == '\0';
}

/* Printable and without spaces: targets and hosts. */
static bool is_solid(const char *s)
{
    if (!*s)
        return false;
    for (; *s; s++)
        if (*s <= ' ' ||
            *s >= 0x7f) /* char may be signed: bytes from 0x80 are refused either way */
            return false;
    return true;
}

static bool is_value(const char *s)
{
    for (; *s; s++)
        if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
            return false;
    return true;
}

static int request_check(const struct http_request *r, struct inf_error *err)
{
    if (!is_token(r->method))
        return err_set(err, INF_EINVAL, "request: the method is not a token");
    if (!is_solid(r->target))
        return err_set(err, INF_EINVAL, "request: spaces or control characters in the target");
    if (!is_solid(r->host))
        return err_set(err, INF_EINVAL, "request: spaces or control characters in the host");
    for (size_t i = 0; i < r->n_headers; i++) {
        if (!is_token(r->headers[i].name))
            return err_set(err, INF_EINVAL, "request: the name of header %zu is not a token",
                           i + 1);
        if (!is_value(r->headers[i].value))
            return err_set(err, INF_EINVAL,
                           "request: control characters in the value of header '%s'",
                           r->headers[i].name);
    }
    return 0;
}

int http_request_write(const struct http_request *r, struct buf *out, struct inf_error *err)
{
    int rc = request_check(r, err);
    if (rc < 0)
        return rc;
    buf_printf(out, "%s %s HTTP/1.1\r\nHost: %s\r\n", r->method, r->target, r->host);
    for (size_t i = 0; i < r->n_headers; i++) { /* printf would leave secrets on the stack */
        buf_puts(out, r->headers[i].name);
        buf_puts(out, ": ");
        buf_puts(out, r->headers[i].value);
        buf_puts(out, "\r\n");
    }
    if (r->body)
        buf_printf(out, "Content-Length: %zu\r\n", strlen(r->body));
    buf_printf(out, "\r\n%s", r->body ? r->body : "");
    return 0;
}

/* ---- copies ---- */

struct request_copy {
    struct http_request request;
    char *method, *target, *host, *body; /* the request points to these */
    struct {
        char *name, *value;
    } * strings;
    struct http_header *headers;
};

struct http_request *http_request_copy(const struct http_request *r)
{
    struct request_copy *copy = NEW(struct request_copy);
    copy->strings = xcalloc(r->n_headers, sizeof(*copy->strings));
    copy->headers = xcalloc(r->n_headers, sizeof(*copy->headers));
    for (size_t i = 0; i < r->n_headers; i++) {
        copy->headers[i].name = copy->strings[i].name = xstrdup(r->headers[i].name);
        copy->headers[i].value = copy->strings[i].value = xstrdup(r->headers[i].value);
    }
    copy->request = (struct http_request){
        .method = copy->method = xstrdup(r->method),
        .target = copy->target = xstrdup(r->target),
        .host = copy->host = xstrdup(r->host),
        .headers = copy->headers,
        .n_headers = r->n_headers,
        .body = copy->body = r->body ? xstrdup(r->body) : NULL,
        .gather = r->gather,
    };
    return &copy->request;
}

void http_request_free(struct http_request *request)
{
    struct request_copy *copy =
        request ? container_of(request, struct request_copy, request) : NULL;
    if (!copy)
        return;
    for (size_t i = 0; i < request->n_headers; i++) {
        free(copy->strings[i].name);
        secret_free(copy->strings[i].value); /* one of them may be a token */
    }
    free(copy->strings);
    free(copy->headers);
    free(copy->method);
    free(copy->target);
    free(copy->host);
    free(copy->body);
    free(copy);
}
