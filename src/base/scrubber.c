/*
 * scrubber.c - finds credentials in a text, in plain or escaped form, and replaces them in place.
 *
 * At each position of the text every credential is compared twice: byte by byte, and with escapes
 * decoded on the way. (A text in which a backslash stands for itself and one in which it begins an
 * escape look the same, so both readings are tried.) The longest match is replaced by asterisks,
 * never more than it had bytes, so that the text can only become shorter. Nothing here can fail.
 *
 * Credentials that were replaced must be left in no memory, but peers may still repeat them: of
 * those there are hashes; the text is compared with them where it has their first byte.
 */
#include "base/scrubber.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/text/base64.h"

enum {
    MASK_MAX = 3,    /* asterisks for one credential; fewer only if it was shorter */
    UNICODE_LEN = 6, /* \uXXXX */
    PERCENT_LEN = 3, /* %XX */
};

/* ---- escapes ---- */

/* The value of @n hex digits at @at; -1: not hex digits. */
static long hex_number(const char *at, size_t n)
{
    long number = 0;
    for (size_t i = 0; i < n; i++) {
        int c = tolower((unsigned char)at[i]);
        if (!isxdigit(c))
            return -1;
        number = number * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return number;
}

/* A character of the basic plane as UTF-8; returns its number of bytes. */
static size_t utf8_bytes(unsigned c, char ret[3])
{
    if (c < 0x80) {
        ret[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        ret[0] = (char)(0xc0 | c >> 6);
        ret[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    ret[0] = (char)(0xe0 | c >> 12);
    ret[1] = (char)(0x80 | (c >> 6 & 0x3f));
    ret[2] = (char)(0x80 | (c & 0x3f));
    return 3;
}

/* One character of a text: the number of bytes it takes there, and the bytes it stands for. */
struct unit {
    size_t taken;
    size_t len;
    char bytes[3];
};

static struct unit unit_at(const char *at, size_t left, bool decode)
{
    struct unit u = {.taken = 1, .len = 1, .bytes = {at[0]}};
    long number;
    if (!decode || left < 2)
        return u;
    if (at[0] == '\\' && left >= UNICODE_LEN && at[1] == 'u' &&
        (number = hex_number(at + 2, 4)) >= 0) {
        u.taken = UNICODE_LEN;
        u.len = utf8_bytes((unsigned)number, u.bytes);
    } else if (at[0] == '\\' && strchr("\"\\/", at[1])) {
        u.taken = 2;
        u.bytes[0] = at[1];
    } else if (at[0] == '%' && left >= PERCENT_LEN && (number = hex_number(at + 1, 2)) >= 0) {
        u.taken = PERCENT_LEN;
        u.bytes[0] = (char)number;
    }
    return u;
}

/* ---- comparing ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool is_word(const char *text, size_t len, size_t from, size_t taken)
{
    return (from == 0 || !isalnum((unsigned char)text[from - 1])) &&
           (from + taken >= len || !isalnum((unsigned char)text[from + taken]));
}

/* The number of bytes of @text, from @from on, that match @secret or enough of its beginning; 0: no
 * match. A mismatch ends early, so that the total cost stays proportional to the length of the
 * text. */
static size_t match_one_way(const char *text, size_t len, size_t from, const char *secret,
                            bool decode)
{
    size_t taken = 0, matched = 0;
    while (secret[matched] && from + taken < len) {
        struct unit u = unit_at(text + from + taken, len - from - taken, decode);
        if (strncmp(secret + matched, u.bytes, u.len) != 0)
            break;
        taken += u.taken;
        matched += u.len;
    }
    if (secret[matched])
        return matched >= SCRUBBER_FRAGMENT ? taken : 0;
    return matched >= SCRUBBER_WORD || is_word(text, len, from, taken) ? taken : 0;
}

static size_t match_secret(const char *text, size_t len, size_t from, const char *secret)
{
    size_t plain, decoded;
    if (text[from] != secret[0] && text[from] != '\\' && text[from] != '%')
        return 0;
    plain = match_one_way(text, len, from, secret, false);
    decoded = match_one_way(text, len, from, secret, true);
    return larger(plain, decoded);
}

/* ---- comparing with former credentials ---- */

/* Decodes up to @want bytes of the text, fewer at its end. Returns how many bytes of the text that
 * takes; @ret has room for two more bytes, since the last character may exceed @want. */
static size_t read_units(const char *text, size_t len, size_t from, bool decode, size_t want,
                         char *ret, size_t *ret_len)
{
    size_t taken = 0;
    for (*ret_len = 0; *ret_len < want && from + taken < len;) {
        struct unit u = unit_at(text + from + taken, len - from - taken, decode);
        memcpy(ret + *ret_len, u.bytes, u.len);
        *ret_len += u.len;
        taken += u.taken;
    }
    return taken;
}

static bool is_whole(const struct scrubber *s, const struct scrubber_former *f, const char *text,
                     size_t len, size_t from, bool decode, size_t *ret_taken)
{
    char *bytes = xmalloc(f->len + 2);
    size_t got;
    bool whole;
    *ret_taken = read_units(text, len, from, decode, f->len, bytes, &got);
    whole = got >= f->len && siphash13(&s->key, bytes, f->len) == f->whole;
    secret_wipe(bytes, got);
    free(bytes);
    return whole;
}

/* The whole credential, or its beginning up to the end of the word. */
static size_t match_former_one_way(const struct scrubber *s, const struct scrubber_former *f,
                                   const char *text, size_t len, size_t from, bool decode)
{
    size_t want = f->len < SCRUBBER_FRAGMENT ? f->len : SCRUBBER_FRAGMENT, got, taken, word;
    char head[SCRUBBER_FRAGMENT + 2];
    size_t head_taken = read_units(text, len, from, decode, want, head, &got);
    if (got < want || siphash13(&s->key, head, want) != f->head)
        return 0;
    if (is_whole(s, f, text, len, from, decode, &taken))
        return f->len >= SCRUBBER_WORD || is_word(text, len, from, taken) ? taken : 0;
    for (word = 0; from + word < len; word++)
        if ((unsigned char)text[from + word] <= ' ' || strchr("\"'<>(),;", text[from + word]))
            break;
    return larger(word, head_taken);
}

static size_t match_former(const struct scrubber *s, const struct scrubber_former *f,
                           const char *text, size_t len, size_t from)
{
    size_t plain, decoded;
    if (!f->len || (text[from] != f->first && text[from] != '\\' && text[from] != '%'))
        return 0;
    plain = match_former_one_way(s, f, text, len, from, false);
    decoded = match_former_one_way(s, f, text, len, from, true);
    return larger(plain, decoded);
}

/* ---- cleaning ---- */

/* The longest match of all credentials. */
static size_t match_any(const struct scrubber *s, const char *text, size_t len, size_t from)
{
    size_t longest = 0;
    for (size_t group = 0; group < SCRUBBER_GROUPS; group++)
        for (size_t i = 0; i < SCRUBBER_CURRENT && s->current[group][i]; i++)
            longest = larger(longest, match_secret(text, len, from, s->current[group][i]));
    for (size_t i = 0; i < SCRUBBER_FORMER && s->former[i].len; i++)
        longest = larger(longest, match_former(s, &s->former[i], text, len, from));
    return longest;
}

size_t scrubber_clean(const struct scrubber *s, char *text, size_t len)
{
    size_t to = 0;
    for (size_t from = 0; s && from < len;) {
        size_t taken = match_any(s, text, len, from);
        if (taken) {
            size_t mask = taken < MASK_MAX ? taken : MASK_MAX;
            memset(text + to, '*', mask);
            to += mask;
            from += taken;
        } else {
            text[to++] = text[from++];
        }
    }
    return s ? to : len;
}

void scrubber_clean_text(const struct scrubber *s, char *text)
{
    text[scrubber_clean(s, text, strlen(text))] = '\0';
}

bool scrubber_finds(const struct scrubber *s, const char *text)
{
    size_t len = strlen(text);
    for (size_t from = 0; s && from < len; from++)
        if (match_any(s, text, len, from))
            return true;
    return false;
}

/* ---- life ---- */

void scrubber_add(struct scrubber *s, enum scrubber_group group, const char *secret)
{
    char **place = s->current[group];
    if (!secret || !secret[0])
        return;
    for (size_t i = 0; i + 1 < SCRUBBER_CURRENT && *place; i++)
        if (strcmp(*place++, secret) == 0)
            return;
    secret_free(*place);
    *place = xstrdup(secret);
}

static bool is_former(const struct scrubber *s, const struct scrubber_former *f)
{
    for (size_t i = 0; i < SCRUBBER_FORMER; i++)
        if (s->former[i].len == f->len && s->former[i].whole == f->whole)
            return true;
    return false;
}

void scrubber_retire(struct scrubber *s, enum scrubber_group group)
{
    if (!s->key.k0 && !s->key.k1) {
        struct rng rng;
        rng_init(&rng);
        s->key = (struct siphash_key){rng_next(&rng), rng_next(&rng)};
    }
    for (size_t i = 0; i < SCRUBBER_CURRENT && s->current[group][i]; i++) {
        char *secret = s->current[group][i];
        size_t len = strlen(secret), head = len < SCRUBBER_FRAGMENT ? len : SCRUBBER_FRAGMENT;
        struct scrubber_former f = {.len = len,
                                    .head = siphash13(&s->key, secret, head),
                                    .whole = siphash13(&s->key, secret, len),
                                    .first = secret[0]};
        secret_free(secret);
        s->current[group][i] = NULL;
        if (is_former(s, &f))
            continue;
        s->former[s->next_former] = f;
        s->next_former = (s->next_former + 1) % SCRUBBER_FORMER;
    }
}

void scrubber_add_basic(struct scrubber *s, enum scrubber_group group, const char *basic)
{
    char *login, *colon;
    size_t len;
    scrubber_add(s, group, basic);
    if (base64_decode(basic, strlen(basic), &login, &len) < 0)
        return;
    colon = memchr(login, ':', len);
    scrubber_add(s, group, colon ? colon + 1 : NULL);
    secret_free(login);
}

void scrubber_free(struct scrubber *s)
{
    for (size_t group = 0; group < SCRUBBER_GROUPS; group++)
        for (size_t i = 0; i < SCRUBBER_CURRENT; i++)
            secret_free(s->current[group][i]);
    *s = (struct scrubber){.next_former = 0};
}
