/*
 * test_api_metadata.c - `keep: metadata`: only metadata is requested and kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/object/shape.h"
#include "source_world.h"

static const struct resource_scope all = {.ns = NULL};

/* A world that requests only metadata. */
static void world_init(struct source_world *w, struct shape *shape)
{
    shape_init(shape, false, NULL);
    shape->metadata_only = true;
    source_world_init_with(w, "pods", &all, shape);
    w->whole = true;
}

static void world_done(struct source_world *w, struct shape *shape)
{
    source_world_done(w);
    shape_free(shape);
}

static void assert_requests(struct source_world *w, enum source_want want, const char *accept)
{
    source_world_open_version(w, want, "7");
    sim_run(&w->sim);
    buf_putc(&w->pipes.last->written, '\0');
    assert_non_null(strstr(w->pipes.last->written.bytes, accept));
    source_cancel(w->source);
}

#define TAIL ";g=meta.k8s.io;v=v1,application/json\r\n"

static void requests_metadata_only(void **state)
{
    struct source_world w;
    struct shape shape;
    (void)state;
    world_init(&w, &shape);
    assert_requests(&w, SOURCE_LIST,
                    "\r\nAccept: application/json;as=PartialObjectMetadataList" TAIL);
    assert_requests(&w, SOURCE_WATCH, "\r\nAccept: application/json;as=PartialObjectMetadata" TAIL);
    assert_requests(&w, SOURCE_WATCH_LIST,
                    "\r\nAccept: application/json;as=PartialObjectMetadata" TAIL);
    world_done(&w, &shape);
}

#define PARTIAL \
    "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{"

/* The list and the watch-list of the same pod, at the same version, must be equal byte by byte. */
static void delivers_recorded_metadata(void **state)
{
    static const struct source_request list = {.want = SOURCE_LIST, .resource_version = "0"};
    struct source_world w;
    struct shape shape;
    char *listed, *watched;
    (void)state;
    world_init(&w, &shape);
    source_world_play(&w, source_world_connect_with(&w, &list), "pods-list-metadata");
    buf_putc(&w.events, '\0');
    listed = strstr(w.events.bytes, "ADDED default/web-frontend-66b99d9c48-m42qs 282 " PARTIAL);
    assert_non_null(listed);
    assert_null(strstr(listed, "managedFields"));
    assert_non_null(strstr(listed, "\nPAGE_END 610\n" LIST_END));
    source_world_play(&w, source_world_connect(&w), "pods-watchlist-metadata");
    buf_putc(&w.events, '\0');
    listed = strstr(w.events.bytes, "ADDED ");
    watched = strstr(w.events.bytes + strlen(w.events.bytes) + 1, "ADDED ");
    assert_non_null(watched);
    assert_memory_equal(listed, watched, (size_t)(strchr(listed, '\n') - listed));
    assert_non_null(strstr(watched, "\nBOOKMARK "));
    world_done(&w, &shape);
}

/* A server, or a proxy, that does not support `as=`. */
static void reduces_whole_objects_to_metadata(void **state)
{
    struct source_world w;
    struct shape shape;
    struct pipe *pipe;
    (void)state;
    world_init(&w, &shape);
    pipe = source_world_connect(&w);
    pipe_sends(pipe, WATCH_HEAD);
    send_chunk(pipe,
               "{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
               "\"spec\":{\"metadata\":1},\"metadata\":{\"name\":\"a\","
               "\"resourceVersion\":\"1\",\"managedFields\":[],\"spec\":2},\"status\":{}}}\n");
    sim_run(&w.sim);
    source_world_expect(&w, "open\nADDED a 1 {\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":"
                            "{\"name\":\"a\",\"resourceVersion\":\"1\",\"spec\":2}}\n");
    world_done(&w, &shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_metadata_only),
        cmocka_unit_test(delivers_recorded_metadata),
        cmocka_unit_test(reduces_whole_objects_to_metadata),
    };
    return cmocka_run_group_tests_name("api_metadata", tests, NULL, NULL);
}
