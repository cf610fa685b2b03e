/*
 * fuzz_yaml.c - any bytes as YAML: an error with its position, or a complete tree. Written as JSON, the
 * tree is valid JSON, and it is the same tree when that is read as YAML again.
 *
 * YAML limits a key to 1,024 characters, JSON does not: escapes can make a key longer than that. Such
 * text is checked as JSON only.
 */
#include <yyjson.h>

#include "base/text/yaml.h"
#include "fuzz.h"
#include "kube/config/yaml_json.h"

enum {
    ESCAPED_MAX = 6, /* bytes of one byte as JSON: \u0000 */
    KEY_MAX = 1024,
};

/* Whether a key can be too long for YAML once it is escaped. */
static bool has_long_key(const struct yaml_node *n)
{
    for (const struct yaml_node *child = n->first; child; child = child->next)
        if ((child->key && strlen(child->key->text) * ESCAPED_MAX >= KEY_MAX) ||
            has_long_key(child))
            return true;
    return false;
}

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

/* Returns whether the JSON can be read as YAML again. */
static bool put_json(const char *text, size_t len, struct buf *out)
{
    struct yaml_node *root = NULL;
    struct inf_error err;
    yyjson_doc *doc;
    bool readable;
    MUST(yaml_parse("fuzzed", text, len, &root, &err) == 0);
    check(root, 0);
    yaml_put_json(out, root);
    doc = yyjson_read(out->bytes, out->len, YYJSON_READ_NUMBER_AS_RAW); /* 1e3134 is JSON */
    MUST(doc != NULL);
    yyjson_doc_free(doc);
    readable = !has_long_key(root) && out->len <= YAML_TEXT_MAX; /* escapes make it longer */
    yaml_tree_free(root);
    return readable;
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
    if (put_json((const char *)bytes, len, &once)) {
        put_json(once.bytes, once.len, &twice);
        MUST(once.len == twice.len && memcmp(once.bytes, twice.bytes, once.len) == 0);
    }
    buf_free(&once);
    buf_free(&twice);
    return 0;
}
