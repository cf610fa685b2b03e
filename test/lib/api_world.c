/*
 * api_world.c - see api_world.h.
 */
#include "api_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "builders.h"
#include "daemon/api/api_list.h"
#include "daemon/api/api_wait.h"
#include "daemon/api/api_watch.h"

const struct inf_resource api_world_pods = {
    .group = "", .version = "v1", .name = "pods", .kind = "Pod"};

static void serve(struct http_server_user *user, const struct http_server_request *request,
                  struct http_exchange *x)
{
    struct api_world *w = container_of(user, struct api_world, user);
    struct api_request r;
    struct api_fault fault;
    assert_int_equal(api_request_read(&r, request, &fault), 0);
    r.gzip = w->gzip;
    api_wait_start(api_feed_get(&w->api, w->store, &api_world_pods, w->printer), &r, x,
                   r.page == API_LIST ? api_list_go : api_watch_go);
}

static const struct http_server_user_ops ops = {.on_request = serve};

int api_world_setup(void **state)
{
    struct api_world *w = test_calloc(1, sizeof(*w));
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    w->user.ops = &ops;
    w->server = http_server_new(&w->sim.clock, NULL, &w->user);
    api_init(&w->api, NULL, &w->sim.clock);
    w->store = store_new(&(struct siphash_key){1, 2}, NULL, 0);
    *state = w;
    return 0;
}

int api_world_teardown(void **state)
{
    struct api_world *w = *state;
    api_close(&w->api);
    http_server_close(w->server);
    sim_run(&w->sim);
    while (w->store && !store_free_some(w->store, 100))
        continue;
    pipe_dialer_done(&w->pipes);
    sim_done(&w->sim);
    test_free(w);
    return 0;
}

void api_world_ignore(void *ctx, const struct inf_event *event)
{
    (void)ctx;
    (void)event;
}

struct inf_object *api_world_pod(struct api_world *w, const char *name, const char *label, int size)
{
    char *text = xasprintf("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\","
                           "\"namespace\":\"n\",\"uid\":\"u-%s\",\"resourceVersion\":\"%d\","
                           "\"labels\":{\"app\":\"%s\"}},\"spec\":{\"x\":\"%0*d\"}}",
                           name, name, (int)++w->version, label, size, 0);
    struct inf_object *object = object_from(text);
    free(text);
    return object;
}

void api_world_put(struct api_world *w, const char *name, const char *label, int size)
{
    struct inf_object *object = api_world_pod(w, name, label, size);
    store_put(w->store, object, INF_LIVE, api_world_ignore, NULL);
    inf_object_unref(object);
}

void api_world_delete(struct api_world *w, const char *name)
{
    struct inf_object *object = api_world_pod(w, name, "x", 1);
    store_delete(w->store, object, api_world_ignore, NULL);
    inf_object_unref(object);
}
