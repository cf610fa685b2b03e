/*
 * patch_show.c - diffs as text, for failed assertions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "patch.h"

static void put_change(struct buf *out, const struct inf_change *c)
{
    buf_printf(out, "%c %s ", "+-~%"[c->op], c -> path);
    if (c->at != INF_DIFF_END)
        buf_printf(out, "@%zu ", c->at);
    if (c->old_value.json)
        buf_put(out, c->old_value.json, c->old_value.len);
    if (c->op == INF_DIFF_REPLACE || c->op == INF_DIFF_REORDER)
        buf_puts(out, " -> ");
    if (c->new_value.json)
        buf_put(out, c->new_value.json, c->new_value.len);
}

char *patch_lines(const struct inf_diff *diff)
{
    struct buf out = {0};
    for (size_t i = 0; i < inf_diff_count(diff); i++) {
        if (i)
            buf_putc(&out, '\n');
        put_change(&out, inf_diff_get(diff, i));
    }
    buf_putc(&out, '\0');
    return out.bytes;
}

char *patch_json(const char *text)
{
    char *copy = xstrdup(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

void patch_assert(const struct inf_diff *diff, struct str old_text, struct str new_text)
{
    struct buf why = {0};
    if (!patch_gives(diff, old_text, new_text, &why))
        fail_msg("%.*s\n%.*s\n%s\n%.*s", STR_FMT(old_text), STR_FMT(new_text), patch_lines(diff),
                 (int)why.len, why.bytes);
    buf_free(&why);
}

static bool same_value(struct inf_diff_value a, struct inf_diff_value b)
{
    return a.len == b.len && !a.json == !b.json && (!a.json || memcmp(a.json, b.json, a.len) == 0);
}

static bool same_change(const struct inf_change *a, const struct inf_change *b)
{
    return a->op == b->op && strcmp(a->path, b->path) == 0 && a->at == b->at &&
           same_value(a->old_value, b->old_value) && same_value(a->new_value, b->new_value);
}

bool patch_same(const struct inf_diff *a, const struct inf_diff *b)
{
    if (inf_diff_count(a) != inf_diff_count(b) || inf_diff_truncated(a) != inf_diff_truncated(b))
        return false;
    for (size_t i = 0; i < inf_diff_count(a); i++)
        if (!same_change(inf_diff_get(a, i), inf_diff_get(b, i)))
            return false;
    return true;
}

void patch_assert_same(const struct inf_diff *got, const struct inf_diff *wanted)
{
    if (!patch_same(got, wanted))
        fail_msg("truncated: %d\n%s\nis not truncated: %d\n%s", inf_diff_truncated(got),
                 patch_lines(got), inf_diff_truncated(wanted), patch_lines(wanted));
}
