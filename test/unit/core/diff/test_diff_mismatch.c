/*
 * test_diff_mismatch.c - the fast path for similar texts is used where it applies, and its
 * result equals that of pairing, change by change, with any limits. Recorded objects are changed
 * at random; seeds are fixed, so that a failure is reproducible.
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
#include "core/diff/diff_mismatch.h"
#include "core/object/path.h"
#include "patch.h"
#include "recording.h"
#include "tier.h"

enum {
    CASES = 400, /* of each object, in the full tier */
    QUICK_CASES = 100,
    PARTS_MAX = 64,
    NESTED_MAX = 40,
};

/* ---- results ---- */

static void put_mismatches(struct buf *out, const struct diff_mismatches *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct buf path = {0};
        const struct diff_mismatch *mismatch = &s->mismatches[i];
        size_t steps = diff_mismatch_put_path(s, mismatch, &path);
        buf_printf(out, "%zu %.*s %.*s -> %.*s\n", steps, (int)path.len, path.bytes,
                   STR_FMT(mismatch->old_text), STR_FMT(mismatch->new_text));
        buf_free(&path);
    }
}

/* NULL: the texts are not similar. */
static void assert_mismatches(const char *old_json, const char *new_json, const char *expected)
{
    char *old_text = patch_json(old_json), *new_text = patch_json(new_json);
    struct diff_mismatches mismatches;
    struct buf out = {0};
    assert_int_equal(diff_mismatch_find(&mismatches, str_of(old_text), str_of(new_text), false),
                     expected != NULL);
    if (expected) {
        char *wanted = patch_json(expected);
        put_mismatches(&out, &mismatches);
        buf_putc(&out, '\0');
        assert_string_equal(out.bytes, wanted);
        free(wanted);
    }
    buf_free(&out);
    free(old_text);
    free(new_text);
}

static void finds_values_that_differ(void **state)
{
    (void)state;
    assert_mismatches("{'a':1,'b':{'c':'x','d':[1]},'e':2}",
                      "{'a':12,'b':{'c':'xy','d':[1]},'e':{}}",
                      "1 a 1 -> 12\n2 b.c 'x' -> 'xy'\n1 e 2 -> {}\n");
    assert_mismatches("{'l':[{'v':1,'type':'A'},{'v':2,'type':'B'}]}",
                      "{'l':[{'v':1,'type':'A'},{'v':3,'type':'B'}]}", "3 l[type=B].v 2 -> 3\n");
    assert_mismatches("[{'port':80,'v':[{'name':'x','a.b':1}]}]",
                      "[{'port':80,'v':[{'name':'x','a.b':2}]}]",
                      "4 [port=80].v[name=x][\"a.b\"] 1 -> 2\n");
}

static void ignores_versions(void **state)
{
    (void)state;
    assert_mismatches("{'metadata':{'resourceVersion':'1','managedFields':[1]}}",
                      "{'metadata':{'resourceVersion':'2','managedFields':[]}}", "");
    assert_mismatches("{'a':{'metadata':{'resourceVersion':'1'}},'resourceVersion':'1'}",
                      "{'a':{'metadata':{'resourceVersion':'2'}},'resourceVersion':'2'}",
                      "3 a.metadata.resourceVersion '1' -> '2'\n1 resourceVersion '1' -> '2'\n");
}

/* A merge key that changed, is missing in some items, or is not unique; other members; a duplicate
 * key. */
static void a_part_of_another_structure_is_one_mismatch(void **state)
{
    static const char *const pairs[][2] = {
        {"[{'name':'x'}]", "[{'name':'y'}]"},
        {"[{'name':'x','v':1},{'v':1}]", "[{'name':'x','v':2},{'v':1}]"},
        {"[{'name':'x','v':1},{'name':'x'}]", "[{'name':'x','v':2},{'name':'x'}]"},
        {"[{'port':80,'v':1},{'port':'80'}]", "[{'port':80,'v':2},{'port':'80'}]"},
        {"[{'name':null,'v':1}]", "[{'name':null,'v':2}]"},
        {"[1,2]", "[1,3]"},
        {"[]", "[1]"},
        {"{'x':1}", "{'y':1}"},
        {"{'x':1}", "{'x':1,'y':1}"},
        {"{'x':1,'y':1}", "{'x':2}"},
        {"{'x':1,'x':1}", "{'x':1,'x':2}"},
        {"{'\\u0061':1}", "{'\\u0061':2}"},
        {"{'x':1}", "{'x': 1}"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct buf was = {0}, is = {0}, wanted = {0};
        buf_printf(&was, "{'a':%s}%c", pairs[i][0], '\0');
        buf_printf(&is, "{'a':%s}%c", pairs[i][1], '\0');
        buf_printf(&wanted, "1 a %s -> %s\n%c", pairs[i][0], pairs[i][1], '\0');
        assert_mismatches(was.bytes, is.bytes, wanted.bytes);
        assert_mismatches(pairs[i][0], pairs[i][1], NULL);
        buf_free(&was);
        buf_free(&is);
        buf_free(&wanted);
    }
}

static void put_numbered(struct buf *out, size_t count, int value)
{
    buf_clear(out);
    buf_puts(out, "{\"a\":{");
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s\"%zu\":%d", i ? "," : "", i, value);
    buf_puts(out, "}}");
}

