/*
 * base64.c - a strict decoder that accumulates six bits per character, and an encoder.
 */
#include "base/text/base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "informer/error.h"

#include "base/alloc.h"

struct decoder {
    char *bytes;
    size_t len;
    uint32_t bits;  /* not written yet, in the low bits */
    size_t letters; /* characters of the alphabet so far */
    size_t pads;    /* '=' at the end so far */
};

static int letter_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

static int decode_letters(struct decoder *d, const char *text, size_t len)
{
    static const uint32_t cut[] = {0, 0x3, 0xF}; /* the bits that the pads cut off */
    for (size_t i = 0; i < len; i++) {
        int value = letter_value(text[i]);
        size_t place;
        if (text[i] == '\n' || text[i] == '\r')
            continue;
        if (text[i] == '=') {
            d->pads++;
            continue;
        }
        if (value < 0 || d->pads)
            return -INF_EDECODE;
        place = d->letters++ % 4;
        d->bits = (d->bits << 6 | (uint32_t)value) & 0xFFF;
        if (place >
            0) /* the first of four letters begins a byte; each of the others completes one */
            d->bytes[d->len++] = (char)(d->bits >> (6 - 2 * place) & 0xFF);
    }
    if ((d->letters + d->pads) % 4 != 0 || d->pads > 2 || (d->bits & cut[d->pads]))
        return -INF_EDECODE;
    return 0;
}

int base64_decode(const char *text, size_t len, char **ret_bytes, size_t *ret_len)
{
    size_t size = len / 4 * 3 + 4; /* an incomplete group writes up to two bytes; and the NUL */
    struct decoder d = {.bytes = xcalloc(1, size)};
    if (decode_letters(&d, text, len) < 0) {
        explicit_bzero(d.bytes, size);
        free(d.bytes);
        return -INF_EDECODE;
    }
    *ret_bytes = d.bytes;
    *ret_len = d.len;
    return 0;
}

char *base64_encode(const char *bytes, size_t len)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = xcalloc(1, (len + 2) / 3 * 4 + 1), *out = text;
    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3; /* bytes of this group, which fill n + 1 letters */
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < n ? (unsigned char)bytes[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            *out++ = k <= n ? letters[bits >> (18 - 6 * k) & 0x3F] : '=';
    }
    return text;
}
