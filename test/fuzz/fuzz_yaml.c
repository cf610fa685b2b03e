/*
 * fuzz_yaml.c - any bytes as YAML: an error with its place, or a tree that is whole, and that is the
 * same when it is written as JSON and read again.
 */
#include "base/yaml.h"
#include "fuzz.h"
#include "kube/config/yaml_json.h"

static void check(const struct yaml_node *n, size_t depth)
{
    size_t count = 0;
    MUST(depth <= YAML_DEPTH_MAX + 1);
    MUST(n->line >= 1 && n->column >= 1 && strcmp(n->file, "fuzzed") == 0);
    MUST((n->kind == YAML_SCALAR) == (n->text != NULL));
    for (const struct yaml_node *child = n->first; child; child = child->next) {
        MUST(n->kind != YAML_SCALAR && !child->key == (n->kind == YAML_SEQUENCE));
        check(child, depth + 1);
        count++;
    }
    MUST(count == n->count);
}

static void put_json(const char *text, size_t len, struct buf *out)
{
    struct yaml_node *root = NULL;
    struct inf_error err;
    MUST(yaml_parse("fuzzed", text, len, &root, &err) == 0);
    check(root, 0);
    yaml_put_json(out, root);
    yaml_tree_free(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct buf once = {0}, twice = {0};
    struct yaml_node *root = NULL;
    struct inf_error err;
    int rc = yaml_parse("fuzzed", (const char *)bytes, len, &root, &err);
    if (rc < 0) {
        MUST(rc == -INF_ECONF && strncmp(err.text, "fuzzed:", 7) == 0);
        return 0;
    }
    yaml_tree_free(root);
    put_json((const char *)bytes, len, &once);
    if (once.len <= YAML_TEXT_MAX) { /* escapes make it longer */
        put_json(once.bytes, once.len, &twice);
        MUST(once.len == twice.len && memcmp(once.bytes, twice.bytes, once.len) == 0);
    }
    buf_free(&once);
    buf_free(&twice);
    return 0;
}
