/*
 * api_get.c - looks one object up. A name that the cache does not have is 404: the cache is complete.
 */
#include "daemon/api/api_get.h"

#include "daemon/api/api_feed.h"
#include "daemon/api/api_send.h"

void api_get_go(struct api_feed *feed, struct api_request *r, struct http_exchange *x)
{
    const struct inf_object *object = inf_store_get(feed->store, r->ns ? r->ns : "", r->name);
    struct buf body = {0};
    if (object) {
        api_put_object(&body, &feed->type, r->form, object, NULL, clock_wall_us(feed->clock));
        buf_putc(&body, '\n');
        api_send(feed->api, x, &body, r->gzip);
    } else {
        struct api_fault fault = {.name = r->name, .group = r->group, .resource = r->resource};
        api_fault_set(&fault, 404, "%s%s%s \"%s\" not found", r->resource, *r->group ? "." : "",
                      r->group, r->name);
        api_fault_reply(&fault, x);
    }
    api_request_free(r);
}
