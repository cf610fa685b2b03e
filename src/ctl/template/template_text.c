/*
 * template_text.c - the functions of templates that make text of all their arguments: print, println, html,
 * js and urlquery.
 */
#include <ctype.h>
#include <string.h>

#include "base/text/utf8.h"
#include "ctl/template/template_internal.h"

/* Go's Sprint: a blank between two values if neither is a string. */
static void put_all(struct buf *out, const struct call *call)
{
    for (size_t i = 0; i < call->n; i++) {
        if (i && call->args[i].kind != VALUE_STRING && call->args[i - 1].kind != VALUE_STRING)
            buf_putc(out, ' ');
        value_put(out, &call->args[i]);
    }
}

int template_run_print(struct call *call, struct value *ret)
{
    struct buf text = {0};
    put_all(&text, call);
    *ret = eval_text(call->eval, &text);
    return 0;
}

int template_run_println(struct call *call, struct value *ret)
{
    struct buf text = {0};
    for (size_t i = 0; i < call->n; i++) {
        if (i)
            buf_putc(&text, ' ');
        value_put(&text, &call->args[i]);
    }
    buf_putc(&text, '\n');
    *ret = eval_text(call->eval, &text);
    return 0;
}

/* The text that html, js and urlquery escape: missing values are "<no value>". */
static struct buf text_of(struct call *call)
{
    struct buf text = {0};
    for (size_t i = 0; i < call->n; i++)
        if (call->args[i].kind == VALUE_INVALID || call->args[i].kind == VALUE_NIL)
            call->args[i] = value_of_text(STR("<no value>"));
    put_all(&text, call);
    return text;
}

int template_run_html(struct call *call, struct value *ret)
{
    static const char plain[] = "\"'&<>";
    static const char *const names[] = {"&#34;", "&#39;", "&amp;", "&lt;", "&gt;"};
    struct buf text = text_of(call), out = {0};
    for (size_t i = 0; i < text.len; i++) {
        const char *found = text.bytes[i] ? strchr(plain, text.bytes[i]) : NULL;
        if (found)
            buf_puts(&out, names[found - plain]);
        else if (!text.bytes[i])
            buf_puts(&out, "\xef\xbf\xbd");
        else
            buf_putc(&out, text.bytes[i]);
    }
    buf_free(&text);
    *ret = eval_text(call->eval, &out);
    return 0;
}

static void put_js_char(struct buf *out, unsigned char c)
{
    if (strchr("\\'\"", c) && c)
        buf_printf(out, "\\%c", c);
    else if (c < ' ' || strchr("<>&=", c))
        buf_printf(out, "\\u%04X", c);
    else
        buf_putc(out, (char)c);
}

int template_run_js(struct call *call, struct value *ret)
{
    struct buf text = text_of(call), out = {0};
    struct str s = {text.bytes, text.len};
    while (s.len) {
        uint32_t c = 0xfffd;
        size_t size = utf8_next(s, &c);
        if (size == 1)
            put_js_char(&out, (unsigned char)s.at[0]);
        else if (!size)
            buf_puts(&out, "\\uFFFD");
        else if (utf8_is_unsafe(c) || c == 0xa0)
            buf_printf(&out, "\\u%04X", c);
        else
            buf_put(&out, s.at, size);
        size += !size;
        s = (struct str){s.at + size, s.len - size};
    }
    buf_free(&text);
    *ret = eval_text(call->eval, &out);
    return 0;
}

int template_run_urlquery(struct call *call, struct value *ret)
{
    struct buf text = text_of(call), out = {0};
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        if (c == ' ')
            buf_putc(&out, '+');
        else if (c < 0x80 && (isalnum(c) || (c && strchr("-_.~", c))))
            buf_putc(&out, (char)c);
        else
            buf_printf(&out, "%%%02X", c);
    }
    buf_free(&text);
    *ret = eval_text(call->eval, &out);
    return 0;
}
