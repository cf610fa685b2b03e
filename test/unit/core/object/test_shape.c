/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "core/object/object.h"

/* A readable digest for tests: the value and its path in clear text. */
static void clear_digest(const struct digest *digest, const struct str *parts, size_t n,
                         char ret[DIGEST_HEX + 1])
{
    char all[256] = "";
    size_t len = 0;
    (void)digest;
    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(all + len, sizeof(all) - len, "%.*s|", STR_FMT(parts[i]));
    memset(ret, 0, DIGEST_HEX + 1);
    for (size_t i = 0; i < DIGEST_HEX && all[i]; i++)
        ret[i] = all[i] == '"' ? '\'' : all[i];
}

static const struct digest clear = {clear_digest};

/* The result for @text with the rules, a list of fields with '-' (remove) or '#' (hash) before
 * each. */
static void assert_shaped(bool secrets, const char *const rules[], const char *text,
                          const char *expected)
{
    struct object_maker maker = {.shape = NULL};
    struct inf_object *object = NULL;
    struct inf_error err;
    struct shape shape;
    shape_init(&shape, secrets, &clear);
    for (; rules && *rules; rules++)
        assert_int_equal(shape_add(&shape, inf_path_parse(*rules + 1, &err), **rules == '#', &err),
                         0);
    maker.shape = &shape;
    assert_int_equal(object_make(&maker, str_of(text), NULL, &object, &err), 0);
    assert_string_equal(inf_object_json(object, NULL), expected);
    inf_object_unref(object);
    object_maker_free(&maker);
    shape_free(&shape);
}

#define META "\"metadata\":{\"name\":\"s\",\"uid\":\"u\"}"
#define HEAD "\"kind\":\"Secret\",\"apiVersion\":\"v1\"," META

/* covers: P8 */
static void the_values_of_a_secret_are_hashed_its_keys_are_not(void **state)
{
    (void)state;
    assert_shaped(false, NULL, "{" HEAD ",\"data\":{\"password\":\"aHVudGVyMg==\",\"n\":null}}",
                  "{" HEAD ",\"data\":{\"password\":\"hmac:u|/data/password|'aHVudGVyMg=='|\","
                  "\"n\":null}}");
    assert_shaped(false, NULL, "{" HEAD ",\"stringData\":{\"a\":\"b\"},\"type\":\"Opaque\"}",
                  "{" HEAD ",\"stringData\":{\"a\":\"hmac:u|/stringData/a|'b'|\"},\"type\":"
                  "\"Opaque\"}");
}

/* covers: P8 */
static void hashes_values_under_escaped_and_duplicate_keys(void **state)
{
    (void)state;
    assert_shaped(false, NULL, "{" HEAD ",\"d\\u0061ta\":{\"a\":1},\"data\":[2,{\"b\":true}]}",
                  "{" HEAD ",\"d\\u0061ta\":{\"a\":\"hmac:u|/d\\u0061ta/a|1|\"},"
                  "\"data\":[\"hmac:u|/data/0|2|\",{\"b\":\"hmac:u|/data/1/b|true|\"}]}");
}

/* covers: P8 */
static void hashes_the_last_applied_annotation_of_a_secret(void **state)
{
    (void)state;
    assert_shaped(false, NULL,
                  "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"s\","
                  "\"annotations\":{\"kubectl.kubernetes.io/last-applied-configuration\":\"{}\","
                  "\"x\":\"y\"}}}",
                  "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"s\","
                  "\"annotations\":{\"kubectl.kubernetes.io/last-applied-configuration\":"
                  "\"hmac:|/metadata/annotations/kubectl.k\",\"x\":\"y\"}}}");
}

/* A watch of the metadata of Secrets has the kind PartialObjectMetadata; it counts as Secrets. */
static void the_resource_decides_and_not_the_kind(void **state)
{
    (void)state;
    assert_shaped(true, NULL, "{\"kind\":\"P\",\"apiVersion\":\"m\"," META ",\"data\":{\"a\":1}}",
                  "{\"kind\":\"P\",\"apiVersion\":\"m\"," META
                  ",\"data\":{\"a\":\"hmac:u|/data/a|1|\"}}");
    assert_shaped(false, NULL, "{\"kind\":\"P\",\"apiVersion\":\"m\"," META ",\"data\":{\"a\":1}}",
                  "{\"kind\":\"P\",\"apiVersion\":\"m\"," META ",\"data\":{\"a\":1}}");
}

