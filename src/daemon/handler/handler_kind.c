/*
 * handler_kind.c - the table of kinds.
 */
#include "daemon/handler/handler_kind.h"

const struct handler_kind *const handler_kinds[] = {
    &handler_exec, &handler_stream, &handler_webhook, &handler_client, &handler_nats, NULL,
};

const struct handler_kind *handler_kind_of(const struct conf_handler *conf)
{
    const struct handler_kind *found = NULL;
    for (size_t i = 0; handler_kinds[i]; i++) {
        if (!handler_kinds[i]->is_set(conf))
            continue;
        if (found)
            return NULL;
        found = handler_kinds[i];
    }
    return found;
}
