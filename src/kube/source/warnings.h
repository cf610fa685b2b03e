/*
 * warnings.h - logs the warnings of a server (`Warning: 299 - "v1beta1 is deprecated"`), each text once:
 * servers repeat them with every response.
 */
#ifndef KUBE_SOURCE_WARNINGS_H
#define KUBE_SOURCE_WARNINGS_H

#include "base/log.h"
#include "wire/http/http_conn.h"

enum {
    WARNINGS_MAX = 64,       /* LIMIT: texts that are stored; further ones are not logged */
    WARNING_TEXT_MAX = 1000, /* LIMIT: bytes of a text; the rest is cut */
};

/* One for each server. */
struct warnings {
    struct log *log; /* borrowed; NULL: warnings are ignored */
    char *texts[WARNINGS_MAX];
    size_t count;
    bool full; /* the limit was reached, which was logged */
};

void warnings_init(struct warnings *w, struct log *log);
void warnings_free(struct warnings *w);

/* Logs the new warnings in @head. @server is the name of the server in these lines. */
void warnings_log_new(struct warnings *w, const char *server, const struct http_head *head);

/* Logs a warning of our own, if it is new. */
void warnings_log(struct warnings *w, const char *text);

#endif
