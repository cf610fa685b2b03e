/*
 * test_object_formats.c - a table of objects and formats: json, yaml, name, jsonpath and
 * custom-columns.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/yaml.h"
#include "changes.h"
#include "daemon/format/json_tree.h"
#include "daemon/format/record_format.h"
#include "daemon/format/yaml_text.h"

static const struct watch_id unknown = {.name = "x"};

/* Writes each of @objects, up to NULL, in one log of the format. */
static void assert_written(const char *format, const char *const *objects, const char *expected)
{
    const struct record_format *found;
    struct record_options options = {0};
    const char *argument;
    struct inf_error err = {0};
    struct buf out = {0};
    if (record_format_find(format, &found, &argument, &err) < 0 ||
        record_format_prepare(found, argument, &options.state, &err) < 0)
        fail_msg("%s: %s", format, err.text);
    assert_null(found->put_note);
    for (; *objects; objects++) {
        struct sample sample;
        struct change change;
        sample_make(&sample, NULL, *objects);
        sample_change(&change, &unknown, &sample.event, NULL);
        found->put_change(&out, &change, &options);
        sample_free(&sample);
    }
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, expected);
    record_format_release(found, options.state);
    buf_free(&out);
}

#define POD                                                                                   \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'web-0','namespace':'shop','labels':" \
    "{'tier':'front','app':'web'},'annotations':{'a.b/c':'d'}},'spec':{'containers':["        \
    "{'name':'web','image':'web:1','args':[]},{'name':'log','image':'log:2'}]},"              \
    "'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True',"              \
    "'lastProbeTime':null}]}}"
#define DEPLOYMENT                                                                            \
    "{'kind':'Deployment','apiVersion':'apps/v1','metadata':{'name':'web','namespace':'shop'" \
    "},'spec':{'replicas':3}}"
/* Escape sequences, a line end, a direction override, wide and combining characters. */
#define HOSTILE                                                                     \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'n\xe2\x80\xae','labels':{" \
    "'x':'a\\nb\\u001b]0;t\\u0007','y':'\xe4\xb8\xad\xcc\x81\\ud83d\\ude00'}}}"

static void writes_names(void **state)
{
    (void)state;
    assert_written("name", (const char *[]){POD, DEPLOYMENT, HOSTILE, NULL},
                   "pod/web-0\ndeployment.apps/web\npod/n\\u202e\n");
}

static void writes_json(void **state)
{
    (void)state;
    assert_written("json", (const char *[]){POD, HOSTILE, NULL},
                   "{\n"
                   "    \"apiVersion\": \"v1\",\n"
                   "    \"kind\": \"Pod\",\n"
                   "    \"metadata\": {\n"
                   "        \"annotations\": {\n"
                   "            \"a.b/c\": \"d\"\n"
                   "        },\n"
                   "        \"labels\": {\n"
                   "            \"app\": \"web\",\n"
                   "            \"tier\": \"front\"\n"
                   "        },\n"
                   "        \"name\": \"web-0\",\n"
                   "        \"namespace\": \"shop\"\n"
                   "    },\n"
                   "    \"spec\": {\n"
                   "        \"containers\": [\n"
                   "            {\n"
                   "                \"args\": [],\n"
                   "                \"image\": \"web:1\",\n"
                   "                \"name\": \"web\"\n"
                   "            },\n"
                   "            {\n"
                   "                \"image\": \"log:2\",\n"
                   "                \"name\": \"log\"\n"
                   "            }\n"
                   "        ]\n"
                   "    },\n"
                   "    \"status\": {\n"
                   "        \"conditions\": [\n"
                   "            {\n"
                   "                \"lastProbeTime\": null,\n"
                   "                \"status\": \"True\",\n"
                   "                \"type\": \"Ready\"\n"
                   "            }\n"
                   "        ],\n"
                   "        \"phase\": \"Running\"\n"
                   "    }\n"
                   "}\n"
                   "{\n"
                   "    \"apiVersion\": \"v1\",\n"
                   "    \"kind\": \"Pod\",\n"
                   "    \"metadata\": {\n"
                   "        \"labels\": {\n"
                   "            \"x\": \"a\\nb\\u001b]0;t\\u0007\",\n"
                   "            \"y\": \"\xe4\xb8\xad\xcc\x81\\ud83d\\ude00\"\n"
                   "        },\n"
                   "        \"name\": \"n\\u202e\"\n"
                   "    }\n"
                   "}\n");
}

