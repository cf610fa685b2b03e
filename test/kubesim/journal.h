/*
 * journal.h - counters, and the last requests as received, so that a test can check what its client
 * did.
 */
#ifndef KUBESIM_JOURNAL_H
#define KUBESIM_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    JOURNAL_LAST = 1000,  /* requests remembered */
    JOURNAL_PATHS = 1000, /* LIMIT: paths counted; others are ignored */
};

struct journal_entry {
    char *verb;
    char *method;
    char *target;
    uint64_t ms; /* since the start */
};

/* Number of requests for a path, without the query. */
struct journal_path {
    char *verb;
    char *path;
    uint64_t count;
};

struct journal {
    struct journal_entry last[JOURNAL_LAST];
    uint64_t requests;
    struct journal_path *paths;
    size_t path_count;
    uint64_t opened; /* connections */
    uint64_t closed;
    uint64_t handshakes;
    uint64_t resumed; /* of these, resumed TLS sessions */
    uint64_t sent;    /* bytes of answers, before TLS */
    uint64_t watches; /* ever opened */
};

void journal_add(struct journal *j, const char *verb, const char *method, const char *target,
                 uint64_t ms);
/* JSON: an array of the last requests, oldest first. */
void journal_put(struct buf *out, const struct journal *j);
/* JSON: {"list /api/v1/pods":2,...} */
void journal_put_paths(struct buf *out, const struct journal *j);
/* Resets all counters except those of open connections. */
void journal_clear(struct journal *j);
void journal_free(struct journal *j);

#endif
