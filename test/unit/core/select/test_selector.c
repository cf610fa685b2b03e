/*
 * test_selector.c - selectors are parsed as in Kubernetes. Valid and invalid ones are those of
 * the tests of apimachinery, and others; what they select is in test_selector_match.c.
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
#include "base/rng.h"
#include "builders.h"
#include "core/select/selector.h"

struct good {
    const char *text;
    const char *canonical; /* NULL: the same */
};

static const struct good labels[] = {
    {"", NULL},
    {" \t\r\n", ""},
    {"x", NULL},
    {"!x", NULL},
    {" ! x ", "!x"},
    {"x=a", NULL},
    {"x==a", NULL},
    {"x!=a", NULL},
    {"x = a , y\t!=\nb", "x=a,y!=b"},
    {"x>1", NULL},
    {"x < 9223372036854775807", "x<9223372036854775807"},
    {"x>007", NULL},
    {"x in (a)", NULL},
    {"x in(b,a)", "x in (a,b)"},
    {"x notin ( b , a , b )", "x notin (a,b)"},
    {"y,x", "x,y"},
    {"z!=a,z", "z,z!=a"},
    {"z,z!=a", NULL},
    {"b.c/d,b/d,b", "b,b.c/d,b/d"},
    /* a missing value is the empty one */
    {"x=", NULL},
    {"x=,z= ", "x=,z="},
    {"x!=,y", NULL},
    {"x in ()", NULL},
    {"x in (,)", "x in ()"},
    {"x in (a,)", "x in (,a)"},
    {"x notin (abc,,def),bar,z in (),w", "bar,w,x notin (,abc,def),z in ()"},
    /* in and notin are keywords only in place of an operator */
    {"in", NULL},
    {"!notin", NULL},
    {"in in (in,notin)", NULL},
    {"notin notin (in)", NULL},
    {"in=notin,x=in", NULL},
    {"inn", NULL},
    {"x in (in)", NULL},
    /* names */
    {"a.b-c_d=E.f_G-h", NULL},
    {"app.kubernetes.io/name=web", NULL},
    {"0/0=0", NULL},
    {"123456789-123456789-123456789-123456789-123456789-123456789-123", NULL},
};

static const struct good fields[] = {
    {"", NULL},
    {",,", ""},
    {"a=b", NULL},
    {"a==b", "a=b"},
    {"a!=b", NULL},
    {"a=", NULL},
    {"spec.nodeName!=", NULL},
    {",a=b,,c=d,", "a=b,c=d"},
    {"z=1,metadata.name=x,metadata.namespace!=y", "metadata.name=x,metadata.namespace!=y,z=1"},
    {"a=1,a.b=2,a!=3", "a!=3,a.b=2,a=1"},
    {"a=b\\,c\\=d\\\\e", NULL},
    {"a=\\,,b=\\\\", NULL},
    {"a= b ", NULL}, /* blanks belong to the value */
    {"a=x!y", NULL},
    {"a=\xc3\xa4", NULL},
    /* any path */
    {"status.conditions[type=Ready].status=True", NULL},
    {"metadata.annotations[\"a,b=c]\\\"\"]!=x,a[*]=1",
     "a[*]=1,metadata.annotations[\"a,b=c]\\\"\"]!=x"},
    {"a[\"b\"][c=\"d\"]==e", "a.b[c=d]=e"},
};

#define OPERATOR "expected one of = == != in notin > < or ',', found "
#define NAME \
    "a label name consists of letters, digits, '-', '_' and '.', and starts and ends with a letter or digit"
#define VALUE \
    "a label value consists of letters, digits, '-', '_' and '.', and starts and ends with a letter or digit"
#define NUMBER "'>' and '<' require a whole number, for example weight>3"
#define LONG63 "123456789-123456789-123456789-123456789-123456789-123456789-1234"

struct bad {
    const char *text;
    const char *complaint; /* after "label selector 'TEXT': " */
};

