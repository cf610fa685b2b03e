/*
 * question.c - opens and closes preflight requests; their memory is freed in the reap phase.
 */
#include "lib/question.h"

#include "base/base.h"

void question_open(struct inf_question *q, struct inf_client *client)
{
    q->client = client;
    list_push(&client->questions, &q->node);
}

static void question_free_deferred(struct deferred_free *deferred_free)
{
    struct inf_question *q = container_of(deferred_free, struct inf_question, deferred_free);
    q->free(q);
}

void inf_question_close(struct inf_question *q)
{
    if (!q)
        return;
    q->stop(q);
    list_remove(&q->node);
    clock_free_later(&q->client->loop.clock, &q->deferred_free, question_free_deferred);
}

void question_close_all(struct inf_client *client)
{
    list_for_each_safe(node, &client->questions)
        inf_question_close(container_of(node, struct inf_question, node));
}
