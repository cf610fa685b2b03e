/*
 * test_yaml.c - what the YAML reader accepts and refuses, and the positions of errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/text/yaml.h"

static struct yaml_node *parse(const char *text)
{
    struct yaml_node *root = NULL;
    struct inf_error err = {0};
    if (yaml_parse("f", text, strlen(text), &root, &err) < 0)
        fail_msg("%s", err.text);
    return root;
}

/* The tree in one line: {k: v} and [v], quoted scalars in '', null as ~. */
static void print_node(struct buf *b, const struct yaml_node *n)
{
    const char *separator = "";
    if (n->key)
        buf_printf(b, "%s: ", n->key->text);
    if (n->kind == YAML_SCALAR) {
        buf_printf(b, n->plain ? "%s" : "'%s'", yaml_is_null(n) ? "~" : n->text);
        return;
    }
    buf_putc(b, n->kind == YAML_MAPPING ? '{' : '[');
    for (const struct yaml_node *child = n->first; child; child = child->next) {
        buf_puts(b, separator);
        print_node(b, child);
        separator = ", ";
    }
    buf_putc(b, n->kind == YAML_MAPPING ? '}' : ']');
}

static const struct {
    const char *text;
    const char *tree;
} good[] = {
    {"", "~"},
    {"# nothing but a comment\n", "~"},
    {"---\n...\n", "~"},
    {"a: 1", "{a: 1}"},
    {"a: 'x y'\nb: \"t\\tab\"\n", "{a: 'x y', b: 't\tab'}"},
    {"a:\nb: ~\nc: null\nd: ''\n", "{a: ~, b: ~, c: ~, d: ''}"},
    {"- 1\n- [2, 3]\n- {x: y}\n", "[1, [2, 3], {x: y}]"},
    {"a:\n- b: 1\n  c: 2\n- d\n", "{a: [{b: 1, c: 2}, d]}"},
    {"a: |\n  one\n  two\n", "{a: 'one\ntwo\n'}"},
    {"{\"a\":\"b\",\"n\":[1,true,null],\"o\":{}}", "{a: 'b', n: [1, true, ~], o: {}}"},
    {"{\n\t\"tabs\": \"\\u00e9\\/\"\n}\n", "{tabs: 'é/'}"},
    {"\xEF\xBB\xBF"
     "a: 1\n",
     "{a: 1}"},
    {"a: !!str 12\nb: !!map {}\nc: !!seq []\n", "{a: '12', b: {}, c: []}"},
    {"a: 1\r\nb: 2\r\n", "{a: 1, b: 2}"},
    {"a: 1\nA: 2\n", "{a: 1, A: 2}"},
    {"'<<': 1\n", "{<<: 1}"},
};

static void parses_documents_as_in_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct yaml_node *root = parse(good[i].text);
        struct buf b = {0};
        print_node(&b, root);
        buf_putc(&b, '\0');
        assert_string_equal(b.bytes, good[i].tree);
        buf_free(&b);
        yaml_tree_free(root);
    }
}

#define LEN(literal) literal, sizeof(literal) - 1

static const struct {
    const char *text;
    size_t len;
    const char *error;
} bad[] = {
    {LEN("a: 1\nb: 2\na: 3\n"), "f:3:1: duplicate key; first at 1:1"},
    {LEN("{x: {k: 1, \"k\": 2}}"), "f:1:12: duplicate key; first at 1:6"},
    {LEN("a: 1\n---\nb: 2\n"), "f:2:1: a second document starts here; only one is supported"},
    {LEN("a: &x 1\nb: 2\n"), "f:1:4: anchors (&) are not supported"},
    {LEN("a: &x [1]\n"), "f:1:4: anchors (&) are not supported"},
    {LEN("a: &x {b: 1}\n"), "f:1:4: anchors (&) are not supported"},
    {LEN("a: *x\n"), "f:1:4: aliases (*) are not supported"},
    {LEN("*x : 1\n"), "f:1:1: aliases (*) are not supported"},
    {LEN("<<: {a: 1}\n"), "f:1:1: merge keys (<<) are not supported"},
    {LEN("? [a]\n: 1\n"), "f:1:3: a key must be a scalar, not a list or a mapping"},
    {LEN("a: !!binary aGk=\n"), "f:1:4: unsupported tag (!)"},
    {LEN("a: !x {}\n"), "f:1:4: unsupported tag (!)"},
    {LEN("a: !!str []\n"), "f:1:4: unsupported tag (!)"},
    {LEN("a: \"x\\0y\"\n"), "f:1:4: a NUL character can't be part of a value"},
    {LEN("a: 1\nb: x\0y\n"), "f:2:5: control characters are not allowed"},
    {LEN("k: \xC3\xA9\n\xC3\xA9: \xFF\n"), "f:2:4: invalid leading UTF-8 octet"},
    {LEN("\xFF\xFE"
         "a\0:\0 \0[\0\n\0"),
     "f:2:1: did not find expected node content, while parsing a flow node that begins on line 2"},
    {LEN("\xFE\xFF\0a\0:\0\n\xDC\0"), "f:2:1: unexpected low surrogate area"},
    {LEN("\xFF\xFE"
         "a\0:"),
     "f:1:1: incomplete UTF-16 character"},
    {LEN("a: [1, 2\n"),
     "f:2:1: did not find expected ',' or ']', while parsing a flow sequence that "
     "begins on line 1"},
    {LEN("a:\n\tb: 1\n"), "f:2:1: found a tab, or a character that can begin a value only in "
                          "quotes; indent with spaces"},
    {LEN("a: @b\n"), "f:1:4: found a tab, or a character that can begin a value only in quotes; "
                     "indent with spaces"},
    {LEN("a: 'x\n"), "f:2:1: found unexpected end of stream, while scanning a quoted scalar that "
                     "begins on line 1"},
    {LEN("a: 1\nb\n"),
     "f:3:1: could not find expected ':', while scanning a simple key that begins "
     "on line 2"},
    {LEN("{a: 1} x"), "f:1:8: did not find expected <document start>"},
    {LEN("a: {b: 1, c: &q [}\n"), "f:1:14: anchors (&) are not supported"},
};