static const struct bad bad_labels[] = {
    {",", "column 1: expected a label key, found ','"},
    {"x,", "column 3: expected a label key, found the end"},
    {"x,,y", "column 3: expected a label key, found ','"},
    {"x=a, ", "column 6: expected a label key, found the end"},
    {"!", "column 2: expected a label key, found the end"},
    {"!!x", "column 2: expected a label key, found '!'"},
    {"=a", "column 1: expected a label key, found '='"},
    {"(x)", "column 1: expected a label key, found '('"},
    {"!x=a", "column 3: expected ',' or the end after '!key', found '='"},
    {"!x in (a)", "column 4: expected ',' or the end after '!key', found 'in'"},
    {"x y", "column 3: " OPERATOR "'y'"},
    {"x !y", "column 3: " OPERATOR "'!'"},
    {"x IN (a)", "column 3: " OPERATOR "'IN'"},
    {"x(a)", "column 2: " OPERATOR "'('"},
    {"x==a==b", "column 5: expected ',' or the end, found '=='"},
    {"x=a b", "column 5: expected ',' or the end, found 'b'"},
    {"x===a", "column 4: expected a value, found '='"},
    {"x>=1", "column 3: expected a value, found '='"},
    {"x=(a)", "column 3: expected a value, found '('"},
    {"x=a||y=b", "column 4: " VALUE},
    {"x=a|", "column 4: " VALUE},
    {"x in", "column 5: expected '(', found the end"},
    {"x in a", "column 6: expected '(', found 'a'"},
    {"x notin ,", "column 9: expected '(', found ','"},
    {"x in (", "column 7: expected ',' or ')', found the end"},
    {"x in (a", "column 8: expected ',' or ')', found the end"},
    {"x in (a b)", "column 9: expected ',' or ')', found 'b'"},
    {"x in ((a))", "column 7: expected ',' or ')', found '('"},
    {"x in (a))", "column 9: expected ',' or the end, found ')'"},
    {"x in (a!)", "column 8: expected ',' or ')', found '!'"},
    {"x in (a,-b)", "column 9: " VALUE},
    {"x<a", "column 3: " NUMBER},
    {"x>", "column 3: " NUMBER},
    {"x>1.5", "column 3: " NUMBER},
    {"x>9223372036854775808", "column 3: " NUMBER},
    {"x>-5", "column 3: " VALUE},
    {"x=-", "column 3: " VALUE},
    {"x=a.", "column 4: " VALUE},
    {"x=\xc3\xa4", "column 3: " VALUE},
    {"x=" LONG63, "column 3: a label value has at most 63 characters"},
    {"-x", "column 1: " NAME},
    {"x.", "column 2: " NAME},
    {"x$y=a", "column 2: " NAME},
    {LONG63, "column 1: a label name has at most 63 characters"},
    {"a/" LONG63, "column 3: a label name has at most 63 characters"},
    {"a/", "column 3: a label key must end with a name"},
    {"/a", "column 1: expected a prefix before the '/'"},
    {"a/b/c", "column 4: a label key has at most one '/': prefix/name"},
    {"a//", "column 3: a label key has at most one '/': prefix/name"},
    {"A/b", "column 1: a prefix is a DNS name: lower-case letters, digits, '-' and '.'"},
    {"a_b/c", "column 2: a prefix is a DNS name: lower-case letters, digits, '-' and '.'"},
    {"a..b/c", "column 2: a prefix is a DNS name: lower-case letters, digits, '-' and '.'"},
    {"a.-b/c", "column 3: a prefix is a DNS name: lower-case letters, digits, '-' and '.'"},
};

