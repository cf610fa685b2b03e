/*
 * test_jsonl_limits.c - a line is always valid JSON, within its limit, and without control
 * characters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yyjson.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/rng.h"
#include "base/text/utf8.h"
#include "changes.h"
#include "core/object/object.h"
#include "daemon/format/record_format.h"

/* In place of an enum record_object: RECORD_DIFF, and the whole object. */
enum {
    WHOLE = RECORD_DIFF + 1
};

static const struct watch_id pods = {.cluster = "prod", .name = "pods", .resource = "pods"};

static struct buf line_of(const struct sample *sample, const struct watch_id *watch,
                          unsigned object, size_t max_line)
{
    const struct record_options options = {.object = object == WHOLE ? RECORD_DIFF : object,
                                           .object_verbs = object == WHOLE ? RECORD_ALL_VERBS : 0,
                                           .max_line = max_line};
    struct change change;
    struct buf line = {0};
    sample_change(&change, watch, &sample->event, sample->diff);
    change.stamp.seq = UINT64_MAX;
    change.stamp.log = "0123456789abcdef0123456789abcdef";
    jsonl_format.put_change(&line, &change, &options);
    return line;
}

/* Frees @line. The caller frees the document. */
static yyjson_doc *check_line(struct buf *line, size_t max_line)
{
    yyjson_doc *doc;
    assert_true(line->len <= max_line);
    assert_int_equal(line->bytes[line->len - 1], '\n');
    for (struct str rest = {line->bytes, line->len - 1}; rest.len;) {
        uint32_t c = 0;
        size_t n = utf8_next(rest, &c);
        assert_true(n && !utf8_is_unsafe(c));
        rest = (struct str){rest.at + n, rest.len - n};
    }
    doc = yyjson_read(line->bytes, line->len, 0);
    assert_non_null(doc);
    buf_free(line);
    return doc;
}

static const char *text_at(yyjson_doc *doc, const char *field)
{
    return yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), field));
}

static bool is_truncated(yyjson_doc *doc)
{
    return yyjson_get_bool(yyjson_obj_get(yyjson_doc_get_root(doc), "truncated"));
}

/* ---- random changes ---- */

static void put_random_text(struct rng *rng, struct buf *out, size_t max)
{
    static const char *const pieces[] = {"a",        "web",          "\\n",
                                         "\\\"",     "\\u001b",      "\x7f",
                                         "\xc2\x9b", "\xe2\x80\xae", "\xf0\x9f\x98\x80",
                                         "\\\\"};
    size_t n = (size_t)rng_below(rng, max);
    for (size_t i = 0; i < n; i++)
        buf_puts(out, pieces[rng_below(rng, sizeof(pieces) / sizeof(pieces[0]))]);
}

static void put_random_value(struct rng *rng, struct buf *out, int depth)
{
    size_t n = (size_t)rng_below(rng, 8);
    bool list = rng_below(rng, 2);
    if (depth == 0 || rng_below(rng, 3) == 0) {
        buf_putc(out, '"');
        put_random_text(rng, out, rng_below(rng, 10) ? 8 : 2000);
        buf_putc(out, '"');
        return;
    }
    buf_putc(out, list ? '[' : '{');
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, i ? "," : "");
        if (!list) {
            buf_printf(out, "\"k%zu", i);
            put_random_text(rng, out, 3);
            buf_puts(out, "\":");
        }
        put_random_value(rng, out, depth - 1);
    }
    buf_putc(out, list ? ']' : '}');
}

