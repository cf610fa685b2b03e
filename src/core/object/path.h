/*
 * path.h - field paths inside the engine: evaluated on any JSON text, or followed step by step.
 *
 * The normal path reads the values that a path selects:
 *
 *     struct path_walk walk;
 *     path_walk_start(&walk, path, text);
 *     while (path_walk_next(&walk, &value)) ...
 *
 * While a document is copied, many paths can be followed together: every step goes down exactly one
 * level, so at depth d (the members of the root are 0) step d decides, and which paths still match is
 * one bit each:
 *
 *     while (json_walk_next(&walk, &member)) {
 *         struct path_match match = path_set_key(paths, live, depth, member.key);
 *         if (match.ended)         some path ends at this member: cut it, hash it
 *         else if (match.live)     some path goes on inside: copy its members, with match.live, depth + 1
 *         else                    no path comes here: copy it as it is
 *     }
 *
 * So a copy descends at most PATH_STEPS_MAX levels, and a duplicate key is visited twice. Only
 * parsing can fail; on text that is not JSON a walk ends early and never reads out of bounds.
 */
#ifndef CORE_OBJECT_PATH_H
#define CORE_OBJECT_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/path.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/str.h"

enum {
    PATH_TEXT_MAX = 1024,    /* LIMIT: bytes of a path as written */
    PATH_STEPS_MAX = 32,     /* LIMIT: steps of a path */
    PATH_INDEX_MAX = 999999, /* LIMIT: the number in [0] */
    PATH_SET_MAX = 64,       /* LIMIT: paths followed together */
};

enum path_kind {
    PATH_KEY,   /* spec, ["a.b/c"]: the member of that name */
    PATH_ALL,   /* [*]: every item of a list, every member of a map */
    PATH_INDEX, /* [0]: one item */
    PATH_WHERE, /* [type=Ready]: the items with such a member */
};

struct path_step {
    enum path_kind kind;
    size_t index;     /* PATH_INDEX */
    struct str key;   /* PATH_KEY, PATH_WHERE; without escapes */
    struct str value; /* PATH_WHERE; without escapes */
};

struct inf_path {
    size_t count; /* at least 1 */
    struct path_step steps[PATH_STEPS_MAX];
    char *names; /* what keys and values point into */
    char *text;  /* canonical */
};

/* Parses @part, which is all or a part of @whole. Errors call @whole @what and give its column.
 * Returns NULL on failure. */
struct inf_path *path_parse(const char *what, struct str whole, struct str part,
                            struct inf_error *err);

/* Characters of an unquoted name; of an unquoted value; those that must be escaped in quotes. */
bool path_is_name(char c);
bool path_is_bare(char c);
bool path_is_control(char c);

/* Appends one step in canonical form, with a '.' before a name that is not the first. */
void path_put_step(struct buf *out, const struct path_step *step);

/* Returns the canonical text, which the caller owns. */
char *path_format(const struct inf_path *path);

/* ---- the values that a path selects ---- */

struct path_level {
    struct json_walk walk;
    size_t index; /* of the next item */
    bool list;
};

/* Points into the path and the text; nothing to free. */
struct path_walk {
    const struct inf_path *path;
    size_t depth;
    struct path_level levels[PATH_STEPS_MAX];
};

void path_walk_start(struct path_walk *walk, const struct inf_path *path, struct str text);

/* The next value, as written, in the order of the text; false at the end. */
bool path_walk_next(struct path_walk *walk, struct str *ret_value);

/* The first value. */
bool path_first(const struct inf_path *path, struct str text, struct str *ret_value);

/* ---- step by step ---- */

/* Whether step number @step selects the member with that key (as written, without quotes) of a map.
 */
bool path_step_matches_key(const struct inf_path *path, size_t step, struct str key);

/* Whether it selects @item, which is number @index of a list. */
bool path_step_matches_item(const struct inf_path *path, size_t step, size_t index,
                            struct str item);

/* How several paths match a value, one bit each (bit i: paths[i]). */
struct path_match {
    uint64_t ended; /* these select the value itself */
    uint64_t live;  /* these continue inside of it */
};

/* All of @count paths, as they are before the first step. At most PATH_SET_MAX. */
uint64_t path_set_all(size_t count);

/* How the paths in @live match a member or an item at depth @depth. */
struct path_match path_set_key(const struct inf_path *const *paths, uint64_t live, size_t depth,
                               struct str key);
struct path_match path_set_item(const struct inf_path *const *paths, uint64_t live, size_t depth,
                                size_t index, struct str item);

#endif
