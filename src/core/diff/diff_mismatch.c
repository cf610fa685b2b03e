/*
 * diff_mismatch.c - walks the new text once; the old one is at the same position except in
 * mismatches.
 *
 * A part that has duplicate names, too many names or steps, or another structure becomes one mismatch.
 * If that is not possible the search fails, and the caller compares by pairs. See diff_mismatch.h.
 *
 * Gain: 33 % of informerd's CPU per change (test/bench/replay, 11.6 KB pods, TLS, event log with
 * diffs), 22 % of the instructions of test/bench/bench_event.
 */
#include "core/diff/diff_mismatch.h"

#include <stdint.h>
#include <string.h>

#include "base/json/json.h"
#include "core/diff/diff_list.h"
#include "core/diff/diff_pair.h"
#include "core/object/path.h"

enum {
    NAMES_MAX = 128, /* of all parts that are being walked */
};

struct walker {
    struct json_walk was; /* the old text */
    struct json_walk is;  /* the new text */
    const char *same;     /* end of the bytes, from is.at on, that equal those from was.at on */
    struct str names[NAMES_MAX];
    size_t n_names;
    size_t depth;
    bool versions;
    struct diff_mismatches *s;
};

/* The keys of one object or the names of the items of one list, all different: walker.names from
 * `from` on. */
struct name_set {
    size_t from;
    uint64_t seen; /* a bit per hash of a name: names whose bit is not set need no search */
};

/* The merge key of an object that is an item of a list. */
struct item_key {
    unsigned keys;   /* allowed merge keys; 0: the object is not an item */
    unsigned key;    /* the first of them that it has */
    struct str name; /* its value */
};

static bool walk_members(struct walker *w, size_t step, struct item_key *item);
static bool walk_items(struct walker *w, size_t step);

/* ---- equal bytes ---- */

static void measure_same(struct walker *w)
{
    size_t was_left = (size_t)(w->was.end - w->was.at), is_left = (size_t)(w->is.end - w->is.at);
    size_t len = was_left < is_left ? was_left : is_left, n = 0;
    for (size_t block = 256; block; block /= 4)
        while (len - n >= block && memcmp(w->was.at + n, w->is.at + n, block) == 0)
            n += block;
    w->same = w->is.at + n;
}

static bool is_next(const struct walker *w, char sign)
{
    return w->is.at < w->same && *w->is.at == sign;
}

/* White space before it is not expected: such texts are compared by pairs. */
static bool pass_sign(struct walker *w, char sign)
{
    if (!is_next(w, sign))
        return false;
    w->is.at++;
    w->was.at++;
    return true;
}

/* Moves to the value, which may differ from its first byte on. */
static bool pass_key(struct walker *w, struct str *ret_key)
{
    struct json_walk ahead = w->is;
    if (!json_walk_key(&ahead, ret_key) || ahead.at > w->same)
        return false;
    w->was.at += ahead.at - w->is.at;
    w->is.at = ahead.at;
    return true;
}

/* Skips a value that is the same in both texts. It must end before `same` does: 1 is not 12. */
static bool pass_same_value(struct walker *w, struct str *ret_value)
{
    struct json_walk ahead = {w->is.at, w->same};
    if (w->is.at >= w->same)
        return false;
    *ret_value = json_walk_value(&ahead);
    if (ahead.at >= w->same)
        return false;
    w->was.at += ahead.at - w->is.at;
    w->is.at = ahead.at;
    return true;
}

/* ---- names ---- */

/* Returns false if @name is not the first of that name, has escapes, or there are too many. */
static bool note_name(struct walker *w, struct name_set *names, struct str name)
{
    unsigned first = name.len ? (unsigned char)name.at[0] : 0;
    unsigned last = name.len ? (unsigned char)name.at[name.len - 1] : 0;
    uint64_t bit = (uint64_t)1 << ((name.len * 7 + first * 3 + last) % 64);
    if (w->n_names == NAMES_MAX || memchr(name.at, '\\', name.len))
        return false;
    for (size_t i = names->from; i < w->n_names && (names->seen & bit); i++)
        if (str_eq(w->names[i], name))
            return false;
    names->seen |= bit;
    w->names[w->n_names++] = name;
    return true;
}

/* Leaves the part that has these names by its closing bracket. */
static bool leave_part(struct walker *w, const struct name_set *names, char bracket)
{
    w->s->parts += 2 * (w->n_names - names->from);
    w->n_names = names->from;
    return pass_sign(w, bracket);
}

/* ---- mismatches ---- */

/* Returns 0 if there are too many. */
static size_t add_step(struct diff_mismatches *s, size_t parent, struct str key)
{
    if (s->n_steps == DIFF_MISMATCH_STEPS_MAX)
        return 0;
    s->steps[s->n_steps] = (struct diff_mismatch_step){parent, key, {0}};
    return s->n_steps++;
}

/* Skips two values that differ. */
static bool note_mismatch(struct walker *w, size_t step)
{
    struct diff_mismatches *s = w->s;
    struct diff_mismatch mismatch = {step, json_walk_value(&w->was), json_walk_value(&w->is)};
    if (s->count == DIFF_MISMATCHES_MAX || !mismatch.old_text.len || !mismatch.new_text.len)
        return false;
    s->mismatches[s->count++] = mismatch;
    measure_same(w);
    return true;
}

