/*
 * test_object.c - from the text of the server to the canonical form of an object.
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
#include "base/json/json.h"
#include "core/object/object.h"
#include "recording.h"

/* Makes an object from memory that is freed at once; NULL and @ret_err if it is refused. */
static struct inf_object *try_make(struct str text, const struct object_defaults *defaults,
                                   struct inf_error *ret_err)
{
    struct object_maker maker = {.text = {0}};
    struct inf_object *object = NULL;
    char *block = xmalloc(text.len);
    int rc;
    memcpy(block, text.at, text.len);
    rc = object_make(&maker, (struct str){block, text.len}, defaults, &object, ret_err);
    free(block);
    object_maker_free(&maker);
    assert_int_equal(rc == 0, object != NULL);
    if (rc < 0)
        assert_int_equal(rc, -ret_err->code);
    return object;
}

static struct inf_object *make_str(struct str text, const struct object_defaults *defaults)
{
    struct inf_error err;
    struct inf_object *object = try_make(text, defaults, &err);
    if (!object)
        fail_msg("%.*s: %s", STR_FMT(text), err.text);
    return object;
}

static struct inf_object *make(const char *text)
{
    return make_str(str_of(text), NULL);
}

static void assert_canonical(const char *text, const char *expected)
{
    struct inf_object *object = make(text);
    assert_string_equal(inf_object_json(object, NULL), expected);
    inf_object_unref(object);
}

/* The member @name of @object; empty if it is missing. */
static struct str member(struct str object, const char *name)
{
    struct json_walk walk;
    struct json_member m;
    json_walk_start(&walk, object);
    while (json_walk_next(&walk, &m))
        if (json_key_is(m.key, name))
            return m.value;
    return (struct str){0};
}

static bool is_json(const char *text)
{
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    yyjson_doc_free(doc);
    return doc != NULL;
}

static struct inf_object *recorded_event(const char *name)
{
    struct recording r;
    struct str line;
    struct inf_object *object;
    recording_open(&r, name);
    assert_true(recording_next(&r, &line));
    object = make_str(member(line, "object"), NULL);
    recording_close(&r);
    return object;
}

/* The first item of a list. */
static struct inf_object *recorded_item(const char *name, const struct object_defaults *defaults)
{
    struct recording r;
    struct str items;
    struct inf_object *object;
    char *text;
    recording_open(&r, name);
    items = member(recording_body(&r), "items");
    text = xasprintf("{\"first\":%.*s", (int)items.len - 1, items.at + 1);
    object = make_str(member(str_of(text), "first"), defaults);
    free(text);
    recording_close(&r);
    return object;
}

static void a_recorded_secret_in_canonical_form(void **state)
{
    struct inf_object *object = recorded_event("secrets-watchlist");
    (void)state;
    assert_string_equal(
        inf_object_json(object, NULL),
        "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
        "\"db-password\",\"namespace\":\"default\",\"uid\":"
        "\"3243043e-2334-43da-b2a3-57a420feffe7\",\"resourceVersion\":\"508\","
        "\"creationTimestamp\":\"2026-11-15T23:21:33Z\"},"
        "\"data\":{\"password\":\"hmac:00000000000000000000000000000000\"},\"type\":\"Opaque\"}");
    inf_object_unref(object);
}

