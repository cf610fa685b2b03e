/* cmocka wants these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/object.h"

/* A digest that a test can foresee: of what, and where, in clear. */
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

/* What becomes of @text under the rules, a list of fields with '-' (cut) or '#' (hash) before each.
 */
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
static void escapes_and_duplicates_hide_nothing(void **state)
{
    (void)state;
    assert_shaped(false, NULL, "{" HEAD ",\"d\\u0061ta\":{\"a\":1},\"data\":[2,{\"b\":true}]}",
                  "{" HEAD ",\"d\\u0061ta\":{\"a\":\"hmac:u|/d\\u0061ta/a|1|\"},"
                  "\"data\":[\"hmac:u|/data/0|2|\",{\"b\":\"hmac:u|/data/1/b|true|\"}]}");
}

/* covers: P8 */
static void what_kubectl_applied_to_a_secret_is_hashed_too(void **state)
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

/* A watch of Secrets' metadata says PartialObjectMetadata; it is theirs all the same. */
static void the_resource_decides_whatever_the_kind_says(void **state)
{
    (void)state;
    assert_shaped(true, NULL, "{\"kind\":\"P\",\"apiVersion\":\"m\"," META ",\"data\":{\"a\":1}}",
                  "{\"kind\":\"P\",\"apiVersion\":\"m\"," META
                  ",\"data\":{\"a\":\"hmac:u|/data/a|1|\"}}");
    assert_shaped(false, NULL, "{\"kind\":\"P\",\"apiVersion\":\"m\"," META ",\"data\":{\"a\":1}}",
                  "{\"kind\":\"P\",\"apiVersion\":\"m\"," META ",\"data\":{\"a\":1}}");
}

#define POD "\"kind\":\"Pod\",\"apiVersion\":\"v1\"," META

static void fields_are_cut_wherever_the_path_leads(void **state)
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

static void cutting_wins_over_hashing(void **state)
{
    static const char *const rules[] = {"#spec.token", "-spec.token", "#spec.user", NULL};
    (void)state;
    assert_shaped(false, rules, "{" POD ",\"spec\":{\"token\":\"t\",\"user\":\"x\"}}",
                  "{" POD ",\"spec\":{\"user\":\"hmac:u|/spec/user|'x'|\"}}");
}

static void a_deep_value_is_hashed_whole(void **state)
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

/* ---- who ---- */

static void assert_who(const char *entries, bool status_only, const char *expected)
{
    struct object_maker maker = {.shape = NULL};
    struct inf_object *object = NULL;
    struct inf_who who = {"nobody", "", ""};
    struct inf_error err;
    char text[1024];
    snprintf(text, sizeof(text),
             "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"managedFields\":[%s]}}", entries);
    assert_int_equal(object_make(&maker, str_of(text), NULL, &object, &err), 0);
    assert_int_equal(inf_object_who(object, status_only, &who), strcmp(expected, "nobody") != 0);
    assert_string_equal(who.manager, expected);
    inf_object_unref(object);
    object_maker_free(&maker);
}

#define BY(manager, time) "{\"manager\":\"" manager "\",\"time\":\"2026-01-01T00:00:" time "Z\"}"
#define STATUS_BY(manager, time)                                                                \
    "{\"manager\":\"" manager "\",\"subresource\":\"status\",\"time\":\"2026-01-01T00:00:" time \
    "Z\"}"

static void the_last_writer_is_known(void **state)
{
    (void)state;
    assert_who("", false, "nobody");
    assert_who(BY("kubectl", "01"), false, "kubectl");
    assert_who(BY("kubectl", "01") "," STATUS_BY("kubelet", "02"), false, "kubelet");
    assert_who(BY("kubectl", "03") "," STATUS_BY("kubelet", "02"), true, "kubectl");
}

static void a_tie_is_decided_by_what_changed_or_not_at_all(void **state)
{
    (void)state;
    assert_who(BY("kubectl", "02") "," STATUS_BY("kubelet", "02"), true, "kubelet");
    assert_who(BY("kubectl", "02") "," STATUS_BY("kubelet", "02"), false, "nobody");
    assert_who(BY("a", "02") "," BY("b", "02"), false, "nobody");
    assert_who(BY("a", "02") "," BY("b", "02") "," STATUS_BY("kubelet", "02"), true, "kubelet");
}

static void odd_entries_are_nobody(void **state)
{
    (void)state;
    assert_who("1,null,{\"manager\":5,\"time\":7}", false, "nobody");
    assert_who("{\"manager\":\"a\\u0007b\",\"time\":\"2026\"}", false, "");
}

static void it_hides_something_where_something_is_hashed(void **state)
{
    struct shape shape;
    (void)state;
    shape_init(&shape, false, NULL);
    assert_false(shape_hides(&shape)); /* no Secrets here */
    assert_int_equal(shape_add(&shape, inf_path_parse("spec", NULL), false, NULL), 0);
    assert_false(shape_hides(&shape)); /* only cut */
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
        cmocka_unit_test(it_hides_something_where_something_is_hashed),
        cmocka_unit_test(the_values_of_a_secret_are_hashed_its_keys_are_not),
        cmocka_unit_test(escapes_and_duplicates_hide_nothing),
        cmocka_unit_test(what_kubectl_applied_to_a_secret_is_hashed_too),
        cmocka_unit_test(the_resource_decides_whatever_the_kind_says),
        cmocka_unit_test(fields_are_cut_wherever_the_path_leads),
        cmocka_unit_test(cutting_wins_over_hashing),
        cmocka_unit_test(a_deep_value_is_hashed_whole),
        cmocka_unit_test(the_last_writer_is_known),
        cmocka_unit_test(a_tie_is_decided_by_what_changed_or_not_at_all),
        cmocka_unit_test(odd_entries_are_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
