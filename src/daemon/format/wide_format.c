/*
 * wide_format.c - a record as one line with more columns than `short`, never cut:
 *
 *     12:04:31 MODIFIED pod shop/web-0     node-1     statefulset web     status.phase Pending -> Running
 *
 * After the object come the node of a pod and the workload or controller that owns the object, or
 * '-'. Longer
 * values shift the rest of the line.
 */
#include <ctype.h>

#include "base/base.h"
#include "daemon/format/text_line.h"

enum {
    OBJECT_WIDTH = 44,
    NODE_WIDTH = 20,
    OWNER_WIDTH = 32,
    CHANGES_MAX = 2048, /* columns of the changes */
};

static void put_node(struct text_line *line, const struct change *change)
{
    const char *node = change->context.node;
    text_line_put_column(line, NULL, str_of(node[0] ? node : "-"), NODE_WIDTH);
}

/* "deployment web": the workload if it is known, or else the controller. */
static void put_owner(struct text_line *line, const struct change *change)
{
    const struct context *context = &change->context;
    const char *kind = context->has_workload ? context->workload.kind : context->owner.kind;
    const char *name = context->has_workload ? context->workload.name : context->owner.name;
    struct buf text = {0};
    if (context->has_workload || context->has_owner) {
        for (const char *c = kind; *c; c++)
            buf_putc(&text, (char)tolower((unsigned char)*c));
        buf_printf(&text, " %s", name);
    } else {
        buf_putc(&text, '-');
    }
    text_line_put_column(line, NULL, (struct str){text.bytes, text.len}, OWNER_WIDTH);
    buf_free(&text);
}

static void wide_put_change(struct buf *out, const struct change *change,
                            const struct record_options *options)
{
    struct buf text = {0};
    struct text_line line;
    text_line_start(&line, out, options, 0);
    text_line_put_change_verb(&line, change);
    text_put_object(&text, change, options->charset);
    text_line_put_column(&line, NULL, (struct str){text.bytes, text.len}, OBJECT_WIDTH);
    put_node(&line, change);
    put_owner(&line, change);
    buf_clear(&text);
    text_put_details(&text, change, 0, CHANGES_MAX, options->charset);
    text_line_put(&line, text_details_colour(change), (struct str){text.bytes, text.len});
    buf_clear(&text);
    text_put_manager(&text, change);
    text_line_put(&line, TEXT_DIM, (struct str){text.bytes, text.len});
    text_line_end(&line);
    buf_free(&text);
}

static void wide_put_note(struct buf *out, const struct note *note, const struct stamp *stamp,
                          const struct watch_id *watch, const struct record_options *options)
{
    struct record_options uncut = *options;
    uncut.width = 0;
    text_format.put_note(out, note, stamp, watch, &uncut);
}

const struct record_format wide_format = {
    .has_context = true,
    .orders_events = true,
    .put_change = wide_put_change,
    .put_note = wide_put_note,
};
