#include "kube/exec_complaint.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

/* What base64, hex and the parts of a JWT are made of. */
static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("+=_-", c));
}

static size_t word_length(struct str text)
{
    size_t len = 0;
    while (len < text.len && is_letter(text.at[len]))
        len++;
    return len;
}

static bool may_be_secret(struct str word)
{
    bool digits = false;
    for (size_t i = 0; i < word.len; i++)
        digits = digits || isdigit((unsigned char)word.at[i]);
    return digits && word.len > COMPLAINT_WORD_MAX;
}

void exec_complaint_put(struct buf *out, struct str line)
{
    struct buf bare = {0};
    while (line.len) {
        size_t len = word_length(line);
        if (may_be_secret((struct str){line.at, len}))
            buf_puts(&bare, "[...]");
        else
            buf_put(&bare, line.at, len ? len : 1);
        len = len ? len : 1;
        line = (struct str){line.at + len, line.len - len};
    }
    utf8_put_visible(out, utf8_cut((struct str){bare.bytes, bare.len}, COMPLAINT_LINE_MAX));
    buf_free(&bare);
}

/* Takes the last line off @text; the end of the text may lack its line end. */
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

void exec_complaint_log(struct log *log, const char *command, struct str errors)
{
    struct str lines[COMPLAINT_LINES];
    size_t n = 0;
    while (n < COMPLAINT_LINES && errors.len) {
        struct str line = pop_line(&errors);
        if (line.len)
            lines[n++] = line;
    }
    while (n) {
        struct buf text = {0};
        exec_complaint_put(&text, lines[--n]);
        log_line(log, LOG_DEBUG, "exec plugin '%s' says: %.*s", command, (int)text.len, text.bytes);
        buf_free(&text);
    }
}
