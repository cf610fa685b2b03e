/*
 * fuzz_items.c - a byte that selects how to cut, and the body of a list. The result does not depend on
 * the cuts, and yyjson finds the same items in every list that is accepted.
 */
#include <yyjson.h>

#include "base/buf.h"
#include "base/err.h"
#include "fuzz.h"
#include "kube/source/list_items.h"

struct outcome {
    struct buf output; /* one item per line */
    size_t items;
    bool all_json; /* each item alone */
    int rc;
    struct inf_error err;
};

static void note_item(struct outcome *out, struct str item)
{
    yyjson_doc *doc = yyjson_read(item.at, item.len, YYJSON_READ_NUMBER_AS_RAW);
    out->all_json &= doc != NULL;
    yyjson_doc_free(doc);
    buf_put(&out->output, item.at, item.len);
    buf_putc(&out->output, '\n');
    out->items++;
}

static void feed(struct list_items *items, struct str piece, struct outcome *out)
{
    char *block = xmalloc(piece.len);
    struct str input = {block, piece.len}, item;
    memcpy(block, piece.at, piece.len);
    while ((out->rc = list_items_next(items, &input, &item, &out->err)) > 0) {
        MUST(items->partial.len <= ITEM_MAX);
        if (out->rc == ITEMS_ONE)
            note_item(out, item);
        else
            out->all_json = false;
    }
    MUST(out->rc < 0 || !input.len);
    free(block);
}

static struct outcome read_list(struct str body, size_t piece)
{
    struct list_items items = {.state = ITEMS_BEFORE};
    struct outcome out = {.all_json = true};
    for (size_t at = 0; at < body.len && out.rc == 0; at += piece)
        feed(&items, (struct str){body.at + at, piece < body.len - at ? piece : body.len - at},
             &out);
    if (out.rc == 0)
        out.rc = list_items_end(&items, &out.err);
    MUST(out.rc == 0 || out.rc == -out.err.code);
    list_items_reset(&items);
    return out;
}

/* The result of yyjson for the whole list. */
static void check_whole(struct str body, const struct outcome *out)
{
    yyjson_doc *doc = yyjson_read(body.at, body.len, YYJSON_READ_NUMBER_AS_RAW);
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (out->rc == 0 && out->all_json) {
        MUST(yyjson_is_obj(root));
        MUST(yyjson_arr_size(yyjson_obj_get(root, "items")) == out->items);
    }
    if (yyjson_is_obj(root))
        MUST(out->rc != -INF_ECUT && strncmp(out->err.text, "list: expected", 14) != 0);
    yyjson_doc_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str body = {(const char *)bytes + 1, len - 1};
    struct outcome whole, cut;
    if (len < 2)
        return 0;
    whole = read_list(body, body.len);
    cut = read_list(body, bytes[0] % 32 + 1);
    check_whole(body, &whole);
    MUST(whole.rc == cut.rc && whole.items == cut.items);
    MUST(strcmp(whole.err.text, cut.err.text) == 0);
    MUST(whole.output.len == cut.output.len);
    MUST(!whole.output.len || memcmp(whole.output.bytes, cut.output.bytes, cut.output.len) == 0);
    buf_free(&whole.output);
    buf_free(&cut.output);
    return 0;
}
