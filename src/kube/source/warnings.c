/*
 * warnings.c - RFC 7234's Warning header, as far as API servers use it.
 *
 *     Warning: 299 - "first", 299 kube "the \"second\"" "Mon, 16 Nov 2026 00:00:00 GMT"
 *
 * A list of code, agent, text and sometimes a date. Anything else is skipped with the rest of the
 * header: warnings are only advice.
 */
#include "kube/source/warnings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/buf.h"

/* ---- reading ---- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Reads a quoted string into @out, with spaces for control characters. Returns the position after
 * it; NULL if it is not one. */
static const char *read_quoted(const char *at, struct buf *out)
{
    if (*at++ != '"')
        return NULL;
    for (; *at && *at != '"'; at++) {
        bool control;
        if (*at == '\\' && at[1])
            at++;
        control = (unsigned char)*at < ' ' || *at == 0x7f;
        if (out->len < WARNING_TEXT_MAX)
            buf_put(out, control ? " " : at, 1);
    }
    return *at == '"' ? at + 1 : NULL;
}

/* Reads one warning; @ret_shown is false for codes other than 299. NULL if there is none. */
static const char *read_warning(const char *at, struct buf *out, bool *ret_shown)
{
    struct buf date = {0};
    at = at + strspn(at, " \t,");
    *ret_shown = strncmp(at, "299 ", 4) == 0;
    at = skip_blanks(at + strspn(at, "0123456789"));
    at = read_quoted(skip_blanks(at + strcspn(at, " \t")), out);
    if (at && *skip_blanks(at) == '"')
        at = read_quoted(skip_blanks(at), &date);
    buf_free(&date);
    return at;
}

/* ---- logging ---- */

/* Returns whether to log @text: it is new, and the limit is not reached. */
static bool warnings_remember(struct warnings *w, const char *server, const char *text)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->texts[i], text) == 0)
            return false;
    if (w->count < WARNINGS_MAX) {
        w->texts[w->count++] = xstrdup(text);
        return true;
    }
    if (!w->full)
        log_line(w->log, LOG_WARN,
                 "%s sent more than %d different warnings; further ones are not logged", server,
                 WARNINGS_MAX);
    w->full = true;
    return false;
}

void warnings_log(struct warnings *w, const char *text)
{
    if (w->log && warnings_remember(w, "informerd", text))
        log_line(w->log, LOG_WARN, "%s", text);
}

void warnings_log_new(struct warnings *w, const char *server, const struct http_head *head)
{
    struct buf text = {0};
    for (size_t i = 0; w && w->log && i < head->n_headers; i++) {
        const char *at = head->headers[i].value;
        bool shown;
        if (strcasecmp(head->headers[i].name, "Warning") != 0)
            continue;
        while ((at = read_warning(at, &text, &shown))) {
            buf_putc(&text, '\0');
            if (shown && warnings_remember(w, server, text.bytes))
                log_line(w->log, LOG_WARN, "warning from %s: %s", server, text.bytes);
            buf_clear(&text);
        }
        buf_clear(&text);
    }
    buf_free(&text);
}

/* ---- life ---- */

void warnings_init(struct warnings *w, struct log *log)
{
    *w = (struct warnings){.log = log};
}

void warnings_free(struct warnings *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->texts[i]);
    *w = (struct warnings){.log = NULL};
}
