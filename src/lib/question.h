/*
 * question.h - the common part of all preflight requests (informer/access.h): each is in its
 * client's list until it is complete or closed.
 */
#ifndef LIB_QUESTION_H
#define LIB_QUESTION_H

#include "informer/access.h"

#include "lib/client.h"

struct inf_question {
    struct list node;
    struct inf_client *client;
    struct deferred_free deferred_free;
    void (*stop)(struct inf_question *question); /* cancels what is in progress, if anything */
    void (*free)(struct inf_question *question); /* frees the struct that contains it */
};

void question_open(struct inf_question *question, struct inf_client *client);

#endif
