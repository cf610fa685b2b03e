/*
 * jsonpath_format.c - a template filled in for the object of each change, as
 * `kubectl get -w -o jsonpath=TEMPLATE` prints it:
 *
 *     jsonpath={.metadata.name}{"\t"}{.status.phase}
 *
 * The template is parsed once. Text outside of braces and quoted text inside of them is written as it
 * is. Strings are written decoded, other values as JSON, several values with a blank between them, and
 * nothing for a missing field. Control characters in values other than line ends and tabs are escaped.
 * The text ends with a line end, which is added if the template does not produce one.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text/json_decode.h"
#include "base/text/syntax_error.h"
#include "base/text/utf8.h"
#include "daemon/format/json_tree.h"
#include "daemon/format/jsonpath.h"
#include "daemon/format/record_format.h"

enum {
    PIECES_MAX = 128, /* LIMIT: texts and paths in a template */
};

struct piece {
    bool is_path;
    struct inf_path *path; /* owned; NULL: the whole object */
    struct buf text;
};

struct template
{
    struct piece pieces[PIECES_MAX];
    size_t count;
    size_t paths;
};

static void template_free(void *state)
{
    struct template *template = state;
    for (size_t i = 0; i < template->count; i++) {
        inf_path_free(template->pieces[i].path);
        buf_free(&template->pieces[i].text);
    }
    free(template);
}

static bool starts_with(struct str text, const char *word)
{
    return text.len >= strlen(word) && memcmp(text.at, word, strlen(word)) == 0;
}

/* What is between two braces: text in quotes, or a path. */
static int parse_expression(struct piece *piece, struct str whole, struct str text,
                            struct inf_error *err)
{
    char quote = text.len ? text.at[0] : '\0';
    if (quote == '"' || quote == '\'') {
        if (text.len < 2 || text.at[text.len - 1] != quote)
            return syntax_error(err, "JSONPath template", whole, text.at,
                                "the closing quote is missing");
        json_put_decoded(&piece->text, (struct str){text.at + 1, text.len - 2});
        return 0;
    }
    if (starts_with(text, "range") || (text.len == 3 && starts_with(text, "end")))
        return syntax_error(err, "JSONPath template", whole, text.at,
                            "range and end are not supported; [*] writes all values with blanks "
                            "between them");
    piece->is_path = true;
    return jsonpath_parse(text, &piece->path, err);
}

/* The brace that closes the expression at @at; one in quotes does not. NULL: there is none. */
static const char *find_close(const char *at, const char *end)
{
    char quote = '\0';
    for (; at < end; at++) {
        if (quote && *at == '\\' && end - at > 1)
            at++;
        else if (quote)
            quote = *at == quote ? '\0' : quote;
        else if (*at == '"' || *at == '\'')
            quote = *at;
        else if (*at == '}')
            return at;
    }
    return NULL;
}

static int parse_template(struct template *template, struct str whole, struct inf_error *err)
{
    const char *at = whole.at, *end = whole.at + whole.len;
    while (at < end) {
        struct piece *piece = &template->pieces[template->count];
        const char *close;
        if (template->count == PIECES_MAX)
            return err_set(err, INF_EINVAL, "JSONPath template: more than %d parts", PIECES_MAX);
        template->count++;
        if (*at != '{') {
            const char *open = memchr(at, '{', (size_t)(end - at));
            size_t len = open ? (size_t)(open - at) : (size_t)(end - at);
            buf_put(&piece->text, at, len);
            at += len;
            continue;
        }
        close = find_close(at + 1, end);
        if (!close)
            return syntax_error(err, "JSONPath template", whole, end, "'}' is missing");
        if (parse_expression(piece, whole, (struct str){at + 1, (size_t)(close - at - 1)}, err) < 0)
            return -INF_EINVAL;
        template->paths += piece->is_path;
        at = close + 1;
    }
    if (!template->paths)
        return err_set(err, INF_EINVAL,
                       "the JSONPath template has no field; write it like {.metadata.name}");
    return 0;
}

static void *jsonpath_prepare(const char *argument, struct inf_error *err)
{
    struct template *template = NEW(struct template);
    if (parse_template(template, str_of(argument), err) == 0)
        return template;
    template_free(template);
    return NULL;
}

/* Adds @text with its line ends and tabs, and everything else that is unsafe escaped. */
static void put_text(struct buf *out, struct str text)
{
    while (text.len) {
        size_t len = 0;
        while (len < text.len && text.at[len] != '\n' && text.at[len] != '\t')
            len++;
        utf8_put_visible(out, (struct str){text.at, len});
        if (len < text.len)
            buf_putc(out, text.at[len++]);
        text = (struct str){text.at + len, text.len - len};
    }
}

static bool add_value(void *ctx, const char *json, size_t len)
{
    struct buf *out = ctx;
    if (out->len)
        buf_putc(out, ' ');
    json_value_put(out, (struct str){json, len});
    return true;
}

static void jsonpath_put_change(struct buf *out, const struct change *change,
                                const struct record_options *options)
{
    const struct template *template = options->state;
    size_t start = out->len;
    struct buf values = {0};
    for (size_t i = 0; i < template->count; i++) {
        const struct piece *piece = &template->pieces[i];
        if (!piece->is_path) {
            put_text(out, (struct str){piece->text.bytes, piece->text.len});
            continue;
        }
        buf_clear(&values);
        jsonpath_each(piece->path, change->object, add_value, &values);
        put_text(out, (struct str){values.bytes, values.len});
    }
    if (out->len == start || out->bytes[out->len - 1] != '\n')
        buf_putc(out, '\n');
    buf_free(&values);
}

const struct record_format jsonpath_format = {
    .argument = "TEMPLATE",
    .prepare = jsonpath_prepare,
    .release = template_free,
    .put_change = jsonpath_put_change,
};
