/*
 * closing.c - closes a client at any moment:  closing KUBECONFIG STEP
 *
 * Opens a client and closes it after n iterations of the loop, for n = 0, 1, 2... until it had been synced for some
 * iterations. This is repeated for each way to close. With a STEP above 1, only every STEP-th n is taken, starting elsewhere
 * for each way. Whatever was in progress (a lookup, a handshake, a list, a batch of events), the loop must end by itself,
 * without open handles and without leaks.
 */
#include <signal.h>
#include <string.h>

#include "life.h"

enum {
    BEYOND = 15, /* iterations after the first sync */
};

#define LIFE_OF(pointer) ((struct life *)(void *)((char *)(pointer)-offsetof(struct life, handler)))

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    struct life *life = LIFE_OF(handler);
    (void)informer;
    life->events++;
    inf_queue_add(life->queue, inf_object_name(inf_event_object(event)));
}

/* Key "b" is never done: the worker still has it when the client is closed. */
static void work(struct inf_worker *worker, struct inf_queue *queue, const char *key)
{
    (void)worker;
    if (strcmp(key, "b") != 0)
        inf_queue_done(queue, key, INF_WORK_RETRY);
}

/* ---- requests, completed or not ---- */

/* Counts results and cancellations: each request has exactly one of them. */
static void count_result(struct life *life, bool ok, const struct inf_error *why)
{
    MUST(ok ? !why : why->code == INF_ECANCELED);
    life->answers += ok;
    life->canceled += !ok;
}

static void on_identity(struct inf_request *request, const struct inf_identity *identity,
                        const struct inf_error *why)
{
    MUST(!identity || (identity->version && identity->user));
    count_result(request->data, identity, why);
}

static void on_access(struct inf_request *request, const struct inf_access *access,
                      const struct inf_error *why)
{
    MUST(!access || (access->list && access->watch));
    count_result(request->data, access, why);
}

static void on_document(struct inf_request *request, const char *json, size_t len,
                        const struct inf_error *why)
{
    MUST(!json || (json[0] == '{' && strlen(json) == len));
    count_result(request->data, json, why);
}

static void on_all_synced(struct inf_request *request, const struct inf_error *why)
{
    struct life *life = request->data;
    MUST(why || !life->informer || inf_informer_synced(life->informer));
    count_result(life, !why, why);
}

static void start_requests(struct life *life)
{
    struct inf_request *r = life->requests;
    struct inf_error err;
    for (size_t i = 0; i < REQUESTS; i++)
        r[i].data = life;
    MUST(inf_access_request(life->client, &r[0], "po/", NULL, on_access, &err) == -INF_EINVAL);
    MUST(inf_access_request(life->client, &r[0], "po", "Shop", on_access, &err) == -INF_EINVAL);
    inf_request_cancel(&r[0]); /* harmless: it was not started */
    MUST(inf_access_request(life->client, &r[0], "po", NULL, on_access, &err) == 0);
    MUST(inf_identity_request(life->client, &r[0], on_identity) == -INF_EINVAL);
    inf_request_cancel(&r[0]);
    inf_request_cancel(&r[0]);
    MUST(inf_identity_request(life->client, &r[1], on_identity) == 0);
    MUST(inf_access_request(life->client, &r[2], "cm", "default", on_access, &err) == 0);
    MUST(inf_document_request(life->client, &r[4], "version", NULL, on_document) == -INF_EINVAL);
    MUST(inf_document_request(life->client, &r[4], "/a b", NULL, on_document) == -INF_EINVAL);
    MUST(inf_document_request(life->client, &r[4], "/a", "a\r\nb", on_document) == -INF_EINVAL);
    MUST(inf_document_request(life->client, &r[4], "/openapi/v3", NULL, on_document) == 0);
    MUST(inf_client_wait_synced(life->client, &r[3], on_all_synced) == 0);
    MUST(life->answers + life->canceled == 0);
}

static void on_closed(struct inf_client *client)
{
    struct life *life = inf_client_data(client);
    MUST(life->answers + life->canceled == REQUESTS);
    life->closed = true;
}

/* ---- ways to close ---- */

static void end_client(struct life *life)
{
    inf_client_close(life->client, on_closed);
}

static void on_informer_closed(struct inf_informer *informer)
{
    struct life *life = inf_informer_data(informer);
    life->informer_closed = true;
}

static void on_queue_closed(struct inf_queue *queue)
{
    struct life *life = inf_queue_data(queue);
    life->queue_closed = true;
}

static void end_informer_first(struct life *life)
{
    inf_informer_set_data(life->informer, life);
    inf_informer_close(life->informer, on_informer_closed);
    life->informer = NULL; /* the wait for its sync ends without it */
    uv_run(life->loop, UV_RUN_NOWAIT);
    MUST(life->informer_closed);
    inf_client_close(life->client, on_closed);
}

static void end_handler_first(struct life *life)
{
    inf_handler_remove(&life->handler);
    uv_run(life->loop, UV_RUN_NOWAIT);
    inf_queue_set_data(life->queue, life);
    inf_queue_close(life->queue, on_queue_closed);
    MUST(!life->queue_closed);
    inf_client_close(life->client, on_closed);
}

static void end_paused(struct life *life)
{
    inf_handler_pause(&life->handler);
    uv_run(life->loop, UV_RUN_NOWAIT);
    inf_client_close(life->client, on_closed);
}

static void close_everything(struct inf_handler *handler, struct inf_informer *informer,
                             const struct inf_event *event)
{
    (void)informer;
    (void)event;
    inf_client_close(LIFE_OF(handler)->client, on_closed);
}

/* Closes in the callback of the next event; a new handler gets the known objects at once. */
static void end_from_a_handler(struct life *life)
{
    struct life *own = life;
    inf_handler_remove(&own->handler);
    own->handler = (struct inf_handler){.on_event = close_everything};
    MUST(inf_handler_add(own->informer, &own->handler) == 0);
}

/* ---- main ---- */

/* Returns whether it was synced for long enough. */
static bool live_for(unsigned turns, unsigned step, void (*end)(struct life *life),
                     const char *kubeconfig, unsigned *beyond)
{
    uv_loop_t loop;
    struct life life = {.handler = {.on_event = on_event}, .worker = {.work = work}};
    MUST(uv_loop_init(&loop) == 0);
    life_open(&life, &loop, kubeconfig);
    inf_client_set_data(life.client, &life);
    start_requests(&life);
    while (turns--)
        uv_run(&loop, UV_RUN_ONCE);
    *beyond += inf_informer_synced(life.informer) ? step : 0;
    end(&life);
    uv_run(&loop, UV_RUN_DEFAULT);
    MUST(end != end_handler_first || life.queue_closed);
    MUST(life.closed && uv_loop_close(&loop) == 0);
    return *beyond > BEYOND && life.answers == REQUESTS - 1;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*end)(struct life *life);
    } ways[] = {
        {"client", end_client}, {"informer", end_informer_first}, {"handler", end_handler_first},
        {"paused", end_paused}, {"inside", end_from_a_handler},
    };
    const size_t n_ways = sizeof(ways) / sizeof(*ways);
    unsigned step;
    MUST(argc == 3 && atoi(argv[2]) > 0);
    step = (unsigned)atoi(argv[2]);
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < n_ways; i++) {
        unsigned turns = (unsigned)(i * step / n_ways), beyond = 0;
        while (!live_for(turns, step, ways[i].end, argv[1], &beyond))
            turns += step;
        printf("%s %u\n", ways[i].name, turns);
        fflush(stdout);
    }
    return EXIT_SUCCESS;
}
