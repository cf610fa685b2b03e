/*
 * json.c - the JSON scanner: finds where strings, containers and values end.
 *
 * Where json_block.h has a vector version, containers are skipped 64 bytes at a time; the rest, and
 * all other values, byte by byte. Text that ends too early ends the walk.
 */
#include "core/json/json.h"

#include <string.h>

#include "base/json_block.h"

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

/*
 * @at is after the opening quote; returns the closing quote, or @end. A quote is escaped if an odd
 * number of backslashes precedes it. (Searching for the quote again after each escape would be
 * quadratic: a script in a ConfigMap is one string with thousands of escapes.)
 */
static const char *string_end(const char *at, const char *end)
{
    const char *quote = at, *run;
    while ((quote = memchr(quote, '"', (size_t)(end - quote)))) {
        for (run = quote; run > at && run[-1] == '\\'; run--)
            continue;
        if ((quote - run) % 2 == 0)
            return quote;
        quote++;
    }
    return end;
}

static const char *skip_string(const char *at, const char *end)
{
    const char *quote = string_end(at + 1, end);
    return quote < end ? quote + 1 : end;
}

#if JSON_BLOCK
/* Skips whole blocks of the container at @at, until its end or the last incomplete block. Returns
 * the position after the container, or NULL; @ret_at, @ret_carry and @ret_depth are then the state
 * reached. */
static const char *skip_blocks(const char *at, const char *end, const char **ret_at,
                               struct json_carry *ret_carry, size_t *ret_depth)
{
    for (; end - at >= JSON_BLOCK; at += JSON_BLOCK) {
        struct json_marks marks = json_block(at, ret_carry);
        if (json_pass_block(&marks, ret_depth))
            continue;
        for (uint64_t both = marks.open | marks.close; both; both &= both - 1) {
            *ret_depth += json_step(&marks, both);
            if (*ret_depth == 0)
                return at + __builtin_ctzll(both) + 1;
        }
    }
    *ret_at = at;
    return NULL;
}

/* The last block may have ended within a string: returns the first byte after that string. */
static const char *leave_string(const char *at, const char *end, const struct json_carry *carry)
{
    if (!carry->inside)
        return at;
    return at + carry->escaped < end ? skip_string(at + carry->escaped - 1, end) : end;
}
#endif

static const char *skip_container(const char *at, const char *end)
{
    size_t depth = 0;
#if JSON_BLOCK
    struct json_carry carry = {0};
    const char *after = skip_blocks(at, end, &at, &carry, &depth);
    if (after)
        return after;
    at = leave_string(at, end, &carry);
#endif
    while (at < end) {
        switch (*at) {
        case '"': at = skip_string(at, end); continue;
        case '{':
        case '[': depth++; break;
        case '}':
        case ']':
            if (--depth == 0)
                return at + 1;
            break;
        default: break;
        }
        at++;
    }
    return end;
}

static const char *skip_value(const char *at, const char *end)
{
    if (at < end && *at == '"')
        return skip_string(at, end);
    if (at < end && (*at == '{' || *at == '['))
        return skip_container(at, end);
    while (at < end && *at != ',' && *at != '}' && *at != ']' && !is_space(*at))
        at++;
    return at;
}

void json_walk_start(struct json_walk *walk, struct str object)
{
    walk->end = object.at + object.len;
    walk->at = skip_space(object.at, walk->end);
    if (walk->at < walk->end && *walk->at == '{')
        walk->at++;
    else
        walk->at = walk->end;
}

bool json_walk_key(struct json_walk *walk, struct str *ret_key)
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

static const char *skip_token(const char *at, const char *end)
{
    while (at < end && !is_space(*at))
        at = *at == '"' ? skip_string(at, end) : at + 1;
    return at;
}

bool json_is_compact(struct str value)
{
#if JSON_BLOCK
    const char *at = value.at, *end = value.at + value.len;
    struct json_carry carry = {0};
    for (; end - at >= JSON_BLOCK; at += JSON_BLOCK)
        if (json_block(at, &carry).space)
            return false;
    at = leave_string(at, end, &carry);
    return skip_token(at, end) == end;
#else
    return skip_token(value.at, value.at + value.len) == value.at + value.len;
#endif
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
        at = skip_token(from, end);
        buf_put(out, from, (size_t)(at - from));
    }
}
