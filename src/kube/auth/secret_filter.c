/*
 * secret_filter.c - splits a line into words, and a word into parts, and decides which to show.
 *
 * Normal path: delimiters are copied. A word is shown if all its parts (runs of letters and digits)
 * are harmless: few digits, or letters that look like a word. Letters of a key are random: they
 * have capitals in unusual places and pairs of letters that are rare in words. One part that is not
 * harmless hides the whole word.
 */
#include "kube/auth/secret_filter.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

#define HIDDEN "[...]"

enum {
    SHORT_PART = 3,     /* too few letters to decide */
    ODD_LETTERS = 6,    /* the most letters that may be an abbreviation: OAuth, eksctl */
    ODD_PART = 5,       /* the longest mixture with digits that may be harmless: k8s, 17T03 */
    VERSION_DIGITS = 4, /* after a word */
    CODE_LETTERS = 6,   /* of an error code, all of them capitals */
    CODE_DIGITS = 6,
    UNIT_LETTERS = 3,      /* after a number */
    ODD_SIGN = 3,          /* added to the odd bytes for a sign that is rare in names and paths */
    LETTERS_OF_A_HUMP = 3, /* in camelCase, on average */
    RARE_PAIRS = 1,
};

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_number(char c)
{
    return c >= '0' && c <= '9';
}

/* Non-ASCII characters count as letters of words; keys do not contain them. */
static bool is_foreign(char c)
{
    return (unsigned char)c >= 0x80;
}

static bool is_letter(char c)
{
    return is_upper(c) || is_lower(c) || is_foreign(c);
}

static size_t count_leading(struct str text, bool (*is)(char c))
{
    size_t n = 0;
    while (n < text.len && is(text.at[n]))
        n++;
    return n;
}

static struct str rest_of(struct str text, size_t from)
{
    return (struct str){text.at + from, text.len - from};
}

/* ---- letters ---- */

/*
 * The pairs of letters that make up 97 of 100 in English words and in those of programs: bit j of
 * row i stands for the i-th letter followed by the j-th. Counted over documentation and source. Of
 * random strings of 12 letters 1.5 in 100 have at most one other pair, of words of that length 99.
 */
static const uint32_t usual_pairs[26] = {
    0x1febd6e, 0x116cb15, 0x11e5d9d, 0x01ee93b, 0x1fffdff, 0x11e4939, 0x01669d1, /* a to g */
    0x01a4111, 0x2aef87f, 0x0100010, 0x0542911, 0x13ce93d, 0x01cd91b, 0x13ced7d, /* h to n */
    0x07efd6f, 0x11ec9bd, 0x0100000, 0x17efd7f, 0x15efdfd, 0x15ef9bf, 0x00ef97f, /* o to u */
    0x0004111, 0x0066191, 0x0088114, 0x00cb110, 0x0000110,                       /* v to z */
};

static bool is_usual_pair(char a, char b)
{
    if (is_foreign(a) || is_foreign(b))
        return true;
    return usual_pairs[tolower((unsigned char)a) - 'a'] >> (tolower((unsigned char)b) - 'a') & 1;
}

/* Whether a new word begins at @i, as in accessDenied, HTTPServer. */
static bool begins_hump(struct str letters, size_t i)
{
    const char *at = letters.at;
    if (i == 0 || !is_upper(at[i]))
        return i == 0;
    return !is_upper(at[i - 1]) || (i + 1 < letters.len && is_lower(at[i + 1]));
}

static bool are_words(struct str letters)
{
    size_t humps = 0, rare = 0;
    if (letters.len > FILTER_LETTERS_MAX)
        return false;
    for (size_t i = 0; i < letters.len; i++) {
        if (begins_hump(letters, i))
            humps++;
        else
            rare += !is_usual_pair(letters.at[i - 1], letters.at[i]);
    }
    return letters.len <= SHORT_PART ||
           (rare <= RARE_PAIRS && (humps == 1 || letters.len / humps >= LETTERS_OF_A_HUMP));
}

/* ---- parts ---- */

/* Letters, then digits. */
static bool is_numbered(struct str part, size_t letters_max, size_t digits_max, bool (*is)(char c))
{
    size_t letters = count_leading(part, is), digits = part.len - letters;
    return letters && letters <= letters_max && digits && digits <= digits_max &&
           count_leading(rest_of(part, letters), is_number) == digits;
}

