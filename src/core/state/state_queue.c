/*
 * state_queue.c - queues: bytes that belong to a batch, until an output has written them.
 *
 * The bytes are only in files; memory has their places, for compaction. When a state is loaded, the
 * bytes that were not confirmed are put together again: compaction may have copied older ones to a
 * place after newer ones.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/mutant.h"
#include "core/state/state_internal.h"

enum {
    LINES_MAX = 1024 * 1024, /* bytes in one record */
};

struct inf_state_queue *queue_by_number(struct inf_state *state, uint32_t number)
{
    list_for_each(node, &state->queues) {
        struct inf_state_queue *queue = container_of(node, struct inf_state_queue, node);
        if (queue->number == number)
            return queue;
    }
    return NULL;
}

struct inf_state_queue *queue_make(struct inf_state *state, uint32_t number, struct str name)
{
    struct inf_state_queue *queue = NEW(struct inf_state_queue);
    queue->state = state;
    queue->number = number;
    queue->name = xstrndup(name.at, name.len);
    list_init(&queue->pieces);
    if (state->next_queue <= number)
        state->next_queue = number + 1;
    list_push(&state->queues, &queue->node);
    return queue;
}

static void free_piece(struct inf_state_queue *queue, struct queue_piece *piece)
{
    segment_dead(queue->state, &piece->place);
    if (queue->found == piece)
        queue->found = NULL;
    list_remove(&piece->node);
    free(piece->bytes);
    free(piece);
}

void queue_forget(struct inf_state_queue *queue)
{
    list_for_each_safe(node, &queue->pieces)
        free_piece(queue, container_of(node, struct queue_piece, node));
}

void queue_free(struct inf_state_queue *queue)
{
    queue_forget(queue);
    list_remove(&queue->node);
    buf_free(&queue->pending);
    free(queue->name);
    free(queue);
}

/* Puts @piece at its position; a copy of the same bytes replaces the earlier one. */
void queue_add_piece(struct inf_state_queue *queue, struct queue_piece piece)
{
    struct queue_piece *added = NEW(struct queue_piece);
    struct list *before = queue->pieces.prev;
    *added = piece;
    while (before != &queue->pieces) {
        struct queue_piece *other = container_of(before, struct queue_piece, node);
        if (other->begin < piece.begin)
            break;
        before = before->prev;
        if (other->begin == piece.begin)
            free_piece(queue, other);
    }
    list_init(&added->node);
    list_push(before->next, &added->node);
    segment_live(queue->state, &piece.place);
    if (queue->end < piece.end)
        queue->end = piece.end;
}

void queue_drop_confirmed(struct inf_state_queue *queue)
{
    list_for_each_safe(node, &queue->pieces) {
        struct queue_piece *piece = container_of(node, struct queue_piece, node);
        if (piece->end > queue->confirmed)
            break;
        free_piece(queue, piece);
    }
}

/* Compaction finds one after the other: a search from the first piece each time would take minutes for
 * the queue of a handler with 100,000 records. */
struct queue_piece *queue_find_piece(struct inf_state_queue *queue, uint64_t begin)
{
    struct list *node = queue->found ? &queue->found->node : queue->pieces.next;
    while (node != &queue->pieces && container_of(node, struct queue_piece, node)->begin > begin)
        node = node->prev;
    if (node == &queue->pieces)
        return NULL; /* before the first one: it is confirmed */
    while (node != &queue->pieces && container_of(node, struct queue_piece, node)->begin < begin)
        node = node->next;
    if (node == &queue->pieces)
        return NULL;
    queue->found = container_of(node, struct queue_piece, node);
    return queue->found->begin == begin ? queue->found : NULL;
}

void queue_define(struct inf_state_queue *queue)
{
    struct record record = {.type = RECORD_QUEUE,
                            .owner = queue->number,
                            .number = MUTANT("state: queue confirmed too early") ? queue->end
                                                                                 : queue->confirmed,
                            .body = str_of(queue->name)};
    queue->confirmed_changed = false;
    writer_put(queue->state, &record);
}

void queue_put_confirm(struct inf_state_queue *queue)
{
    struct record record = {
        .type = RECORD_CONFIRM, .owner = queue->number, .number = queue->confirmed};
    queue->confirmed_changed = false;
    writer_put(queue->state, &record);
}

/* ---- the public functions ---- */

static bool is_recording(const struct inf_state_queue *queue)
{
    return state_phase(queue->state) == STATE_ACTIVE;
}

struct inf_state_queue *inf_state_queue(struct inf_state *state, const char *name)
{
    struct inf_state_queue *queue;
    if (strlen(name) > INF_STATE_ID_MAX)
        return NULL;
    list_for_each(node, &state->queues) {
        queue = container_of(node, struct inf_state_queue, node);
        if (strcmp(queue->name, name) == 0)
            return queue;
    }
    queue = queue_make(state, state->next_queue, str_of(name));
    if (is_recording(queue) && state->newest)
        queue_define(queue);
    return queue;
}

struct inf_state_queue *inf_state_queue_next(const struct inf_state *state,
                                             const struct inf_state_queue *after)
{
    const struct list *node = after ? after->node.next : state->queues.next;
    return node == &state->queues ? NULL : container_of(node, struct inf_state_queue, node);
}

const char *inf_state_queue_name(const struct inf_state_queue *queue)
{
    return queue->name;
}

void inf_state_queue_add(struct inf_state_queue *queue, const char *bytes, size_t len)
{
    while (len) {
        size_t n = len < LINES_MAX ? len : LINES_MAX;
        struct queue_piece piece = {.begin = queue->end, .end = queue->end + n};
        struct record record = {RECORD_LINES, 0, queue->number, queue->end, {bytes, n}};
        if (is_recording(queue)) {
            piece.place = writer_put(queue->state, &record);
            queue_add_piece(queue, piece);
        } else {
            queue->end += n;
        }
        bytes += n;
        len -= n;
    }
}

uint64_t inf_state_queue_end(const struct inf_state_queue *queue)
{
    return queue->end;
}

void inf_state_queue_confirm(struct inf_state_queue *queue, uint64_t end)
{
    if (end > queue->end)
        end = queue->end;
    if (end <= queue->confirmed)
        return;
    queue->confirmed = end;
    if (is_recording(queue))
        queue->confirmed_changed = queue->state->batch_changes = true;
    queue_drop_confirmed(queue);
    if (queue->confirmed >= queue->pending_end)
        buf_free(&queue->pending);
}

bool inf_state_queue_pending(const struct inf_state_queue *queue, const char **ret_bytes,
                             size_t *ret_len, uint64_t *ret_end)
{
    if (!queue->pending.len)
        return false;
    *ret_bytes = queue->pending.bytes;
    *ret_len = queue->pending.len;
    *ret_end = queue->pending_end;
    return true;
}

void inf_state_queue_drop(struct inf_state_queue *queue)
{
    struct record record = {.type = RECORD_QUEUE_DROP, .owner = queue->number};
    if (is_recording(queue))
        writer_put(queue->state, &record);
    queue_free(queue);
}
