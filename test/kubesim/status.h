/*
 * status.h - errors of the API server: one Status object, in the formats that were recorded.
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
    char next[STATUS_MESSAGE_MAX]; /* metadata.continue: a token to continue anyway; "": absent */

    /* details; empty ones are omitted */
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

/* Errors with specific details. */
void status_forbid_option(struct status *s, const char *field, const char *why);
void status_too_large(struct status *s, unsigned long long requested, unsigned long long current);

/* The JSON, without a line end. */
void status_put(struct buf *out, const struct status *s);

/* "Not Found" for 404. */
const char *status_phrase(int code);

/* The reason that belongs to an HTTP code, for a Status of which only the code is given. */
const char *status_reason(int code);

#endif