static void writes_yaml(void **state)
{
    (void)state;
    assert_written("yaml", (const char *[]){POD, HOSTILE, NULL},
                   "---\n"
                   "apiVersion: v1\n"
                   "kind: Pod\n"
                   "metadata:\n"
                   "  annotations:\n"
                   "    a.b/c: d\n"
                   "  labels:\n"
                   "    app: web\n"
                   "    tier: front\n"
                   "  name: web-0\n"
                   "  namespace: shop\n"
                   "spec:\n"
                   "  containers:\n"
                   "  - args: []\n"
                   "    image: web:1\n"
                   "    name: web\n"
                   "  - image: log:2\n"
                   "    name: log\n"
                   "status:\n"
                   "  conditions:\n"
                   "  - lastProbeTime: null\n"
                   "    status: \"True\"\n"
                   "    type: Ready\n"
                   "  phase: Running\n"
                   "---\n"
                   "apiVersion: v1\n"
                   "kind: Pod\n"
                   "metadata:\n"
                   "  labels:\n"
                   "    x: \"a\\nb\\u001b]0;t\\u0007\"\n"
                   "    \"y\": \xe4\xb8\xad\xcc\x81\xf0\x9f\x98\x80\n"
                   "  name: \"n\\u202e\"\n");
}

static void fills_in_jsonpath_templates(void **state)
{
    (void)state;
    assert_written("jsonpath={.metadata.name}", (const char *[]){POD, DEPLOYMENT, HOSTILE, NULL},
                   "web-0\nweb\nn\\u202e\n");
    assert_written("jsonpath=pod {.metadata.name}: {.spec.containers[*].image}{\"\\t\"}"
                   "{.metadata.labels}{.status.gone}{.status.conditions[0].lastProbeTime}{'\\n'}",
                   (const char *[]){POD, NULL},
                   "pod web-0: web:1 log:2\t{\"app\":\"web\",\"tier\":\"front\"}null\n");
    assert_written(
        "jsonpath={range .spec.containers[*]}{.name}={.image},{end}{.spec.containers[9]}",
        (const char *[]){POD, NULL}, "web=web:1,log=log:2,\n");
    assert_written("jsonpath={.metadata.labels.x}", (const char *[]){HOSTILE, POD, NULL},
                   "a\nb\\u001b]0;t\\u0007\n\n");
    assert_written("jsonpath={.}", (const char *[]){DEPLOYMENT, NULL},
                   "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":"
                   "\"web\",\"namespace\":\"shop\"},\"spec\":{\"replicas\":3}}\n");
}

/* @item, @n times, with commas between them. */
static void put_repeated(struct buf *out, const char *item, int n)
{
    for (int i = 0; i < n; i++)
        buf_printf(out, "%s%s", i ? "," : "", item);
}

/* A short template that multiplies values: 300 * 300 * 300 of them. */
static void the_work_for_an_object_is_limited(void **state)
{
    static const struct {
        const char *before, *after, *expected;
    } cases[] = {
        {"jsonpath=a{", "}b", "<the template does too much work for this object>\n"},
        {"jsonpath={range ", "}text{end}", "<the template does too much work for this object>\n"},
        {"custom-columns=A:", ",B:.metadata.name",
         "A                                                   B\n"
         "<the template does too much work for this object>   "
         "<the template does too much work for this object>\n"},
    };
    struct buf path = {0};
    (void)state;
    buf_puts(&path, ".spec[");
    put_repeated(&path, "'containers'", 300);
    buf_puts(&path, "][");
    put_repeated(&path, "0", 300);
    buf_puts(&path, "][");
    put_repeated(&path, "'name'", 300);
    buf_puts(&path, "]");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf format = {0};
        buf_printf(&format, "%s%.*s%s", cases[i].before, (int)path.len, path.bytes, cases[i].after);
        buf_putc(&format, '\0');
        assert_written(format.bytes, (const char *[]){POD, NULL}, cases[i].expected);
        buf_free(&format);
    }
    buf_free(&path);
}

static void writes_custom_columns(void **state)
{
    (void)state;
    assert_written(
        "custom-columns=NAME:.metadata.name,LABELS:{.metadata.labels},"
        "READY:.status.conditions[?(@.type==\"Ready\")].status,IMAGES:.spec.containers[*].image",
        (const char *[]){POD, DEPLOYMENT, NULL},
        "NAME    LABELS                    READY   IMAGES\n"
        "web-0   map[app:web tier:front]   True    web:1,log:2\n"
        "web     <none>                    <none>   <none>\n");
    assert_written(
        "custom-columns=Y:metadata.labels.y,X:metadata.labels.x,R:.spec.replicas,"
        "C:.status.conditions[*],A:.spec.containers[0].args",
        (const char *[]){HOSTILE, DEPLOYMENT, POD, NULL},
        "Y      X                      R        C        A\n"
        "\xe4\xb8\xad\xcc\x81\xf0\x9f\x98\x80   a\\nb\\u001b]0;t\\u0007   <none>   <none>   <none>\n"
        "<none>   <none>                 3        <none>   <none>\n"
        "<none>   <none>                 <none>   map[lastProbeTime:<nil> status:True "
        "type:Ready]   []\n");
}

