/*
 * api_response.h - an answer of an API server: what its head says, its body out of its encoding, and what
 * it means when it is not 200.
 *
 *     answer_start(&answer, head, &err);
 *     while (answer_next(&answer, &input, &piece, &err) == 1) {
 *         ... took n of piece;  answer_took(&answer, &input, n);
 *     }
 *     answer_end(&answer, now_us, &err);         when HTTP says that it was all
 *     answer_reset(&answer);
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
struct answer {
    int status;
    struct gunzip *gunzip; /* NULL: the body is what it is */
    char *retry_after;     /* that header; NULL: none */
    struct buf reason;     /* the beginning of a body that is not of a 200 */
    bool unreadable;       /* that body is in an encoding we don't have */
};

/* Reads the head. -INF_EPROTO if nothing can be made of such an answer: no JSON, an encoding that
 * nobody asked for, a redirect. */
int answer_start(struct answer *answer, const struct http_head *head, struct inf_error *err);

/* Whether the body is what was asked for, or the reason why it isn't, which is kept here. Neither,
 * before the head has come. */
bool answer_good(const struct answer *answer);
bool answer_bad(const struct answer *answer);

/* The next piece of a good body, as gunzip_next(); what is not encoded is lent from @input. Of one
 * that is not good nothing comes out. */
int answer_next(struct answer *answer, struct str *input, struct str *ret_piece,
                struct inf_error *err);
void answer_took(struct answer *answer, struct str *input, size_t len);

/* Whether there is more to come than what @input will bring. */
bool answer_holds(const struct answer *answer);

/* Removes our credentials from the reason, if the server repeats them there; before answer_end(). */
void answer_scrub(struct answer *answer, const struct scrubber *scrubber);

/* The body is complete: 0 if it was good and its encoding too, else what the answer says. */
int answer_end(const struct answer *answer, int64_t now_us, struct inf_error *err);

/* Whether it is a 404 by which the API says that it has no such resource: see
 * status_denies_resource(). */
bool answer_denies(const struct answer *answer, const char *group, const char *name);

/* Forgets the answer. */
void answer_reset(struct answer *answer);

#endif
