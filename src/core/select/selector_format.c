/*
 * selector_format.c - the canonical text of a selector. Nothing here fails.
 *
 * The text is put together term by term and sorted: labels by key, as Kubernetes does (and then by
 * the whole term, so that equal selectors have equal texts), fields by the whole term.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "core/select/selector.h"

static const char *const spelled[] = {
    [SELECT_EXISTS] = "",         [SELECT_ABSENT] = "",         [SELECT_EQUAL] = "=",
    [SELECT_NOT_EQUAL] = "!=",    [SELECT_DOUBLE_EQUAL] = "==", [SELECT_IN] = " in (",
    [SELECT_NOT_IN] = " notin (", [SELECT_GREATER] = ">",       [SELECT_LESS] = "<",
};

static int compare_values(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void sort_unique_values(struct selector_term *term)
{
    size_t kept = 0;
    if (term->count < 2)
        return;
    qsort(term->values, term->count, sizeof(*term->values), compare_values);
    for (size_t i = 1; i < term->count; i++)
        if (!str_eq(term->values[i], term->values[kept]))
            term->values[++kept] = term->values[i];
    term->count = kept + 1;
}

static char *format_label(const struct selector_term *term)
{
    struct buf out = {0};
    if (term->op == SELECT_ABSENT)
        buf_putc(&out, '!');
    buf_put(&out, term->key.at, term->key.len);
    buf_puts(&out, spelled[term->op]);
    for (size_t i = 0; i < term->count; i++) {
        if (i)
            buf_putc(&out, ',');
        buf_put(&out, term->values[i].at, term->values[i].len);
    }
    if (term->op == SELECT_IN || term->op == SELECT_NOT_IN)
        buf_putc(&out, ')');
    buf_putc(&out, '\0');
    return out.bytes;
}

static char *format_field(const struct selector_term *term)
{
    struct buf out = {0};
    buf_puts(&out, inf_path_text(term->path));
    buf_puts(&out, spelled[term->op]);
    for (size_t i = 0; i < term->values[0].len; i++) {
        char c = term->values[0].at[i];
        if (c == '\\' || c == ',' || c == '=')
            buf_putc(&out, '\\');
        buf_putc(&out, c);
    }
    buf_putc(&out, '\0');
    return out.bytes;
}

static int compare_terms(const void *a, const void *b)
{
    const struct selector_term *x = a, *y = b;
    int diff = str_cmp(x->key, y->key);
    return diff ? diff : strcmp(x->text, y->text);
}

char *selector_format(struct inf_selector *selector)
{
    struct buf out = {0};
    for (size_t i = 0; i < selector->count; i++) {
        struct selector_term *term = &selector->terms[i];
        sort_unique_values(term);
        term->text = selector->kind == SELECT_BY_LABELS ? format_label(term) : format_field(term);
    }
    if (selector->count > 1)
        qsort(selector->terms, selector->count, sizeof(*selector->terms), compare_terms);
    for (size_t i = 0; i < selector->count; i++)
        buf_printf(&out, "%s%s", i ? "," : "", selector->terms[i].text);
    buf_putc(&out, '\0');
    return out.bytes;
}