static char *random_object(struct rng *rng, size_t name_len, const char *kind)
{
    struct buf out = {0};
    buf_printf(&out, "{\"kind\":\"%s\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"", kind);
    for (size_t i = 0; i < name_len; i++)
        buf_putc(&out, "abc-"[i % 4]);
    buf_puts(&out, "\",\"namespace\":\"");
    for (size_t i = 0; i < name_len / 4; i++)
        buf_putc(&out, 'n');
    buf_printf(&out, "\",\"uid\":\"u\",\"resourceVersion\":\"%u\"},\"reason\":",
               (unsigned)rng_below(rng, 1000));
    put_random_value(rng, &out, 0);
    buf_puts(&out, ",\"message\":");
    put_random_value(rng, &out, 0);
    buf_puts(&out, ",\"status\":");
    put_random_value(rng, &out, 4);
    buf_puts(&out, "}");
    buf_putc(&out, '\0');
    return out.bytes;
}

static void any_random_change_is_a_valid_line(void **state)
{
    static const size_t limits[] = {1024, 1500, 4096, 16384, 1 << 20};
    struct rng rng = {7};
    (void)state;
    for (int i = 0; i < 400; i++) {
        size_t name_len = 1 + rng_below(&rng, i % 10 ? 40 : 900);
        const char *kind = i % 5 ? "Widget" : "Event";
        char *before = random_object(&rng, name_len, kind);
        char *after = random_object(&rng, name_len, kind);
        size_t max_line = limits[rng_below(&rng, sizeof(limits) / sizeof(limits[0]))];
        struct sample sample;
        struct buf line;
        sample_make(&sample, i % 7 ? before : NULL, after);
        line = line_of(&sample, &pods, (unsigned)rng_below(&rng, 3), max_line);
        yyjson_doc_free(check_line(&line, max_line));
        sample_free(&sample);
        free(before);
        free(after);
    }
}

/* ---- step by step ---- */

/* First the object is omitted, then values, then changes; the identity stays. */
static void a_line_contains_less_with_less_room(void **state)
{
    struct buf text[2] = {{0}, {0}};
    struct sample sample;
    struct buf line;
    yyjson_doc *doc;
    (void)state;
    for (int side = 0; side < 2; side++) {
        buf_puts(&text[side], "'spec':{'phase':'x'");
        for (int i = 0; i < 40; i++)
            buf_printf(&text[side], ",'field%d':'%d%0*d'", i, side, 90, i);
        buf_putc(&text[side], '}');
        buf_putc(&text[side], '\0');
    }
    sample_pod(&sample, text[0].bytes, text[1].bytes);

    line = line_of(&sample, &pods, WHOLE, 1 << 20);
    assert_non_null(strstr(line.bytes, "\"object\":{"));
    doc = check_line(&line, 1 << 20);
    assert_false(is_truncated(doc));
    yyjson_doc_free(doc);

    line = line_of(&sample, &pods, WHOLE, 14000);
    assert_null(memmem(line.bytes, line.len, "\"object\":{", 10));
    assert_non_null(memmem(line.bytes, line.len, "\"new\":\"1000", 11));
    doc = check_line(&line, 14000);
    assert_true(is_truncated(doc));
    yyjson_doc_free(doc);

    line = line_of(&sample, &pods, WHOLE, 6000);
    assert_null(memmem(line.bytes, line.len, "\"new\":\"1000", 11));
    assert_non_null(memmem(line.bytes, line.len, "\"new_size\":93", 13));
    yyjson_doc_free(check_line(&line, 6000));

    line = line_of(&sample, &pods, WHOLE,
                   1024); /* less than the conf allows, to reach the last measures */
    assert_non_null(memmem(line.bytes, line.len, "\"changes\":40", 12));
    doc = check_line(&line, 1024);
    assert_string_equal(text_at(doc, "name"), "web-0");
    assert_string_equal(text_at(doc, "uid"), "u-1");
    assert_string_equal(text_at(doc, "rv"), "8");
    yyjson_doc_free(doc);

    sample_free(&sample);
    buf_free(&text[0]);
    buf_free(&text[1]);
}

/* ---- context ---- */

/* A deleted Pod with @n labels of 40 bytes, and its line with the whole object and all context. */
static yyjson_doc *line_of_labels(size_t n, size_t max_line)
{
    static const struct inf_index field = {.name = "labels", .path = "metadata.labels"};
    struct record_fields *fields = record_fields_make(&field, 1, NULL);
    const struct record_options options = {.object_verbs = RECORD_ALL_VERBS,
                                           .context = CONTEXT_LABELS | CONTEXT_OWNER | CONTEXT_NODE,
                                           .fields = fields,
                                           .max_line = max_line};
    struct buf text = {0}, line = {0};
    struct sample sample;
    struct change change;
    buf_puts(&text, "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'web-0','uid':'u-1',"
                    "'resourceVersion':'1','labels':{'app':'web'");
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, ",'label-%012zu':'value-%011zu'", i, i);
    buf_puts(&text, "},'ownerReferences':[{'apiVersion':'apps/v1','kind':'StatefulSet',"
                    "'name':'web','uid':'u-9','controller':true}]},'spec':{'nodeName':'node-1'}}");
    buf_putc(&text, '\0');
    sample_make(&sample, text.bytes, NULL);
    sample_change(&change, &pods, &sample.event, NULL);
    change.stamp.log = "x";
    jsonl_format.put_change(&line, &change, &options);
    sample_free(&sample);
    record_fields_free(fields);
    buf_free(&text);
    return check_line(&line, max_line);
}

