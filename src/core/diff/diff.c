/*
 * diff.c - walks two JSON texts side by side and records where they differ.
 *
 * Normal path: equal bytes are never examined. If two objects or two lists differ, their members or
 * items are paired (diff_pair.h). Pairs that differ are descended into; members and items without a
 * partner are recorded as removed or added. Values of different kinds, and scalars, are a replace.
 *
 * The number of changes is limited on the way down. Each part has a ceiling: the number of changes
 * that may exist when it is done, with room for at least one. It first counts the changes of its
 * own level. If they don't fit, it records one replace of the whole part. If they do, each pair
 * that is descended into may use what the later pairs don't need. So no recorded change has to be
 * removed, and the diff is always correct. Depth, path length and the number of items are limited
 * in the same way.
 *
 * Most texts differ in a few values only (diff_mismatch.h). Then only these are descended into, with
 * the same result. If a limit is reached the texts are compared again as described above.
 *
 * The bytes of values are limited last: values that don't fit are left out, with their sizes.
 */
#include "core/diff/diff.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text/json_string.h"
#include "core/diff/diff_mismatch.h"
#include "core/diff/diff_pair.h"
#include "core/object/path.h"

enum {
    INDEX_STEP_MAX = sizeof("[999999]"), /* DIFF_ITEMS_MAX is less than a million */
};

struct differ {
    struct inf_diff *diff;
    struct arena scratch;
    struct buf path;   /* of the part we are in */
    size_t depth;      /* its steps */
    size_t items_left; /* of DIFF_ITEMS_MAX */
    bool all;
};

static void diff_part(struct differ *d, struct str old_text, struct str new_text, size_t ceiling);

/* ---- recording changes ---- */

/* A text without bytes means that the value does not exist on that side. */
static struct inf_change *record_change(struct differ *d, enum inf_diff_op op, struct str old_text,
                                        struct str new_text)
{
    struct str path = d->path.len ? (struct str){d->path.bytes, d->path.len} : STR(".");
    struct inf_diff *diff = d->diff;
    struct inf_change *change;
    if (diff->count == diff->cap) {
        diff->cap = diff->cap ? diff->cap * 2 : 8;
        diff->changes = xrealloc(diff->changes, diff->cap * sizeof(*diff->changes));
    }
    change = &diff->changes[diff->count++];
    *change = (struct inf_change){
        .op = op,
        .path = arena_copy(&diff->memory, path).at,
        .old_value = {old_text.at, old_text.len},
        .new_value = {new_text.at, new_text.len},
        .at = INF_DIFF_END,
    };
    return change;
}

static bool has_changed(const struct diff_item *old_item)
{
    return old_item->mate && !str_eq(old_item->value, old_item->mate->value);
}

/* Appends the step to @item to the path. Returns the length of the path for leave_item(). */
static size_t enter_item(struct differ *d, const struct diff_pairing *p,
                         const struct diff_item *item)
{
    const struct diff_item *first = item < p->new_items ? p->old_items : p->new_items;
    size_t path_len = d->path.len;
    if (p->by == DIFF_BY_PLACE) {
        buf_printf(&d->path, "[%zu]", (size_t)(item - first));
    } else {
        if (path_len && *item->step.at != '[')
            buf_putc(&d->path, '.');
        buf_put(&d->path, item->step.at, item->step.len);
    }
    d->depth++;
    return path_len;
}

static void leave_item(struct differ *d, size_t path_len)
{
    d->path.len = path_len;
    d->depth--;
}

/* The number of changes at the level of the pairing: items added, removed, changed, reordered. */
static size_t count_changes(const struct diff_pairing *p)
{
    size_t changes = p->reordered;
    for (size_t i = 0; i < p->old_count; i++)
        changes += !p->old_items[i].mate || has_changed(&p->old_items[i]);
    for (size_t i = 0; i < p->new_count; i++)
        changes += !p->new_items[i].mate;
    return changes;
}

static bool paths_fit(const struct differ *d, const struct diff_pairing *p)
{
    size_t longest = p->by == DIFF_BY_PLACE ? INDEX_STEP_MAX : 0;
    for (size_t i = 0; i < p->old_count + p->new_count && p->by != DIFF_BY_PLACE; i++) {
        const struct diff_item *item = &p->old_items[i];
        if ((!item->mate || has_changed(item)) && item->step.len + 1 > longest)
            longest = item->step.len + 1; /* and a dot */
    }
    return d->path.len + longest <= PATH_TEXT_MAX;
}

