/*
 * err.c - error texts, and the names and meanings of error codes from INF_ERROR_MAP.
 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"

const char *inf_error_name(int code)
{
    switch (code < 0 ? -code : code) {
#define NAME(name, value, text) \
    case value: return #name;
        INF_ERROR_MAP(NAME)
#undef NAME
    }
    return code ? "INF_E?" : "INF_OK";
}

const char *inf_error_meaning(int code)
{
    switch (code < 0 ? -code : code) {
#define MEANING(name, value, text) \
    case value: return text;
        INF_ERROR_MAP(MEANING)
#undef MEANING
    }
    return code ? "unknown error" : "no error";
}

/* A text that does not fit ends in "...". Text from a peer or a file must not move a cursor, start a
 * new line or mislead a reader: the bytes of unsafe characters become spaces. */
__attribute__((format(printf, 3, 0))) static void err_format(char *text, size_t size,
                                                             const char *fmt, va_list args)
{
    int n = vsnprintf(text, size, fmt, args);
    if (n >= (int)size)
        memcpy(text + size - 4, "...", 4);
    for (char *at = text, *end = text + strlen(text); at < end;) {
        uint32_t c = 0;
        size_t len = utf8_next((struct str){at, (size_t)(end - at)}, &c);
        if (len && utf8_is_unsafe(c))
            memset(at, ' ', len);
        at += len ? len : 1; /* invalid UTF-8 stays */
    }
}

int err_set(struct inf_error *err, int code, const char *fmt, ...)
{
    va_list args;
    if (!err)
        return -code;
    *err = (struct inf_error){.code = code};
    va_start(args, fmt);
    err_format(err->text, sizeof(err->text), fmt, args);
    va_end(args);
    return -code;
}

int err_wrap(struct inf_error *err, const char *fmt, ...)
{
    char inner[INF_ERROR_TEXT_MAX];
    size_t len;
    va_list args;
    memcpy(inner, err->text, sizeof(inner));
    va_start(args, fmt);
    err_format(err->text, sizeof(err->text), fmt, args);
    va_end(args);
    len = strlen(err->text);
    if (snprintf(err->text + len, sizeof(err->text) - len, ": %s", inner) >=
        (int)(sizeof(err->text) - len))
        memcpy(err->text + sizeof(err->text) - 4, "...", 4);
    return -err->code;
}
