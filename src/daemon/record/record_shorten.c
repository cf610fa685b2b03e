/*
 * record_shorten.c - copies the members that stay, step by step fewer.
 */
#include "daemon/record/record_shorten.h"

#include "base/base.h"
#include "base/json/json.h"

static const char *const large[] = {"object", "diff"}; /* left out one after the other */
static const char *const identity[] = {
    "time",     "seq",  "log",       "type", "origin", "cluster", "watch",  "group", "version",
    "resource", "kind", "namespace", "name", "uid",    "rv",      "old_rv", "final", "level"};

static bool is_one_of(struct str key, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (json_key_is(key, names[i]))
            return true;
    return false;
}

/* Without the first @n of `large`; with more than there are, only the identity. */
static bool stays(struct str key, size_t n)
{
    if (n > ARRAY_LEN(large))
        return is_one_of(key, identity, ARRAY_LEN(identity));
    return !is_one_of(key, large, n) && !json_key_is(key, "truncated");
}

static void put_members(struct buf *out, struct str line, size_t n)
{
    struct json_walk walk;
    struct json_member m;
    buf_putc(out, '{');
    json_walk_start(&walk, line);
    while (json_walk_next(&walk, &m))
        if (stays(m.key, n))
            buf_printf(out, "\"%.*s\":%.*s,", STR_FMT(m.key), STR_FMT(m.value));
    buf_puts(out, "\"truncated\":true}");
}

void record_shorten(struct buf *out, struct str line, size_t limit)
{
    size_t start = out->len;
    for (size_t n = 1; n <= ARRAY_LEN(large) + 1; n++) {
        out->len = start;
        put_members(out, line, n);
        if (out->len - start <= limit)
            return;
    }
}
