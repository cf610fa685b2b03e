/*
 * fuzz_scrubber.c - a credential, a newline, a text. Afterwards the text does not contain the credential and
 * is not longer than before.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/scrubber.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *newline = size ? memchr(text, '\n', size) : NULL;
    struct scrubber scrubber = {.next_former = 0};
    char *secret, *copy;
    size_t len, cleaned;
    if (!newline)
        return 0;
    len = size - (size_t)(newline + 1 - text);
    secret = xstrndup(text, (size_t)(newline - text));
    copy = xmalloc(len + 1); /* exact size, so that a sanitizer detects reads after its end */
    memcpy(copy, newline + 1, len);
    scrubber_add(&scrubber, SCRUBBER_SERVER, secret);
    if (len % 2)
        scrubber_retire(&scrubber, SCRUBBER_SERVER);
    cleaned = scrubber_clean(&scrubber, copy, len);
    MUST(cleaned <= len);
    if (strlen(secret) >= SCRUBBER_WORD && !strchr(secret, '*'))
        MUST(!memmem(copy, cleaned, secret, strlen(secret)));
    secret_free(secret);
    free(copy);
    scrubber_free(&scrubber);
    return 0;
}
