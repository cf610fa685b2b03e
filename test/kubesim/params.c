/*
 * params.c - splits and decodes key=value parameters. Invalid escapes are kept as they are.
 */
#include "params.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char *decode(const char *text, size_t len, bool plus)
{
    char *out = xmalloc(len + 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool escaped =
            c == '%' && i + 2 < len && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
        if (escaped) {
            c = (char)(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
            i += 2;
        } else if (plus && c == '+') {
            c = ' ';
        }
        out[n++] = c;
    }
    out[n] = '\0';
    return out;
}

static void add_word(struct params *p, const char *word, size_t len, bool plus)
{
    const char *equals = memchr(word, '=', len);
    size_t key_len = equals ? (size_t)(equals - word) : len;
    struct param item = {.key = decode(word, key_len, plus)};
    item.value = equals ? decode(equals + 1, len - key_len - 1, plus) : xstrdup("");
    p->items = xrealloc(p->items, (p->count + 1) * sizeof(*p->items));
    p->items[p->count++] = item;
}

void params_parse(struct params *p, const char *text, size_t len, char separator)
{
    const char *end = text + len;
    *p = (struct params){0};
    while (text < end) {
        const char *stop = memchr(text, separator, (size_t)(end - text));
        if (!stop)
            stop = end;
        if (stop > text)
            add_word(p, text, (size_t)(stop - text), separator == '&');
        text = stop + 1;
    }
}

void params_free(struct params *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->items[i].key);
        free(p->items[i].value);
    }
    free(p->items);
    *p = (struct params){0};
}

const char *params_get(const struct params *p, const char *key, const char *otherwise)
{
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->items[i].key, key) == 0)
            return p->items[i].value;
    }
    return otherwise;
}

bool parse_number(const char *text, uint64_t *ret)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    *ret = strtoull(text, &end, 10);
    return *end == '\0';
}

uint64_t params_number(const struct params *p, const char *key, uint64_t otherwise)
{
    const char *text = params_get(p, key, NULL);
    uint64_t number;
    return text && parse_number(text, &number) ? number : otherwise;
}

bool params_true(const struct params *p, const char *key)
{
    const char *text = params_get(p, key, "false");
    return strcmp(text, "") == 0 || strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
}