/* Custom resources have sorted keys; the quotes in their annotations stay escaped. */
static void a_recorded_custom_resource_in_canonical_form(void **state)
{
    struct inf_object *object = recorded_event("widgets-watchlist");
    (void)state;
    assert_string_equal(
        inf_object_json(object, NULL),
        "{\"kind\":\"Widget\",\"apiVersion\":\"example.com/v1\",\"metadata\":{\"annotations\":{"
        "\"kubectl.kubernetes.io/last-applied-configuration\":\"{\\\"apiVersion\\\":\\\"example."
        "com/v1\\\",\\\"kind\\\":\\\"Widget\\\",\\\"metadata\\\":{\\\"annotations\\\":{},"
        "\\\"labels\\\":{\\\"color\\\":\\\"red\\\"},\\\"name\\\":\\\"widget-1\\\","
        "\\\"namespace\\\":\\\"default\\\"},\\\"spec\\\":{\\\"color\\\":\\\"red\\\",\\\"size\\\":1}"
        "}\\n\"},\"creationTimestamp\":\"2026-11-15T23:21:33Z\",\"generation\":1,\"labels\":{"
        "\"color\":\"red\"},\"name\":\"widget-1\",\"namespace\":\"default\",\"resourceVersion\":"
        "\"505\",\"uid\":\"cc384199-a32f-47c3-95a7-7ebab9c0a3fc\"},\"spec\":{\"color\":\"red\","
        "\"size\":1}}");
    inf_object_unref(object);
}

static void every_recorded_object_begins_with_its_kind_and_has_no_managed_fields(void **state)
{
    static const char *const names[] = {"pods-watchlist", "pods-watchlist-metadata",
                                        "pods-watch-lifecycle", "widgets-watchlist",
                                        "secrets-watchlist"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct inf_object *object = recorded_event(names[i]);
        size_t len;
        const char *json = inf_object_json(object, &len);
        char *start = xasprintf("{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{",
                                inf_object_kind(object), inf_object_api_version(object));
        assert_int_equal(len, strlen(json));
        assert_memory_equal(json, start, strlen(start));
        assert_null(strstr(json, "managedFields"));
        assert_null(strchr(json, '\n'));
        free(start);
        inf_object_unref(object);
    }
}

static void a_list_item_equals_the_watch_event(void **state)
{
    struct inf_object *item = recorded_item("widgets-list", NULL);
    struct inf_object *event = recorded_event("widgets-watchlist");
    (void)state;
    assert_true(object_equal(item, event));
    inf_object_unref(item);
    inf_object_unref(event);
    item = recorded_item("pods-list-metadata", NULL);
    event = recorded_event("pods-watchlist-metadata");
    assert_true(object_equal(item, event));
    inf_object_unref(item);
    inf_object_unref(event);
}

