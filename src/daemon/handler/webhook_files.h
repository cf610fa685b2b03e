/*
 * webhook_files.h - the contents of the files that a webhook is configured with: URL, certificates, values
 * of headers, and the key of signatures. They are secrets, apart from `ca`.
 *
 * The files are read again before a request, at most once a second, so that a renewed token or certificate
 * is used without a reload.
 */
#ifndef DAEMON_HANDLER_WEBHOOK_FILES_H
#define DAEMON_HANDLER_WEBHOOK_FILES_H

#include "informer/error.h"

#include "daemon/conf/conf.h"

enum {
    WEBHOOK_FILE_MAX = 64 * 1024,      /* LIMIT: bytes of a file */
    WEBHOOK_CA_FILE_MAX = 1024 * 1024, /* LIMIT: of certificate authorities */
    WEBHOOK_HEADERS_MAX = 16,          /* LIMIT: configured headers */
    WEBHOOK_HEADER_FILES_MAX = 3,      /* LIMIT: headers from files; the scrubber keeps 4 secrets */
    WEBHOOK_FILES_CHECK_MS = 1000,     /* between two readings */
};

/* Owned; NULL: not configured. */
struct webhook_texts {
    char *url;
    char *ca, *cert, *key;
    char *signature_key;
    char *headers[WEBHOOK_HEADER_FILES_MAX]; /* in the order of the conf */
};

/* Copies of the options that are used; freed with webhook_conf_free(). */
void webhook_conf_copy(const struct conf_webhook *conf, struct conf_webhook *ret);
void webhook_conf_free(struct conf_webhook *copy);

/* Returns 0, or a negative error that names the option and the file; then @ret is empty. Blanks and line
 * ends after a text are removed, except from certificates. */
int webhook_texts_read(const struct conf_webhook *conf, struct webhook_texts *ret,
                       struct inf_error *err);

bool webhook_texts_equal(const struct webhook_texts *a, const struct webhook_texts *b);

/* Overwrites the texts. */
void webhook_texts_free(struct webhook_texts *texts);

#endif
