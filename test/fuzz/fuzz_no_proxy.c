/*
 * fuzz_no_proxy.c - a host, a newline, a value of NO_PROXY. Adding an entry to the list never makes a host
 * use the proxy, and converting a name to ASCII twice gives the same name.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/text/idna.h"
#include "fuzz.h"
#include "wire/proxy/proxy_url.h"

static void check_name(const char *name)
{
    struct buf ascii = {0}, again = {0};
    if (idna_to_ascii(&ascii, str_of(name)) == 0 && ascii.len <= IDNA_NAME_MAX) {
        MUST(idna_to_ascii(&again, (struct str){ascii.bytes, ascii.len}) == 0);
        MUST(again.len == ascii.len &&
             (!ascii.len || !memcmp(again.bytes, ascii.bytes, ascii.len)));
    }
    buf_free(&ascii);
    buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *newline = size ? memchr(text, '\n', size) : NULL;
    char *host, *list, *longer;
    if (!newline)
        return 0;
    host = xstrndup(text, (size_t)(newline - text));
    list = xstrndup(newline + 1, size - (size_t)(newline + 1 - text));
    longer = xasprintf("%s,example.com,10.0.0.0/8", list);
    MUST(!proxy_is_excluded(list, host, 6443) || proxy_is_excluded(longer, host, 6443));
    MUST(proxy_is_excluded("*", host, 6443));
    check_name(list);
    free(host);
    free(list);
    free(longer);
    return 0;
}