/* Items of built-in types have no kind; it comes from their list. */
static void an_item_takes_kind_and_version_from_its_list(void **state)
{
    static const struct object_defaults defaults = {{"ConfigMap", 9}, {"v1", 2}};
    struct inf_object *item = recorded_item("configmaps-list-page1", &defaults);
    struct inf_object *bare = recorded_item("configmaps-list-page1", NULL), *event;
    const char *rest = strstr(inf_object_json(bare, NULL), "\"metadata\"");
    char *text = xasprintf("{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",%s", rest);
    (void)state;
    event = make(text); /* the same object in a watch event */
    assert_string_equal(inf_object_kind(item), "ConfigMap");
    assert_string_equal(inf_object_api_version(item), "v1");
    assert_string_equal(inf_object_json(item, NULL), text);
    assert_true(object_equal(item, event));
    assert_false(object_equal(item, bare));
    inf_object_unref(item);
    inf_object_unref(bare);
    inf_object_unref(event);
    free(text);
}

static void kind_and_version_of_an_object_override_those_of_its_list(void **state)
{
    static const struct object_defaults defaults = {{"Pod", 3}, {"v1", 2}};
    struct inf_object *object = make_str(
        STR("{\"kind\":\"Other\",\"metadata\":{\"name\":\"a\"},\"apiVersion\":null}"), &defaults);
    (void)state;
    assert_string_equal(inf_object_json(object, NULL),
                        "{\"kind\":\"Other\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}");
    inf_object_unref(object);
}

#define META "\"metadata\":{\"name\":\"a\"}"
#define HEAD "{\"kind\":\"K\",\"apiVersion\":\"v1\"," META

static void keeps_the_order_of_other_members(void **state)
{
    (void)state;
    assert_canonical("{\"z\":1,\"apiVersion\":\"v1\"," META ",\"kind\":\"K\",\"a\":2}",
                     "{\"kind\":\"K\",\"apiVersion\":\"v1\",\"z\":1," META ",\"a\":2}");
    assert_canonical("{" META "}", "{\"kind\":\"\",\"apiVersion\":\"\"," META "}");
}

static void keeps_the_spelling_of_values(void **state)
{
    (void)state;
    assert_canonical(HEAD ",\"n\":[1e2,-0,1.50,12345678901234567890123,1E+400]}",
                     HEAD ",\"n\":[1e2,-0,1.50,12345678901234567890123,1E+400]}");
    assert_canonical(HEAD ",\"s\":\"\\u003cb\\u003e \\/ / \\ud83d\\ude00 \xc3\xa9 \\u00e9\"}",
                     HEAD ",\"s\":\"\\u003cb\\u003e \\/ / \\ud83d\\ude00 \xc3\xa9 \\u00e9\"}");
    assert_canonical(HEAD ",\"\\u0061\":null,\"b\":[true,false,{},[]]}",
                     HEAD ",\"\\u0061\":null,\"b\":[true,false,{},[]]}");
}

static void removes_white_space_only_between_tokens(void **state)
{
    (void)state;
    assert_canonical("\n{ \"kind\" : \"K\" ,\r\n\t\"apiVersion\":\"v1\", \"metadata\" : {\n"
                     "  \"name\" : \"a\" , \"labels\" : { \"x  y\" : \" z \" } } , \"l\" : [ 1 , "
                     "2 ] }\n",
                     "{\"kind\":\"K\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\","
                     "\"labels\":{\"x  y\":\" z \"}},\"l\":[1,2]}");
}

static void removes_managed_fields_in_any_position_and_spelling(void **state)
{
#define WITH(metadata) "{\"kind\":\"K\",\"apiVersion\":\"v1\",\"metadata\":{" metadata "}}"
#define WITHOUT        "{\"kind\":\"K\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}"
    (void)state;
    assert_canonical(WITH("\"managedFields\":[{}],\"name\":\"a\""), WITHOUT);
    assert_canonical(WITH("\"name\":\"a\",\"managedFields\":[{\"f:x\":{}}]"), WITHOUT);
    assert_canonical(WITH("\"managed\\u0046ields\":[],\"name\":\"a\",\"managedFields\":null"),
                     WITHOUT);
    assert_canonical(WITH("\"managedFields\":[1],\"managedFields\":[2],\"name\":\"a\""), WITHOUT);
    assert_canonical("{\"kind\":\"K\",\"apiVersion\":\"v1\","
                     "\"m\\u0065tadata\":{\"name\":\"a\",\"managedFields\":[]}}",
                     "{\"kind\":\"K\",\"apiVersion\":\"v1\",\"m\\u0065tadata\":{\"name\":\"a\"}}");
}

/* The name is that of the first one; managedFields are removed from both. */
static void removes_managed_fields_from_duplicate_metadata(void **state)
{
    (void)state;
    assert_canonical("{\"kind\":\"K\",\"apiVersion\":\"v1\"," META
                     ",\"metadata\":{\"name\":\"b\",\"managedFields\":[]}}",
                     HEAD ",\"metadata\":{\"name\":\"b\"}}");
    assert_canonical(HEAD ",\"kind\":\"L\",\"k\\u0069nd\":\"M\"}", HEAD "}");
}

static void removes_managed_fields_only_from_metadata(void **state)
{
    (void)state;
    assert_canonical(HEAD ",\"managedFields\":[1],\"spec\":{\"template\":{\"metadata\":"
                          "{\"managedFields\":[2],\"kind\":\"x\"}}}}",
                     HEAD ",\"managedFields\":[1],\"spec\":{\"template\":{\"metadata\":"
                          "{\"managedFields\":[2],\"kind\":\"x\"}}}}");
}

static void getters_return_the_values_of_the_server(void **state)
{
    struct inf_object *object = recorded_event("pods-watchlist");
    (void)state;
    assert_string_equal(inf_object_kind(object), "Pod");
    assert_string_equal(inf_object_api_version(object), "v1");
    assert_string_equal(inf_object_namespace(object), "default");
    assert_string_equal(inf_object_name(object), "web-frontend-66b99d9c48-m42qs");
    assert_string_equal(inf_object_resource_version(object), "282");
    assert_int_equal(strlen(inf_object_uid(object)), 36);
    assert_true(str_eq(object_key(object), STR("default/web-frontend-66b99d9c48-m42qs")));
    inf_object_unref(object);
}

static void absent_fields_are_empty(void **state)
{
    struct inf_object *object = make("{\"metadata\":{\"name\":\"node-1\",\"namespace\":null}}");
    (void)state;
    assert_string_equal(inf_object_kind(object), "");
    assert_string_equal(inf_object_namespace(object), "");
    assert_string_equal(inf_object_name(object), "node-1");
    assert_string_equal(inf_object_uid(object), "");
    assert_string_equal(inf_object_resource_version(object), "");
    assert_true(str_eq(object_key(object), STR("node-1"))); /* cluster-scoped: no slash */
    inf_object_unref(object);
}

static void getters_return_unescaped_names(void **state)
{
    struct inf_object *object = make("{\"kind\":\"\\u004b\",\"metadata\":{\"n\\u0061me\":"
                                     "\"\\u0061\\u002db\",\"namespace\":\"\\u00e9\"}}");
    (void)state;
    assert_string_equal(inf_object_kind(object), "K");
    assert_string_equal(inf_object_name(object), "a-b");
    assert_string_equal(inf_object_namespace(object), "\xc3\xa9");
    assert_true(str_eq(object_key(object), STR("\xc3\xa9/a-b")));
    inf_object_unref(object);
}

#define AT(uid, version, more)                                    \
    "{\"kind\":\"K\",\"metadata\":{\"name\":\"a\",\"uid\":\"" uid \
    "\",\"resourceVersion\":\"" version "\"}" more "}"

static void objects_are_equal_if_uid_version_and_text_are(void **state)
{
    struct inf_object *object = make(AT("u", "1", ",\"a\":1"));
    static const struct {
        const char *text;
        bool equal;
    } others[] = {
        {AT("u", "1", ",\"a\":1"), true},  {AT("u", "1", ", \"a\" : 1 "), true},
        {AT("u", "1", ",\"a\":2"), false}, {AT("u", "1", ",\"a\":1.0"), false},
        {AT("u", "2", ",\"a\":1"), false}, {AT("v", "1", ",\"a\":1"), false},
    };
    (void)state;
    assert_true(object_equal(object, object));
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct inf_object *other = make(others[i].text);
        assert_int_equal(object_equal(object, other), others[i].equal);
        inf_object_unref(other);
    }
    inf_object_unref(object);
}