static const char *text_in(yyjson_doc *doc, const char *field, const char *member)
{
    return yyjson_get_str(yyjson_obj_get(yyjson_obj_get(yyjson_doc_get_root(doc), field), member));
}

static void the_object_is_omitted_before_the_context(void **state)
{
    yyjson_doc *doc = line_of_labels(100, 16384);
    yyjson_val *root = yyjson_doc_get_root(doc);
    (void)state;
    assert_false(is_truncated(doc));
    assert_non_null(yyjson_obj_get(root, "object"));
    yyjson_doc_free(doc);

    doc = line_of_labels(150, 16384);
    root = yyjson_doc_get_root(doc);
    assert_true(is_truncated(doc));
    assert_null(yyjson_obj_get(root, "object"));
    assert_int_equal(yyjson_obj_size(yyjson_obj_get(root, "labels")), 151);
    assert_non_null(yyjson_obj_get(root, "fields"));
    yyjson_doc_free(doc);
}

static void labels_are_cut_after_values_and_before_the_owner(void **state)
{
    yyjson_doc *doc = line_of_labels(1000, 4096);
    yyjson_val *root = yyjson_doc_get_root(doc);
    size_t labels = yyjson_obj_size(yyjson_obj_get(root, "labels"));
    (void)state;
    assert_true(is_truncated(doc));
    assert_in_range(labels, 10, 100); /* as many as fit into a part of the line */
    assert_string_equal(text_in(doc, "labels", "app"), "web");
    assert_string_equal(text_in(doc, "owner", "uid"), "u-9");
    assert_string_equal(text_in(doc, "workload", "name"), "web");
    assert_string_equal(text_at(doc, "node"), "node-1");
    assert_null(yyjson_obj_get(root, "fields"));
    yyjson_doc_free(doc);
}

/* ---- identity ---- */

/* What identifies an object, from the longest that Kubernetes and the conf file allow to far more. */
struct identity {
    size_t conf_name; /* of the cluster and of the watch */
    size_t type;      /* of version, resource and kind */
    size_t group;
    size_t ns;
    size_t name;
    const char *letter; /* the name consists of it */
};

static char *repeat(const char *letter, size_t count)
{
    struct buf text = {0};
    for (size_t i = 0; i < count; i++)
        buf_puts(&text, letter);
    buf_putc(&text, '\0');
    return text.bytes;
}

#define UID "01234567-89ab-cdef-0123-456789abcdef"
#define OBJECT                                                                                 \
    "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\"," \
    "\"namespace\":\"%s\",\"uid\":\"" UID "\",\"resourceVersion\":\"%s\"}}"

static yyjson_doc *line_of_identity(const struct identity *id, size_t max_line)
{
    const char *in_json = id->letter[0] == '"' ? "\\\"" : id->letter;
    char *conf = repeat("p", id->conf_name), *type = repeat("p", id->type),
         *group = repeat("g", id->group), *ns = repeat("n", id->ns),
         *name = repeat(in_json, id->name);
    char *before = xasprintf(OBJECT, name, ns, "18446744073709551614");
    char *after = xasprintf(OBJECT, name, ns, "18446744073709551615");
    struct watch_id watch = {.cluster = conf,
                             .name = conf,
                             .group = group,
                             .version = type,
                             .resource = type,
                             .kind = type};
    struct sample sample;
    struct buf line;
    sample_make(&sample, before, after);
    sample.event.verb = INF_MODIFIED;
    line = line_of(&sample, &watch, RECORD_DIFF, max_line);
    sample_free(&sample);
    free(conf);
    free(type);
    free(group);
    free(ns);
    free(name);
    free(before);
    free(after);
    return check_line(&line, max_line);
}

static void assert_repeated(yyjson_doc *doc, const char *field, const char *letter, size_t count)
{
    char *text = repeat(letter, count);
    assert_string_equal(text_at(doc, field), text);
    free(text);
}

/* All at once, in the shortest allowed line, with a name of which every byte is escaped. */
static void the_longest_names_are_never_cut(void **state)
{
    static const struct {
        const char *letter;
        size_t count; /* 253 bytes */
    } rows[] = {{"n", 253}, {"\"", 253}, {"\xc2\x9b", 126}, {"\xe2\x80\xae", 84}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct identity id = {.conf_name = 384,
                              .type = 63,
                              .group = 253,
                              .ns = 63,
                              .name = rows[i].count,
                              .letter = rows[i].letter};
        yyjson_doc *doc = line_of_identity(&id, RECORD_LINE_MIN);
        assert_repeated(doc, "name", rows[i].letter, rows[i].count);
        assert_repeated(doc, "namespace", "n", 63);
        assert_repeated(doc, "watch", "p", 384);
        assert_repeated(doc, "cluster", "p", 384);
        assert_repeated(doc, "group", "g", 253);
        assert_repeated(doc, "kind", "p", 63);
        assert_string_equal(text_at(doc, "uid"), UID);
        assert_string_equal(text_at(doc, "rv"), "18446744073709551615");
        yyjson_doc_free(doc);
    }
}

