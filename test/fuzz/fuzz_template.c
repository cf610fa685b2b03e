/*
 * fuzz_template.c - a Go template, a newline, a JSON text. What is accepted can be evaluated; an error has a
 * message.
 */
#include "informer/error.h"

#include "base/buf.h"
#include "ctl/template/template.h"
#include "daemon/format/json_tree.h"
#include "fuzz.h"

enum {
    JSON_MAX = 256,
    STEPS_MAX = 10000,
    OUTPUT_MAX = 1 << 20,
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct fuzz_input input = fuzz_split(bytes, len);
    struct template *template = NULL;
    struct buf error = {0}, out = {0};
    struct arena arena = {0};
    int rc = template_parse(str_of(input.text), &template, &error);
    MUST(rc == 0 ? template && !error.len : rc == -INF_EINVAL && error.len && !template);
    if (rc == 0 && input.json.len && input.json.len <= JSON_MAX) {
        const struct json_node *root = json_tree_make(&arena, input.json);
        rc = template_put(template, root, STEPS_MAX, OUTPUT_MAX, &out, &error);
        MUST(rc == 0 ? !error.len : rc == -INF_EINVAL && error.len);
    }
    template_free(template);
    arena_free(&arena);
    buf_free(&error);
    buf_free(&out);
    fuzz_free(&input);
    return 0;
}
