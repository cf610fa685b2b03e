/*
 * path.h - field paths inside the engine: evaluated on any JSON text, or followed step by step.
 *
 * The happy path reads the values that a path names:
 *
 *     struct path_walk walk;
 *     path_walk_start(&walk, path, text);
 *     while (path_walk_next(&walk, &value)) ...
 *
 * While a document is copied, many paths can be followed together: every step goes down exactly one
 * level, so at depth d (the members of the root are 0) step d decides, and which paths still fit is
 * one bit each:
 *
 *     while (json_walk_next(&walk, &member)) {
 *         struct path_fork fork = path_fork_key(paths, live, depth, member.key);
 *         if (fork.ended)         some path ends at this member: cut it, hash it
 *         else if (fork.live)     some path goes on inside: copy its members, with fork.live, depth + 1
 *         else                    no path comes here: copy it as it is
 *     }
 *
 * So a copy goes at most PATH_STEPS_MAX levels down, and a key that is there twice is seen twice.
 * Nothing here fails but parsing; on text that is not JSON a walk ends early and never reads
 * outside.
 */
#ifndef CORE_OBJECT_PATH_H
#define CORE_OBJECT_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/path.h"

#include "base/buf.h"
#include "base/str.h"
#include "core/json/json.h"

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

/* Reads @part, which is all or a part of @whole; complaints call that @what and count its columns.
 * NULL: see @err. */
struct inf_path *path_parse(const char *what, struct str whole, struct str part,
                            struct inf_error *err);

/* What a plain name and an unquoted value are made of; what even quotes don't hold as it is. */
bool path_is_name(char c);
bool path_is_bare(char c);
bool path_is_control(char c);

/* Adds one step in canonical spelling, with a '.' before a name that is not the first. */
void path_put_step(struct buf *out, const struct path_step *step);

/* The canonical text, the caller's. */
char *path_spell(const struct inf_path *path);

/* ---- the values a path names ---- */

struct path_level {
    struct json_walk walk;
    size_t index; /* of the next item */
    bool list;
};

/* Lends from the path and the text; needs no end. */
struct path_walk {
    const struct inf_path *path;
    size_t depth;
    struct path_level levels[PATH_STEPS_MAX];
};

void path_walk_start(struct path_walk *walk, const struct inf_path *path, struct str text);

/* The next value, as spelled, in the order of the text; false at the end. */
bool path_walk_next(struct path_walk *walk, struct str *ret_value);

/* Only the first. */
bool path_first(const struct inf_path *path, struct str text, struct str *ret_value);

/* ---- step by step ---- */

/* Whether step number @step takes the member with that key (as spelled, without quotes) of a map.
 */
bool path_step_matches_key(const struct inf_path *path, size_t step, struct str key);

/* Whether it takes the item of a list that is number @index and reads @item. */
bool path_step_matches_item(const struct inf_path *path, size_t step, size_t index,
                            struct str item);

/* Of several paths, one bit each (bit i: paths[i]). */
struct path_fork {
    uint64_t ended; /* they name this very value */
    uint64_t live;  /* they go on inside it */
};

/* All of @count paths, as they are before the first step. At most PATH_SET_MAX. */
uint64_t path_set_all(size_t count);

/* What becomes of the paths in @live at a member or an item of depth @depth. */
struct path_fork path_fork_key(const struct inf_path *const *paths, uint64_t live, size_t depth,
                               struct str key);
struct path_fork path_fork_item(const struct inf_path *const *paths, uint64_t live, size_t depth,
                                size_t index, struct str item);

#endif
