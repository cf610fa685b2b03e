/*
 * test_diff_random.c - for random texts and limits, applying the diff to the old text gives the
 * new one. Seeds are fixed, so that a failure is reproducible.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/json/json.h"
#include "base/rng.h"
#include "patch.h"

enum {
    CASES = 2000,
    DEPTH_MAX = 5,
    WIDTH_MAX = 6,
    ITEMS_MAX = 2 * WIDTH_MAX,
};

/* Few names, so that they often repeat; with all characters that a path has to quote. */
static const char *const keys[] = {
    "name", "name", "type", "port", "a", "b", "c-d", "a.b/c", "", "]", "\\\"", "\\u0061", "\\u0000",
};
static const char *const scalars[] = {
    "1",       "80",      "\"80\"",  "1.0",  "\"a\"",    "\"b\"",   "\"\\u0061\"",
    "\"x y\"", "\"a=b\"", "\"a]b\"", "\"\"", "\"\\\\\"", "\"\\n\"", "\"\\ud83d\\ude00\"",
    "true",    "null",
};

#define PICK(rng, list) ((list)[rng_below(rng, ARRAY_LEN(list))])

static void put_random(struct buf *out, struct rng *rng, int depth);

static void put_random_member(struct buf *out, struct rng *rng, int depth)
{
    buf_printf(out, "\"%s\":", PICK(rng, keys));
    put_random(out, rng, depth);
}

/* Items of a list often have the same type. */
static void put_random_list(struct buf *out, struct rng *rng, int depth)
{
    size_t count = rng_below(rng, WIDTH_MAX), kind = rng_below(rng, 4);
    buf_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_putc(out, ',');
        if (kind == 0)
            buf_puts(out, PICK(rng, scalars));
        else if (kind == 1)
            buf_printf(out, "{\"name\":\"n%d\",\"v\":%s}", (int)rng_below(rng, 9),
                       PICK(rng, scalars));
        else
            put_random(out, rng, depth);
    }
    buf_putc(out, ']');
}

static void put_random(struct buf *out, struct rng *rng, int depth)
{
    size_t kind = depth ? rng_below(rng, 5) : 4;
    if (kind < 2) {
        put_random_list(out, rng, depth - 1);
    } else if (kind < 4) {
        size_t count = rng_below(rng, WIDTH_MAX);
        buf_putc(out, '{');
        for (size_t i = 0; i < count; i++) {
            if (i)
                buf_putc(out, ',');
            put_random_member(out, rng, depth - 1);
        }
        buf_putc(out, '}');
    } else {
        buf_puts(out, PICK(rng, scalars));
    }
}

/* ---- small changes ---- */

static void put_mutant(struct buf *out, struct rng *rng, struct str value);

static bool one_in(struct rng *rng, uint64_t n)
{
    return rng_below(rng, n) == 0;
}

static void put_mutant_object(struct buf *out, struct rng *rng, struct str object)
{
    struct json_walk walk;
    struct json_member m;
    const char *comma = "";
    buf_putc(out, '{');
    json_walk_start(&walk, object);
    while (json_walk_next(&walk, &m)) {
        if (one_in(rng, 12))
            continue;
        buf_printf(out, "%s\"%.*s\":", comma, STR_FMT(m.key));
        put_mutant(out, rng, m.value);
        comma = ",";
    }
    if (one_in(rng, 10)) {
        buf_puts(out, comma);
        put_random_member(out, rng, 1);
    }
    buf_putc(out, '}');
}

static size_t items_of(struct str list, struct str items[ITEMS_MAX])
{
    struct json_walk walk;
    size_t count = 0;
    json_items_start(&walk, list);
    while (count < ITEMS_MAX && json_items_next(&walk, &items[count]))
        count++;
    return count;
}

static void put_mutant_list(struct buf *out, struct rng *rng, struct str list)
{
    struct str items[ITEMS_MAX], other;
    size_t count = items_of(list, items);
    const char *comma = "";
    if (count > 1 && one_in(rng, 4)) {
        size_t i = rng_below(rng, count), j = rng_below(rng, count);
        other = items[i];
        items[i] = items[j];
        items[j] = other;
    }
    buf_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (one_in(rng, 10))
            continue;
        buf_puts(out, comma);
        put_mutant(out, rng, items[i]);
        comma = ",";
        if (one_in(rng, 10)) {
            buf_puts(out, comma);
            put_random(out, rng, 1);
        }
    }
    buf_putc(out, ']');
}

static void put_mutant(struct buf *out, struct rng *rng, struct str value)
{
    if (one_in(rng, 15))
        put_random(out, rng, 2);
    else if (*value.at == '{')
        put_mutant_object(out, rng, value);
    else if (*value.at == '[')
        put_mutant_list(out, rng, value);
    else
        buf_put(out, value.at, value.len);
}

/* ---- the property ---- */

static void check(struct str old_text, struct str new_text, struct inf_diff_options options)
{
    struct inf_diff *diff = diff_make(old_text, new_text, &options);
    struct inf_diff *by_pairs = diff_make_by_pairs(old_text, new_text, &options);
    patch_assert(diff, old_text, new_text);
    patch_assert_same(diff, by_pairs);
    assert_true(!options.changes_max || inf_diff_count(diff) <= options.changes_max);
    inf_diff_free(diff);
    inf_diff_free(by_pairs);
}

static void check_both_ways(struct str a, struct str b, struct rng *rng)
{
    check(a, b, (struct inf_diff_options){.all = true});
    check(b, a, (struct inf_diff_options){.all = true});
    check(a, b, (struct inf_diff_options){.all = true, .changes_max = 1 + rng_below(rng, 6)});
}

static void a_diff_gives_the_new_text(void **state)
{
    struct buf old_text = {0}, new_text = {0};
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct rng rng = {.state = seed};
        buf_clear(&old_text);
        buf_clear(&new_text);
        put_random(&old_text, &rng, DEPTH_MAX);
        put_mutant(&new_text, &rng, (struct str){old_text.bytes, old_text.len});
        check_both_ways((struct str){old_text.bytes, old_text.len},
                        (struct str){new_text.bytes, new_text.len}, &rng);
    }
    buf_free(&old_text);
    buf_free(&new_text);
}

/* Lists of few names, in all orders: indexes and order of the items must be exact. */
static void put_names(struct buf *out, struct rng *rng, bool keyed)
{
    size_t used = 0;
    buf_clear(out);
    buf_putc(out, '[');
    for (int i = 0; i < WIDTH_MAX; i++) {
        size_t name = rng_below(rng, 8);
        if (used >> name & 1)
            continue;
        buf_printf(out, keyed ? "%s{\"name\":\"%zu\"}" : "%s\"%zu\"", used ? "," : "", name);
        used |= (size_t)1 << name;
    }
    buf_putc(out, ']');
}

static void a_diff_keeps_the_order_of_lists(void **state)
{
    struct buf old_text = {0}, new_text = {0};
    struct rng rng = {.state = 1};
    (void)state;
    for (int i = 0; i < CASES; i++) {
        put_names(&old_text, &rng, i % 2);
        put_names(&new_text, &rng, i % 2);
        check((struct str){old_text.bytes, old_text.len},
              (struct str){new_text.bytes, new_text.len}, (struct inf_diff_options){.all = true});
    }
    buf_free(&old_text);
    buf_free(&new_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_diff_gives_the_new_text),
        cmocka_unit_test(a_diff_keeps_the_order_of_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
