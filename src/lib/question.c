#include "lib/question.h"

#include "base/base.h"

void question_open(struct inf_question *q, struct inf_client *client)
{
    q->client = client;
    list_push(&client->questions, &q->node);
}

static void question_bury(struct corpse *corpse)
{
    struct inf_question *q = container_of(corpse, struct inf_question, corpse);
    q->free(q);
}

void inf_question_close(struct inf_question *q)
{
    if (!q)
        return;
    q->stop(q);
    list_remove(&q->node);
    clock_bury(&q->client->loop.clock, &q->corpse, question_bury);
}

void question_close_all(struct inf_client *client)
{
    list_for_each_safe(node, &client->questions)
        inf_question_close(container_of(node, struct inf_question, node));
}
