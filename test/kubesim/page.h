/*
 * page.h - continue tokens: the position in a list, and its version.
 */
#ifndef KUBESIM_PAGE_H
#define KUBESIM_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    PAGE_ANY = -1, /* version of a token that continues with the current state */
};

struct page {
    int64_t rv;
    char *after; /* the key of the last sent item; the caller frees it */
};

void page_put(struct buf *out, int64_t rv, const char *after);
/* False if @token is invalid. */
bool page_read(struct page *ret, const char *token);

#endif
