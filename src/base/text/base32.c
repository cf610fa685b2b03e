/*
 * base32.c - five bits a character.
 */
#include "base/text/base32.h"

#include <stdint.h>

#include "informer/error.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    return c >= '2' && c <= '7' ? c - '2' + 26 : -1;
}

int base32_decode(struct str text, unsigned char *ret, size_t size)
{
    uint32_t bits = 0;
    unsigned n_bits = 0;
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = digit_of(text.at[i]);
        if (digit < 0)
            return -INF_EDECODE;
        bits = (bits << 5 | (uint32_t)digit) & 0xfff;
        n_bits += 5;
        if (n_bits < 8)
            continue;
        n_bits -= 8;
        if (len == size)
            return -INF_EDECODE;
        ret[len++] = (unsigned char)(bits >> n_bits);
    }
    if (n_bits >= 5 || bits & ((1u << n_bits) - 1))
        return -INF_EDECODE;
    return (int)len;
}

void base32_put(struct buf *out, const unsigned char *bytes, size_t len)
{
    uint32_t bits = 0;
    unsigned n_bits = 0;
    for (size_t i = 0; i < len; i++) {
        bits = (bits << 8 | bytes[i]) & 0xfff;
        for (n_bits += 8; n_bits >= 5; n_bits -= 5)
            buf_putc(out, alphabet[bits >> (n_bits - 5) & 31]);
    }
    if (n_bits)
        buf_putc(out, alphabet[bits << (5 - n_bits) & 31]);
}
