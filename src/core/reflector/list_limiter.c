#include "core/reflector/list_limiter.h"

#include "base/base.h"

void turnstile_init(struct turnstile *turnstile, unsigned room)
{
    turnstile->room = room;
    list_init(&turnstile->line);
}

static void call_in(struct task *task)
{
    struct turn *turn = container_of(task, struct turn, call);
    turn->on_turn(turn);
}

void turn_init(struct turn *turn, struct turnstile *turnstile, struct clock *clock,
               void (*on_turn)(struct turn *turn))
{
    *turn = (struct turn){.turnstile = turnstile, .clock = clock, .on_turn = on_turn};
    list_init(&turn->node);
    task_init(&turn->call, PHASE_PUMP, call_in);
}

bool turn_enter(struct turn *turn)
{
    struct turnstile *t = turn->turnstile;
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
static void admit_next(struct turnstile *t)
{
    struct list *node = list_pop(&t->line);
    struct turn *next;
    if (!node) {
        t->room++;
        return;
    }
    next = container_of(node, struct turn, node);
    next->inside = true;
    task_schedule(next->clock, &next->call);
}

void turn_leave(struct turn *turn)
{
    list_remove(&turn->node);
    task_cancel(&turn->call);
    if (!turn->inside)
        return;
    turn->inside = false;
    admit_next(turn->turnstile);
}
