/*
 * fuzz_jsonpath.c - a JSONPath template, a newline, a JSON text. What is accepted can be evaluated; with and
 * without errors the same is written up to the first one.
 */
#include "base/buf.h"
#include "daemon/format/jsonpath.h"
#include "daemon/format/jsonpath_fields.h"
#include "fuzz.h"

enum {
    JSON_MAX = 256, /* with several ".." the number of values is a power of the depth */
    RECURSIONS_MAX = 3,
};

static size_t count_recursions(const char *text)
{
    size_t n = 0;
    for (; (text = strstr(text, "..")); text += 2)
        n++;
    return n;
}

static void check_template(const struct jsonpath *path, struct str json)
{
    struct arena arena = {0};
    struct buf strict = {0}, lenient = {0};
    struct inf_error err = {.code = 0};
    const struct json_node *root = json_tree_make(&arena, json);
    int rc = jsonpath_put(&strict, path, root, &err);
    MUST(rc == 0 || (rc == -INF_EINVAL && err.text[0]));
    MUST(jsonpath_put(&lenient, path, root, NULL) == 0);
    MUST(lenient.len >= strict.len);
    MUST(!strict.len || memcmp(strict.bytes, lenient.bytes, strict.len) == 0);
    buf_free(&strict);
    buf_free(&lenient);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct fuzz_input input = fuzz_split(bytes, len);
    struct inf_error err = {.code = 0};
    struct jsonpath *path = NULL;
    struct inf_path *fields = NULL;
    int rc = jsonpath_parse_template(str_of(input.text), &path, &err);
    MUST(rc == 0 || (rc == -INF_EINVAL && err.text[0] && !path));
    if (rc == 0 && input.json.len <= JSON_MAX && count_recursions(input.text) <= RECURSIONS_MAX)
        check_template(path, input.json);
    jsonpath_free(path);
    rc = jsonpath_fields_parse(str_of(input.text), &fields, &err);
    MUST(rc == 0 || (rc == -INF_EINVAL && err.text[0] && !fields));
    inf_path_free(fields);
    fuzz_free(&input);
    return 0;
}
