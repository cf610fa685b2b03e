/*
 * test_path_set.c - several paths are followed through one document while it is copied, as rules
 * that remove or change fields do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "core/object/path.h"

struct copy {
    const struct inf_path *const *paths;
    uint64_t cut; /* those that remove; the others replace by "#" */
    struct buf out;
};

static void copy_value(struct copy *c, struct str value, uint64_t live, size_t depth);

/* Puts one value, after its key if it has one, unless it is removed. */
static void copy_one(struct copy *c, const struct json_member *m, struct path_match match,
                     size_t depth)
{
    if (match.ended & c->cut)
        return;
    if (c->out.bytes[c->out.len - 1] != '{' && c->out.bytes[c->out.len - 1] != '[')
        buf_putc(&c->out, ',');
    if (m->key.at)
        buf_printf(&c->out, "\"%.*s\":", STR_FMT(m->key));
    if (match.ended)
        buf_putc(&c->out, '#');
    else
        copy_value(c, m->value, match.live, depth + 1);
}

static void copy_items(struct copy *c, struct json_walk walk, uint64_t live, size_t depth)
{
    struct json_member m = {.key = {0}};
    buf_putc(&c->out, '[');
    for (size_t i = 0; json_items_next(&walk, &m.value); i++)
        copy_one(c, &m, path_set_item(c->paths, live, depth, i, m.value), depth);
    buf_putc(&c->out, ']');
}

static void copy_members(struct copy *c, struct json_walk walk, uint64_t live, size_t depth)
{
    struct json_member m;
    buf_putc(&c->out, '{');
    while (json_walk_next(&walk, &m))
        copy_one(c, &m, path_set_key(c->paths, live, depth, m.key), depth);
    buf_putc(&c->out, '}');
}

static void copy_value(struct copy *c, struct str value, uint64_t live, size_t depth)
{
    struct json_walk walk;
    if (live && json_items_start(&walk, value)) {
        copy_items(c, walk, live, depth);
    } else if (live && *value.at == '{') {
        json_walk_start(&walk, value);
        copy_members(c, walk, live, depth);
    } else {
        buf_put(&c->out, value.at, value.len); /* no path continues here */
    }
}

static const struct {
    const char *rules; /* separated by blanks; those with a '-' remove */
    const char *copied;
} cases[] = {
    {"",
     "{\"m\":{\"f\":[1],\"n\":\"a\"},\"d\":{\"x\":\"1\",\"y\":\"2\"},\"l\":[{\"k\":\"a\",\"v\":1},{\"k\":\"b\",\"v\":2}],\"d\":{\"x\":3}}"},
    {"-m.f",
     "{\"m\":{\"n\":\"a\"},\"d\":{\"x\":\"1\",\"y\":\"2\"},\"l\":[{\"k\":\"a\",\"v\":1},{\"k\":\"b\",\"v\":2}],\"d\":{\"x\":3}}"},
    {"d[*]",
     "{\"m\":{\"f\":[1],\"n\":\"a\"},\"d\":{\"x\":#,\"y\":#},\"l\":[{\"k\":\"a\",\"v\":1},{\"k\":\"b\",\"v\":2}],\"d\":{\"x\":#}}"},
    {"-d d.x",
     "{\"m\":{\"f\":[1],\"n\":\"a\"},\"l\":[{\"k\":\"a\",\"v\":1},{\"k\":\"b\",\"v\":2}]}"},
    {"-m -l[k=b] l[*].v d.y",
     "{\"d\":{\"x\":\"1\",\"y\":#},\"l\":[{\"k\":\"a\",\"v\":#}],\"d\":{\"x\":3}}"},
    {"-m -d l[1].v", "{\"l\":[{\"k\":\"a\",\"v\":1},{\"k\":\"b\",\"v\":#}]}"},
    {"-m.f[*] -m.n.x -[\"l\"] -d -l.k", "{\"m\":{\"f\":[],\"n\":\"a\"}}"},
};

static char *copied(const char *text, const char *rules)
{
    struct inf_path *paths[PATH_SET_MAX];
    struct copy c = {.paths = (const struct inf_path *const *)paths};
    char *words = xstrdup(rules), *rest = NULL, *rule;
    size_t count = 0;
    for (rule = strtok_r(words, " ", &rest); rule; rule = strtok_r(NULL, " ", &rest)) {
        c.cut |= (uint64_t)(*rule == '-') << count;
        paths[count] = inf_path_parse(rule + (*rule == '-'), NULL);
        assert_non_null(paths[count++]);
    }
    copy_value(&c, str_of(text), path_set_all(count), 0);
    buf_putc(&c.out, '\0');
    while (count)
        inf_path_free(paths[--count]);
    free(words);
    return c.out.bytes;
}

static void removes_or_replaces_the_selected_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *got = copied(cases[0].copied, cases[i].rules);
        assert_string_equal(got, cases[i].copied);
        free(got);
    }
}

static void a_set_has_one_bit_per_path(void **state)
{
    (void)state;
    assert_int_equal(path_set_all(0), 0);
    assert_int_equal(path_set_all(1), 1);
    assert_int_equal(path_set_all(3), 7);
    assert_true(path_set_all(PATH_SET_MAX) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(removes_or_replaces_the_selected_values),
        cmocka_unit_test(a_set_has_one_bit_per_path),
    };
    return cmocka_run_group_tests_name("path_set", tests, NULL, NULL);
}