/* sha256, prod1; AADSTS50020 */
static bool is_version(struct str part)
{
    size_t letters = count_leading(part, is_letter);
    return (letters > SHORT_PART && are_words((struct str){part.at, letters}) &&
            is_numbered(part, FILTER_LETTERS_MAX, VERSION_DIGITS, is_letter)) ||
           is_numbered(part, CODE_LETTERS, CODE_DIGITS, is_upper);
}

/* 60s, 100ms, 123Z */
static bool is_quantity(struct str part)
{
    size_t digits = count_leading(part, is_number);
    struct str unit = rest_of(part, digits);
    return digits && digits <= FILTER_DIGITS_MAX && unit.len <= UNIT_LETTERS &&
           (count_leading(unit, is_lower) == unit.len || str_eq(unit, STR("Z")));
}

/* v1beta1 */
static bool is_api_version(struct str part)
{
    static const char *const stages[] = {"alpha", "beta"};
    size_t digits = part.len && part.at[0] == 'v' ? count_leading(rest_of(part, 1), is_number) : 0;
    struct str stage = rest_of(part, digits ? digits + 1 : 0);
    for (size_t i = 0; digits && i < ARRAY_LEN(stages); i++) {
        size_t len = strlen(stages[i]);
        if (stage.len > len && stage.len <= len + 2 && memcmp(stage.at, stages[i], len) == 0)
            return count_leading(rest_of(stage, len), is_number) == stage.len - len;
    }
    return false;
}

/* @odd counts parts that are too short to classify: many of them together may be a secret, too. */
static bool is_harmless(struct str part, size_t *odd)
{
    bool only_letters = count_leading(part, is_letter) == part.len;
    if (only_letters && part.len <= SHORT_PART && count_leading(part, is_lower) == part.len)
        return true;
    if (only_letters && part.len > SHORT_PART && are_words(part))
        return true;
    if (count_leading(part, is_number) == part.len)
        return part.len <= FILTER_DIGITS_MAX;
    if (is_version(part) || is_quantity(part) || is_api_version(part))
        return true;
    *odd += part.len;
    return part.len <=
           (only_letters || is_numbered(part, ODD_PART, 1, is_letter) ? ODD_LETTERS : ODD_PART);
}

static bool is_of_part(char c)
{
    return is_letter(c) || is_number(c);
}

/* ---- words ---- */

static bool word_may_be_shown(struct str word)
{
    /* user:password@host, also after a scheme; a URL's query; the padding of base64 */
    const char *mark = memrchr(word.at, '@', word.len);
    const char *query = memchr(word.at, '?', word.len);
    bool has_login = mark && memchr(word.at, ':', (size_t)(mark - word.at));
    bool has_query = query && memchr(query, '=', word.len - (size_t)(query - word.at));
    bool has_padding = word.len > 2 && memcmp(word.at + word.len - 2, "==", 2) == 0;
    size_t odd = 0;
    if (has_login || has_query || has_padding)
        return false;
    for (size_t i = 0; i < word.len;) {
        struct str rest = rest_of(word, i);
        size_t len = count_leading(rest, is_of_part);
        if (len && !is_harmless((struct str){rest.at, len}, &odd))
            return false;
        if (!len && strchr("!#$%&*^|~", rest.at[0]))
            odd += ODD_SIGN;
        i += len ? len : 1;
    }
    return odd <= FILTER_ODD_MAX;
}

/* ---- names of secret values ---- */

enum naming {
    NAMES_NOTHING,
    NAMES_WORD, /* one word is the value */
    NAMES_REST, /* it may have blanks: up to the quote that ends it, or to the end of the line */
};

static const struct stem {
    const char *text;
    enum naming naming;
} stems[] = {
    {"passw", NAMES_REST},     {"passphrase", NAMES_REST},    {"pwd", NAMES_REST},
    {"secret", NAMES_REST},    {"authorization", NAMES_REST}, {"cookie", NAMES_REST},
    {"token", NAMES_WORD},     {"credential", NAMES_WORD},    {"assertion", NAMES_WORD},
    {"signature", NAMES_WORD}, {"jwt", NAMES_WORD},           {"apikey", NAMES_WORD},
    {"accesskey", NAMES_WORD}, {"privatekey", NAMES_WORD},    {"_key", NAMES_WORD},
    {"-key", NAMES_WORD},      {"bearer", NAMES_WORD},
};

