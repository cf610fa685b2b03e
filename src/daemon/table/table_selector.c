/*
 * table_selector.c - sorts and prints labels and selectors. See table_selector.h.
 *
 * The server's JSON mostly has them in order already. The arrays are as long as the map in the object, so
 * that their size is limited by the size of an object.
 */
#include "daemon/table/table_selector.h"

#include <stdlib.h>

#include "base/alloc.h"

/* ---- sets ---- */

void text_set_add(struct text_set *set, struct str key, struct str value)
{
    if ((set->count & (set->count - 1)) == 0) /* 0 and powers of two: the array is full */
        set->items = xrealloc(set->items, (set->count ? 2 * set->count : 1) * sizeof(*set->items));
    set->items[set->count] = (struct text_pair){key, value, set->count};
    set->count++;
}

void text_set_free(struct text_set *set)
{
    free(set->items);
    *set = (struct text_set){0};
}

static int compare_keys(const void *a, const void *b)
{
    const struct text_pair *one = a, *other = b;
    int diff = str_cmp(one->key, other->key);
    return diff ? diff : (one->order > other->order) - (one->order < other->order);
}

static void sort_by(struct text_set *set, int (*compare)(const void *, const void *))
{
    for (size_t i = 1; i < set->count; i++)
        if (compare(&set->items[i - 1], &set->items[i]) > 0) {
            qsort(set->items, set->count, sizeof(*set->items), compare);
            return;
        }
}

void text_set_sort(struct text_set *set)
{
    sort_by(set, compare_keys);
}

void text_set_put_unique(struct text_set *set, struct table_row *row)
{
    text_set_sort(set);
    for (size_t i = 0; i < set->count; i++) {
        if (i && str_eq(set->items[i - 1].key, set->items[i].key))
            continue;
        if (i)
            buf_putc(row->out, ',');
        buf_put(row->out, set->items[i].key.at, set->items[i].key.len);
    }
    text_set_free(set);
}

/* ---- labels ---- */

/* As the texts a=x and a-b=y compare: a key continues with '='. */
static int compare_labels(const void *a, const void *b)
{
    struct str one = ((const struct text_pair *)a)->key, other = ((const struct text_pair *)b)->key;
    size_t common = one.len < other.len ? one.len : other.len;
    int diff = common ? memcmp(one.at, other.at, common) : 0;
    if (diff || one.len == other.len)
        return diff;
    return one.len > common ? one.at[common] - '=' : '=' - other.at[common];
}

static void add_members(struct text_set *set, struct str map)
{
    struct json_walk walk;
    struct json_member member;
    json_walk_start(&walk, map);
    while (json_walk_next(&walk, &member))
        text_set_add(set, member.key, member.value);
}

static void put_label(struct table_row *row, const struct text_pair *label)
{
    buf_put(row->out, label->key.at, label->key.len);
    buf_putc(row->out, '=');
    text_put(row, label->value);
}

void cell_put_labels(struct table_row *row, struct str labels)
{
    struct text_set set = {0};
    add_members(&set, labels);
    sort_by(&set, compare_labels);
    cell_open(row);
    for (size_t i = 0; i < set.count; i++) {
        if (i)
            buf_putc(row->out, ',');
        put_label(row, &set.items[i]);
    }
    if (!set.count)
        text_puts(row, "<none>");
    cell_close(row);
    text_set_free(&set);
}

/* ---- selectors ---- */

static void put_values(struct table_row *row, struct str values)
{
    struct text_set set = {0};
    struct json_walk walk;
    struct str item;
    json_items_start(&walk, values);
    while (json_items_next(&walk, &item))
        text_set_add(&set, value_text(item), (struct str){0});
    text_set_sort(&set);
    buf_putc(row->out, '(');
    for (size_t i = 0; i < set.count; i++) {
        if (i)
            buf_putc(row->out, ',');
        buf_put(row->out, set.items[i].key.at, set.items[i].key.len);
    }
    buf_putc(row->out, ')');
    text_set_free(&set);
}

/* One item of matchExpressions. */
static void put_expression(struct table_row *row, struct str expression)
{
    struct str op = field_get(expression, "operator"), key = field_get(expression, "key");
    if (value_is(op, STR("DoesNotExist")))
        buf_putc(row->out, '!');
    text_put(row, key);
    if (value_is(op, STR("In")))
        text_puts(row, " in ");
    else if (value_is(op, STR("NotIn")))
        text_puts(row, " notin ");
    else
        return;
    put_values(row, field_get(expression, "values"));
}

void cell_put_selector(struct table_row *row, struct str selector, const char *none)
{
    struct text_set set = {0};
    struct json_walk walk;
    struct str item;
    add_members(&set, field_get(selector, "matchLabels"));
    json_items_start(&walk, field_get(selector, "matchExpressions"));
    while (json_items_next(&walk, &item))
        text_set_add(&set, value_text(field_get(item, "key")), item);
    text_set_sort(&set);
    cell_open(row);
    for (size_t i = 0; i < set.count; i++) {
        const struct text_pair *pair = &set.items[i];
        if (i)
            buf_putc(row->out, ',');
        if (pair->value.len && pair->value.at[0] == '{')
            put_expression(row, pair->value);
        else
            put_label(row, pair);
    }
    if (!set.count)
        text_puts(row, none);
    cell_close(row);
    text_set_free(&set);
}
