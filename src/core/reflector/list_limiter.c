#include "core/reflector/list_limiter.h"

#include "base/base.h"

void list_limiter_init(struct list_limiter *list_limiter, unsigned room)
{
    list_limiter->room = room;
    list_init(&list_limiter->line);
}

static void call_in(struct task *task)
{
    struct list_slot *turn = container_of(task, struct list_slot, call);
    turn->on_slot(turn);
}

void list_slot_init(struct list_slot *turn, struct list_limiter *list_limiter, struct clock *clock,
                    void (*on_slot)(struct list_slot *turn))
{
    *turn = (struct list_slot){.list_limiter = list_limiter, .clock = clock, .on_slot = on_slot};
    list_init(&turn->node);
    task_init(&turn->call, PHASE_PUMP, call_in);
}

bool list_slot_acquire(struct list_slot *turn)
{
    struct list_limiter *t = turn->list_limiter;
    if (!t || turn->inside)
        return true;
    if (!t->room) {
        list_push(&t->line, &turn->node);
        return false;
    }
    t->room--;
    turn->inside = true;
    return true;
}

/* The next one's place is kept for it until it is called: nobody can push in. */
static void admit_next(struct list_limiter *t)
{
    struct list *node = list_pop(&t->line);
    struct list_slot *next;
    if (!node) {
        t->room++;
        return;
    }
    next = container_of(node, struct list_slot, node);
    next->inside = true;
    task_schedule(next->clock, &next->call);
}

void list_slot_release(struct list_slot *turn)
{
    list_remove(&turn->node);
    task_cancel(&turn->call);
    if (!turn->inside)
        return;
    turn->inside = false;
    admit_next(turn->list_limiter);
}