/* Indexes shift with each removed item, so the items of a list by place are removed from the end. */
static void record_removed(struct differ *d, const struct diff_pairing *p)
{
    for (size_t i = 0; i < p->old_count; i++) {
        size_t backwards = p->old_count - 1 - i, path_len;
        const struct diff_item *item = &p->old_items[p->by == DIFF_BY_PLACE ? backwards : i];
        if (item->mate)
            continue;
        path_len = enter_item(d, p, item);
        record_change(d, INF_DIFF_REMOVE, item->value, (struct str){0});
        leave_item(d, path_len);
    }
}

static void record_added(struct differ *d, const struct diff_pairing *p)
{
    size_t after_pairs = p->new_count; /* items from here on are appended */
    while (after_pairs && !p->new_items[after_pairs - 1].mate)
        after_pairs--;
    for (size_t i = 0; i < p->new_count; i++) {
        struct inf_change *change;
        size_t path_len;
        if (p->new_items[i].mate)
            continue;
        path_len = enter_item(d, p, &p->new_items[i]);
        change = record_change(d, INF_DIFF_ADD, (struct str){0}, p->new_items[i].value);
        if (p->by == DIFF_BY_KEY && i < after_pairs)
            change->at = i;
        leave_item(d, path_len);
    }
}

/* ["name=web","name=db"]: the items that are in both lists */
static struct str format_order(struct differ *d, const struct diff_item *items, size_t count)
{
    struct buf order = {0};
    struct str kept;
    for (size_t i = 0; i < count; i++) {
        if (!items[i].mate)
            continue;
        buf_putc(&order, order.len ? ',' : '[');
        json_put_string(&order, (struct str){items[i].step.at + 1, items[i].step.len - 2});
    }
    buf_putc(&order, ']');
    kept = arena_copy(&d->diff->memory, (struct str){order.bytes, order.len});
    buf_free(&order);
    return kept;
}

/* ---- descending ---- */

static void diff_pairing(struct differ *d, const struct diff_pairing *p, size_t ceiling)
{
    size_t others = count_changes(p);
    for (size_t i = 0; i < p->old_count; i++) {
        const struct diff_item *item = &p->old_items[i];
        size_t path_len;
        if (!has_changed(item))
            continue;
        others--;
        path_len = enter_item(d, p, item);
        diff_part(d, item->value, item->mate->value, ceiling - others);
        leave_item(d, path_len);
    }
    record_removed(d, p);
    if (p->reordered)
        record_change(d, INF_DIFF_REORDER, format_order(d, p->old_items, p->old_count),
                      format_order(d, p->new_items, p->new_count));
    record_added(d, p);
}

/* Leaves at most @ceiling changes; there is room for at least one. */
static void diff_part(struct differ *d, struct str old_text, struct str new_text, size_t ceiling)
{
    struct diff_pairing p = {0};
    bool container, paired = false;
    if (str_eq(old_text, new_text))
        return;
    container = *old_text.at == *new_text.at && (*old_text.at == '{' || *old_text.at == '[');
    p.over_limit = container && d->depth == PATH_STEPS_MAX;
    if (container && !p.over_limit && *old_text.at == '[') {
        paired = diff_pair_lists(&p, &d->scratch, &d->items_left, old_text, new_text);
    } else if (container && !p.over_limit) {
        bool in_metadata = str_eq((struct str){d->path.bytes, d->path.len}, STR("metadata"));
        paired = diff_pair_members(&p, &d->scratch, &d->items_left, old_text, new_text,
                                   d->all || !in_metadata);
    }
    if (paired && count_changes(&p) <= ceiling - d->diff->count && paths_fit(d, &p)) {
        diff_pairing(d, &p, ceiling);
        return;
    }
    if (paired || p.over_limit) /* a limit makes the diff coarser */
        d->diff->truncated = true;
    record_change(d, INF_DIFF_REPLACE, old_text, new_text);
}

/* Compares similar texts by their few mismatches. Returns false if they are not similar, or if a
 * limit is reached: which part then becomes coarser depends on the whole. */
