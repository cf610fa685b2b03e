/*
 * diff_spot.c - walks the new text once; the old one is at the same position except in spots.
 *
 * A part that has duplicate names, too many names or steps, or another structure becomes one spot.
 * If that is not possible the search fails, and the caller compares by pairs. See diff_spot.h.
 *
 * Gain: 33 % of informerd's CPU per change (test/bench/replay, 11.6 KB pods, TLS, event log with
 * diffs), 22 % of the instructions of test/bench/bench_event.
 */
#include "core/diff/diff_spot.h"

#include <stdint.h>
#include <string.h>

#include "core/diff/diff_list.h"
#include "core/diff/diff_pair.h"
#include "core/json/json.h"
#include "core/object/path.h"

enum {
    NAMES_MAX = 128, /* of all the parts that we are in */
};

struct walker {
    struct json_walk was; /* the old text; passed over by what the new one has, but for spots */
    struct json_walk is;
    const char *same; /* up to here the new text has what the old one has, from where they stand */
    struct str names[NAMES_MAX];
    size_t n_names;
    size_t depth;
    bool versions;
    struct diff_spots *s;
};

/* Keys of an object or names of items, none twice: a part of the walker's. */
struct names {
    size_t from;
    uint64_t seen; /* a bit for each; one that is not set needs no search */
};

/* What a list asks of an object that is its item. */
struct item {
    unsigned keys;   /* merge keys that would do; 0: it is none */
    unsigned key;    /* the first that it has */
    struct str name; /* its value */
};

static bool walk_members(struct walker *w, size_t step, struct item *item);
static bool walk_items(struct walker *w, size_t step);

/* ---- what is the same ---- */

/* How many bytes the two have in common from their beginning on. */
static size_t common_bytes(const char *a, const char *b, size_t len)
{
    size_t n = 0;
    for (size_t block = 256; block; block /= 4)
        while (len - n >= block && memcmp(a + n, b + n, block) == 0)
            n += block;
    return n;
}

static void measure_the_same(struct walker *w)
{
    size_t was_left = (size_t)(w->was.end - w->was.at), is_left = (size_t)(w->is.end - w->is.at);
    w->same = w->is.at + common_bytes(w->was.at, w->is.at, was_left < is_left ? was_left : is_left);
}

/* Both go to where the new one stands at @to, before the end of what is the same. (A value there
 * has ended, then: 1 is not 12.) */
static bool go_to(struct walker *w, const char *to)
{
    if (to >= w->same)
        return false;
    w->was.at += to - w->is.at;
    w->is.at = to;
    return true;
}

static bool is_next(const struct walker *w, char sign)
{
    return w->is.at < w->same && *w->is.at == sign;
}

/* Without white space before it: such texts take the slow path. */
static bool pass_sign(struct walker *w, char sign)
{
    if (!is_next(w, sign))
        return false;
    w->is.at++;
    w->was.at++;
    return true;
}

/* Stands on the value then, which may begin with another byte in both. */
static bool pass_key(struct walker *w, struct str *ret_key)
{
    struct json_walk ahead = w->is;
    if (!json_walk_key(&ahead, ret_key) || ahead.at > w->same)
        return false;
    w->was.at += ahead.at - w->is.at;
    w->is.at = ahead.at;
    return true;
}

static bool pass_same_value(struct walker *w, struct str *ret_value)
{
    struct json_walk ahead = {w->is.at, w->same};
    if (w->is.at >= w->same)
        return false;
    *ret_value = json_walk_value(&ahead);
    return go_to(w, ahead.at);
}

/* ---- names ---- */

/* False: it is there already, there are too many, or it can be spelled in other ways. */
static bool note_name(struct walker *w, struct names *names, struct str name)
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

/* Out of the part that has these names, by its bracket. */
static bool leave_part(struct walker *w, const struct names *names, char bracket)
{
    w->s->parts += 2 * (w->n_names - names->from);
    w->n_names = names->from;
    return pass_sign(w, bracket);
}

/* ---- spots ---- */

/* 0: there are too many. */
static size_t add_step(struct diff_spots *s, size_t before, struct str key)
{
    if (s->n_steps == DIFF_SPOT_STEPS_MAX)
        return 0;
    s->steps[s->n_steps] = (struct diff_spot_step){before, key, {0}};
    return s->n_steps++;
}

/* Passes over values that differ. */
static bool note_spot(struct walker *w, size_t step)
{
    struct diff_spots *s = w->s;
    struct diff_spot spot = {step, json_walk_value(&w->was), json_walk_value(&w->is)};
    if (s->count == DIFF_SPOTS_MAX || !spot.old_text.len || !spot.new_text.len)
        return false;
    s->spots[s->count++] = spot;
    measure_the_same(w);
    return true;
}

static void ignore_value(struct walker *w)
{
    json_walk_value(&w->was);
    json_walk_value(&w->is);
    w->s->ignored++;
    measure_the_same(w);
}

