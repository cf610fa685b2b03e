/*
 * question.h - what all questions to a server have in common: they are among their client's, and go
 * when they are answered or closed.
 */
#ifndef LIB_QUESTION_H
#define LIB_QUESTION_H

#include "informer/access.h"

#include "lib/client.h"

struct inf_question {
    struct list node;
    struct inf_client *client;
    struct deferred_free deferred_free;
    void (*stop)(struct inf_question *question); /* what is under way; it may be nothing */
    void (*free)(struct inf_question *question); /* with what it is in */
};

void question_open(struct inf_question *question, struct inf_client *client);

#endif
