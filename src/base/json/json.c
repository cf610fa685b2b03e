/*
 * json.c - the JSON scanner and the walks that are built on it. See json.h for the rules.
 *
 * A value is a scalar, or it is enclosed by quotes or brackets. Enclosed values are scanned by one
 * function, scan_enclosed(), whether they are complete or arrive in pieces. Text that ends too early
 * ends the value and the walk.
 */
#include "base/json/json.h"

#include <string.h>

#include "base/json/json_block.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && is_space(*at))
        at++;
    return at;
}

/* ---- where a value ends ---- */

/*
 * @at is inside of a string. Returns the closing quote, or @end. *@escaped says whether the byte at
 * @at is escaped, and then whether the byte at @end is.
 *
 * Backslashes are counted backwards from each quote. (Searching for the quote again after each escape
 * would be quadratic: a script in a ConfigMap is one string with thousands of escapes.)
 */
static const char *find_closing_quote(const char *at, const char *end, bool *escaped)
{
    while (at < end) {
        const char *quote = memchr(at, '"', (size_t)(end - at)), *stop = quote ? quote : end;
        const char *run = stop;
        while (run > at && run[-1] == '\\')
            run--;
        *escaped = ((stop - run) % 2 != 0) != (run == at && *escaped);
        if (!quote || !*escaped)
            return stop;
        *escaped = false;
        at = quote + 1;
    }
    return end;
}

#if JSON_BLOCK
/* Scans whole blocks inside of a container, up to the end of the value or the last whole block. */
JSON_INLINE const char *scan_blocks_by(json_classify_fn *classify, json_parity_fn *parity,
                                       json_count_fn *count, struct json_scan *scan, const char *at,
                                       const char *end, bool *ended)
{
    struct json_carry carry = {scan->in_string ? UINT64_MAX : 0, scan->escaped};
    size_t depth = scan->depth; /* a copy, so that it stays in a register */
    for (; end - at >= JSON_BLOCK; at += JSON_BLOCK) {
        struct json_marks marks = json_block(classify, parity, at, &carry);
        if (depth + JSON_BLOCK < JSON_DEPTH_MAX && json_pass_block(count, &marks, &depth))
            continue;
        for (uint64_t both = marks.open | marks.close; both; both &= both - 1) {
            depth += json_step(&marks, both);
            if (depth > scan->deepest)
                scan->deepest = depth;
            if (depth == 0) {
                *ended = true;
                return at + __builtin_ctzll(both) + 1;
            }
        }
    }
    scan->depth = depth;
    scan->in_string = carry.inside;
    scan->escaped = carry.escaped;
    return at;
}

JSON_AVX2 static const char *scan_blocks_avx2(struct json_scan *scan, const char *at,
                                              const char *end, bool *ended)
{
    return scan_blocks_by(json_classify_avx2, json_parity_avx2, json_count_avx2, scan, at, end,
                          ended);
}

static const char *scan_blocks(struct json_scan *scan, const char *at, const char *end, bool *ended)
{
    if (json_has_avx2())
        return scan_blocks_avx2(scan, at, end, ended);
    return scan_blocks_by(json_classify, json_parity, json_count, scan, at, end, ended);
}
#endif

static const char *scan_enclosed(struct json_scan *scan, const char *at, const char *end,
                                 bool *ended)
{
    while (at < end && !*ended) {
#if JSON_BLOCK
        if (scan->depth && end - at >= JSON_BLOCK) {
            at = scan_blocks(scan, at, end, ended);
            continue;
        }
#endif
        if (scan->in_string) {
            at = find_closing_quote(at, end, &scan->escaped);
            if (at == end)
                break;
            scan->in_string = false;
            *ended = scan->depth == 0;
            at++;
            continue;
        }
        switch (*at++) {
        case '"': scan->in_string = true; break;
        case '{':
        case '[':
            if (++scan->depth > scan->deepest)
                scan->deepest = scan->depth;
            break;
        case '}':
        case ']': *ended = --scan->depth == 0; break;
        default: break;
        }
    }
    return at;
}