static bool go_down(struct walker *w, size_t step)
{
    bool done = false;
    if (w->depth == DIFF_SPOT_DEPTH_MAX)
        return false;
    w->depth++;
    if (is_next(w, '{'))
        done = walk_members(w, step, &(struct item){0});
    else if (is_next(w, '['))
        done = walk_items(w, step);
    w->depth--;
    return done;
}

/* Finds the spots in it, or makes it one. */
static bool walk_changed(struct walker *w, size_t step)
{
    const char *was = w->was.at, *is = w->is.at;
    size_t n_names = w->n_names, count = w->s->count, n_steps = w->s->n_steps, parts = w->s->parts;
    size_t ignored = w->s->ignored;
    if (go_down(w, step))
        return true;
    w->was.at = was;
    w->is.at = is;
    w->n_names = n_names;
    w->s->count = count;
    w->s->n_steps = n_steps;
    w->s->parts = parts;
    w->s->ignored = ignored;
    return note_spot(w, step);
}

/* ---- members ---- */

/* Whether it says nothing but that there was a change. */
static bool is_version(const struct walker *w, size_t step, struct str key)
{
    const struct diff_spot_step *in = &w->s->steps[step];
    return !w->versions && step && !in->before && str_eq(in->key, STR("metadata")) &&
           diff_pair_is_version(key);
}

/* The value of a merge key. It counts for nothing if it can't identify. */
static void note_merge_key(struct item *item, unsigned key, struct str value)
{
    if (diff_list_identifies(value) && (!item->key || key < item->key)) {
        item->key = key;
        item->name = value;
    }
}

/* The walker stands on the value of @key. */
static bool walk_member(struct walker *w, size_t step, struct item *item, struct str key)
{
    unsigned merge_key = diff_list_key(key, item->keys);
    struct str value;
    if (pass_same_value(w, &value)) {
        if (merge_key)
            note_merge_key(item, merge_key, value);
        return true;
    }
    if (is_version(w, step, key)) {
        ignore_value(w);
        return true;
    }
    if (merge_key)
        return false;
    step = add_step(w->s, step, key);
    return step && walk_changed(w, step);
}

static bool walk_members(struct walker *w, size_t step, struct item *item)
{
    struct names names = {.from = w->n_names};
    struct str key;
    pass_sign(w, '{');
    while (pass_key(w, &key))
        if (!note_name(w, &names, key) || !walk_member(w, step, item, key))
            return false;
    return leave_part(w, &names, '}');
}

/* ---- items ---- */

static struct str without_quotes(struct str value)
{
    return *value.at == '"' ? (struct str){value.at + 1, value.len - 2} : value;
}

/* The first one says which key, since pairing takes the first that all have. */
static bool walk_item(struct walker *w, size_t list, struct names *names, unsigned *keys)
{
    struct item item = {.keys = *keys};
    struct diff_spots *s = w->s;
    size_t count = s->count, step = add_step(s, list, (struct str){0});
    if (!step || !is_next(w, '{') || !walk_members(w, step, &item) || !item.key)
        return false;
    *keys = item.key;
    s->steps[step].key = diff_list_first_key(item.key);
    s->steps[step].value = without_quotes(item.name);
    if (s->count == count)
        s->n_steps = step; /* no spot below it */
    return note_name(w, names, s->steps[step].value);
}

static bool walk_items(struct walker *w, size_t step)
{
    struct names names = {.from = w->n_names};
    unsigned keys = DIFF_LIST_KEYS;
    pass_sign(w, '[');
    do {
        if (!walk_item(w, step, &names, &keys))
            return false;
    } while (pass_sign(w, ','));
    return leave_part(w, &names, ']');
}

/* ---- the whole ---- */

bool diff_spots_find(struct diff_spots *s, struct str old_text, struct str new_text, bool versions)
{
    struct walker w;
    w.was = (struct json_walk){old_text.at, old_text.at + old_text.len};
    w.is = (struct json_walk){new_text.at, new_text.at + new_text.len};
    w.n_names = w.depth = 0;
    w.versions = versions;
    w.s = s;
    s->count = s->ignored = s->parts = 0;
    s->n_steps = 1;
    measure_the_same(&w);
    return go_down(&w, 0) && w.is.at == w.is.end && w.was.at == w.was.end;
}

static size_t put_steps(const struct diff_spots *s, size_t last, struct buf *out)
{
    const struct diff_spot_step *step = &s->steps[last];
    size_t depth = step->before ? put_steps(s, step->before, out) : 0;
    enum path_kind kind = step->value.at ? PATH_WHERE : PATH_KEY;
    path_put_step(out, &(struct path_step){.kind = kind, .key = step->key, .value = step->value});
    return depth + 1;
}

size_t diff_spots_put_path(const struct diff_spots *s, const struct diff_spot *spot,
                           struct buf *out)
{
    return put_steps(s, spot->step, out);
}
