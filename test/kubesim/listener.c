/*
 * The listening socket on loopback. It can be closed for some time, so that the kernel refuses
 * connections.
 */
#include <string.h>

#include "conn.h"

enum {
    BACKLOG = 511,
};

static void on_connection(uv_stream_t *listener, int status)
{
    if (status == 0)
        conn_open(listener->data);
}

int listener_open(struct kubesim *sim, int port)
{
    struct sockaddr_in address;
    int len = sizeof(address), rc;
    uv_tcp_init(&sim->loop, &sim->listener);
    sim->listener.data = sim;
    sim->listening = true;
    uv_ip4_addr("127.0.0.1", port, &address);
    rc = uv_tcp_bind(&sim->listener, (const struct sockaddr *)&address, 0);
    if (rc == 0)
        rc = uv_listen((uv_stream_t *)&sim->listener, BACKLOG, on_connection);
    if (rc == 0)
        rc = uv_tcp_getsockname(&sim->listener, (struct sockaddr *)&address, &len);
    if (rc < 0) {
        listener_close(sim);
        return rc;
    }
    sim->settings.port = ntohs(address.sin_port);
    return sim->settings.port;
}

void listener_close(struct kubesim *sim)
{
    if (sim->listening)
        uv_close((uv_handle_t *)&sim->listener, NULL);
    sim->listening = false;
}

/* The closed handle's memory is used again: it is closed by now, the loop has run since. */
static void on_reopen(uv_timer_t *timer)
{
    struct kubesim *sim = timer->data;
    if (!sim->ending && !sim->listening)
        listener_open(sim, sim->settings.port);
}

void listener_refuse(struct kubesim *sim, uint64_t ms)
{
    listener_close(sim);
    uv_timer_start(&sim->reopen, on_reopen, ms ? ms : 1, 0);
}