static bool walk_container(struct walker *w, size_t step)
{
    bool done = false;
    if (w->depth == DIFF_MISMATCH_DEPTH_MAX)
        return false;
    w->depth++;
    if (is_next(w, '{'))
        done = walk_members(w, step, &(struct item_key){0});
    else if (is_next(w, '['))
        done = walk_items(w, step);
    w->depth--;
    return done;
}

/* Finds the mismatches in two values, or makes the values one. */
static bool walk_changed(struct walker *w, size_t step)
{
    const char *was = w->was.at, *is = w->is.at;
    size_t n_names = w->n_names, count = w->s->count, n_steps = w->s->n_steps, parts = w->s->parts;
    size_t ignored = w->s->ignored;
    if (walk_container(w, step))
        return true;
    w->was.at = was;
    w->is.at = is;
    w->n_names = n_names;
    w->s->count = count;
    w->s->n_steps = n_steps;
    w->s->parts = parts;
    w->s->ignored = ignored;
    return note_mismatch(w, step);
}

/* ---- members ---- */

/* Whether the member only shows that there was a change: resourceVersion or managedFields. */
static bool is_ignored_version(const struct walker *w, size_t step, struct str key)
{
    const struct diff_mismatch_step *in = &w->s->steps[step];
    return !w->versions && step && !in->parent && str_eq(in->key, STR("metadata")) &&
           diff_pair_is_version(key);
}

/* The walk is at the value of @key. */
static bool walk_member(struct walker *w, size_t step, struct item_key *item, struct str key)
{
    unsigned merge_key = diff_list_key(key, item->keys);
    struct str value;
    if (pass_same_value(w, &value)) {
        if (merge_key && diff_list_identifies(value) && (!item->key || merge_key < item->key)) {
            item->key = merge_key;
            item->name = value;
        }
        return true;
    }
    if (is_ignored_version(w, step, key)) {
        json_walk_value(&w->was);
        json_walk_value(&w->is);
        w->s->ignored++;
        measure_same(w);
        return true;
    }
    if (merge_key)
        return false;
    step = add_step(w->s, step, key);
    return step && walk_changed(w, step);
}

static bool walk_members(struct walker *w, size_t step, struct item_key *item)
{
    struct name_set names = {.from = w->n_names};
    struct str key;
    pass_sign(w, '{');
    while (pass_key(w, &key))
        if (!note_name(w, &names, key) || !walk_member(w, step, item, key))
            return false;
    return leave_part(w, &names, '}');
}

/* ---- items ---- */

/* The first item decides on the merge key, because pairing takes the first that all have. */
static bool walk_item(struct walker *w, size_t list, struct name_set *names, unsigned *keys)
{
    struct item_key item = {.keys = *keys};
    struct diff_mismatches *s = w->s;
    size_t count = s->count, step = add_step(s, list, (struct str){0});
    if (!step || !is_next(w, '{') || !walk_members(w, step, &item) || !item.key)
        return false;
    *keys = item.key;
    s->steps[step].key = diff_list_first_key(item.key);
    if (*item.name.at == '"')
        item.name = (struct str){item.name.at + 1, item.name.len - 2};
    s->steps[step].value = item.name;
    if (s->count == count)
        s->n_steps = step; /* no mismatch below it */
    return note_name(w, names, item.name);
}

static bool walk_items(struct walker *w, size_t step)
{
    struct name_set names = {.from = w->n_names};
    unsigned keys = DIFF_LIST_KEYS;
    pass_sign(w, '[');
    do {
        if (!walk_item(w, step, &names, &keys))
            return false;
    } while (pass_sign(w, ','));
    return leave_part(w, &names, ']');
}

/* ---- the result ---- */

bool diff_mismatch_find(struct diff_mismatches *s, struct str old_text, struct str new_text,
                        bool versions)
{
    struct walker w;
    w.was = (struct json_walk){old_text.at, old_text.at + old_text.len};
    w.is = (struct json_walk){new_text.at, new_text.at + new_text.len};
    w.n_names = w.depth = 0;
    w.versions = versions;
    w.s = s;
    s->count = s->ignored = s->parts = 0;
    s->n_steps = 1;
    measure_same(&w);
    return walk_container(&w, 0) && w.is.at == w.is.end && w.was.at == w.was.end;
}

static size_t put_steps(const struct diff_mismatches *s, size_t last, struct buf *out)
{
    const struct diff_mismatch_step *step = &s->steps[last];
    size_t depth = step->parent ? put_steps(s, step->parent, out) : 0;
    enum path_kind kind = step->value.at ? PATH_WHERE : PATH_KEY;
    path_put_step(out, &(struct path_step){.kind = kind, .key = step->key, .value = step->value});
    return depth + 1;
}

size_t diff_mismatch_put_path(const struct diff_mismatches *s, const struct diff_mismatch *mismatch,
                              struct buf *out)
{
    return put_steps(s, mismatch->step, out);
}
