/*
 * condition.c - evaluates conditions on the text of objects.
 *
 * A term is evaluated until the first value that satisfies it; memory is allocated only where items of
 * two states have to be compared. Nothing here fails.
 */
#include "daemon/rule/condition.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text/json_decode.h"
#include "daemon/rule/condition_internal.h"

void condition_free(struct condition *condition)
{
    if (!condition)
        return;
    for (size_t i = 0; i < condition->n_terms; i++) {
        struct condition_term *term = &condition->terms[i];
        item_path_free(term->path);
        for (size_t v = 0; v < term->n_values; v++)
            free(term->values[v].text);
        free(term->values);
    }
    free(condition->terms);
    free(condition->text);
    free(condition);
}

const char *condition_text(const struct condition *condition)
{
    return condition->text;
}

/* ---- values ---- */

static bool equals(const struct condition_value *value, struct str json)
{
    double number;
    if (json_value_is(json, (struct str){value->text, value->len}))
        return true;
    return value->is_number && condition_read_number(json, &number) && number >= value->number &&
           number <= value->number;
}

static bool is_one_of(const struct condition_term *term, struct str json)
{
    for (size_t i = 0; i < term->n_values; i++)
        if (equals(&term->values[i], json))
            return true;
    return false;
}

/* The number that @json is, or that the string @json contains. */
static bool number_in(struct str json, double *ret)
{
    if (json.len > 2 && json.at[0] == '"')
        json = (struct str){json.at + 1, json.len - 2};
    return condition_read_number(json, ret);
}

static bool contains(const struct condition_value *value, struct str json)
{
    struct buf text = {0};
    bool found;
    if (!memchr(json.at, '\\', json.len)) /* not decoded: quotes are not part of a value */
        return memmem(json.at, json.len, value->text, value->len) != NULL;
    json_value_put(&text, json);
    found = memmem(text.bytes, text.len, value->text, value->len) != NULL;
    buf_free(&text);
    return found;
}

bool condition_term_is_satisfied(const struct condition_term *term, struct str json)
{
    double number, limit = term->values[0].number;
    if (str_eq(json, STR("null")))
        return false;
    switch (term->op) {
    case CONDITION_IN: return is_one_of(term, json);
    case CONDITION_NOT: return !is_one_of(term, json);
    case CONDITION_GREATER: return number_in(json, &number) && number > limit;
    case CONDITION_AT_LEAST: return number_in(json, &number) && number >= limit;
    case CONDITION_LESS: return number_in(json, &number) && number < limit;
    case CONDITION_AT_MOST: return number_in(json, &number) && number <= limit;
    case CONDITION_CONTAINS: return contains(&term->values[0], json);
    }
    return false;
}

static bool satisfies(const void *ctx, struct str json)
{
    return condition_term_is_satisfied(ctx, json);
}

/* ---- terms ---- */

struct search {
    const struct condition_term *term;
    bool found;
};

static bool look_at(void *ctx, const char *json, size_t len)
{
    struct search *search = ctx;
    search->found = satisfies(search->term, (struct str){json, len});
    return !search->found;
}

static bool term_holds(const struct condition_term *term, const struct inf_object *object)
{
    struct search search = {.term = term};
    inf_path_each(item_path_plain(term->path), object, look_at, &search);
    return search.found;
}

/* Whether the term, which holds for @new_object, began: for it, or for another item of it. */
static bool term_began(const struct condition_term *term, const struct inf_object *old_object,
                       const struct inf_object *new_object)
{
    struct item_values before, now;
    bool began = false;
    if (!term_holds(term, old_object))
        return true;
    if (!item_path_has_items(term->path))
        return false;
    item_values_collect(&before, term->path, old_object, satisfies, term);
    item_values_collect(&now, term->path, new_object, satisfies, term);
    for (size_t i = 0; i < now.count && !began; i++)
        began = !item_values_same(&now, i, &before);
    item_values_free(&before);
    item_values_free(&now);
    return began;
}

/* ---- conditions ---- */

bool condition_holds(const struct condition *condition, const struct inf_object *object)
{
    for (size_t i = 0; i < condition->n_terms; i++)
        if (!term_holds(&condition->terms[i], object))
            return false;
    return true;
}

bool condition_began(const struct condition *condition, const struct inf_object *old_object,
                     const struct inf_object *new_object)
{
    if (!condition_holds(condition, new_object))
        return false;
    for (size_t i = 0; i < condition->n_terms && old_object; i++)
        if (term_began(&condition->terms[i], old_object, new_object))
            return true;
    return !old_object;
}

/* Whether the new value of a change may contain one that satisfies the term: text that has to occur in
 * it does. */
static bool may_satisfy(const void *ctx, struct str json)
{
    const struct condition_term *term = ctx;
    if ((term->op != CONDITION_IN && term->op != CONDITION_CONTAINS) || !json.at ||
        memchr(json.at, '\\', json.len))
        return true;
    for (size_t i = 0; i < term->n_values; i++)
        if (term->values[i].is_number || !term->values[i].is_plain ||
            memmem(json.at, json.len, term->values[i].text, term->values[i].len))
            return true;
    return false;
}

bool condition_may_begin(const struct condition *condition, const struct inf_diff *diff)
{
    for (size_t i = 0; i < condition->n_terms; i++)
        if (item_path_is_touched_by(condition->terms[i].path, diff, may_satisfy,
                                    &condition->terms[i]))
            return true;
    return false;
}

uint64_t condition_leads(const struct condition *condition, struct lead_set *set)
{
    uint64_t leads = 0;
    for (size_t i = 0; i < condition->n_terms; i++)
        leads |= lead_set_add(set, condition->terms[i].path);
    return leads;
}

void condition_collect(const struct condition *condition, const struct inf_object *object,
                       struct item_values *ret)
{
    const struct condition_term *term = &condition->terms[0];
    item_values_collect(ret, term->path, object, satisfies, term);
}