static const char *scan_scalar(const char *at, const char *end)
{
    while (at < end && *at != ',' && *at != '}' && *at != ']' && !is_space(*at))
        at++;
    return at;
}

size_t json_scan_value(struct json_scan *scan, struct str text, bool *ret_ended)
{
    const char *end = text.at + text.len, *at;
    *ret_ended = false;
    if (!text.len)
        return 0;
    if (!scan->begun) {
        scan->begun = true;
        scan->scalar = !memchr("{[\"", text.at[0], 3);
    }
    if (scan->scalar) {
        at = scan_scalar(text.at, end);
        *ret_ended = at < end;
    } else {
        at = scan_enclosed(scan, text.at, end, ret_ended);
    }
    return (size_t)(at - text.at);
}

static const char *long_string_end(const char *at, const char *end)
{
    bool escaped = false;
#if JSON_BLOCK
    size_t plain = JSON_PIECE;
    for (; plain == JSON_PIECE && end - at >= JSON_PIECE; at += plain)
        if (json_piece_ends_string(at, &plain))
            return at + plain;
#endif
    return find_closing_quote(at, end, &escaped);
}

/* Most strings are short and have no escapes: they need no call. */
static inline const char *string_end(const char *at, const char *end)
{
#if JSON_BLOCK
    if (end - at >= JSON_PIECE) {
        size_t plain;
        if (json_piece_ends_string(at, &plain))
            return at + plain;
        at += plain;
    }
#endif
    return long_string_end(at, end);
}

static const char *skip_string(const char *at, const char *end)
{
    const char *quote = string_end(at + 1, end);
    return quote < end ? quote + 1 : end;
}

/* @at is inside of the container. */
static const char *skip_rest(const char *at, const char *end)
{
    struct json_scan scan = {.depth = 1};
    bool ended = false;
    return scan_enclosed(&scan, at, end, &ended);
}

static const char *skip_value(const char *at, const char *end)
{
    if (at < end && *at == '"')
        return skip_string(at, end);
    if (at < end && (*at == '{' || *at == '['))
        return skip_rest(at + 1, end);
    return scan_scalar(at, end);
}

/* ---- walks ---- */

void json_walk_start(struct json_walk *walk, struct str object)
{
    walk->end = object.at + object.len;
    walk->at = skip_space(object.at, walk->end);
    if (walk->at < walk->end && *walk->at == '{')
        walk->at++;
    else
        walk->at = walk->end;
}

#if JSON_BLOCK
/* The same as json_walk_key() for a short key without white space around it, as nearly all are, and not
 * at the end of the text; returns false for all others. Gain: 2 % of the instructions of informerd per
 * change (test/bench/replay, 11.7 KB pods). */
static inline bool walk_short_key(struct json_walk *walk, struct str *ret_key)
{
    const char *at = walk->at;
    size_t len;
    if (walk->end - at < JSON_PIECE + 4) /* comma, quote, key, quote, colon, value */
        return false;
    at += *at == ',';
    if (*at != '"' || !json_piece_ends_string(at + 1, &len) || at[len + 2] != ':' ||
        (unsigned char)at[len + 3] <= ' ')
        return false;
    *ret_key = (struct str){at + 1, len};
    walk->at = at + len + 3;
    return true;
}
#endif

static bool walk_any_key(struct json_walk *walk, struct str *ret_key)
{
    const char *end = walk->end, *at = skip_space(walk->at, end), *key;
    if (at < end && *at == ',')
        at = skip_space(at + 1, end);
    if (at >= end || *at != '"')
        return false;
    key = at + 1;
    at = string_end(key, end);
    *ret_key = (struct str){key, (size_t)(at - key)};
    at = skip_space(at < end ? at + 1 : end, end);
    if (at >= end || *at != ':')
        return false;
    walk->at = skip_space(at + 1, end);
    return true;
}

