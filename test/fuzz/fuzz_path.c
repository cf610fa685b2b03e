/*
 * fuzz_path.c - a path, a newline, a JSON text. The canonical spelling of a path is stable; the values
 * it finds are inside the text, and are also found step by step.
 */
#include "base/buf.h"
#include "base/json/json_text.h"
#include "core/object/path.h"
#include "fuzz.h"

static void check_spelling(const struct inf_path *path, const char *text)
{
    struct inf_path *again = inf_path_parse(inf_path_text(path), NULL);
    MUST(again && again->count == path->count);
    MUST(strcmp(inf_path_text(again), inf_path_text(path)) == 0);
    MUST(strlen(inf_path_text(path)) <= strlen(text));
    for (size_t i = 0; i < path->count; i++) {
        MUST(again->steps[i].kind == path->steps[i].kind);
        MUST(str_eq(again->steps[i].key, path->steps[i].key));
        MUST(str_eq(again->steps[i].value, path->steps[i].value));
    }
    inf_path_free(again);
}

static void check_values(const struct inf_path *path, struct str json)
{
    struct path_walk walk;
    struct str value;
    struct buf text = {0};
    size_t count = 0;
    path_walk_start(&walk, path, json);
    while (path_walk_next(&walk, &value)) {
        MUST(value.at >= json.at && value.at + value.len <= json.at + json.len);
        buf_clear(&text);
        json_value_put(&text, value);
        MUST(text.len <= value.len);
        MUST(json_value_is(value, (struct str){text.bytes, text.len}));
        MUST(++count <= json.len);
    }
    buf_free(&text);
}

/* Finds the values again, step by step, as rules do. */
struct follow {
    const struct inf_path *path;
    struct path_walk walk;
    struct str next; /* the next value of the walk; at NULL: none */
};

static void look_ahead(struct follow *f)
{
    if (!path_walk_next(&f->walk, &f->next))
        f->next.at = NULL;
}

static void follow_into(struct follow *f, struct str value, size_t depth);

static void follow_match(struct follow *f, struct path_match match, struct str value, size_t depth)
{
    MUST(!match.ended || !match.live);
    if (match.ended && value.at == f->next.at)
        look_ahead(f);
    if (match.live)
        follow_into(f, value, depth + 1);
}

static void follow_into(struct follow *f, struct str value, size_t depth)
{
    struct json_walk walk;
    struct json_member m;
    if (json_items_start(&walk, value)) {
        for (size_t i = 0; json_items_next(&walk, &m.value); i++)
            follow_match(f, path_set_item(&f->path, 1, depth, i, m.value), m.value, depth);
        return;
    }
    json_walk_start(&walk, value);
    while (json_walk_next(&walk, &m))
        follow_match(f, path_set_key(&f->path, 1, depth, m.key), m.value, depth);
}

/* It finds all values of the walk in the same order (and more, if a key occurs twice). */
static void check_steps(const struct inf_path *path, struct str json)
{
    struct follow f = {.path = path};
    path_walk_start(&f.walk, path, json);
    look_ahead(&f);
    follow_into(&f, json, 0);
    MUST(!f.next.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct fuzz_input input = fuzz_split(bytes, len);
    struct inf_error err = {.code = 0};
    struct inf_path *path = inf_path_parse(input.text, &err);
    MUST(path || (err.code == INF_EINVAL && strstr(err.text, "': column ")));
    if (path) {
        check_spelling(path, input.text);
        check_values(path, input.json);
        check_steps(path, input.json);
    }
    inf_path_free(path);
    fuzz_free(&input);
    return 0;
}
