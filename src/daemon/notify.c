/*
 * notify.c - sends datagrams to $NOTIFY_SOCKET. Nothing here fails visibly: a message that can't be
 * sent is dropped.
 */
#include "daemon/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"

static void notify_send(struct notify *n, const char *bytes, size_t len)
{
    if (n->fd >= 0)
        (void)sendto(n->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT,
                     (const struct sockaddr *)&n->address, n->address_len);
}

/* A newline would start another assignment. */
static void put_status(struct buf *b, const char *status)
{
    buf_puts(b, "STATUS=");
    for (; *status; status++)
        buf_putc(b, *status == '\n' ? ' ' : *status);
}

static void notify_send_buf(struct notify *n, struct buf *b)
{
    notify_send(n, b->bytes, b->len);
    buf_free(b);
}

/* False: @status is what was sent last. */
static bool remember_status(struct notify *n, const char *status)
{
    if (n->status && strcmp(n->status, status) == 0)
        return false;
    free(n->status);
    n->status = xstrdup(status);
    return true;
}

bool notify_is_heard(const struct notify *n)
{
    return n->fd >= 0;
}

void notify_ready(struct notify *n, const char *status)
{
    struct buf b = {0};
    remember_status(n, status);
    buf_puts(&b, "READY=1\n");
    put_status(&b, status);
    notify_send_buf(n, &b);
}

void notify_status(struct notify *n, const char *status)
{
    struct buf b = {0};
    if (!remember_status(n, status))
        return;
    put_status(&b, status);
    notify_send_buf(n, &b);
}

/* The time lets the manager distinguish this reload from an earlier one. */
void notify_reloading(struct notify *n)
{
    struct buf b = {0};
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    buf_printf(&b, "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
               (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    notify_send_buf(n, &b);
}

void notify_stopping(struct notify *n)
{
    notify_send(n, "STOPPING=1", 10);
}

/* ---- the watchdog ---- */

static void on_watchdog(uv_timer_t *timer)
{
    notify_send(timer->data, "WATCHDOG=1", 10);
}

/* The value of an environment variable; 0 if it is not a whole number. */
static uint64_t env_number(const char *name)
{
    const char *text = getenv(name);
    char *end;
    uint64_t number;
    if (!text || *text < '0' || *text > '9')
        return 0;
    errno = 0;
    number = strtoull(text, &end, 10);
    return errno || *end ? 0 : number;
}

/* Twice as often as required, as sd_watchdog_enabled(3) recommends. */
static void start_watchdog(struct notify *n, uv_loop_t *uv)
{
    uint64_t ms = env_number("WATCHDOG_USEC") / 2000;
    bool ours = !getenv("WATCHDOG_PID") || env_number("WATCHDOG_PID") == (uint64_t)getpid();
    if (n->fd < 0 || !ms || !ours)
        return;
    n->watched = true;
    uv_timer_init(uv, &n->watchdog);
    n->watchdog.data = n;
    uv_timer_start(&n->watchdog, on_watchdog, ms, ms);
    uv_unref((uv_handle_t *)&n->watchdog);
}

/* ---- socket ---- */

/* A path, or an abstract socket, written with a leading '@' for its leading NUL. */
static bool find_address(struct notify *n)
{
    const char *name = getenv("NOTIFY_SOCKET");
    size_t len = name ? strlen(name) : 0;
    if (len < 2 || len >= sizeof(n->address.sun_path) || (*name != '/' && *name != '@'))
        return false;
    n->address.sun_family = AF_UNIX;
    memcpy(n->address.sun_path, name, len);
    if (*name == '@')
        n->address.sun_path[0] = '\0';
    n->address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    return true;
}

void notify_init(struct notify *n, uv_loop_t *uv)
{
    *n = (struct notify){.fd = -1};
    if (find_address(n))
        n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    start_watchdog(n, uv);
}

void notify_close(struct notify *n)
{
    if (n->watched)
        uv_close((uv_handle_t *)&n->watchdog, NULL);
    if (n->fd >= 0)
        close(n->fd);
    free(n->status);
    n->status = NULL;
    n->watched = false;
    n->fd = -1;
}