static const struct bad bad_fields[] = {
    {"a", "column 2: expected '=' or '!=' and a value"},
    {"a,b=c", "column 2: expected '=' or '!=' and a value"},
    {"a=b,c", "column 6: expected '=' or '!=' and a value"},
    {"=b", "column 1: empty path; name a field, for example spec.nodeName"},
    {"!=b", "column 1: empty path; name a field, for example spec.nodeName"},
    {"x=1,.a=b", "column 5: remove the leading '.': write spec.nodeName"},
    {"a =b", "column 2: quote a key that contains this character: [\"a.b/c\"]"},
    {"!a", "column 1: quote a key that contains this character: [\"a.b/c\"], without a dot"},
    {"a in (b)", "column 2: quote a key that contains this character: [\"a.b/c\"]"},
    {"a\\,b=c", "column 2: quote a key that contains this character: [\"a.b/c\"]"},
    {"a[b=c", "column 6: expected ']'"},
    {"a[\"b=c,d]", "column 3: missing closing '\"'"},
    {"a===b", "column 4: write '=' in a value as \\="},
    {"a=b=c", "column 4: write '=' in a value as \\="},
    {"a=b\\", "column 4: invalid escape; only \\\\ \\, and \\= are valid in a value"},
    {"a=\\a", "column 3: invalid escape; only \\\\ \\, and \\= are valid in a value"},
    {"a=\xc3\xa4\\\xc3\xa4",
     "column 4: invalid escape; only \\\\ \\, and \\= are valid in a value"},
};

static void check_good(selector_parse_fn *parse, const struct good *good, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct inf_selector *selector = selector_from(parse, good[i].text), *again;
        assert_string_equal(inf_selector_text(selector),
                            good[i].canonical ? good[i].canonical : good[i].text);
        again = selector_from(parse, inf_selector_text(selector));
        assert_string_equal(inf_selector_text(again), inf_selector_text(selector));
        inf_selector_free(selector);
        inf_selector_free(again);
    }
}

static void parses_selectors_and_spells_them_canonically(void **state)
{
    (void)state;
    check_good(inf_selector_parse_labels, labels, ARRAY_LEN(labels));
    check_good(inf_selector_parse_fields, fields, ARRAY_LEN(fields));
}

static void check_bad(selector_parse_fn *parse, const char *what, const struct bad *bad,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct inf_error err;
        char *expected = xasprintf("%s '%s': %s", what, bad[i].text, bad[i].complaint);
        assert_null(parse(bad[i].text, &err));
        assert_string_equal(err.text, expected);
        assert_int_equal(err.code, INF_EINVAL);
        assert_null(parse(bad[i].text, NULL));
        free(expected);
    }
}

static void explains_an_invalid_selector(void **state)
{
    (void)state;
    check_bad(inf_selector_parse_labels, "label selector", bad_labels, ARRAY_LEN(bad_labels));
    check_bad(inf_selector_parse_fields, "field selector", bad_fields, ARRAY_LEN(bad_fields));
}

/* "@before", @count times "@each," without the last comma, "@behind". The caller frees it. */
static char *many(const char *before, const char *each, size_t count, const char *behind)
{
    struct buf out = {0};
    buf_puts(&out, before);
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%s%s", i ? "," : "", each);
    buf_puts(&out, behind);
    buf_putc(&out, '\0');
    return out.bytes;
}

/* It is accepted at the limit and refused above it. */
static void check_limit(selector_parse_fn *parse, char *fits, char *too_many, const char *complaint)
{
    struct inf_error err;
    inf_selector_free(selector_from(parse, fits));
    assert_null(parse(too_many, &err));
    assert_non_null(strstr(err.text, complaint));
    free(fits);
    free(too_many);
}