#define POD "\"kind\":\"Pod\",\"apiVersion\":\"v1\"," META

static void removes_fields_that_a_path_selects(void **state)
{
    static const char *const rules[] = {"-spec.containers[*].env", "-status.conditions[type=Ready]",
                                        NULL};
    (void)state;
    assert_shaped(false, rules,
                  "{" POD ",\"spec\":{\"containers\":[{\"name\":\"a\",\"env\":[1]},{\"env\":[2]}]},"
                  "\"status\":{\"conditions\":[{\"type\":\"Ready\"},{\"type\":\"Other\"}]}}",
                  "{" POD ",\"spec\":{\"containers\":[{\"name\":\"a\"},{}]},"
                  "\"status\":{\"conditions\":[{\"type\":\"Other\"}]}}");
}

static void removing_takes_precedence_over_hashing(void **state)
{
    static const char *const rules[] = {"#spec.token", "-spec.token", "#spec.user", NULL};
    (void)state;
    assert_shaped(false, rules, "{" POD ",\"spec\":{\"token\":\"t\",\"user\":\"x\"}}",
                  "{" POD ",\"spec\":{\"user\":\"hmac:u|/spec/user|'x'|\"}}");
}

static void a_deep_value_is_hashed_as_a_whole(void **state)
{
    char text[1024] = "{" HEAD ",\"data\":", *end = text + strlen(text);
    struct object_maker maker = {.shape = NULL};
    struct inf_object *object = NULL;
    struct inf_error err;
    (void)state;
    for (int i = 0; i < 200; i++)
        *end++ = '[';
    *end++ = '7';
    for (int i = 0; i < 200; i++)
        *end++ = ']';
    strcpy(end, "}"); /* NOLINT: there is room */
    assert_int_equal(object_make(&maker, str_of(text), NULL, &object, &err), 0);
    assert_null(strchr(inf_object_json(object, NULL), '7'));
    inf_object_unref(object);
    object_maker_free(&maker);
}

/* ---- the number of hashes ---- */

/* Counts its calls; equal parts have equal digests. */
struct counter {
    struct digest digest;
    unsigned calls;
};

static void counting_digest(const struct digest *digest, const struct str *parts, size_t n,
                            char ret[DIGEST_HEX + 1])
{
    struct counter *counter = (struct counter *)(uintptr_t)digest; /* its first member */
    uint64_t hash = 14695981039346656037u;
    counter->calls++;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= parts[i].len; j++)
            hash =
                (hash ^ (j < parts[i].len ? (unsigned char)parts[i].at[j] : 0xff)) * 1099511628211u;
    snprintf(ret, DIGEST_HEX + 1, "%032llx", (unsigned long long)hash);
}

/* A Secret with @count times @item, with a number for its '%', separated by commas, between @open and @close. */
static void put_many(struct buf *text, const char *open, const char *item, unsigned count,
                     const char *close)
{
    buf_puts(text, "{" HEAD ",");
    buf_puts(text, open);
    for (unsigned i = 0; i < count; i++) {
        const char *mark = strchr(item, '%');
        buf_puts(text, i ? "," : "");
        buf_put(text, item, (size_t)(mark - item));
        buf_printf(text, "%u%s", i, mark + 1);
    }
    buf_puts(text, close);
    buf_puts(text, "}");
}

struct shaped {
    unsigned digests;
    size_t before, len;
    char *json;
};

static struct shaped shape_many(const char *rule, const char *open, const char *item,
                                unsigned count, const char *close)
{
    struct counter counter = {.digest = {counting_digest}};
    struct object_maker maker = {.shape = NULL};
    struct inf_object *object = NULL;
    struct inf_error err;
    struct shape shape;
    struct buf text = {0};
    struct shaped ret;
    put_many(&text, open, item, count, close);
    shape_init(&shape, false, &counter.digest);
    if (rule)
        assert_int_equal(shape_add(&shape, inf_path_parse(rule, &err), true, &err), 0);
    maker.shape = &shape;
    assert_int_equal(object_make(&maker, (struct str){text.bytes, text.len}, NULL, &object, &err),
                     0);
    ret = (struct shaped){counter.calls, text.len, 0, xstrdup(inf_object_json(object, NULL))};
    ret.len = strlen(ret.json);
    inf_object_unref(object);
    object_maker_free(&maker);
    shape_free(&shape);
    buf_free(&text);
    return ret;
}