static void an_object_lives_until_its_last_reference_is_released(void **state)
{
    struct inf_object *object = make("{\"metadata\":{\"name\":\"a\"}}");
    (void)state;
    assert_ptr_equal(inf_object_ref(object), object);
    inf_object_unref(object);
    assert_string_equal(inf_object_name(object), "a");
    inf_object_unref(object);
    inf_object_unref(NULL);
}

static void its_size_is_that_of_its_text_and_a_small_header(void **state)
{
    struct inf_object *object = recorded_event("pods-watchlist");
    size_t len;
    (void)state;
    inf_object_json(object, &len);
    assert_in_range(inf_object_size(object), len + 60, len + 400);
    inf_object_unref(object);
}

static void a_maker_can_be_used_repeatedly(void **state)
{
    struct object_maker maker = {.text = {0}};
    struct inf_object *large = NULL, *small = NULL;
    struct inf_error err;
    (void)state;
    assert_int_equal(object_make(&maker, STR(HEAD ",\"long\":\"0123456789\"}"), NULL, &large, &err),
                     0);
    assert_int_equal(object_make(&maker, STR("{}"), NULL, &small, &err), -INF_EDECODE);
    assert_null(small);
    assert_int_equal(object_make(&maker, STR(HEAD "}"), NULL, &small, &err), 0);
    assert_string_equal(inf_object_json(large, NULL), HEAD ",\"long\":\"0123456789\"}");
    assert_string_equal(inf_object_json(small, NULL), HEAD "}");
    inf_object_unref(large);
    inf_object_unref(small);
    object_maker_free(&maker);
}

