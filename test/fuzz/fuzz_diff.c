/*
 * fuzz_diff.c - two texts separated by a NUL byte, as objects if they are objects, else as any JSON.
 * The diff, with any limits, turns one into the other.
 */
#include <yyjson.h>

#include "base/buf.h"
#include "base/json/json.h"
#include "core/diff/diff.h"
#include "core/object/object.h"
#include "daemon/record/diff_json.h"
#include "fuzz.h"
#include "patch.h"

static bool is_json(struct str text)
{
    yyjson_doc *doc = yyjson_read(text.at, text.len, YYJSON_READ_NUMBER_AS_RAW);
    yyjson_doc_free(doc);
    return doc;
}

/* The output must be JSON. */
static void check_written(const struct inf_diff *diff)
{
    struct buf json = {0}, paths = {0};
    diff_json_put(&json, diff, NULL, SIZE_MAX, SIZE_MAX);
    diff_json_put_paths(&paths, diff, SIZE_MAX);
    MUST(is_json((struct str){json.bytes, json.len}));
    MUST(is_json((struct str){paths.bytes, paths.len}));
    buf_free(&json);
    buf_free(&paths);
}

static bool leaves_out_an_order(const struct inf_diff *diff)
{
    for (size_t i = 0; i < inf_diff_count(diff); i++)
        if (inf_diff_get(diff, i)->op == INF_DIFF_REORDER && !inf_diff_get(diff, i)->new_value.json)
            return true;
    return false;
}

static void check(struct str old_text, struct str new_text, const struct inf_diff_options *options)
{
    struct inf_diff *diff = diff_make(old_text, new_text, options);
    struct inf_diff *by_pairs = diff_make_by_pairs(old_text, new_text, options);
    struct buf why = {0};
    bool is_complete = leaves_out_an_order(diff) || patch_gives(diff, old_text, new_text, &why);
    if (!is_complete)
        fprintf(stderr, "%.*s\n%.*s\n%.*s", STR_FMT(old_text), STR_FMT(new_text), (int)why.len,
                why.bytes);
    MUST(is_complete);
    MUST(!options->changes_max || inf_diff_count(diff) <= options->changes_max);
    MUST(patch_same(diff, by_pairs));
    check_written(diff);
    buf_free(&why);
    inf_diff_free(diff);
    inf_diff_free(by_pairs);
}

static void check_limits(struct str old_text, struct str new_text)
{
    static const struct inf_diff_options limits[] = {
        {.changes_max = 100000, .bytes_max = 1 << 20, .all = true},
        {.changes_max = 1, .all = true},
        {.changes_max = 3, .all = true},
        {.bytes_max = 20, .all = true},
    };
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        check(old_text, new_text, &limits[i]);
}

/* The canonical text of an object, or any JSON without white space; empty if it is neither. */
static void read_text(struct buf *out, struct str text)
{
    struct object_maker maker = {.text = {0}};
    struct inf_object *object = NULL;
    size_t len;
    if (object_make(&maker, text, NULL, &object, NULL) == 0) {
        const char *json = inf_object_json(object, &len);
        buf_put(out, json, len);
    } else if (is_json(text)) {
        json_compact(out, text);
    }
    inf_object_unref(object);
    object_maker_free(&maker);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const char *at = (const char *)bytes, *nul = len ? memchr(at, '\0', len) : NULL;
    struct buf old_text = {0}, new_text = {0};
    if (!nul)
        return 0;
    read_text(&old_text, (struct str){at, (size_t)(nul - at)});
    read_text(&new_text, (struct str){nul + 1, len - (size_t)(nul - at) - 1});
    if (old_text.len && new_text.len) {
        check_limits((struct str){old_text.bytes, old_text.len},
                     (struct str){new_text.bytes, new_text.len});
        check_limits((struct str){new_text.bytes, new_text.len},
                     (struct str){old_text.bytes, old_text.len});
    }
    buf_free(&old_text);
    buf_free(&new_text);
    return 0;
}
