/*
 * json_decode.c - decodes escapes and compares strings without allocating. See json_decode.h.
 */
#include "base/text/json_decode.h"

#include <stdint.h>
#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The code unit in \uXXXX at @at; -1 if @at is not such an escape. */
static int32_t code_unit(const char *at, const char *end)
{
    int32_t unit = 0;
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        if (hex_digit(at[i]) < 0)
            return -1;
        unit = unit * 16 + hex_digit(at[i]);
    }
    return unit;
}

static bool is_high_surrogate(int32_t unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low_surrogate(int32_t unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

static size_t put_utf8(char *out, int32_t c)
{
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(marks[len] | c);
    return len;
}

static size_t next_unicode(const char **at, const char *end, char *ret_bytes)
{
    int32_t unit = code_unit(*at, end), low;
    if (unit < 0 || is_low_surrogate(unit))
        return 0;
    if (!is_high_surrogate(unit)) {
        *at += 6;
        return put_utf8(ret_bytes, unit);
    }
    low = code_unit(*at + 6, end);
    if (!is_low_surrogate(low))
        return 0;
    *at += 12;
    return put_utf8(ret_bytes, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
}

size_t json_text_next(const char **at, const char *end, char ret_bytes[JSON_CHAR_MAX])
{
    static const char spelled[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *found;
    if (**at != '\\') {
        ret_bytes[0] = *(*at)++;
        return 1;
    }
    if (end - *at < 2)
        return 0;
    found = memchr(spelled, (*at)[1], sizeof(spelled) - 1);
    if (!found)
        return next_unicode(at, end, ret_bytes);
    ret_bytes[0] = meant[found - spelled];
    *at += 2;
    return 1;
}

/* The same, but an invalid escape is returned byte by byte: never 0. */
static size_t next_or_itself(const char **at, const char *end, char ret_bytes[JSON_CHAR_MAX])
{
    size_t len = json_text_next(at, end, ret_bytes);
    if (len)
        return len;
    ret_bytes[0] = *(*at)++;
    return 1;
}

/* If the lengths are equal there are no escapes. */
bool json_text_is_decoded(struct str spelled, struct str text)
{
    const char *at = spelled.at, *end = at + spelled.len;
    char bytes[JSON_CHAR_MAX];
    if (!memchr(at, '\\', spelled.len))
        return spelled.len == text.len;
    while (at < end) {
        size_t len = next_or_itself(&at, end, bytes);
        if (len > text.len || memcmp(bytes, text.at, len) != 0)
            return false;
        text = (struct str){text.at + len, text.len - len};
    }
    return text.len == 0;
}

static bool is_string(struct str value)
{
    return value.len && *value.at == '"';
}

/* The text between the quotes. The second one is missing only if the text ended too early. */
static struct str string_content(struct str value)
{
    size_t quotes = value.len > 1 && value.at[value.len - 1] == '"' ? 2 : 1;
    return (struct str){value.at + 1, value.len - quotes};
}

bool json_value_is(struct str value, struct str text)
{
    return is_string(value) ? json_text_is(string_content(value), text) : str_eq(value, text);
}

static void put_unescaped(struct buf *out, struct str spelled)
{
    const char *at = spelled.at, *end = at + spelled.len;
    char bytes[JSON_CHAR_MAX];
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        buf_put(out, at, (size_t)((escape ? escape : end) - at));
        if (!escape)
            break;
        at = escape;
        buf_put(out, bytes, next_or_itself(&at, end, bytes));
    }
}

void json_value_put(struct buf *out, struct str value)
{
    if (is_string(value))
        put_unescaped(out, string_content(value));
    else
        buf_put(out, value.at, value.len);
}

static size_t copy_text(struct str text, char *buf, size_t size)
{
    if (size) {
        size_t fits = text.len < size ? text.len : size - 1;
        while (fits && fits < text.len && ((unsigned char)text.at[fits] & 0xc0) == 0x80)
            fits--;
        if (fits)
            memcpy(buf, text.at, fits);
        buf[fits] = '\0';
    }
    return text.len;
}

/* Only a string with escapes is decoded first. */
size_t json_value_copy(struct str value, char *buf, size_t size)
{
    struct buf text = {0};
    size_t len;
    if (!value.len || !memchr(value.at, '\\', value.len))
        return copy_text(is_string(value) ? string_content(value) : value, buf, size);
    json_value_put(&text, value);
    len = copy_text((struct str){text.bytes, text.len}, buf, size);
    buf_free(&text);
    return len;
}
