/*
 * secret_filter.h - text of another program without what may be a secret, for logs.
 *
 * Nothing marks a secret as one, so the filter works the other way round: it shows words that look
 * like those of a message (names, numbers, file names, times) and replaces each other one by
 * "[...]". A word ends at white space, quotes, brackets, commas and semicolons only, so that
 * a key with / + = . _ - in it is judged as one. Also replaced, whatever they look like: values of
 * what is named a password, secret, token, key or the like (`password=x`, `"token": "x"`,
 * `--secret x`), logins in URLs and queries of URLs.
 *
 * It can't recognise a password that is an ordinary word and stands alone.
 */
#ifndef KUBE_AUTH_SECRET_FILTER_H
#define KUBE_AUTH_SECRET_FILTER_H

#include "base/buf.h"
#include "base/str.h"

enum {
    /* The longest of each that is still shown. */
    FILTER_LETTERS_MAX = 32, /* LIMIT: letters in a row */
    FILTER_DIGITS_MAX = 12,  /* LIMIT: digits in a row */
    FILTER_ODD_MAX = 8,      /* LIMIT: bytes of one word in parts such as k8s and 17T03 */
};

/* Adds @line, which has no line end in it. */
void secret_filter_put(struct buf *out, struct str line);

#endif
