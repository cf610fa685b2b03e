/*
 * consumers.c - the table of event consumers. A new one is a row here.
 *
 * Opening a consumer can't fail: what it needs from the outside it opens later, and reports
 * problems itself.
 */
#include "daemon/consumers.h"

#include "base/base.h"
#include "daemon/daemon.h"
#include "daemon/heap_trim.h"
#include "daemon/journal/journal_consumer.h"
#include "daemon/until.h"

/* In the order in which they get each event. */
static const struct event_consumer_ops *const consumers[] = {
    &journal_consumer,
    &heap_trim_consumer,
    &until_consumer,
};

void consumers_open(struct daemon *d)
{
    event_consumers_init(&d->consumers);
    for (size_t i = 0; i < ARRAY_LEN(consumers); i++)
        event_consumers_add(&d->consumers, consumers[i]->open(d));
}

void consumers_close(struct daemon *d)
{
    for (size_t i = 0; i < d->consumers.count; i++)
        if (d->consumers.items[i]->ops->close)
            d->consumers.items[i]->ops->close(d->consumers.items[i]);
    event_consumers_init(&d->consumers);
}
