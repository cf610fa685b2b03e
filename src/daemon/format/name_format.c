/*
 * name_format.c - the name of the object of each change, as `kubectl get -w -o name` prints it:
 *
 *     pod/web-0
 *     deployment.apps/web
 */
#include <ctype.h>

#include "base/text/utf8.h"
#include "daemon/format/record_format.h"

static void name_put_change(struct buf *out, const struct change *change,
                            const struct record_options *options)
{
    struct buf text = {0};
    (void)options;
    for (const char *c = change->kind; *c; c++)
        buf_putc(&text, (char)tolower((unsigned char)*c));
    if (change->group.len) {
        buf_putc(&text, '.');
        buf_put(&text, change->group.at, change->group.len);
    }
    buf_putc(&text, '/');
    buf_puts(&text, inf_object_name(change->object));
    utf8_put_visible(out, (struct str){text.bytes, text.len});
    buf_putc(out, '\n');
    buf_free(&text);
}

const struct record_format name_format = {
    .put_change = name_put_change,
};
