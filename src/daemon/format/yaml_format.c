/*
 * yaml_format.c - the whole object of each change as a YAML document, as `kubectl get -w -o yaml`
 * prints it. Of a deleted object it is the last state. Each document starts with "---", also the
 * first one, so that a file that is continued stays valid. There are no notes.
 */
#include "daemon/format/record_format.h"
#include "daemon/format/yaml_text.h"

static void yaml_put_change(struct buf *out, const struct change *change,
                            const struct record_options *options)
{
    struct arena arena = {0};
    struct str json;
    (void)options;
    json.at = inf_object_json(change->object, &json.len);
    buf_puts(out, "---\n");
    yaml_put_document(out, json_tree_make(&arena, json), 0);
    arena_free(&arena);
}

const struct record_format yaml_format = {
    .put_change = yaml_put_change,
};