/* Where the first stem in @word begins, or its length. */
static size_t find_stem(struct str word, enum naming *ret_naming)
{
    for (size_t at = 0; at < word.len; at++)
        for (size_t i = 0; i < ARRAY_LEN(stems); i++) {
            size_t len = strlen(stems[i].text);
            if (len > word.len - at || strncasecmp(word.at + at, stems[i].text, len) != 0)
                continue;
            *ret_naming = stems[i].naming;
            return at;
        }
    *ret_naming = NAMES_NOTHING;
    return word.len;
}

static bool is_sign(char c)
{
    return c == ':' || c == '=';
}

static bool is_of_name(char c)
{
    return !is_sign(c);
}

/* ---- a line ---- */

/* Between two words. */
static bool is_delimiter(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f || strchr("\"'`()[]{}<>,;\\", c);
}

static bool is_of_word(char c)
{
    return !is_delimiter(c);
}

static bool is_before_value(char c)
{
    return is_sign(c) || is_delimiter(c);
}

/* The length of @text before the next word. A colour code ("\033[31m") counts as a delimiter with its
 * letter. */
static size_t delimiters_length(struct str text)
{
    size_t len = 0;
    while (len < text.len && is_delimiter(text.at[len])) {
        bool escape = text.len - len >= 2 && memcmp(text.at + len, "\033[", 2) == 0;
        len += escape ? 2 : 1;
        while (escape && len < text.len && (is_number(text.at[len]) || text.at[len] == ';'))
            len++;
        if (escape && len < text.len && is_letter(text.at[len]))
            len++;
    }
    return len;
}

/* Whether @word, at the front of @line, names a secret that follows it. @ret_name is the length of
 * the name, @ret_gap the text between name and value: `": "`. */
static enum naming find_value(struct str line, struct str word, size_t *ret_name,
                              struct str *ret_gap)
{
    enum naming naming;
    size_t stem = find_stem(word, &naming), name, gap;
    if (naming == NAMES_NOTHING)
        return naming;
    name = stem + count_leading(rest_of(word, stem), is_of_name);
    gap = count_leading(rest_of(line, name), is_before_value);
    *ret_name = name;
    *ret_gap = (struct str){line.at + name, gap};
    if (name + gap == line.len)
        return NAMES_NOTHING;
    for (size_t i = 0; i < gap; i++)
        if (is_sign(line.at[name + i]))
            return naming;
    /* Only an option ("--token VALUE") is followed by its value without a sign. */
    return word.len > 2 && word.at[0] == '-' ? naming : NAMES_NOTHING;
}

/* The length of the value at the front of @text, after @gap. After an escaped quote or a bracket
 * the end is unknown: then the value is all of @text. */
static size_t value_length(struct str text, struct str gap, enum naming naming)
{
    char last = gap.len ? gap.at[gap.len - 1] : ' ';
    bool nested = memchr(gap.at, '\\', gap.len) || memchr(gap.at, '{', gap.len) ||
                  memchr(gap.at, '[', gap.len);
    if (nested)
        return text.len;
    for (size_t i = 0; strchr("\"'`", last) && i < text.len; i++) {
        if (text.at[i] == '\\')
            i++;
        else if (text.at[i] == last)
            return i;
    }
    return naming == NAMES_REST ? text.len : count_leading(text, is_of_word);
}

static void put_filtered_word(struct buf *out, struct str word)
{
    if (word_may_be_shown(word))
        buf_put(out, word.at, word.len);
    else
        buf_puts(out, HIDDEN);
}

/* Writes the word at the front of @line and the value that it names. Returns their length. */
static size_t put_word(struct buf *out, struct str line)
{
    struct str word = {line.at, count_leading(line, is_of_word)}, gap;
    size_t name, before;
    enum naming naming = find_value(line, word, &name, &gap);
    if (naming == NAMES_NOTHING) {
        put_filtered_word(out, word);
        return word.len;
    }
    before = name + gap.len;
    put_filtered_word(out, (struct str){word.at, name});
    buf_put(out, gap.at, gap.len);
    buf_puts(out, HIDDEN);
    return before + value_length(rest_of(line, before), gap, naming);
}

void secret_filter_put(struct buf *out, struct str line)
{
    while (line.len) {
        size_t len = delimiters_length(line);
        buf_put(out, line.at, len);
        line = rest_of(line, len);
        if (line.len)
            line = rest_of(line, put_word(out, line));
    }
}