/* covers: P8 */
static void with_too_many_values_a_part_is_hashed_as_one(void **state)
{
    static const struct {
        const char *rule, *open, *item, *close, *after;
    } cases[] = {
        {NULL, "\"data\":{", "\"k%\":\"\"", "}", ",\"data\":\"hmac:"},
        {NULL, "\"data\":[", "%", "]", ",\"data\":\"hmac:"},
        {NULL, "\"data\":[[[", "%", "]]]", ",\"data\":\"hmac:"},
        {NULL, "\"data\":{\"a\":{", "\"k%\":{\"x\":1}", "}}", ",\"data\":\"hmac:"},
        {"spec.list[*].v", "\"spec\":{\"list\":[", "{\"n\":%,\"v\":1}", "]}", ",\"spec\":\"hmac:"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct shaped at = shape_many(cases[i].rule, cases[i].open, cases[i].item, SHAPE_HASHES_MAX,
                                      cases[i].close);
        struct shaped over =
            shape_many(cases[i].rule, cases[i].open, cases[i].item, 200 * 1000, cases[i].close);
        assert_int_equal(at.digests, SHAPE_HASHES_MAX);
        assert_null(strstr(at.json, cases[i].after));
        assert_int_equal(over.digests, SHAPE_HASHES_MAX + 1);
        assert_non_null(strstr(over.json, cases[i].after));
        assert_true(over.len < 200);
        free(at.json);
        free(over.json);
    }
}

/* The rest of metadata is needed: names, labels, versions. */
static void metadata_is_hashed_by_its_members(void **state)
{
    struct counter counter = {.digest = {counting_digest}};
    struct object_maker maker = {.shape = NULL};
    struct inf_object *object = NULL;
    struct inf_error err;
    struct shape shape;
    struct buf text = {0};
    (void)state;
    buf_puts(
        &text,
        "{\"kind\":\"P\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n\",\"annotations\":{");
    for (unsigned i = 0; i <= SHAPE_HASHES_MAX; i++)
        buf_printf(&text, "%s\"k%u\":\"v\"", i ? "," : "", i);
    buf_puts(&text, "},\"labels\":{\"a\":\"b\"}},\"data\":{\"x\":\"y\"}}");
    shape_init(&shape, false, &counter.digest);
    assert_int_equal(shape_add(&shape, inf_path_parse("metadata.annotations", &err), true, &err),
                     0);
    assert_int_equal(shape_add(&shape, inf_path_parse("data", &err), true, &err), 0);
    maker.shape = &shape;
    assert_int_equal(object_make(&maker, (struct str){text.bytes, text.len}, NULL, &object, &err),
                     0);
    assert_non_null(
        strstr(inf_object_json(object, NULL), "{\"name\":\"n\",\"annotations\":\"hmac:"));
    assert_non_null(strstr(inf_object_json(object, NULL), "\"labels\":{\"a\":\"b\"}"));
    assert_non_null(strstr(inf_object_json(object, NULL), "\"data\":{\"x\":\"hmac:"));
    assert_int_equal(counter.calls, SHAPE_HASHES_MAX + 1 + 1);
    inf_object_unref(object);
    object_maker_free(&maker);
    shape_free(&shape);
    buf_free(&text);
}

static void a_part_hashed_as_one_is_equal_if_its_values_are(void **state)
{
    struct shaped a = shape_many(NULL, "\"data\":{", "\"k%\":1", 5000, "}");
    struct shaped spaced = shape_many(NULL, "\"data\" : { ", " \"k%\" : 1\n", 5000, "}");
    struct shaped other = shape_many(NULL, "\"data\":{\"x\":2,", "\"k%\":1", 5000, "}");
    (void)state;
    assert_string_equal(a.json, spaced.json);
    assert_string_not_equal(a.json, other.json);
    free(a.json);
    free(spaced.json);
    free(other.json);
}

static void duplicate_keys_cost_no_hash_each(void **state)
{
    struct shaped many = shape_many(NULL, "", "\"data\":%", 200 * 1000, "");
    (void)state;
    assert_int_equal(many.digests, SHAPE_RULES_MAX);
    assert_true(many.len < 2 * many.before);
    assert_null(strstr(many.json, "\"data\":1"));
    free(many.json);
}

/* ---- the last writer ---- */

static void assert_writer(const char *entries, bool status_only, const char *expected)
{
    struct object_maker maker = {.shape = NULL};
    struct inf_object *object = NULL;
    struct inf_writer writer = {.manager = "(unknown)"};
    enum inf_part part = status_only ? INF_PART_STATUS : INF_PART_ANY;
    struct inf_error err;
    char text[1024];
    snprintf(text, sizeof(text),
             "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"managedFields\":[%s]}}", entries);
    assert_int_equal(object_make(&maker, str_of(text), NULL, &object, &err), 0);
    assert_int_equal(inf_object_writer(object, part, &writer), strcmp(expected, "(unknown)") != 0);
    assert_string_equal(writer.manager, expected);
    inf_object_unref(object);
    object_maker_free(&maker);
}

#define BY(manager, time) "{\"manager\":\"" manager "\",\"time\":\"2026-01-01T00:00:" time "Z\"}"
#define STATUS_BY(manager, time)                                                                \
    "{\"manager\":\"" manager "\",\"subresource\":\"status\",\"time\":\"2026-01-01T00:00:" time \
    "Z\"}"

static void finds_the_last_writer(void **state)
{
    (void)state;
    assert_writer("", false, "(unknown)");
    assert_writer(BY("kubectl", "01"), false, "kubectl");
    assert_writer(BY("kubectl", "01") "," STATUS_BY("kubelet", "02"), false, "kubelet");
    assert_writer(BY("kubectl", "03") "," STATUS_BY("kubelet", "02"), true, "kubectl");
}

static void a_tie_is_decided_by_what_changed_or_not_at_all(void **state)
{
    (void)state;
    assert_writer(BY("kubectl", "02") "," STATUS_BY("kubelet", "02"), true, "kubelet");
    assert_writer(BY("kubectl", "02") "," STATUS_BY("kubelet", "02"), false, "(unknown)");
    assert_writer(BY("a", "02") "," BY("b", "02"), false, "(unknown)");
    assert_writer(BY("a", "02") "," BY("b", "02") "," STATUS_BY("kubelet", "02"), true, "kubelet");
}

static void malformed_entries_have_no_known_writer(void **state)
{
    (void)state;
    assert_writer("1,null,{\"manager\":5,\"time\":7}", false, "(unknown)");
    assert_writer("{\"manager\":\"a\\u0007b\",\"time\":\"2026\"}", false, "");
}

static void reports_whether_a_shape_hides_values(void **state)
{
    struct shape shape;
    (void)state;
    shape_init(&shape, false, NULL);
    assert_false(shape_hides(&shape)); /* not a resource with secrets */
    assert_int_equal(shape_add(&shape, inf_path_parse("spec", NULL), false, NULL), 0);
    assert_false(shape_hides(&shape)); /* fields are only removed */
    assert_int_equal(shape_add(&shape, inf_path_parse("status", NULL), true, NULL), 0);
    assert_true(shape_hides(&shape));
    shape_free(&shape);
    shape_init(&shape, true, NULL);
    assert_true(shape_hides(&shape));
    shape_free(&shape);
    shape_init_bare(&shape, true, NULL);
    assert_false(shape_hides(&shape)); /* revealed */
    shape_free(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_whether_a_shape_hides_values),
        cmocka_unit_test(the_values_of_a_secret_are_hashed_its_keys_are_not),
        cmocka_unit_test(hashes_values_under_escaped_and_duplicate_keys),
        cmocka_unit_test(hashes_the_last_applied_annotation_of_a_secret),
        cmocka_unit_test(the_resource_decides_and_not_the_kind),
        cmocka_unit_test(removes_fields_that_a_path_selects),
        cmocka_unit_test(removing_takes_precedence_over_hashing),
        cmocka_unit_test(a_deep_value_is_hashed_as_a_whole),
        cmocka_unit_test(with_too_many_values_a_part_is_hashed_as_one),
        cmocka_unit_test(metadata_is_hashed_by_its_members),
        cmocka_unit_test(a_part_hashed_as_one_is_equal_if_its_values_are),
        cmocka_unit_test(duplicate_keys_cost_no_hash_each),
        cmocka_unit_test(finds_the_last_writer),
        cmocka_unit_test(a_tie_is_decided_by_what_changed_or_not_at_all),
        cmocka_unit_test(malformed_entries_have_no_known_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