bool json_walk_key(struct json_walk *walk, struct str *ret_key)
{
#if JSON_BLOCK
    if (walk_short_key(walk, ret_key))
        return true;
#endif
    return walk_any_key(walk, ret_key);
}

struct str json_walk_value(struct json_walk *walk)
{
    const char *at = walk->at;
    walk->at = skip_value(at, walk->end);
    return (struct str){at, (size_t)(walk->at - at)};
}

bool json_walk_next(struct json_walk *walk, struct json_member *ret_member)
{
    if (!json_walk_key(walk, &ret_member->key))
        return false;
    ret_member->value = json_walk_value(walk);
    return true;
}

bool json_walk_pass(struct json_walk *walk, char sign)
{
    const char *at = skip_space(walk->at, walk->end);
    if (at >= walk->end || *at != sign)
        return false;
    walk->at = at + 1;
    return true;
}

void json_walk_leave(struct json_walk *walk)
{
    walk->at = skip_rest(walk->at, walk->end);
}

bool json_items_start(struct json_walk *walk, struct str array)
{
    walk->end = array.at + array.len;
    walk->at = skip_space(array.at, walk->end);
    if (walk->at < walk->end && *walk->at == '[') {
        walk->at++;
        return true;
    }
    walk->at = walk->end;
    return false;
}

bool json_items_next(struct json_walk *walk, struct str *ret_item)
{
    const char *end = walk->end, *at = skip_space(walk->at, end), *after;
    if (at < end && *at == ',')
        at = skip_space(at + 1, end);
    after = skip_value(at, end);
    if (after == at) /* the closing bracket, or not a value */
        return false;
    *ret_item = (struct str){at, (size_t)(after - at)};
    walk->at = after;
    return true;
}

bool json_walk_complete(const struct json_walk *walk)
{
    const char *at = skip_space(walk->at, walk->end);
    return at < walk->end && *at == '}' && skip_space(at + 1, walk->end) == walk->end;
}

/* ---- white space ---- */

/* Returns the next white space outside of strings, or @end. */
static const char *skip_tokens(const char *at, const char *end)
{
    while (at < end && !is_space(*at))
        at = *at == '"' ? skip_string(at, end) : at + 1;
    return at;
}

#if JSON_BLOCK
/* Passes the whole blocks at @at, up to the first one with white space outside of strings. */
JSON_INLINE const char *pass_compact_by(json_classify_fn *classify, json_parity_fn *parity,
                                        const char *at, const char *end, struct json_carry *carry)
{
    while (end - at >= JSON_BLOCK && !json_block(classify, parity, at, carry).space)
        at += JSON_BLOCK;
    return at;
}

JSON_AVX2 static const char *pass_compact_avx2(const char *at, const char *end,
                                               struct json_carry *carry)
{
    return pass_compact_by(json_classify_avx2, json_parity_avx2, at, end, carry);
}

static const char *pass_compact(const char *at, const char *end, struct json_carry *carry)
{
    if (json_has_avx2())
        return pass_compact_avx2(at, end, carry);
    return pass_compact_by(json_classify, json_parity, at, end, carry);
}
#endif

bool json_is_compact(struct str value)
{
    const char *at = value.at, *end = value.at + value.len;
#if JSON_BLOCK
    struct json_carry carry = {0};
    at = pass_compact(at, end, &carry);
    if (end - at >= JSON_BLOCK)
        return false;
    if (carry.inside) { /* the last block ended inside of a string */
        bool escaped = carry.escaped;
        at = find_closing_quote(at, end, &escaped);
        at = at < end ? at + 1 : end;
    }
#endif
    return skip_tokens(at, end) == end;
}

void json_compact(struct buf *out, struct str value)
{
    const char *at = value.at, *end = value.at + value.len;
    if (json_is_compact(value)) {
        buf_put(out, value.at, value.len);
        return;
    }
    while (at < end) {
        const char *from = skip_space(at, end);
        at = skip_tokens(from, end);
        buf_put(out, from, (size_t)(at - from));
    }
}
