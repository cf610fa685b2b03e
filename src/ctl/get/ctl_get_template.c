/*
 * ctl_get_template.c - `get -o go-template`: a Go template that is evaluated on the object or the List.
 *
 * If that fails, the output contains the template and the object in addition to what was printed before,
 * as kubectl's does.
 */
#include "base/alloc.h"
#include "base/err.h"
#include "ctl/get/ctl_get.h"

int get_template_prepare(struct get_form *form, const char *argument, struct inf_error *err)
{
    struct buf reason = {0};
    int rc = template_parse(str_of(argument), &form->template, &reason);
    if (rc < 0)
        err_set(err, INF_EINVAL, "error parsing template %s, %.*s", argument, (int)reason.len,
                reason.bytes);
    else
        form->template_text = xstrdup(argument);
    buf_free(&reason);
    return rc;
}

/* Compact JSON as Go's encoder writes it: with HTML's characters escaped. */
static void put_go_json(struct buf *out, const struct json_node *document)
{
    struct buf json = {0};
    json_put_compact(&json, document);
    for (size_t i = 0; i < json.len; i++) {
        char c = json.bytes[i];
        if (c == '<' || c == '>' || c == '&')
            buf_printf(out, "\\u%04x", (unsigned)c);
        else
            buf_putc(out, c);
    }
    buf_free(&json);
}

static void put_details(const struct get_form *form, const struct json_node *document,
                        const struct buf *reason, struct buf *out)
{
    buf_printf(out,
               "Error executing template: %.*s. Printing more information for debugging the "
               "template:\n\ttemplate was:\n\t\t%s\n\traw data was:\n\t\t",
               (int)reason->len, reason->bytes, form->template_text);
    put_go_json(out, document);
    buf_puts(out, "\n\tobject given to template engine was:\n\t\t");
    template_put_go(out, document);
    buf_puts(out, "\n\n");
}

int get_template_put(struct get_form *form, const struct json_node *document, struct buf *out,
                     struct inf_error *err)
{
    struct buf reason = {0}, quoted = {0};
    int rc = template_put(form->template, document, TEMPLATE_STEPS_MAX, TEMPLATE_OUTPUT_MAX, out,
                          &reason);
    if (rc < 0) {
        put_details(form, document, &reason, out);
        template_put_quoted(&quoted, str_of(form->template_text));
        err_set(err, INF_EINVAL, "error executing template %.*s: %.*s", (int)quoted.len,
                quoted.bytes, (int)reason.len, reason.bytes);
    }
    buf_free(&reason);
    buf_free(&quoted);
    return rc;
}
