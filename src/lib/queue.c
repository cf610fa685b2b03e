/*
 * queue.c - opens work queues on the loop of a client and closes them with it. The queue itself is
 * core/dispatch/workqueue.c.
 */
#include "base/base.h"
#include "base/err.h"
#include "core/dispatch/workqueue.h"
#include "lib/client.h"

struct inf_queue *inf_queue_open(struct inf_client *client, struct inf_worker *worker,
                                 const struct inf_queue_options *options, struct inf_error *err)
{
    struct siphash_key hash_key = {rng_next(&client->rng), rng_next(&client->rng)};
    struct inf_queue *queue;
    if (!worker->work) {
        err_set(err, INF_EINVAL, "worker has no work() function");
        return NULL;
    }
    if (options && !ALL_ZERO(options->reserved)) {
        err_set(err, INF_EINVAL, "a reserved field of the queue's options is not zero");
        return NULL;
    }
    queue = workqueue_new(&client->loop.clock, worker, options, &hash_key,
                          client->user_log ? &client->log : NULL);
    list_push(&client->queues, &queue->node);
    return queue;
}

void queue_close_all(struct inf_client *client)
{
    list_for_each_safe(node, &client->queues)
        inf_queue_close(container_of(node, struct inf_queue, node), NULL);
}
