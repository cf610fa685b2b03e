/*
 * jsonpath_format.c - a template filled in for the object of each change, as
 * `kubectl get -w -o jsonpath=TEMPLATE` prints it:
 *
 *     jsonpath={.metadata.name}{"\t"}{.status.phase}
 *
 * The template is parsed once. What cannot be evaluated is empty. Clients of the local API choose templates, so
 * the work for an object is limited. Control characters other than line
 * ends and tabs are escaped. The text ends with a line end, which is added if the template does not
 * produce one.
 */
#include "daemon/format/jsonpath.h"
#include "daemon/format/record_format.h"

static void *jsonpath_prepare(const char *argument, struct inf_error *err)
{
    struct jsonpath *template = NULL;
    return jsonpath_parse_template(str_of(argument), &template, err) == 0 ? template : NULL;
}

static void jsonpath_release(void *state)
{
    jsonpath_free(state);
}

static void jsonpath_put_change(struct buf *out, const struct change *change,
                                const struct record_options *options)
{
    struct jsonpath_budget budget = {RECORD_WORK_MAX};
    struct arena arena = {0};
    struct buf text = {0};
    struct str json;
    json.at = inf_object_json(change->object, &json.len);
    if (jsonpath_put_within(&text, options->state, json_tree_make(&arena, json), &budget) < 0) {
        buf_clear(&text);
        buf_puts(&text, RECORD_TOO_MUCH);
    }
    if (!text.len || text.bytes[text.len - 1] != '\n')
        buf_putc(&text, '\n');
    jsonpath_put_visible(out, (struct str){text.bytes, text.len});
    buf_free(&text);
    arena_free(&arena);
}

const struct record_format jsonpath_format = {
    .argument = "TEMPLATE",
    .prepare = jsonpath_prepare,
    .release = jsonpath_release,
    .put_change = jsonpath_put_change,
};
