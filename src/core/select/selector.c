/*
 * selector.c - matches selectors against texts and objects, and finds the objects of a store.
 *
 * label_selector.c and field_selector.c parse selectors, selector_format.c formats them. A text that
 * is no selector, or is too long, is refused with the column; matching does not fail.
 */
#include "core/select/selector.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json/json_text.h"
#include "base/text/syntax_error.h"
#include "core/object/path.h"
#include "core/store/store.h"

/* ---- parts ---- */

struct selector_term *selector_add(struct inf_selector *selector)
{
    struct selector_term *term;
    if (selector->count == SELECTOR_TERMS_MAX)
        return NULL;
    selector->terms = xrealloc(selector->terms, (selector->count + 1) * sizeof(*term));
    term = &selector->terms[selector->count++];
    *term = (struct selector_term){.op = SELECT_EXISTS};
    return term;
}

bool selector_term_add(struct selector_term *term, struct str value)
{
    if (term->count == SELECTOR_VALUES_MAX)
        return false;
    if ((term->count & (term->count - 1)) == 0) /* at 0, 1, 2, 4, ... there is no more room */
        term->values = xrealloc(term->values, (term->count ? term->count * 2 : 1) * sizeof(value));
    term->values[term->count++] = value;
    return true;
}

bool selector_number(struct str text, int64_t *ret)
{
    bool negative = text.len && *text.at == '-';
    size_t i = text.len && (negative || *text.at == '+');
    uint64_t n = 0, most = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    if (i == text.len)
        return false;
    for (; i < text.len; i++) {
        unsigned digit = (unsigned)(unsigned char)text.at[i] - '0';
        if (digit > 9 || n > (most - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *ret = negative ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}

/* ---- matching ---- */

static bool has_value(const struct selector_term *term, struct str value)
{
    for (size_t i = 0; i < term->count; i++)
        if (json_value_is(value, term->values[i]))
            return true;
    return false;
}

/* Compares the number of the label with that of the term: -1, 0 or 1; 0 also if it is not a number.
 */
static int compare_number(const struct selector_term *term, struct str value)
{
    struct buf text = {0};
    int64_t number;
    bool good;
    json_value_put(&text, value);
    good = selector_number((struct str){text.bytes, text.len}, &number);
    buf_free(&text);
    return good ? (number > term->bound) - (number < term->bound) : 0;
}

static bool label_matches(const struct selector_term *term, struct str labels)
{
    struct str value;
    bool there = json_member_get(labels, term->key, &value);
    switch (term->op) {
    case SELECT_EXISTS: return there;
    case SELECT_ABSENT: return !there;
    case SELECT_EQUAL:
    case SELECT_DOUBLE_EQUAL:
    case SELECT_IN: return there && has_value(term, value);
    case SELECT_NOT_EQUAL:
    case SELECT_NOT_IN: return !there || !has_value(term, value);
    case SELECT_GREATER: return there && compare_number(term, value) > 0;
    case SELECT_LESS: return there && compare_number(term, value) < 0;
    }
    return false;
}

/* Whether one of the values that the path selects equals that of the term. No value, and null,
 * count as the empty string. */
static bool field_has_value(const struct selector_term *term, struct str text)
{
    struct path_walk walk;
    struct str value;
    bool any = false;
    path_walk_start(&walk, term->path, text);
    while (path_walk_next(&walk, &value)) {
        any = true;
        if (str_eq(value, STR("null")) ? !term->values[0].len : has_value(term, value))
            return true;
    }
    return !any && !term->values[0].len;
}

bool selector_is_everything(const struct inf_selector *selector)
{
    return !selector || (selector->kind != SELECT_NOTHING && selector->count == 0);
}

bool selector_is_nothing(const struct inf_selector *selector)
{
    return selector && selector->kind == SELECT_NOTHING;
}

bool selector_matches_labels(const struct inf_selector *selector, struct str labels)
{
    if (selector_is_everything(selector))
        return true;
    assert(selector->kind != SELECT_BY_FIELDS);
    for (size_t i = 0; i < selector->count; i++)
        if (!label_matches(&selector->terms[i], labels))
            return false;
    return selector->kind != SELECT_NOTHING;
}

bool selector_matches_text(const struct inf_selector *selector, struct str text)
{
    struct str metadata, labels;
    if (selector_is_everything(selector))
        return true;
    for (size_t i = 0; i < selector->count && selector->kind == SELECT_BY_FIELDS; i++)
        if (field_has_value(&selector->terms[i], text) != (selector->terms[i].op == SELECT_EQUAL))
            return false;
    if (selector->kind == SELECT_BY_FIELDS)
        return true;
    if (!json_member_get(text, STR("metadata"), &metadata) ||
        !json_member_get(metadata, STR("labels"), &labels))
        labels = STR("{}");
    return selector_matches_labels(selector, labels);
}

/* ---- informer/selector.h ---- */

static int check_length(const char *what, struct str text, struct inf_error *err)
{
    if (text.len <= SELECTOR_TEXT_MAX)
        return 0;
    return syntax_error(err, what, text, text.at + SELECTOR_TEXT_MAX,
                        "a selector has at most %d bytes", SELECTOR_TEXT_MAX);
}

static struct inf_selector *parse_selector(const char *what, enum selector_kind kind,
                                           struct str text, struct inf_error *err)
{
    struct inf_selector *selector;
    int rc;
    if (check_length(what, text, err) < 0)
        return NULL;
    selector = NEW(struct inf_selector);
    selector->kind = kind;
    selector->memory = xstrndup(text.at, text.len);
    if (kind == SELECT_BY_FIELDS)
        rc = field_selector_parse(selector, text, err);
    else
        rc = label_selector_parse(selector, (struct str){selector->memory, text.len}, err);
    if (rc == 0) {
        selector->text = selector_format(selector);
        rc = check_length(what, str_of(selector->text), err); /* longer for `a in(x)`: one blank */
    }
    if (rc == 0)
        return selector;
    inf_selector_free(selector);
    return NULL;
}

struct inf_selector *inf_selector_parse_labels(const char *text, struct inf_error *err)
{
    return parse_selector("label selector", SELECT_BY_LABELS, str_of(text), err);
}

struct inf_selector *inf_selector_parse_fields(const char *text, struct inf_error *err)
{
    return parse_selector("field selector", SELECT_BY_FIELDS, str_of(text), err);
}

struct inf_selector *inf_selector_nothing(void)
{
    struct inf_selector *selector = NEW(struct inf_selector);
    selector->kind = SELECT_NOTHING;
    selector->text = xstrdup("(nothing)");
    return selector;
}

void inf_selector_free(struct inf_selector *selector)
{
    if (!selector)
        return;
    for (size_t i = 0; i < selector->count; i++) {
        inf_path_free(selector->terms[i].path);
        free(selector->terms[i].values);
        free(selector->terms[i].text);
    }
    free(selector->terms);
    free(selector->memory);
    free(selector->text);
    free(selector);
}

const char *inf_selector_text(const struct inf_selector *selector)
{
    return selector->text;
}

bool inf_selector_matches(const struct inf_selector *selector, const struct inf_object *object)
{
    struct str text;
    text.at = inf_object_json(object, &text.len);
    return selector_matches_text(selector, text);
}

bool inf_selector_matches_labels(const struct inf_selector *selector, const char *labels,
                                 size_t len)
{
    struct str text = len ? (struct str){labels, len} : STR("{}");
    if (!selector_is_everything(selector) && selector->kind == SELECT_BY_FIELDS)
        return false;
    return selector_matches_labels(selector, text);
}

/* ---- informer/store.h ---- */

static bool matches_labels(const void *selector, struct str labels)
{
    return selector_matches_labels(selector, labels);
}

static bool matches_object(const void *selector, const struct inf_object *object)
{
    return inf_selector_matches(selector, object);
}

/* Names are known without the text. */
static bool name_may_match(const struct selector_term *term, const struct inf_object *held)
{
    const char *name;
    if (strcmp(term->path->text, "metadata.name") == 0)
        name = inf_object_name(held);
    else if (strcmp(term->path->text, "metadata.namespace") == 0)
        name = inf_object_namespace(held);
    else
        return true;
    return str_eq(str_of(name), term->values[0]) == (term->op == SELECT_EQUAL);
}

static bool names_may_match(const void *selector, const struct inf_object *held)
{
    const struct inf_selector *s = selector;
    for (size_t i = 0; s && i < s->count && s->kind == SELECT_BY_FIELDS; i++)
        if (!name_may_match(&s->terms[i], held))
            return false;
    return true;
}

/* The first requirement whose objects can be found by an index; NULL if there is none. Objects without
 * the field have an empty value, and are in no index. */
static const struct selector_term *indexed_term(const struct inf_store *store,
                                                const struct inf_selector *selector)
{
    for (size_t i = 0; selector->kind == SELECT_BY_FIELDS && i < selector->count; i++) {
        const struct selector_term *term = &selector->terms[i];
        if (term->op == SELECT_EQUAL && term->values[0].len &&
            store_has_indexed_path(store, term->path))
            return term;
    }
    return NULL;
}

bool inf_store_is_indexed(const struct inf_store *store, const struct inf_selector *selector)
{
    return selector && indexed_term(store, selector);
}

static bool is_by_labels(const struct inf_selector *selector)
{
    return !selector_is_everything(selector) && selector->kind == SELECT_BY_LABELS;
}

void inf_store_select(const struct inf_store *store, const char *ns,
                      const struct inf_selector *selector, inf_object_fn *each, void *ctx)
{
    struct label_query labels = {.ns = ns, .matches = matches_labels, .selector = selector};
    struct inf_cursor cursor = INF_CURSOR_START;
    if (selector_is_nothing(selector))
        return;
    if (selector_is_everything(selector))
        store_each(store, ns, each, ctx);
    else if (!is_by_labels(selector) || !store_few_by_labels(store, &labels, each, ctx))
        inf_store_select_some(store, ns, selector, &cursor, SIZE_MAX, each, ctx);
    inf_cursor_end(&cursor);
}

/* Evaluates a selector by labels once per label set. Fields have no such sets: unless there is an index,
 * every object is examined. */
bool inf_store_select_some(const struct inf_store *store, const char *ns,
                           const struct inf_selector *selector, struct inf_cursor *cursor,
                           size_t budget, inf_object_fn *each, void *ctx)
{
    struct label_query labels = {.ns = ns, .matches = matches_labels, .selector = selector};
    struct object_query fields = {ns, names_may_match, matches_object, selector};
    const struct selector_term *term = selector ? indexed_term(store, selector) : NULL;
    if (selector_is_nothing(selector))
        return true;
    if (term)
        return store_by_indexed_path(store, term->path, term->values[0], &fields, cursor, &budget,
                                     each, ctx);
    return is_by_labels(selector) ? store_by_labels(store, &labels, cursor, &budget, each, ctx)
                                  : store_by_query(store, &fields, cursor, &budget, each, ctx);
}
