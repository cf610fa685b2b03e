/*
 * idna.c - decodes the name into characters and maps them, then writes each label as it is, or in
 * Punycode (RFC 3492) with the prefix "xn--". Fails as idna.h states.
 */
#include "base/text/idna.h"

#include <stdbool.h>
#include <stdint.h>

#include "informer/error.h"

#include "base/base.h"
#include "base/text/utf8.h"

/* ---- characters ---- */

/* Ranges of upper case letters and the distance to their lower case; step 2 where both
 * alternate. */
static const struct capitals {
    uint32_t first, last, step, distance;
} capitals[] = {
    {'A', 'Z', 1, 32},     {0xc0, 0xd6, 1, 32},   {0xd8, 0xde, 1, 32},   {0x100, 0x12e, 2, 1},
    {0x132, 0x136, 2, 1},  {0x139, 0x147, 2, 1},  {0x14a, 0x176, 2, 1},  {0x179, 0x17d, 2, 1},
    {0x386, 0x386, 1, 38}, {0x388, 0x38a, 1, 37}, {0x38c, 0x38c, 1, 64}, {0x38e, 0x38f, 1, 63},
    {0x391, 0x3a1, 1, 32}, {0x3a3, 0x3ab, 1, 32}, {0x400, 0x40f, 1, 80}, {0x410, 0x42f, 1, 32},
    {0x460, 0x480, 2, 1},  {0x48a, 0x4be, 2, 1},  {0x4d0, 0x52e, 2, 1},  {0x531, 0x556, 1, 48},
};

static uint32_t map_character(uint32_t c)
{
    if (c == 0x3002 || c == 0xff0e || c == 0xff61) /* full stops of East Asia */
        return '.';
    for (size_t i = 0; i < ARRAY_LEN(capitals); i++) {
        const struct capitals *row = &capitals[i];
        if (c >= row->first && c <= row->last && (c - row->first) % row->step == 0)
            return c + row->distance;
    }
    return c;
}

/* Returns the number of characters, or -1 if @name is not UTF-8 or too long. */
static int read_characters(struct str name, uint32_t ret[IDNA_NAME_MAX])
{
    int n = 0;
    while (name.len) {
        uint32_t c;
        size_t len = utf8_next(name, &c);
        if (!len || n == IDNA_NAME_MAX)
            return -1;
        ret[n++] = map_character(c);
        name = (struct str){name.at + len, name.len - len};
    }
    return n;
}

/* ---- Punycode ---- */

enum {
    PUNY_BASE = 36,
    PUNY_TMIN = 1,
    PUNY_TMAX = 26,
    PUNY_SKEW = 38,
    PUNY_DAMP = 700,
    PUNY_FIRST_BIAS = 72,
    ASCII_END = 0x80,
};

static uint32_t next_bias(uint32_t delta, uint32_t points, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / PUNY_DAMP : delta / 2;
    delta += delta / points;
    for (; delta > (PUNY_BASE - PUNY_TMIN) * PUNY_TMAX / 2; k += PUNY_BASE)
        delta /= PUNY_BASE - PUNY_TMIN;
    return k + (PUNY_BASE - PUNY_TMIN + 1) * delta / (delta + PUNY_SKEW);
}

static char puny_digit(uint32_t value)
{
    return (char)(value < 26 ? 'a' + value : '0' + value - 26);
}

static void put_number(struct buf *out, uint32_t number, uint32_t bias)
{
    for (uint32_t k = PUNY_BASE;; k += PUNY_BASE) {
        uint32_t t = k <= bias ? PUNY_TMIN : k - bias >= PUNY_TMAX ? PUNY_TMAX : k - bias;
        if (number < t)
            break;
        buf_putc(out, puny_digit(t + (number - t) % (PUNY_BASE - t)));
        number = (number - t) / (PUNY_BASE - t);
    }
    buf_putc(out, puny_digit(number));
}

/* The smallest character that is at least @from. */
static uint32_t next_character(const uint32_t *label, size_t len, uint32_t from)
{
    uint32_t next = UINT32_MAX;
    for (size_t i = 0; i < len; i++)
        if (label[i] >= from && label[i] < next)
            next = label[i];
    return next;
}

/* No number overflows: a label has at most IDNA_NAME_MAX characters below 0x110000. */
static void put_punycode(struct buf *out, const uint32_t *label, size_t len)
{
    uint32_t basic = 0, done, at = ASCII_END, delta = 0, bias = PUNY_FIRST_BIAS;
    for (size_t i = 0; i < len; i++)
        if (label[i] < ASCII_END) {
            buf_putc(out, (char)label[i]);
            basic++;
        }
    if (basic)
        buf_putc(out, '-');
    done = basic;
    for (; done < len; delta++, at++) {
        uint32_t next = next_character(label, len, at);
        delta += (next - at) * (done + 1);
        at = next;
        for (size_t i = 0; i < len; i++) {
            if (label[i] < at)
                delta++;
            if (label[i] != at)
                continue;
            put_number(out, delta, bias);
            bias = next_bias(delta, done + 1, done == basic);
            delta = 0;
            done++;
        }
    }
}

/* ---- labels ---- */

/* "xn--..." is an already converted label. */
static bool is_label(const uint32_t *label, size_t len)
{
    bool converted = len > 3 && label[0] == 'x' && label[1] == 'n';
    for (size_t i = 0; i < len; i++) {
        uint32_t c = label[i];
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c < ASCII_END)
            return false;
    }
    if (len > 3 && label[2] == '-' && label[3] == '-' && !converted)
        return false;
    return !len || (label[0] != '-' && label[len - 1] != '-');
}

static bool put_label(struct buf *out, const uint32_t *label, size_t len)
{
    bool ascii = next_character(label, len, ASCII_END) == UINT32_MAX;
    if (!is_label(label, len))
        return false;
    if (!ascii) {
        buf_puts(out, "xn--");
        put_punycode(out, label, len);
    }
    for (size_t i = 0; ascii && i < len; i++)
        buf_putc(out, (char)label[i]);
    return true;
}

int idna_to_ascii(struct buf *out, struct str name)
{
    uint32_t characters[IDNA_NAME_MAX];
    int n = read_characters(name, characters), start = 0;
    for (int i = 0; i <= n; i++) {
        if (i < n && characters[i] != '.')
            continue;
        if (!put_label(out, characters + start, (size_t)(i - start)))
            return -INF_EINVAL;
        if (i < n)
            buf_putc(out, '.');
        start = i + 1;
    }
    return n < 0 ? -INF_EINVAL : 0;
}