static void refuses_wrong_formats(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"yml", "unknown format 'yml'; did you mean 'yaml'?"},
        {"table",
         "unknown format 'table'; valid formats: jsonl, short, wide, diff, json, yaml, name, jsonpath=TEMPLATE, "
         "custom-columns=SPEC"},
        {"yaml=x", "format 'yaml' takes no argument"},
        {"jsonpath", "format 'jsonpath' needs an argument: jsonpath=TEMPLATE"},
        {"custom-columns=", "format 'custom-columns' needs an argument: custom-columns=SPEC"},
        {"jsonpath=.metadata.name",
         "the JSONPath template has no field; write it like {.metadata.name}"},
        {"jsonpath={.a", "JSONPath template '{.a': column 4: '}' is missing"},
        {"jsonpath={\"a}", "JSONPath template '{\"a}': column 5: '}' is missing"},
        {"jsonpath={range .items[*]}", "JSONPath template: {range ...} needs {end}"},
        {"custom-columns=NAME", "column 'NAME' has no header; write it like NAME:.metadata.name"},
        {"custom-columns=A:.a,", "column '' has no header; write it like NAME:.metadata.name"},
        {"custom-columns=A:", "JSONPath '': column 1: the path is empty"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct inf_error err = {0};
        assert_int_equal(record_format_check(rows[i].text, &err), -INF_EINVAL);
        assert_string_equal(err.text, rows[i].error);
    }
}

/* Strings, as JSON spells them, and as YAML. */
static void yaml_strings_keep_their_type(void **state)
{
    static const struct {
        const char *json, *yaml;
    } rows[] = {
        {"plain", "plain"},
        {"", "\"\""},
        {"10.1.2.3", "10.1.2.3"},
        {"100m", "100m"},
        {"12", "\"12\""},
        {"-1.5e3", "\"-1.5e3\""},
        {"1e", "1e"},
        {"0x1F", "\"0x1F\""},
        {"1:30", "\"1:30\""},
        {"web:1", "web:1"},
        {"True", "\"True\""},
        {"no", "\"no\""},
        {"~", "\"~\""},
        {"null", "\"null\""},
        {"2026-01-31T12:00:00Z", "\"2026-01-31T12:00:00Z\""},
        {"2026-01-31", "\"2026-01-31\""},
        {"2026-01-31x", "2026-01-31x"},
        {"*", "'*'"},
        {"- x", "'- x'"},
        {"-x", "-x"},
        {"a: b", "'a: b'"},
        {"a:", "'a:'"},
        {"a #b", "'a #b'"},
        {"it's {x}", "it's {x}"},
        {"{it's}", "'{it''s}'"},
        {" x", "' x'"},
        {"---", "'---'"},
        {"a\\tb", "\"a\\tb\""},
        {"a\\u0000", "\"a\\u0000\""},
        {"a\\nb", "|-\n  a\n  b"},
        {"a\\n\\n  b\\n", "|\n  a\n\n    b"},
        {"a\\n\\n", "|+\n  a\n"},
        {"a \\nb", "\"a \\nb\""},
        {"\\na", "\"\\na\""},
        /* longer than a line: folded as kubectl does */
        {"0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 x",
         "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789\n"
         "  x"},
        {"0123456789 0123456789: 0123456789 0123456789 0123456789 0123456789 0123456789 01234 x y",
         "'0123456789 0123456789: 0123456789 0123456789 0123456789 0123456789 0123456789\n"
         "  01234 x y'"},
        {"0123456789 0123456789\\t0123456789 0123456789 0123456789 0123456789 0123456789  01  x y",
         "\"0123456789 0123456789\\t0123456789 0123456789 0123456789 0123456789 0123456789\n"
         "  \\ 01  x y\""},
        {"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890  "
         "x",
         "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890  "
         "x"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *json = xasprintf("{\"k\":\"%s\"}", rows[i].json);
        char *yaml = xasprintf("k: %s\n", rows[i].yaml);
        struct arena arena = {0};
        struct buf out = {0}, text = {0};
        struct yaml_node *read;
        yaml_put_document(&out, json_tree_make(&arena, str_of(json)), 0);
        buf_putc(&out, '\0');
        assert_string_equal(out.bytes, yaml);
        json_put_decoded(&text, str_of(rows[i].json));
        buf_putc(&text, '\0');
        if (!memchr(text.bytes, '\0', text.len - 1)) { /* our reader refuses NUL */
            assert_int_equal(yaml_parse("x", out.bytes, out.len - 1, &read, NULL), 0);
            assert_string_equal(yaml_get(read, "k")->text, text.bytes);
            yaml_tree_free(read);
        }
        arena_free(&arena);
        buf_free(&out);
        buf_free(&text);
        free(json);
        free(yaml);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_names),
        cmocka_unit_test(writes_json),
        cmocka_unit_test(writes_yaml),
        cmocka_unit_test(fills_in_jsonpath_templates),
        cmocka_unit_test(the_work_for_an_object_is_limited),
        cmocka_unit_test(writes_custom_columns),
        cmocka_unit_test(refuses_wrong_formats),
        cmocka_unit_test(yaml_strings_keep_their_type),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