static const struct {
    const char *text;
    const char *why; /* part of the message */
} refused[] = {
    {"", "object: "},
    {"nothing", "object: "},
    {"{\"metadata\":{\"name\":\"a\"}", "object: "},
    {"{\"metadata\":{\"name\":\"a\"}} x", "object: "},
    {"{\"metadata\":{\"name\":\"\xc3\"}}", "object: "},
    /* removing managedFields repairs nothing */
    {"{\"metadata\":{\"name\":\"a\"\"managedFields\":[]}}", "object: "},
    {"{\"metadata\":{\"name\":\"a\" \"managedFields\":[]}}", "object: "},
    {"{\"metadata\":{\"name\":\"a\",\"managedFields\":[],}}", "object: "},
    {"{\"metadata\":{\"name\":\"a\",,\"managedFields\":[]}}", "object: "},
    {"{\"metadata\":{,\"managedFields\":[],\"name\":\"a\"}}", "object: "},
    {"{\"metadata\":{\"managedFields\":[]\"name\":\"a\"}}", "object: "},
    {"{\"metadata\":{\"name\":\"a\",\"managedFields\":[}}", "object: "},
    {"{\"metadata\":{\"name\":\"a\",\"managedFields\":[", "object: "},
    {"{\"metadata\":{\"name\":\"a\",\"managedFields\":[{]}}", "object: "},
    {"{\"metadata\":{\"name\":\"a\",\"managedFields\":[{\"a\":1{}]}}", "object: "},
    {"{\"metadata\":{\"name\":\"a\",\"managedFields\":[1\"]}}", "object: "},
    {"[]", "metadata is missing"},
    {"\"text\"", "metadata is missing"},
    {"5", "metadata is missing"},
    {"{}", "metadata is missing"},
    {"{\"metadata\":null}", "metadata is missing"},
    {"{\"metadata\":\"name\"}", "metadata is missing"},
    {"{\"metadata\":{}}", "metadata.name is missing"},
    {"{\"metadata\":{\"name\":\"\"}}", "metadata.name is missing"},
    {"{\"metadata\":{\"name\":\"a/b\"}}", "makes its key ambiguous"},
    {"{\"metadata\":{\"name\":{}}}", "'name' is not a string"},
    {"{\"metadata\":{\"name\":\"a\",\"uid\":1}}", "'uid' is not a string"},
    {"{\"metadata\":{\"name\":\"a\",\"resourceVersion\":1}}", "'resourceVersion' is not a string"},
    {"{\"kind\":[]," META "}", "'kind' is not a string"},
    {"{\"apiVersion\":\"v\\u00001\"," META "}", "'apiVersion' contains control characters"},
    {"{\"metadata\":{\"name\":\"a\\u001f\"}}", "'name' contains control characters"},
    {"{\"metadata\":{\"name\":\"\\u007f\"}}", "'name' contains control characters"},
};

static void refuses_an_object_without_a_usable_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct inf_error err = {0};
        struct inf_object *object = try_make(str_of(refused[i].text), NULL, &err);
        if (object || err.code != INF_EDECODE || !strstr(err.text, refused[i].why))
            fail_msg("%s -> %s", refused[i].text, object ? "taken" : err.text);
    }
}