static void sizes_have_limits(void **state)
{
    (void)state;
    check_limit(inf_selector_parse_labels, many("", "x", SELECTOR_TERMS_MAX, ""),
                many("", "x", SELECTOR_TERMS_MAX + 1, ""),
                "column 257: a selector has at most 128 requirements");
    check_limit(inf_selector_parse_fields, many("", "x=y", SELECTOR_TERMS_MAX, ","),
                many("", "x=y", SELECTOR_TERMS_MAX + 1, ""),
                "column 513: a selector has at most 128 terms");
    check_limit(inf_selector_parse_labels, many("x in (", "a", SELECTOR_VALUES_MAX, ")"),
                many("x in (", "a", SELECTOR_VALUES_MAX + 1, ")"),
                "column 2055: a set has at most 1024 values");
    check_limit(inf_selector_parse_fields, many("x=", "", SELECTOR_TEXT_MAX - 1, ""),
                many("x=", "", SELECTOR_TEXT_MAX, ""),
                "column 16385: a selector has at most 16384 bytes");
    inf_selector_free(NULL);
}

static void a_prefix_has_a_limit(void **state)
{
    check_limit(inf_selector_parse_labels, xasprintf("%0253d/x", 0), xasprintf("%0254d/x", 0),
                "column 1: a prefix has at most 253 characters");
    (void)state;
}

/* A blank is added to the canonical spelling: a selector that could not be parsed again is refused.
 */
static void the_canonical_text_is_within_the_limit_too(void **state)
{
    struct buf values = {0};
    char *fits, *too_long;
    int rest;
    (void)state;
    for (size_t i = 0; i < SELECTOR_TEXT_MAX / 64 - 1; i++)
        buf_printf(&values, "%063zu,", i);
    rest = (int)(SELECTOR_TEXT_MAX - values.len - strlen("x in()"));
    fits = xasprintf("x in(%.*s%0*d)", (int)values.len, values.bytes, rest - 1, 7);
    too_long = xasprintf("x in(%.*s%0*d)", (int)values.len, values.bytes, rest, 7);
    assert_int_equal(strlen(too_long), SELECTOR_TEXT_MAX);
    check_limit(inf_selector_parse_labels, fits, too_long,
                "column 16385: a selector has at most 16384 bytes");
    buf_free(&values);
}

/* Parses a text in memory of its exact size; the canonical spelling of a valid selector must parse
 * to the same selector. */
static void try_selector(selector_parse_fn *parse, struct str text)
{
    char *copy = xstrndup(text.at, text.len);
    struct inf_error err = {.code = 0};
    struct inf_selector *selector = parse(copy, &err), *again;
    if (selector) {
        again = selector_from(parse, inf_selector_text(selector));
        assert_string_equal(inf_selector_text(again), inf_selector_text(selector));
        assert_int_equal(again->count, selector->count);
        inf_selector_free(again);
    } else {
        assert_int_equal(err.code, INF_EINVAL);
    }
    inf_selector_free(selector);
    free(copy);
}

static void try_prefixes_and_mutations(selector_parse_fn *parse, const struct good *good,
                                       size_t count)
{
    static const char bytes[] = "=!(),<> \t\\[]\"/.-a0\xff";
    struct rng rng = {.state = 1};
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(good[i].text);
        for (size_t cut = 0; cut <= len; cut++)
            try_selector(parse, (struct str){good[i].text, cut});
        for (size_t round = 0; len && round < 500; round++) {
            char *copy = xstrdup(good[i].text);
            for (size_t k = 0; k <= round % 3; k++)
                copy[rng_below(&rng, len)] = bytes[rng_below(&rng, sizeof(bytes) - 1)];
            try_selector(parse, (struct str){copy, len});
            free(copy);
        }
    }
}

static void no_prefix_or_mutation_confuses_the_parser(void **state)
{
    (void)state;
    try_prefixes_and_mutations(inf_selector_parse_labels, labels, ARRAY_LEN(labels));
    try_prefixes_and_mutations(inf_selector_parse_fields, fields, ARRAY_LEN(fields));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_selectors_and_spells_them_canonically),
        cmocka_unit_test(explains_an_invalid_selector),
        cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(a_prefix_has_a_limit),
        cmocka_unit_test(the_canonical_text_is_within_the_limit_too),
        cmocka_unit_test(no_prefix_or_mutation_confuses_the_parser),
    };
    return cmocka_run_group_tests_name("selector", tests, NULL, NULL);
}
