/*
 * list_items.c - a state machine for the positions between tokens; json_scan.h finds their ends.
 *
 * A token is a key, a member's value or an item. One that does not end in this input is collected
 * in `partial`, up to its limit, and continues in the next. Punctuation is checked here, byte by
 * byte; yyjson checks the contents of tokens. A list that is not JSON is an error; a single item that
 * is too large or too deep is skipped.
 */
#include "kube/source/list_items.h"

#include <string.h>

#include "base/base.h"
#include "base/err.h"

enum {
    PARTIAL_KEPT = 256 * 1024, /* memory of one huge item is not kept for the small ones after it */
};

/* ---- tokens ---- */

static struct str take_bytes(struct str *input, size_t len)
{
    struct str taken = {input->at, len};
    input->at += len;
    input->len -= len;
    return taken;
}

/* Joins @piece with the beginning of its token. Returns whether the token has ended, or -INF_ETOOBIG if
 * it exceeds @limit; @ret is then its beginning. */
static int join_pieces(struct list_items *items, struct str piece, bool ended, size_t limit,
                       struct str *ret)
{
    size_t room = limit - items->partial.len;
    bool fits = piece.len <= room;
    if (!fits)
        piece.len = room;
    if (items->partial.len || !ended) {
        items->partial.secret = true; /* it may belong to a Secret */
        buf_put(&items->partial, piece.at, piece.len);
        items->partial_lent = ended || !fits;
        piece = (struct str){items->partial.bytes, items->partial.len};
    }
    *ret = piece;
    return fits ? ended : -INF_ETOOBIG;
}

/* Takes the rest of the token from @input, as far as it is there. Returns 1 and the token when it is
 * complete, 0 if more input is needed, or an error; the rest of the token is then skipped. */
static int take_token(struct list_items *items, struct str *input, size_t limit, bool *ret_ended,
                      struct str *ret, struct inf_error *err)
{
    struct str piece = take_bytes(input, json_scan_value(&items->scan, *input, ret_ended));
    bool too_deep = items->scan.deepest > JSON_DEPTH_MAX, dropping = items->dropping;
    int rc = dropping ? 0 : join_pieces(items, piece, *ret_ended, limit, ret);
    if (rc < 0)
        err_set(err, INF_ETOOBIG, "exceeds %zu bytes", limit);
    else if (too_deep && rc > 0) /* returned whole: its name may follow the deep part */
        rc = err_set(err, INF_EDECODE, "nested deeper than %d levels", JSON_DEPTH_MAX);
    items->dropping = !*ret_ended && (dropping || rc < 0);
    items->partial_lent |= rc < 0;
    if (*ret_ended)
        items->scan = (struct json_scan){0};
    return rc;
}

/* Continues a key, a member's value or an item. */
static int continue_token(struct list_items *items, struct str *input, struct str *ret_item,
                          struct inf_error *err)
{
    bool is_item = items->state == ITEMS_ITEM, is_key = items->state == ITEMS_KEY, ended;
    struct str token;
    int rc = take_token(items, input, is_item ? ITEM_MAX : LIST_MEMBER_MAX, &ended,
                        is_item ? ret_item : &token, err);
    if (is_item) {
        if (ended)
            items->state = ITEMS_AFTER_ITEM;
        return rc < 0 ? ITEMS_ONE_LOST : rc ? ITEMS_ONE : ITEMS_NONE;
    }
    if (rc < 0)
        return err_wrap(err, "list: %s", is_key ? "a key" : list_member_name(items->member));
    if (rc == 0)
        return 0;
    items->state = is_key ? ITEMS_COLON : ITEMS_AFTER_VALUE;
    return is_key ? list_head_key(&items->head, token, &items->member, err)
                  : list_head_read(&items->head, items->member, token, err);
}

/* ---- between tokens ---- */

