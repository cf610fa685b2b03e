/*
 * page.h - continue tokens: where a list goes on, and at which version.
 */
#ifndef KUBESIM_PAGE_H
#define KUBESIM_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    PAGE_ANY = -1, /* the version of a token that goes on with whatever there is now */
};

struct page {
    int64_t rv;
    char *after; /* the key of the last item that was told; the caller's to free */
};

void page_put(struct buf *out, int64_t rv, const char *after);
/* False if @token is none of ours. */
bool page_read(struct page *ret, const char *token);

#endif