static void a_part_with_too_many_mismatches_is_one(void **state)
{
    struct buf was = {0}, is = {0};
    struct diff_mismatches mismatches;
    (void)state;
    for (size_t count = 1; count < DIFF_MISMATCHES_MAX + 2; count++) {
        put_numbered(&was, count, 1);
        put_numbered(&is, count, 2);
        assert_true(diff_mismatch_find(&mismatches, (struct str){was.bytes, was.len},
                                       (struct str){is.bytes, is.len}, true));
        assert_int_equal(mismatches.count, count <= DIFF_MISMATCHES_MAX ? count : 1);
    }
    buf_free(&was);
    buf_free(&is);
}

/* ---- changing a text ---- */

struct mutator {
    struct rng rng;
    uint64_t rate;  /* one of this many parts changes */
    bool structure; /* also objects and lists */
};

static void put_mutant(struct buf *out, struct mutator *m, struct str value);

static bool mutator_applies(struct mutator *m)
{
    return rng_below(&m->rng, m->rate) == 0;
}

static const char *pick_scalar(struct mutator *m)
{
    static const char *const scalars[] = {"0",        "1",         "-7.5e3", "\"\"",
                                          "\"a\"",    "80",        "\"80\"", "\"\\u0061\\n\"",
                                          "\"x y]\"", "\"Ready\"", "true",   "null"};
    return scalars[rng_below(&m->rng, ARRAY_LEN(scalars))];
}

static void put_nested(struct buf *out, struct mutator *m)
{
    size_t depth = rng_below(&m->rng, NESTED_MAX);
    for (size_t i = 0; i < depth; i++)
        buf_puts(out, i % 2 ? "[{\"name\":\"n\",\"v\":" : "{\"v\":");
    buf_puts(out, pick_scalar(m));
    for (size_t i = depth; i--;)
        buf_puts(out, i % 2 ? "}]" : "}");
}

/* The members of an object with their keys, or the items of a list. */
static size_t read_parts(struct str container, struct str parts[PARTS_MAX])
{
    struct json_walk walk;
    struct json_member member;
    size_t count = 0;
    if (json_items_start(&walk, container)) {
        while (count < PARTS_MAX && json_items_next(&walk, &parts[count]))
            count++;
        return count;
    }
    json_walk_start(&walk, container);
    while (count < PARTS_MAX && json_walk_next(&walk, &member))
        parts[count++] = (struct str){
            member.key.at - 1, (size_t)(member.value.at + member.value.len - member.key.at + 1)};
    return count;
}

/* Drops, repeats or swaps members. */
static size_t mix_parts(struct mutator *m, struct str parts[PARTS_MAX], size_t count)
{
    size_t i = rng_below(&m->rng, count), k = rng_below(&m->rng, count);
    struct str other = parts[i];
    if (!count)
        return 0;
    switch (rng_below(&m->rng, 4)) {
    case 0: parts[i] = parts[--count]; break;
    case 1: memmove(parts + i, parts + i + 1, (--count - i) * sizeof(*parts)); break;
    case 2:
        parts[i] = parts[k];
        parts[k] = other;
        break;
    default:
        if (count < PARTS_MAX)
            parts[count++] = other;
        break;
    }
    return count;
}

static void put_key(struct buf *out, struct mutator *m, struct str key)
{
    static const char *const names[] = {"name", "type", "port", "a", "a.b", "metadata", ""};
    bool odd = m->structure && mutator_applies(m);
    if (odd && rng_below(&m->rng, 2))
        buf_printf(out, "\"%s\":", names[rng_below(&m->rng, ARRAY_LEN(names))]);
    else if (odd && key.len && key.at[0] != '\\')
        buf_printf(out, "\"\\u%04x%.*s\":", (unsigned char)key.at[0], (int)key.len - 1, key.at + 1);
    else
        buf_printf(out, "\"%.*s\":", STR_FMT(key));
    if (m->structure && mutator_applies(m))
        buf_putc(out, ' ');
}

static void put_part(struct buf *out, struct mutator *m, struct str part, bool is_member)
{
    struct json_walk walk = {part.at, part.at + part.len};
    struct str key;
    if (is_member && json_walk_key(&walk, &key))
        put_key(out, m, key);
    put_mutant(out, m, (struct str){walk.at, (size_t)(walk.end - walk.at)});
}

static void put_parts(struct buf *out, struct mutator *m, struct str container)
{
    struct str parts[PARTS_MAX];
    size_t count = read_parts(container, parts);
    bool is_object = *container.at == '{';
    if (m->structure && mutator_applies(m))
        count = mix_parts(m, parts, count);
    buf_putc(out, is_object ? '{' : '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_putc(out, ',');
        put_part(out, m, parts[i], is_object);
    }
    buf_putc(out, is_object ? '}' : ']');
}

