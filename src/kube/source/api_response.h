/*
 * api_response.h - an HTTP response of an API server: checks its head, decodes its body, and turns a
 * status other than 200 into an error.
 *
 *     api_response_start(&response, &head, &err);        of clean_head_make()
 *     while (api_response_next(&response, &input, &piece, &err) == 1) {
 *         ... use n bytes of piece;  api_response_took(&response, &input, n);
 *     }
 *     api_response_end(&response, now_us, &err);         when the HTTP body is complete
 *     api_response_reset(&response);
 */
#ifndef KUBE_SOURCE_API_RESPONSE_H
#define KUBE_SOURCE_API_RESPONSE_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/error.h"

#include "base/buf.h"
#include "base/scrubber.h"
#include "base/str.h"
#include "wire/http/gunzip.h"
#include "wire/http/http_conn.h"

/* A zeroed one is ready to be started. */
struct api_response {
    int status;
    bool any_type;         /* set before the start: the content type may be any */
    struct gunzip *gunzip; /* NULL: not compressed */
    char *retry_after;     /* the header; NULL: none */
    struct buf reason;     /* the beginning of the body of an error response */
    bool unreadable;       /* that body has an unknown encoding */
};

/* A head without our credentials in its values. */
struct clean_head {
    struct http_header *headers;
    struct buf values; /* NUL-terminated strings */
};

/* Copies @head to @clean, whose contents the result borrows. To be done before values are shortened,
 * since a part of a credential might not be recognised. */
struct http_head clean_head_make(struct clean_head *clean, const struct http_head *head,
                                 const struct scrubber *scrubber);
void clean_head_free(struct clean_head *clean);

/* Reads the head. Returns -INF_EPROTO if the response cannot be used: not JSON, an encoding that was
 * not requested, a redirect. */
int api_response_start(struct api_response *response, const struct http_head *head,
                       struct inf_error *err);

/* Whether the body is the requested one, or that of an error response, which is kept here. Both are
 * false before the head was read. */
bool api_response_succeeded(const struct api_response *response);
bool api_response_failed(const struct api_response *response);

/* The next piece of a successful response's body, as gunzip_next(); if it is not encoded it is
 * borrowed from @input. The body of an error response is never returned. */
int api_response_next(struct api_response *response, struct str *input, struct str *ret_piece,
                      struct inf_error *err);
void api_response_took(struct api_response *response, struct str *input, size_t len);

/* Whether data is available without more input. */
bool api_response_holds(const struct api_response *response);

/* Removes our credentials from the body of an error response. Call it before api_response_end(). */
void api_response_scrub(struct api_response *response, const struct scrubber *scrubber);

/* The body is complete. Returns 0 if the response succeeded and its encoding is complete too, else
 * the error. */
int api_response_end(const struct api_response *response, int64_t now_us, struct inf_error *err);

/* Whether it is a 404 of the API itself that denies the resource: see status_denies_resource(). */
bool api_response_denies(const struct api_response *response, const char *group, const char *name);

/* Ready for another response. */
void api_response_reset(struct api_response *response);

#endif
