/*
 * conf_error.c - collects errors with their position, up to a limit; further errors are only
 * counted.
 */
#include "daemon/conf/conf_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/json_string.h"

enum {
    SHOWN_MAX = 64, /* bytes of a value; a longer value may be a misplaced secret */
};

void conf_error_line(struct conf_errors *errors, const char *line)
{
    if (errors->count++ < CONF_ERRORS_MAX)
        buf_printf(&errors->text, "%s\n", line);
}

size_t conf_reader_enter(struct conf_reader *reader, const char *key)
{
    size_t before = reader->path.len;
    buf_printf(&reader->path, "%s%s", before ? "." : "", key);
    return before;
}

size_t conf_reader_enter_nth(struct conf_reader *reader, size_t n)
{
    size_t before = reader->path.len;
    buf_printf(&reader->path, "[%zu]", n);
    return before;
}

void conf_reader_leave(struct conf_reader *reader, size_t before)
{
    reader->path.len = before;
}

void conf_reader_error(struct conf_reader *reader, const struct yaml_node *node, const char *fmt,
                       ...)
{
    char sentence[INF_ERROR_TEXT_MAX];
    struct buf line = {0};
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof(sentence), fmt, args);
    va_end(args);
    buf_printf(&line, "%s:%zu:%zu: %.*s%s%s", node->file, node->line, node->column,
               (int)reader->path.len, reader->path.bytes, reader->path.len ? ": " : "", sentence);
    buf_putc(&line, '\0');
    conf_error_line(reader->errors, line.bytes);
    buf_free(&line);
}

bool conf_reader_is_full(struct conf_reader *reader)
{
    bool full = reader->errors->count >= CONF_ERRORS_MAX;
    reader->errors->count += full;
    return full;
}

void conf_errors_close(struct conf_errors *errors)
{
    if (errors->count > CONF_ERRORS_MAX)
        buf_printf(&errors->text, "... and %zu more\n", errors->count - CONF_ERRORS_MAX);
}

void conf_errors_free(struct conf_errors *errors)
{
    buf_free(&errors->text);
    errors->count = 0;
}

char *conf_show(const char *text)
{
    struct buf quoted = {0};
    char *shown;
    if (strlen(text) > SHOWN_MAX)
        return xasprintf("a value of %zu bytes", strlen(text));
    json_put_string(&quoted, str_of(text)); /* escapes control characters */
    shown = xasprintf("'%.*s'", (int)quoted.len - 2, quoted.bytes + 1);
    buf_free(&quoted);
    return shown;
}
