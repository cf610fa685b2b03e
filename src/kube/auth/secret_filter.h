/*
 * secret_filter.h - removes possible secrets from the output of another program, for logs.
 *
 * Secrets can't be recognised reliably, so the filter uses an allow list: it keeps words that are
 * typical of messages (names, numbers, file names, times) and replaces all others by "[...]". A
 * word ends only at white space, quotes, brackets, commas and semicolons, so that a key that
 * contains / + = . _ - is one word. Always replaced are values named password, secret, token, key
 * or similar (`password=x`, `"token": "x"`, `--secret x`), and logins and queries in URLs.
 *
 * Limit: it does not recognise a password that is an ordinary word without a name before it.
 */
#ifndef KUBE_AUTH_SECRET_FILTER_H
#define KUBE_AUTH_SECRET_FILTER_H

#include "base/buf.h"
#include "base/str.h"

enum {
    /* A word that exceeds one of these is replaced. */
    FILTER_LETTERS_MAX = 32, /* LIMIT: consecutive letters */
    FILTER_DIGITS_MAX = 12,  /* LIMIT: consecutive digits */
    FILTER_ODD_MAX = 8,      /* LIMIT: bytes of a word in parts such as k8s and 17T03 */
};

/* Appends @line, which has no line end, to @out. */
void secret_filter_put(struct buf *out, struct str line);

#endif