static void names_have_a_limit(void **state)
{
    static const char *const fields[] = {"name", "namespace", "uid", "resourceVersion"};
    char longest[OBJECT_NAME_MAX + 1] = "";
    (void)state;
    memset(longest, 'x', OBJECT_NAME_MAX);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        char *good = xasprintf("{\"metadata\":{\"%s\":\"%s\",\"name\":\"a\"}}", fields[i], longest);
        char *bad = xasprintf("{\"metadata\":{\"%s\":\"%sx\",\"name\":\"a\"}}", fields[i], longest);
        struct inf_error err = {0};
        inf_object_unref(make(good));
        assert_null(try_make(str_of(bad), NULL, &err));
        assert_int_equal(err.code, INF_EDECODE);
        assert_non_null(strstr(err.text, "has 1025 bytes; the limit is 1024"));
        free(good);
        free(bad);
    }
}

static void no_prefix_of_a_recorded_object_is_an_object(void **state)
{
    struct recording r;
    struct str line, text;
    (void)state;
    recording_open(&r, "widgets-watchlist");
    assert_true(recording_next(&r, &line));
    text = member(line, "object");
    for (size_t len = 0; len < text.len; len++) {
        struct inf_error err;
        assert_null(try_make((struct str){text.at, len}, NULL, &err));
        assert_int_equal(err.code, INF_EDECODE);
    }
    recording_close(&r);
}

/* After any change of one byte, an accepted object is valid JSON without managedFields. */
static void the_canonical_text_is_json(void **state)
{
    static const char signs[] = "{}[]\",:\\ 0x\xc3\x01";
    struct recording r;
    struct str line, text;
    char *bytes;
    size_t taken = 0;
    (void)state;
    recording_open(&r, "pods-watchlist");
    assert_true(recording_next(&r, &line));
    text = member(line, "object");
    bytes = xmalloc(text.len);
    for (size_t i = 0; i < text.len; i++) {
        struct inf_error err;
        struct inf_object *object;
        memcpy(bytes, text.at, text.len);
        bytes[i] = signs[i % (sizeof(signs) - 1)];
        object = try_make((struct str){bytes, text.len}, NULL, &err);
        if (!object)
            continue;
        taken++;
        assert_true(is_json(inf_object_json(object, NULL)));
        inf_object_unref(object);
    }
    assert_in_range(taken, 10, text.len - 10);
    free(bytes);
    recording_close(&r);
}

/* Makes an object with @deep nested brackets. */
static struct inf_object *try_deep(size_t deep, struct inf_error *err)
{
    struct buf text = {0};
    struct inf_object *object;
    buf_puts(&text, HEAD ",\"deep\":");
    memset(buf_room(&text, deep - 1), '[', deep - 1);
    text.len += deep - 1;
    memset(buf_room(&text, deep - 1), ']', deep - 1);
    text.len += deep - 1;
    buf_putc(&text, '}');
    object = try_make((struct str){text.bytes, text.len}, NULL, err);
    if (object)
        assert_memory_equal(inf_object_json(object, NULL), text.bytes, text.len);
    buf_free(&text);
    return object;
}

static void depth_is_limited(void **state)
{
    static const size_t too_deep[] = {OBJECT_DEPTH_MAX + 1, 200 * 1000};
    struct inf_error err;
    struct inf_object *object = try_deep(OBJECT_DEPTH_MAX, &err);
    (void)state;
    assert_non_null(object);
    inf_object_unref(object);
    for (size_t i = 0; i < ARRAY_LEN(too_deep); i++) {
        assert_null(try_deep(too_deep[i], &err));
        assert_string_equal(err.text, "object: nested more than 512 levels deep");
    }
}

