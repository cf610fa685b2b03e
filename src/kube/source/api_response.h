/*
 * api_response.h - an answer of an API server: what its head says, its body out of its encoding, and what
 * it means when it is not 200.
 *
 *     api_response_start(&answer, head, &err);
 *     while (api_response_next(&answer, &input, &piece, &err) == 1) {
 *         ... took n of piece;  api_response_took(&answer, &input, n);
 *     }
 *     api_response_end(&answer, now_us, &err);         when HTTP says that it was all
 *     api_response_reset(&answer);
 */
#ifndef KUBE_SOURCE_API_RESPONSE_H
#define KUBE_SOURCE_API_RESPONSE_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/error.h"

#include "base/buf.h"
#include "base/scrubber.h"
#include "base/str.h"
#include "wire/gunzip.h"
#include "wire/http_conn.h"

/* A zeroed one is ready to be started. */
struct api_response {
    int status;
    struct gunzip *gunzip; /* NULL: the body is what it is */
    char *retry_after;     /* that header; NULL: none */
    struct buf reason;     /* the beginning of a body that is not of a 200 */
    bool unreadable;       /* that body is in an encoding we don't have */
};

/* Reads the head. Returns -INF_EPROTO if the response cannot be used: not JSON, an encoding that was
 * not requested, a redirect. */
int api_response_start(struct api_response *answer, const struct http_head *head,
                       struct inf_error *err);

/* Whether the body is what was asked for, or the reason why it isn't, which is kept here. Neither,
 * before the head has come. */
bool api_response_good(const struct api_response *answer);
bool answer_bad(const struct api_response *answer);

/* The next piece of a good body, as gunzip_next(); what is not encoded is lent from @input. Of one
 * that is not good nothing comes out. */
int api_response_next(struct api_response *answer, struct str *input, struct str *ret_piece,
                      struct inf_error *err);
void api_response_took(struct api_response *answer, struct str *input, size_t len);

/* Whether there is more to come than what @input will bring. */
bool api_response_holds(const struct api_response *answer);

/* Removes our credentials from the reason, if the server repeats them there; before api_response_end(). */
void api_response_scrub(struct api_response *answer, const struct scrubber *scrubber);

/* The body is complete: 0 if it was good and its encoding too, else what the answer says. */
int api_response_end(const struct api_response *answer, int64_t now_us, struct inf_error *err);

/* Whether it is a 404 by which the API says that it has no such resource: see
 * status_denies_resource(). */
bool api_response_denies(const struct api_response *answer, const char *group, const char *name);

/* Forgets the answer. */
void api_response_reset(struct api_response *answer);

#endif
