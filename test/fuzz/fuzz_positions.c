/*
 * fuzz_positions.c - the annotation of a Lease: each position has a handler, the key of a track and a version.
 */
#include "daemon/replica/positions.h"
#include "fuzz.h"

static void check(void *ctx, const char *handler, const char *key, uint64_t version)
{
    const char *watch = strchr(key, '\t');
    (void)ctx;
    MUST(*handler && version && watch && strchr(watch + 1, '\t'));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = xstrndup((const char *)bytes, len);
    positions_read(text, check, NULL);
    free(text);
    return 0;
}