static void refuses_invalid_documents(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct yaml_node *root = NULL;
        struct inf_error err = {0};
        int rc = yaml_parse("f", bad[i].text, bad[i].len, &root, &err);
        assert_string_equal(err.text, bad[i].error);
        assert_int_equal(rc, -INF_ECONF);
        assert_int_equal(err.code, INF_ECONF);
        assert_null(root);
        assert_int_equal(yaml_parse("f", bad[i].text, bad[i].len, &root, NULL), -INF_ECONF);
    }
}

/* Puts @unit @count times between @before and @after. */
static char *repeated(const char *before, const char *unit, size_t count, const char *after)
{
    struct buf b = {0};
    buf_puts(&b, before);
    for (size_t i = 0; i < count; i++)
        buf_puts(&b, unit);
    buf_puts(&b, after);
    buf_putc(&b, '\0');
    return b.bytes; /* the caller frees it */
}

static void assert_limit(char *text, const char *error)
{
    struct yaml_node *root = NULL;
    struct inf_error err = {0};
    int rc = yaml_parse("f", text, strlen(text), &root, &err);
    assert_string_equal(err.text, error);
    assert_int_equal(rc, error[0] ? -INF_ECONF : 0);
    yaml_tree_free(root);
    free(text);
}

static void limits_depth_and_size(void **state)
{
    struct buf keys = {0};
    (void)state;
    assert_limit(repeated("", "[", 64,
                          "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
                          "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"),
                 "");
    assert_limit(repeated("", "[", 65, ""), "f:1:65: nested more than 64 levels deep");
    assert_limit(repeated("", "{a: ", 65, ""), "f:1:257: nested more than 64 levels deep");
    assert_limit(repeated("", "- a\n", 65535, ""), "");
    assert_limit(repeated("", "- a\n", 65536, ""), "f:65536:3: more than 65536 values");
    assert_limit(repeated("# ", "x", YAML_TEXT_MAX - 2, ""), "");
    assert_limit(repeated("# ", "x", YAML_TEXT_MAX - 1, ""), "f: more than 1048576 bytes");
    for (int i = 0; i <= YAML_KEYS_MAX; i++)
        buf_printf(&keys, "k%d: 1\n", i);
    buf_putc(&keys, '\0');
    assert_limit(keys.bytes, "f:1025:1: more than 1024 keys in one mapping");
}

static void reads_scalar_values(void **state)
{
    struct yaml_node *root = parse("text: a b\nnil: ~\nempty:\nquoted: 'null'\nlist: [x]\n");
    (void)state;
    assert_string_equal(yaml_string(yaml_get(root, "text")), "a b");
    assert_string_equal(yaml_string(yaml_get(root, "quoted")), "null");
    assert_null(yaml_string(yaml_get(root, "nil")));
    assert_null(yaml_string(yaml_get(root, "empty")));
    assert_null(yaml_string(yaml_get(root, "list")));
    assert_null(yaml_string(yaml_get(root, "absent")));
    assert_null(yaml_get(yaml_get(root, "list"), "x"));
    assert_null(yaml_get(NULL, "x"));
    assert_true(yaml_is_null(NULL));
    assert_false(yaml_is_null(yaml_get(root, "list")));
    assert_int_equal(yaml_get(root, "list")->count, 1);
    assert_int_equal(root->count, 5);
    yaml_tree_free(root);
    yaml_tree_free(NULL);
}