static bool diff_similar(struct differ *d, struct str old_text, struct str new_text, size_t ceiling)
{
    struct diff_mismatches found;
    if (str_eq(old_text, new_text))
        return true;
    if (!diff_mismatch_find(&found, old_text, new_text, d->all) || found.parts > d->items_left)
        return false;
    d->items_left -= found.parts;
    for (size_t i = 0; i < found.count && !d->diff->truncated; i++) {
        const struct diff_mismatch *mismatch = &found.mismatches[i];
        size_t others = found.count - i - 1 + found.ignored;
        buf_clear(&d->path);
        d->depth = diff_mismatch_put_path(&found, mismatch, &d->path);
        if (d->diff->count + others >= ceiling || d->path.len >= PATH_TEXT_MAX)
            return false;
        diff_part(d, mismatch->old_text, mismatch->new_text, ceiling - others);
    }
    return !d->diff->truncated;
}

/* ---- the diff ---- */

static void start_over(struct differ *d)
{
    buf_clear(&d->path);
    d->depth = 0;
    d->items_left = DIFF_ITEMS_MAX;
    d->diff->count = 0;
    d->diff->truncated = false;
}

/* Omits values that exceed the limit of bytes. */
static void omit_values(struct inf_diff *diff, size_t left)
{
    for (size_t i = 0; i < diff->count; i++) {
        struct inf_change *change = &diff->changes[i];
        size_t bytes = change->old_value.len + change->new_value.len;
        if (bytes <= left) {
            left -= bytes;
        } else {
            change->old_value.json = NULL;
            change->new_value.json = NULL;
            diff->truncated = true;
        }
    }
}

static struct inf_diff *make_diff(struct str old_text, struct str new_text,
                                  const struct inf_diff_options *options, bool by_pairs_only)
{
    struct inf_diff_options o = options ? *options : (struct inf_diff_options){0};
    size_t ceiling = o.changes_max ? o.changes_max : INF_DIFF_CHANGES_DEFAULT;
    struct differ d = {.diff = NEW(struct inf_diff), .all = o.all};
    start_over(&d);
    if (by_pairs_only || !diff_similar(&d, old_text, new_text, ceiling)) {
        start_over(&d);
        diff_part(&d, old_text, new_text, ceiling);
    }
    omit_values(d.diff, o.bytes_max ? o.bytes_max : INF_DIFF_BYTES_DEFAULT);
    arena_free(&d.scratch);
    buf_free(&d.path);
    return d.diff;
}

struct inf_diff *diff_make(struct str old_text, struct str new_text,
                           const struct inf_diff_options *options)
{
    return make_diff(old_text, new_text, options, false);
}

struct inf_diff *diff_make_by_pairs(struct str old_text, struct str new_text,
                                    const struct inf_diff_options *options)
{
    return make_diff(old_text, new_text, options, true);
}

struct inf_diff *inf_diff_make(const struct inf_object *old_object,
                               const struct inf_object *new_object,
                               const struct inf_diff_options *options, struct inf_error *err)
{
    struct str old_text, new_text;
    if (!old_object || !new_object) {
        err_set(err, INF_EINVAL, "diff: two objects are required");
        return NULL;
    }
    if (options && !ALL_ZERO(options->reserved)) {
        err_set(err, INF_EINVAL, "diff: a reserved field of the options is not zero");
        return NULL;
    }
    old_text.at = inf_object_json(old_object, &old_text.len);
    new_text.at = inf_object_json(new_object, &new_text.len);
    return diff_make(old_text, new_text, options);
}

void inf_diff_free(struct inf_diff *diff)
{
    if (!diff)
        return;
    arena_free(&diff->memory);
    free(diff->changes);
    free(diff);
}

size_t inf_diff_count(const struct inf_diff *diff)
{
    return diff->count;
}

const struct inf_change *inf_diff_get(const struct inf_diff *diff, size_t i)
{
    return &diff->changes[i];
}

bool inf_diff_truncated(const struct inf_diff *diff)
{
    return diff->truncated;
}

const char *inf_diff_op_name(enum inf_diff_op op)
{
    switch (op) {
    case INF_DIFF_ADD: return "add";
    case INF_DIFF_REMOVE: return "remove";
    case INF_DIFF_REPLACE: return "replace";
    case INF_DIFF_REORDER: return "reorder";
    }
    return "?";
}