/* A hostile server sends long types: the name of the object is still not cut. */
static void long_types_are_cut_before_the_name_of_the_object(void **state)
{
    struct identity id = {
        .conf_name = 384, .type = 5000, .group = 5000, .ns = 63, .name = 253, .letter = "n"};
    yyjson_doc *doc = line_of_identity(&id, RECORD_LINE_MIN);
    (void)state;
    assert_true(is_truncated(doc));
    assert_repeated(doc, "name", "n", 253);
    assert_repeated(doc, "namespace", "n", 63);
    yyjson_doc_free(doc);
}

static void a_name_that_is_too_long_is_cut_and_the_uid_kept(void **state)
{
    struct identity id = {.conf_name = 384,
                          .type = OBJECT_NAME_MAX,
                          .group = OBJECT_NAME_MAX,
                          .ns = OBJECT_NAME_MAX,
                          .name = OBJECT_NAME_MAX / 2,
                          .letter = "\xc2\x9b"};
    yyjson_doc *doc = line_of_identity(&id, RECORD_LINE_MIN);
    (void)state;
    assert_true(is_truncated(doc));
    assert_memory_equal(text_at(doc, "name"), "\xc2\x9b\xc2\x9b", 4);
    assert_string_equal(text_at(doc, "uid"), UID);
    assert_string_equal(text_at(doc, "rv"), "18446744073709551615");
    assert_repeated(doc, "watch", "p", 384);
    yyjson_doc_free(doc);
}

/* Every field has the maximum length, and every byte is escaped. */
static void a_line_fits_whatever_a_server_sends(void **state)
{
    char *conf = repeat("p", 384), *bad = repeat("\xc2\x9b", OBJECT_NAME_MAX / 2);
    char *object = xasprintf("{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"name\":\"%s\","
                             "\"namespace\":\"%s\",\"uid\":\"%s\",\"resourceVersion\":\"%s\"}}",
                             bad, bad, bad, bad, bad, bad);
    struct watch_id watch = {
        .cluster = conf, .name = conf, .group = bad, .version = bad, .resource = bad, .kind = bad};
    struct sample sample;
    struct buf line;
    yyjson_doc *doc;
    (void)state;
    sample_make(&sample, object, object);
    line = line_of(&sample, &watch, WHOLE, RECORD_LINE_MIN);
    doc = check_line(&line, RECORD_LINE_MIN);
    assert_true(is_truncated(doc));
    assert_int_equal(strlen(text_at(doc, "uid")), 64);
    yyjson_doc_free(doc);
    sample_free(&sample);
    free(object);
    free(conf);
    free(bad);
}

static void a_long_note_is_shortened(void **state)
{
    const struct record_options options = {.max_line = RECORD_LINE_MIN};
    const struct stamp stamp = {.seq = 1, .log = "x"};
    char msg[4000];
    struct note note = {.type = NOTE_GAP, .reason = "skipped", .msg = msg, .count = -1};
    struct buf line = {0};
    yyjson_doc *doc;
    (void)state;
    memset(msg, '"', sizeof(msg));
    msg[sizeof(msg) - 1] = '\0';
    jsonl_format.put_note(&line, &note, &stamp, &pods, &options);
    doc = check_line(&line, RECORD_LINE_MIN);
    assert_true(is_truncated(doc));
    assert_string_equal(text_at(doc, "reason"), "skipped");
    yyjson_doc_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_random_change_is_a_valid_line),
        cmocka_unit_test(a_line_contains_less_with_less_room),
        cmocka_unit_test(the_object_is_omitted_before_the_context),
        cmocka_unit_test(labels_are_cut_after_values_and_before_the_owner),
        cmocka_unit_test(the_longest_names_are_never_cut),
        cmocka_unit_test(long_types_are_cut_before_the_name_of_the_object),
        cmocka_unit_test(a_name_that_is_too_long_is_cut_and_the_uid_kept),
        cmocka_unit_test(a_line_fits_whatever_a_server_sends),
        cmocka_unit_test(a_long_note_is_shortened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
