/*
 * status.h - how the API server says no: one Status object, in the shapes that were recorded.
 */
#ifndef KUBESIM_STATUS_H
#define KUBESIM_STATUS_H

#include "base/buf.h"

enum {
    STATUS_MESSAGE_MAX = 768,
    STATUS_WORD_MAX = 256,
};

struct status {
    int code;
    const char *reason;
    char message[STATUS_MESSAGE_MAX];
    char next[STATUS_MESSAGE_MAX]; /* metadata.continue: how to go on all the same; "": absent */

    /* details; each is left out when it is empty */
    char name[STATUS_WORD_MAX];
    char group[STATUS_WORD_MAX];
    char kind[STATUS_WORD_MAX];
    const char *cause_reason;
    char cause_message[STATUS_WORD_MAX];
    const char *cause_field;
    int retry_after; /* seconds */
};

__attribute__((format(printf, 4, 5))) void status_set(struct status *s, int code,
                                                      const char *reason, const char *fmt, ...);

/* The refusals with details of their own. */
void status_forbid_option(struct status *s, const char *field, const char *why);
void status_too_large(struct status *s, unsigned long long asked, unsigned long long current);

/* The JSON text, without a line end. */
void status_put(struct buf *out, const struct status *s);

/* "Not Found" for 404. */
const char *status_phrase(int code);

/* The reason that goes with an HTTP code, for a Status that only a code was asked for. */
const char *status_reason(int code);

#endif
