/*
 * path_format.c - formats a path canonically, with quotes and escapes only where they are needed, so
 * that it is never longer than the text that was parsed. It can't fail.
 */
#include <string.h>

#include "base/buf.h"
#include "core/object/path.h"

bool path_is_name(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_';
}

bool path_is_bare(char c)
{
    return path_is_name(c) || (c && strchr("./:+@%", c));
}

bool path_is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool consists_of(struct str s, bool (*is)(char))
{
    for (size_t i = 0; i < s.len; i++)
        if (!is(s.at[i]))
            return false;
    return s.len > 0;
}

static void put_quoted(struct buf *out, struct str s)
{
    static const char decoded[] = "\"\\\b\f\n\r\t", escaped[] = "\"\\bfnrt";
    buf_putc(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        const char *found = memchr(decoded, c, sizeof(decoded) - 1);
        if (found)
            buf_printf(out, "\\%c", escaped[found - decoded]);
        else if (path_is_control(c))
            buf_printf(out, "\\u%04x", (unsigned)c);
        else
            buf_putc(out, c);
    }
    buf_putc(out, '"');
}

static void put_name(struct buf *out, struct str s, bool (*is_plain)(char))
{
    if (consists_of(s, is_plain))
        buf_put(out, s.at, s.len);
    else
        put_quoted(out, s);
}

void path_put_step(struct buf *out, const struct path_step *step)
{
    if (step->kind == PATH_KEY && consists_of(step->key, path_is_name)) {
        if (out->len)
            buf_putc(out, '.');
        buf_put(out, step->key.at, step->key.len);
        return;
    }
    buf_putc(out, '[');
    switch (step->kind) {
    case PATH_KEY: put_quoted(out, step->key); break;
    case PATH_ALL: buf_putc(out, '*'); break;
    case PATH_INDEX: buf_printf(out, "%zu", step->index); break;
    case PATH_WHERE:
        put_name(out, step->key, path_is_name);
        buf_putc(out, '=');
        put_name(out, step->value, path_is_bare);
        break;
    }
    buf_putc(out, ']');
}

char *path_format(const struct inf_path *path)
{
    struct buf out = {0};
    for (size_t i = 0; i < path->count; i++)
        path_put_step(&out, &path->steps[i]);
    buf_putc(&out, '\0');
    return out.bytes;
}
