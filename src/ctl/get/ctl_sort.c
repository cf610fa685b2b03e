/*
 * ctl_sort.c - sorts objects by a field, as --sort-by of kubectl does.
 *
 * The key of each item is found once. Items with equal keys keep their order.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "ctl/get/ctl_get.h"

struct sort_item {
    struct json_node *node;
    char *key; /* NULL: it has no value */
    bool is_string;
    size_t position;
};

/* ---- quantities ---- */

/* The factor of "Ki", "m", "G"; 0: not a suffix. */
static double suffix_factor(const char *suffix)
{
    static const struct {
        const char *suffix;
        double factor;
    } suffixes[] = {
        {"", 1},        {"n", 1e-9},    {"u", 1e-6},    {"m", 1e-3},
        {"k", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},
        {"P", 1e15},    {"E", 1e18},    {"Ki", 0x1p10}, {"Mi", 0x1p20},
        {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60},
    };
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (strcmp(suffixes[i].suffix, suffix) == 0)
            return suffixes[i].factor;
    return 0;
}

/* "100m", "2Gi", "1e3", "5": whether @text is one. */
static bool parse_quantity(const char *text, double *ret)
{
    char *end;
    double number, factor;
    if (!text[0] || strspn(text, "+-.0123456789") == 0)
        return false;
    number = strtod(text, &end);
    factor = suffix_factor(end);
    if (end == text || factor <= 0 || strpbrk(text, "xX") || !isfinite(number))
        return false;
    *ret = number * factor;
    return true;
}

/* ---- sorting ---- */

static int compare_items(const void *a, const void *b)
{
    const struct sort_item *x = a, *y = b;
    double left, right;
    int order;
    if (!x->key || !y->key)
        order = (x->key != NULL) - (y->key != NULL);
    else if (parse_quantity(x->key, &left) && parse_quantity(y->key, &right))
        order = (left > right) - (left < right);
    else
        order = strcmp(x->key, y->key);
    return order ? order : (x->position > y->position) - (x->position < y->position);
}

struct key_search {
    const struct json_node *first;
    bool found;
};

static void on_values(void *ctx, const struct json_node *const *values, size_t n)
{
    struct key_search *search = ctx;
    if (n && !search->found)
        *search = (struct key_search){values[0], true};
}

static int find_key(struct sort_item *item, const char *member, const struct jsonpath *path,
                    struct inf_error *err)
{
    const struct json_node *root = member ? ctl_json_get(item->node, member) : item->node;
    struct key_search search = {0};
    struct buf text = {0};
    int rc = root ? jsonpath_each(path, root, on_values, &search, err) : 0;
    if (rc < 0 || !search.found)
        return rc;
    if (search.first->type == JSON_OBJECT || search.first->type == JSON_ARRAY)
        return err_set(err, INF_EINVAL, "--sort-by: a list or map cannot be sorted");
    if (search.first->type == JSON_STRING)
        json_put_decoded(&text, search.first->text);
    else
        buf_put(&text, search.first->text.at, search.first->text.len);
    buf_putc(&text, '\0');
    item->key = text.bytes;
    return 0;
}

int ctl_sort(struct json_node *array, const char *member, const struct jsonpath *path,
             struct inf_error *err)
{
    struct sort_item *items;
    size_t n = 0, found = 0;
    int rc = 0;
    for (const struct json_node *i = array->first; i; i = i->next)
        n++;
    if (!n)
        return 0;
    items = xcalloc(n, sizeof(*items));
    n = 0;
    for (struct json_node *i = array->first; rc == 0 && i; i = i->next, n++) {
        items[n] = (struct sort_item){.node = i, .position = n};
        rc = find_key(&items[n], member, path, err);
        found += items[n].key != NULL;
    }
    if (rc == 0 && !found)
        rc = err_set(err, INF_EINVAL,
                     "--sort-by: couldn't find any field with this path in the list of objects");
    if (rc == 0) {
        qsort(items, n, sizeof(*items), compare_items);
        array->first = items[0].node;
        for (size_t i = 0; i < n; i++)
            items[i].node->next = i + 1 < n ? items[i + 1].node : NULL;
    }
    for (size_t i = 0; i < n; i++)
        free(items[i].key);
    free(items);
    return rc;
}
