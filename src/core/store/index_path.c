/*
 * index_path.c - evaluates a field path for the index. A path that matches nothing gives no values.
 */
#include "core/store/index_path.h"

#include <string.h>

#include "base/json/json_text.h"
#include "core/object/path.h"

static void each_path_value(const struct index_def *def, const struct inf_object *object,
                            index_value_fn each, void *ctx)
{
    struct path_walk walk;
    struct buf plain = {0};
    struct str text, value;
    text.at = inf_object_json(object, &text.len);
    path_walk_start(&walk, def->data, text);
    while (path_walk_next(&walk, &value)) {
        buf_clear(&plain);
        json_value_put(&plain, value);
        each(ctx, (struct str){plain.bytes, plain.len});
    }
    buf_free(&plain);
}

struct index_def index_by_path(const char *name, const struct inf_path *path)
{
    return (struct index_def){.name = name, .values = each_path_value, .data = path};
}

bool index_is_by_path(const struct index_def *def, const struct inf_path *path)
{
    const struct inf_path *mine = def->values == each_path_value ? def->data : NULL;
    return mine && strcmp(mine->text, path->text) == 0;
}