/* The same object with a rule that matches nothing, for which each member is copied separately. */
static void assert_copied_alike(struct str text, const struct object_defaults *defaults)
{
    static const struct digest none = {0};
    struct inf_object *quick = make_str(text, defaults), *slow = NULL;
    struct object_maker maker = {.text = {0}};
    struct shape shape;
    shape_init(&shape, false, &none);
    shape_add(&shape, inf_path_parse("status.nothing.here", NULL), false, NULL);
    maker.shape = &shape;
    assert_int_equal(object_make(&maker, text, defaults, &slow, NULL), 0);
    assert_true(object_equal(quick, slow));
    inf_object_unref(quick);
    inf_object_unref(slow);
    object_maker_free(&maker);
    shape_free(&shape);
}

#define REST "\"metadata\":{\"name\":\"a\",\"uid\":\"u\"},\"spec\":{\"b\":[1,{}]}"

static void a_canonical_text_equals_its_copy(void **state)
{
    static const char *const texts[] = {
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"," REST "}",
        "{\"kind\":\"Pod\"," REST ",\"apiVersion\":\"v1\"}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"," REST "}",
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"," REST ",\"kind\":\"Pod\"}",
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"," REST ",\"\\u006bind\":\"Pod\"}",
        "{\"kind\":\"P\\u006fd\",\"apiVersion\":\"v1\"," REST "}",
        "{\"kind\":\"Pod\", \"apiVersion\":\"v1\"," REST "}",
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"," REST ",\"status\":{ }}",
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"," REST ",\"status\":\" \"}",
        "{\"kind\":\"Pod\",\"apiVersion\":null," REST "}",
        "{\"kind\":\"Pod\"," REST "}",
        "{" REST "}",
        "{" REST ",\"metadata\":{\"managedFields\":[]}}",
        "{\"metadata\":{\"name\":\"a\",\"managed\\u0046ields\":[]}}",
        "{\"metadata\":{\"name\":\"a\",\"managedFields\":1,\"managedFields\":[]}}",
    };
    static const struct object_defaults defaults = {{"Pod", 3}, {"v1", 2}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_copied_alike(str_of(texts[i]), NULL);
        assert_copied_alike(str_of(texts[i]), &defaults);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recorded_secret_in_canonical_form),
        cmocka_unit_test(a_recorded_custom_resource_in_canonical_form),
        cmocka_unit_test(every_recorded_object_begins_with_its_kind_and_has_no_managed_fields),
        cmocka_unit_test(a_list_item_equals_the_watch_event),
        cmocka_unit_test(an_item_takes_kind_and_version_from_its_list),
        cmocka_unit_test(kind_and_version_of_an_object_override_those_of_its_list),
        cmocka_unit_test(keeps_the_order_of_other_members),
        cmocka_unit_test(keeps_the_spelling_of_values),
        cmocka_unit_test(removes_white_space_only_between_tokens),
        cmocka_unit_test(removes_managed_fields_in_any_position_and_spelling),
        cmocka_unit_test(removes_managed_fields_from_duplicate_metadata),
        cmocka_unit_test(removes_managed_fields_only_from_metadata),
        cmocka_unit_test(getters_return_the_values_of_the_server),
        cmocka_unit_test(absent_fields_are_empty),
        cmocka_unit_test(getters_return_unescaped_names),
        cmocka_unit_test(objects_are_equal_if_uid_version_and_text_are),
        cmocka_unit_test(an_object_lives_until_its_last_reference_is_released),
        cmocka_unit_test(its_size_is_that_of_its_text_and_a_small_header),
        cmocka_unit_test(a_maker_can_be_used_repeatedly),
        cmocka_unit_test(refuses_an_object_without_a_usable_name),
        cmocka_unit_test(names_have_a_limit),
        cmocka_unit_test(no_prefix_of_a_recorded_object_is_an_object),
        cmocka_unit_test(the_canonical_text_is_json),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(a_canonical_text_equals_its_copy),
    };
    return cmocka_run_group_tests_name("object", tests, NULL, NULL);
}
