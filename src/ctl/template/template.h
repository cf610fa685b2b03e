/*
 * template.h - Go templates (text/template) on JSON objects, as kubectl's -o go-template evaluates them.
 *
 *     {{range .items}}{{.metadata.name}}{{"\n"}}{{end}}
 *
 * Supported: everything of text/template that JSON values can use, and kubectl's functions `exists` and
 * `base64decode`. Messages are Go's. Differences: no complex numbers; a name may contain every character
 * above ASCII; nesting, calls, steps and output are limited.
 */
#ifndef CTL_TEMPLATE_H
#define CTL_TEMPLATE_H

#include "base/buf.h"
#include "base/str.h"
#include "daemon/format/json_tree.h"

enum {
    TEMPLATE_STEPS_MAX =
        200 * 1000 * 1000, /* LIMIT: evaluated nodes; the largest lists need less */
    TEMPLATE_OUTPUT_MAX =
        1 << 30, /* LIMIT: bytes that are printed, and of the strings that are made */
};

struct template;

/* Parses @text. Returns 0 with a template that the caller frees, or -INF_EINVAL with the reason appended to
 * @error. */
int template_parse(struct str text, struct template **ret, struct buf *error);
void template_free(struct template *t); /* NULL is allowed */

/* Evaluates @t on @root with at most @steps steps and appends the output, also that before an error.
 * Returns 0, or -INF_EINVAL with the reason appended to @error. */
int template_put(const struct template *t, const struct json_node *root, size_t steps, size_t limit,
                 struct buf *out, struct buf *error);

/* Appends @node as Go prints a map[string]interface{}: map[a:1 b:[x y]]. */
void template_put_go(struct buf *out, const struct json_node *node);

/* Appends @text in double quotes with escapes, as Go's %q. */
void template_put_quoted(struct buf *out, struct str text);

#endif
