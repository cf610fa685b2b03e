/*
 * exec_stderr.c - takes the last lines of a plugin's stderr, filters each, and logs them in order.
 *
 * If the beginning of the text was dropped, the first line is dropped too: see exec_stderr_log().
 */
#include "kube/auth/exec_stderr.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"
#include "kube/auth/secret_filter.h"

void exec_stderr_put(struct buf *out, struct str line)
{
    struct buf bare = {0};
    secret_filter_put(&bare, line);
    utf8_put_visible(out, utf8_cut((struct str){bare.bytes, bare.len}, EXEC_STDERR_LINE_MAX));
    buf_free(&bare);
}

/* Removes the last line from @text; it may lack its line end. */
static struct str pop_line(struct str *text)
{
    struct str line;
    size_t begin;
    while (text->len && strchr("\r\n", text->at[text->len - 1]))
        text->len--;
    begin = text->len;
    while (begin && !strchr("\r\n", text->at[begin - 1]))
        begin--;
    line = (struct str){text->at + begin, text->len - begin};
    text->len = begin;
    return line;
}

void exec_stderr_log(struct log *log, const char *command, struct str errors)
{
    struct str lines[EXEC_STDERR_LINES];
    bool cut = errors.len >= EXEC_STDERR_MAX;
    size_t n = 0;
    while (n < EXEC_STDERR_LINES && errors.len) {
        struct str line = pop_line(&errors);
        if (line.len &&
            (errors.len || !cut)) /* a cut line may have lost the name that marks a secret */
            lines[n++] = line;
    }
    while (n) {
        struct buf text = {0};
        exec_stderr_put(&text, lines[--n]);
        log_line(log, LOG_DEBUG, "exec plugin '%s' stderr: %.*s", command, (int)text.len,
                 text.bytes);
        buf_free(&text);
    }
}
