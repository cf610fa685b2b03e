#include "kube/source/json_scan.h"

#include <string.h>

#include "base/json_block.h"

/*
 * From @at, inside a string, to behind its closing quote, or @end. A quote is escaped if an odd
 * number of backslashes stands before it; `escaped` carries that over a cut. The runs between
 * quotes don't overlap, so each byte is looked at twice at most.
 */
static const char *skip_string(struct scan *scan, const char *at, const char *end)
{
    while (at < end) {
        const char *quote = memchr(at, '"', (size_t)(end - at)), *stop = quote ? quote : end;
        const char *run = stop;
        while (run > at && run[-1] == '\\')
            run--;
        scan->escaped = ((stop - run) % 2 != 0) != (run == at && scan->escaped);
        if (!quote)
            return end;
        at = quote + 1;
        if (!scan->escaped) {
            scan->in_string = false;
            return at;
        }
        scan->escaped = false;
    }
    return end;
}

static void go_deeper(struct scan *scan)
{
    if (++scan->depth > scan->deepest)
        scan->deepest = scan->depth;
}

#if JSON_BLOCK
/* Whole blocks within a container, up to its end if that is in one of them. */
static const char *skip_blocks(struct scan *scan, const char *at, const char *end, bool *ended)
{
    struct json_carry carry = {scan->in_string ? UINT64_MAX : 0, scan->escaped};
    for (; end - at >= JSON_BLOCK; at += JSON_BLOCK) {
        struct json_marks marks = json_block(at, &carry);
        if (scan->depth + JSON_BLOCK < SCAN_DEPTH_MAX && json_pass_block(&marks, &scan->depth))
            continue;
        for (uint64_t both = marks.open | marks.close; both; both &= both - 1) {
            scan->depth += json_step(&marks, both);
            if (scan->depth > scan->deepest)
                scan->deepest = scan->depth;
            if ((*ended = scan->depth == 0)) {
                scan->in_string = scan->escaped = false;
                return at + __builtin_ctzll(both) + 1;
            }
        }
    }
    scan->in_string = carry.inside;
    scan->escaped = carry.escaped;
    return at;
}
#endif

/* Strings and containers: they say themselves where they end. */
static const char *skip_enclosed(struct scan *scan, const char *at, const char *end, bool *ended)
{
    while (at < end && !*ended) {
#if JSON_BLOCK
        if (scan->depth && end - at >= JSON_BLOCK) {
            at = skip_blocks(scan, at, end, ended);
            continue;
        }
#endif
        if (scan->in_string) {
            at = skip_string(scan, at, end);
            *ended = !scan->in_string && scan->depth == 0;
            continue;
        }
        switch (*at++) {
        case '"': scan->in_string = true; break;
        case '{':
        case '[': go_deeper(scan); break;
        case '}':
        case ']': *ended = --scan->depth == 0; break;
        default: break;
        }
    }
    return at;
}

static const char *skip_scalar(const char *at, const char *end, bool *ended)
{
    while (at < end && !strchr(",]} \n\r\t", *at))
        at++;
    *ended = at < end;
    return at;
}

size_t scan_value(struct scan *scan, struct str text, bool *ret_ended)
{
    const char *end = text.at + text.len, *at;
    *ret_ended = false;
    if (!text.len)
        return 0;
    if (!scan->begun) {
        scan->begun = true;
        scan->scalar = !memchr("{[\"", text.at[0], 3);
    }
    at = scan->scalar ? skip_scalar(text.at, end, ret_ended)
                      : skip_enclosed(scan, text.at, end, ret_ended);
    return (size_t)(at - text.at);
}