/* clang-format off */
static const struct {
    enum list_items_state in;
    char sign;
    enum list_items_state to;
} moves[] = {
    {ITEMS_BEFORE,      '{', ITEMS_FIRST_KEY},
    {ITEMS_FIRST_KEY,   '}', ITEMS_END},
    {ITEMS_COLON,       ':', ITEMS_VALUE},
    {ITEMS_AFTER_VALUE, ',', ITEMS_KEY},
    {ITEMS_AFTER_VALUE, '}', ITEMS_END},
    {ITEMS_FIRST_ITEM,  ']', ITEMS_AFTER_VALUE},
    {ITEMS_AFTER_ITEM,  ',', ITEMS_ITEM},
    {ITEMS_AFTER_ITEM,  ']', ITEMS_AFTER_VALUE},
};

static const char *const expected[] = {
    [ITEMS_BEFORE]      = "'{'",
    [ITEMS_FIRST_KEY]   = "a key or '}'",
    [ITEMS_KEY]         = "a key",
    [ITEMS_COLON]       = "':'",
    [ITEMS_VALUE]       = "a value",
    [ITEMS_AFTER_VALUE] = "',' or '}'",
    [ITEMS_FIRST_ITEM]  = "an item or ']'",
    [ITEMS_ITEM]        = "an item",
    [ITEMS_AFTER_ITEM]  = "',' or ']'",
    [ITEMS_END]         = "nothing more",
};
/* clang-format on */

/* Enters the state after @sign; false if no punctuation mark is expected here, or another one. */
static bool pass_sign(struct list_items *items, char sign)
{
    if (items->state == ITEMS_VALUE && items->member == LIST_ITEMS && sign == '[') {
        items->state = ITEMS_FIRST_ITEM;
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(moves); i++)
        if (moves[i].in == items->state && moves[i].sign == sign) {
            items->state = moves[i].to;
            return true;
        }
    return false;
}

static bool begin_token(struct list_items *items, char first)
{
    bool value = memchr("{[\"-0123456789tfn", first, 17);
    switch (items->state) {
    case ITEMS_FIRST_KEY:
    case ITEMS_KEY: items->state = ITEMS_KEY; return first == '"';
    case ITEMS_VALUE: return value;
    case ITEMS_FIRST_ITEM:
    case ITEMS_ITEM:
        items->state = ITEMS_ITEM;
        items->count++;
        return value;
    case ITEMS_BEFORE:
    case ITEMS_COLON:
    case ITEMS_AFTER_VALUE:
    case ITEMS_AFTER_ITEM:
    case ITEMS_END: break;
    }
    return false;
}

/* Takes one punctuation mark, or one token as far as @input has it. */
static int take_step(struct list_items *items, struct str *input, struct str *ret_item,
                     struct inf_error *err)
{
    enum list_items_state before = items->state;
    size_t space = 0;
    char first;
    if (items->scan.begun)
        return continue_token(items, input, ret_item, err);
    while (space < input->len && memchr(" \n\r\t", input->at[space], 4))
        space++;
    take_bytes(input, space);
    if (!input->len)
        return 0;
    first = input->at[0];
    if (pass_sign(items, first)) {
        take_bytes(input, 1);
        return 0;
    }
    if (!begin_token(items, first))
        return err_set(err, INF_EDECODE, "list: expected %s, not byte 0x%02x (%zu items so far)",
                       expected[before], (unsigned char)first, items->count);
    return continue_token(items, input, ret_item, err);
}

/* ---- the whole ---- */

int list_items_next(struct list_items *items, struct str *input, struct str *ret_item,
                    struct inf_error *err)
{
    int rc = 0;
    while (rc == 0) {
        if (items->partial_lent) {
            if (items->partial.cap > PARTIAL_KEPT)
                buf_free(&items->partial);
            buf_clear(&items->partial);
            items->partial_lent = false;
        }
        if (!input->len)
            break;
        rc = take_step(items, input, ret_item, err);
    }
    return rc;
}

int list_items_end(struct list_items *items, struct inf_error *err)
{
    if (items->state != ITEMS_END)
        return err_set(err, INF_ECUT, "the list ended in the middle (%zu items so far)",
                       items->count);
    return list_head_end(&items->head, err);
}

void list_items_reset(struct list_items *items)
{
    list_head_free(&items->head);
    buf_free(&items->partial);
    *items = (struct list_items){.state = ITEMS_BEFORE};
}