static void put_mutant(struct buf *out, struct mutator *m, struct str value)
{
    bool is_container = *value.at == '{' || *value.at == '[';
    if (m->structure && mutator_applies(m))
        put_nested(out, m);
    else if (is_container)
        put_parts(out, m, value);
    else if (mutator_applies(m))
        buf_puts(out, pick_scalar(m));
    else
        buf_put(out, value.at, value.len);
}

/* ---- equal results ---- */

static void check(struct str was, struct str is, struct inf_diff_options options)
{
    struct inf_diff *got = diff_make(was, is, &options);
    struct inf_diff *wanted = diff_make_by_pairs(was, is, &options);
    patch_assert_same(got, wanted);
    inf_diff_free(got);
    inf_diff_free(wanted);
}

static void check_all(struct str was, struct str is, struct rng *rng)
{
    check(was, is, (struct inf_diff_options){0});
    check(was, is, (struct inf_diff_options){.all = true});
    check(was, is, (struct inf_diff_options){.changes_max = 1 + rng_below(rng, 8)});
    check(was, is, (struct inf_diff_options){.bytes_max = 1 + rng_below(rng, 200)});
}

/* The old text is changed, too, sometimes, so that both have the same unusual parts. */
static void check_mutants(struct str text, uint64_t seed)
{
    static const uint64_t rates[] = {8, 40, 200, 1000};
    struct mutator m = {.rng = {seed}, .structure = seed % 2, .rate = 300};
    struct buf was = {0}, is = {0};
    put_mutant(&was, &m, text);
    m.structure = seed % 3 == 0;
    m.rate = rates[rng_below(&m.rng, ARRAY_LEN(rates))];
    put_mutant(&is, &m, (struct str){was.bytes, was.len});
    check_all((struct str){was.bytes, was.len}, (struct str){is.bytes, is.len}, &m.rng);
    buf_free(&was);
    buf_free(&is);
}

/* The object of each event. */
static void check_recording(const char *name)
{
    struct recording r;
    struct str line, object;
    recording_open(&r, name);
    while (recording_next(&r, &line))
        if (json_member_get(line, STR("object"), &object))
            for (uint64_t seed = 0; seed < (tier_is_full() ? CASES : QUICK_CASES); seed++)
                check_mutants(object, seed);
    recording_close(&r);
}

static void finds_the_same_changes_as_pairing(void **state)
{
    (void)state;
    check_recording("pods-watchlist");
    check_recording("pods-watch-lifecycle");
    check_recording("secrets-watchlist");
    check_recording("widgets-watchlist");
}

static void put_long_list(struct buf *out, size_t count, int value)
{
    buf_clear(out);
    buf_printf(out, "{\"a\":%d,\"l\":[%d", value, -value);
    for (size_t i = 1; i < count; i++)
        buf_printf(out, ",%zu", i);
    buf_puts(out, "]}");
}

/* The old and the new text have so many items that the surrounding text decides which limit
 * applies. */
static void applies_the_same_limit_to_the_number_of_items(void **state)
{
    struct buf was = {0}, is = {0};
    (void)state;
    for (size_t count = DIFF_ITEMS_MAX / 2 - 4; count <= DIFF_ITEMS_MAX / 2; count += 2) {
        put_long_list(&was, count, 1);
        put_long_list(&is, count, 2);
        check((struct str){was.bytes, was.len}, (struct str){is.bytes, is.len},
              (struct inf_diff_options){0});
    }
    buf_free(&was);
    buf_free(&is);
}

/* Paths of the maximum length, and longer ones. */
static void shortens_long_paths_in_the_same_way(void **state)
{
    struct buf was = {0}, is = {0};
    (void)state;
    for (int len = PATH_TEXT_MAX - 12; len < PATH_TEXT_MAX + 2; len++) {
        buf_clear(&was);
        buf_clear(&is);
        buf_printf(&was, "{\"%0*d\":{\"a\":[{\"name\":\"x\",\"v\":1}]}}", len, 0);
        buf_printf(&is, "{\"%0*d\":{\"a\":[{\"name\":\"x\",\"v\":2}]}}", len, 0);
        check((struct str){was.bytes, was.len}, (struct str){is.bytes, is.len},
              (struct inf_diff_options){0});
    }
    buf_free(&was);
    buf_free(&is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_values_that_differ),
        cmocka_unit_test(ignores_versions),
        cmocka_unit_test(a_part_of_another_structure_is_one_mismatch),
        cmocka_unit_test(a_part_with_too_many_mismatches_is_one),
        cmocka_unit_test(finds_the_same_changes_as_pairing),
        cmocka_unit_test(applies_the_same_limit_to_the_number_of_items),
        cmocka_unit_test(shortens_long_paths_in_the_same_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