static const struct {
    const char *text;
    int truth; /* -1: not a bool */
} bools[] = {
    {"true", 1}, {"True", 1}, {"yes", 1},     {"ON", 1},      {"false", 0}, {"no", 0},
    {"Off", 0},  {"1", -1},   {"truely", -1}, {"'true'", -1}, {"~", -1},    {"[true]", -1},
};

static void reads_booleans(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bools); i++) {
        struct yaml_node *root = parse(bools[i].text);
        bool truth = bools[i].truth != 1;
        int rc = yaml_bool(root, &truth);
        assert_int_equal(rc, bools[i].truth < 0 ? -INF_ECONF : 0);
        if (rc == 0)
            assert_int_equal(truth, bools[i].truth);
        yaml_tree_free(root);
    }
}

static void reports_positions(void **state)
{
    struct yaml_node *root = parse("\xEF\xBB\xBFé: 1\nmap:\n  key: value\n");
    struct yaml_node *value = yaml_get(yaml_get(root, "map"), "key");
    struct inf_error err;
    (void)state;
    assert_int_equal(yaml_get(root, "é")->column, 4);
    assert_int_equal(yaml_error(value, &err, "no %s", "good"), -INF_ECONF);
    assert_string_equal(err.text, "f:3:8: no good");
    yaml_error(value->key, &err, "no good");
    assert_string_equal(err.text, "f:3:3: no good");
    yaml_tree_free(root);
}

/* Every prefix of a text is parsed or refused; sanitizers detect accesses beyond its end. */
static void accepts_or_refuses_every_prefix(void **state)
{
    static const char text[] =
        "a: &x\n- {b: 'c', \"d\\u00e9\": [1, !!str 2]}\n? e\n: |\n  f\n---\n*x\n";
    (void)state;
    for (size_t len = 0; len < sizeof(text); len++) {
        char *cut = malloc(len + 1); /* allocated in its exact size */
        struct yaml_node *root = NULL;
        assert_non_null(cut);
        memcpy(cut, text, len);
        yaml_parse("f", cut, len, &root, NULL);
        yaml_tree_free(root);
        free(cut);
    }
}

/* For callers that list all errors: the tree has both entries, and yaml_get() returns the first. */
static void can_report_duplicate_keys_later(void **state)
{
    static const char text[] = "a: 1\nb: {c: 2, c: 3}\na: 4\n";
    struct yaml_node *root = NULL;
    struct inf_error err = {0};
    const struct yaml_node *b;
    (void)state;
    assert_int_equal(yaml_parse_loose("f", text, sizeof(text) - 1, &root, &err), 0);
    assert_int_equal(root->count, 3);
    assert_string_equal(yaml_string(yaml_get(root, "a")), "1");
    b = yaml_get(root, "b");
    assert_int_equal(b->count, 2);
    assert_ptr_equal(yaml_get(b, "c"), b->first);
    assert_string_equal(yaml_string(b->first->next), "3");
    assert_string_equal(b->next->key->text, "a");
    yaml_tree_free(root);
    assert_int_equal(yaml_parse_loose("f", "a: *b", 5, &root, &err), -INF_ECONF);
}

/* As Windows PowerShell and Notepad write files. */
static void reads_utf_16(void **state)
{
    static const char text[] = "a: [x, 'y z']\nb: {c: 1}\n";
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct buf wide = {0}, b = {0};
        struct yaml_node *root = NULL;
        struct inf_error err;
        buf_puts(&wide, big ? "\xFE\xFF" : "\xFF\xFE");
        for (const char *c = text; *c; c++) {
            buf_putc(&wide, big ? '\0' : *c);
            buf_putc(&wide, big ? *c : '\0');
        }
        assert_int_equal(yaml_parse("f", wide.bytes, wide.len, &root, &err), 0);
        print_node(&b, root);
        buf_putc(&b, '\0');
        assert_string_equal(b.bytes, "{a: [x, 'y z'], b: {c: 1}}");
        assert_int_equal(root->first->next->line, 2);
        yaml_tree_free(root);
        buf_free(&wide);
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_documents_as_in_the_table),
        cmocka_unit_test(refuses_invalid_documents),
        cmocka_unit_test(limits_depth_and_size),
        cmocka_unit_test(reads_scalar_values),
        cmocka_unit_test(reads_booleans),
        cmocka_unit_test(reports_positions),
        cmocka_unit_test(accepts_or_refuses_every_prefix),
        cmocka_unit_test(can_report_duplicate_keys_later),
        cmocka_unit_test(reads_utf_16),
    };
    return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
