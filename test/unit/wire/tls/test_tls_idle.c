/*
 * test_tls_idle.c - the memory of an idle connection: watches are idle most of the time, and there
 * are many of them.
 *
 * OpenSSL's allocations are counted by replacing its malloc, which needs a separate program. Each
 * block records the account it was allocated for, and is subtracted when it is freed.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/crypto.h>

#include "base/alloc.h"
#include "tls_world.h"

enum {
    CONNECTIONS = 200,
    IDLE_MAX = 40 * 1024, /* limit per connection */
    LAST = 1000,          /* bytes of the last write */
    RECORD = 16384,       /* a block of this size can only be a buffer for records */
};

/* --- the accounts ----------------------------------------------------------------------------- */

enum side {
    CLIENT,
    SERVER,
};

struct block {
    size_t size;
    enum side side;
    max_align_t bytes[];
};

static enum side at_work;
static int64_t used[2];    /* bytes */
static int64_t records[2]; /* buffers for records */

static void *count(struct block *block, size_t size)
{
    block->size = size;
    block->side = at_work;
    used[at_work] += (int64_t)size;
    records[at_work] += size >= RECORD;
    return block->bytes;
}

static struct block *uncount(void *bytes)
{
    struct block *block = (void *)((char *)bytes - offsetof(struct block, bytes));
    used[block->side] -= (int64_t)block->size;
    records[block->side] -= block->size >= RECORD;
    return block;
}

static void *counting_malloc(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return count(xmalloc(sizeof(struct block) + size), size);
}

static void counting_free(void *bytes, const char *file, int line)
{
    (void)file, (void)line;
    if (bytes)
        free(uncount(bytes));
}

static void *counting_realloc(void *bytes, size_t size, const char *file, int line)
{
    if (!bytes)
        return counting_malloc(size, file, line);
    if (size == 0) {
        counting_free(bytes, file, line);
        return NULL;
    }
    return count(xrealloc(uncount(bytes), sizeof(struct block) + size), size);
}

/* --- many connections, all idle --------------------------------------------------------------- */

struct connection {
    struct tls_peer peer;
    struct stream_reader reader;
};

struct crowd {
    struct tls_world first; /* the server, the context, and a connection that is not counted */
    struct connection all[CONNECTIONS];
};

static void peer_on_tick(struct pipe *pipe)
{
    at_work = SERVER;
    tls_peer_on_tick(pipe);
    at_work = CLIENT;
}

static void connection_open(struct crowd *c, struct connection *one, const char *burst, size_t len)
{
    struct tls_world *w = &c->first;
    at_work = SERVER;
    tls_peer_init(&one->peer, &(struct tls_peer_settings){.twin = &w->peer});
    at_work = CLIENT;
    w->pipes.peer = &one->peer;
    w->pipes.on_tick = peer_on_tick;
    stream_reader_init(&one->reader);
    one->reader.stream = dialer_dial(&w->dialer.dialer, "localhost", 6443, &one->reader.user);
    stream_reader_write(&one->reader, burst, len);
    tls_peer_send(&one->peer, burst, len);
}

static void connection_close(struct connection *one)
{
    stream_reader_done(&one->reader);
    tls_peer_done(&one->peer);
}

/* What OpenSSL and the filter hold for one of them, in bytes. */
static size_t idle_bytes(const struct tls_certs *certs, const struct tls_plan *plan)
{
    static char burst[100000];
    struct crowd *c = NEW(struct crowd);
    int64_t before, records_before, each;
    size_t own;
    tls_world_init(&c->first, certs, plan);
    sim_run(&c->first.sim);
    before = used[CLIENT];
    records_before = records[CLIENT];
    for (int i = 0; i < CONNECTIONS; i++)
        connection_open(c, &c->all[i], burst, sizeof(burst));
    sim_run(&c->first.sim);
    each = (used[CLIENT] - before) / CONNECTIONS;
    assert_int_equal(records[CLIENT], records_before);
    for (int i = 0; i < CONNECTIONS; i++)
        stream_write_now(c->all[i].reader.stream, burst, LAST);
    assert_int_equal(records[CLIENT], records_before); /* a server writes last, and reads nothing */
    sim_run(&c->first.sim);
    own = malloc_usable_size(c->all[0].reader.stream); /* it begins the filter's only block */
    for (int i = 0; i < CONNECTIONS; i++) {
        assert_int_equal(c->all[i].reader.got.len, sizeof(burst));
        assert_int_equal(c->all[i].peer.received.len, sizeof(burst) + LAST);
        connection_close(&c->all[i]);
    }
    tls_world_done(&c->first);
    free(c);
    return (size_t)each + own;
}

static void limits_the_memory_of_an_idle_connection(void **state)
{
    const struct tls_certs *certs = *state;
    struct cert *middle =
        cert_make(&(struct cert_spec){.cn = "middle", .ca = true, .issuer = certs->ca});
    struct cert *server =
        cert_make(&(struct cert_spec){.cn = "server",
                                      .sans = "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,"
                                              "DNS:kubernetes.default.svc,IP:10.96.0.1",
                                      .issuer = middle});
    for (int tls12 = 0; tls12 <= 1; tls12++) {
        size_t bytes = idle_bytes(
            certs, &(struct tls_plan){.tls12 = tls12, .server = server, .middle = middle});
        print_message("TLS 1.%d: %zu bytes for an idle connection\n", tls12 ? 2 : 3, bytes);
        assert_in_range(bytes, 1, IDLE_MAX);
    }
    cert_free(server);
    cert_free(middle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_the_memory_of_an_idle_connection),
    };
    if (!CRYPTO_set_mem_functions(counting_malloc, counting_realloc, counting_free))
        return 1; /* OpenSSL has allocated something before us: nothing could be counted */
    return cmocka_run_group_tests(tests, tls_certs_make, tls_certs_drop);
}
