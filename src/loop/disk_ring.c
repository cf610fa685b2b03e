/*
 * disk_ring.c - the two queues of io_uring(7): entries to submit, and results.
 *
 * Normal path: an entry is written at the tail of the first queue and submitted with one
 * io_uring_enter(2); results are read at the head of the second queue. The kernel moves the other ends
 * of both queues, which is why these indexes are read and written with memory barriers: the only place
 * in this program where memory is shared with something that runs at the same time.
 *
 * Failures: io_uring_setup(2) or a feature is missing, then there is no ring; an entry that can't be
 * submitted is withdrawn.
 */
#include "loop/disk_ring.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"

enum {
    /* Of Linux 5.12: the indexes of both queues are in one mapping, offset -1 is the end of the file,
     * and the kernel's threads belong to the process. */
    FEATURES = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_RW_CUR_POS | IORING_FEAT_NATIVE_WORKERS,
};

struct disk_ring {
    int fd;
    int event_fd; /* counts results; the ring itself, if it is polled, misses some (Linux 6.18) */
    unsigned in_flight;
    char *queues; /* the mapping with the indexes and the results */
    size_t queues_len;
    struct io_uring_sqe *entries;
    size_t entries_len;
    unsigned *submit_tail, *submit_slots, *submit_flags, submit_mask;
    unsigned *result_head, *result_tail, result_mask;
    struct io_uring_cqe *results;
};

/*
 * By default the kernel interrupts a process that sleeps, to finish a request in its context: twice as
 * many wake-ups per write. Since Linux 6.1 that can wait until the process asks for it.
 */
static int ring_setup(unsigned entries, struct io_uring_params *params)
{
    int fd;
    params->flags =
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
    fd = (int)syscall(__NR_io_uring_setup, entries, params);
    if (fd >= 0 || errno != EINVAL)
        return fd;
    *params = (struct io_uring_params){0};
    return (int)syscall(__NR_io_uring_setup, entries, params);
}

/* Each file that hangs occupies a thread of the kernel. */
static bool ring_allow_threads(int fd)
{
    unsigned most[2] = {DISK_RING_WRITES, DISK_RING_WRITES};
    return syscall(__NR_io_uring_register, fd, IORING_REGISTER_IOWQ_MAX_WORKERS, most, 2) == 0;
}

static bool ring_set_event_fd(struct disk_ring *ring)
{
    ring->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return ring->event_fd >= 0 && syscall(__NR_io_uring_register, ring->fd, IORING_REGISTER_EVENTFD,
                                          &ring->event_fd, 1) == 0;
}

/* Children of a fork must not have the mapping. */
static void *ring_map(int fd, size_t len, off_t what)
{
    void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, what);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, len, MADV_DONTFORK);
    return at;
}

static bool ring_map_queues(struct disk_ring *ring, const struct io_uring_params *p)
{
    size_t submit_end = p->sq_off.array + p->sq_entries * sizeof(unsigned);
    size_t result_end = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
    ring->queues_len = submit_end > result_end ? submit_end : result_end;
    ring->entries_len = p->sq_entries * sizeof(struct io_uring_sqe);
    ring->queues = ring_map(ring->fd, ring->queues_len, IORING_OFF_SQ_RING);
    ring->entries = ring_map(ring->fd, ring->entries_len, IORING_OFF_SQES);
    if (!ring->queues || !ring->entries)
        return false;
    ring->submit_tail = (unsigned *)(void *)(ring->queues + p->sq_off.tail);
    ring->submit_slots = (unsigned *)(void *)(ring->queues + p->sq_off.array);
    ring->submit_flags = (unsigned *)(void *)(ring->queues + p->sq_off.flags);
    ring->submit_mask = p->sq_entries - 1;
    ring->result_head = (unsigned *)(void *)(ring->queues + p->cq_off.head);
    ring->result_tail = (unsigned *)(void *)(ring->queues + p->cq_off.tail);
    ring->result_mask = p->cq_entries - 1;
    ring->results = (struct io_uring_cqe *)(void *)(ring->queues + p->cq_off.cqes);
    return true;
}

static bool ring_is_allowed(void)
{
    const char *wanted = getenv("UV_USE_IO_URING");
    return !wanted || atoi(wanted) != 0;
}

struct disk_ring *disk_ring_new(void)
{
    struct io_uring_params params = {0};
    int fd = ring_is_allowed() ? ring_setup(DISK_RING_WRITES, &params) : -1;
    struct disk_ring *ring;
    if (fd < 0)
        return NULL;
    ring = NEW(struct disk_ring);
    ring->fd = fd;
    ring->event_fd = -1;
    if ((params.features & FEATURES) == FEATURES && ring_allow_threads(fd) &&
        ring_set_event_fd(ring) && ring_map_queues(ring, &params))
        return ring;
    disk_ring_free(ring);
    return NULL;
}

void disk_ring_free(struct disk_ring *ring)
{
    if (!ring)
        return;
    if (ring->entries)
        munmap(ring->entries, ring->entries_len);
    if (ring->queues)
        munmap(ring->queues, ring->queues_len);
    if (ring->event_fd >= 0)
        close(ring->event_fd);
    close(ring->fd);
    free(ring);
}

int disk_ring_event_fd(const struct disk_ring *ring)
{
    return ring->event_fd;
}

void disk_ring_clear_event(struct disk_ring *ring)
{
    uint64_t count;
    (void)!read(ring->event_fd, &count, sizeof(count));
}

bool disk_ring_append(struct disk_ring *ring, int fd, const char *bytes, size_t len, void *data)
{
    unsigned tail = *ring->submit_tail, slot = tail & ring->submit_mask;
    if (ring->in_flight == DISK_RING_WRITES)
        return false;
    ring->entries[slot] = (struct io_uring_sqe){
        .opcode = IORING_OP_WRITE,
        .fd = fd,
        .addr = (uintptr_t)bytes,
        .len = len < INT32_MAX ? (unsigned)len : INT32_MAX,
        .off = (uint64_t)-1,
        .user_data = (uintptr_t)data,
    };
    ring->submit_slots[slot] = slot;
    __atomic_store_n(ring->submit_tail, tail + 1, __ATOMIC_RELEASE);
    if (syscall(__NR_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) != 1) {
        __atomic_store_n(ring->submit_tail, tail,
                         __ATOMIC_RELEASE); /* the kernel has not taken it */
        return false;
    }
    ring->in_flight++;
    return true;
}

/* Results that the kernel has not added to the queue yet, see ring_setup(), are added now. */
static void ring_finish_requests(struct disk_ring *ring)
{
    if (__atomic_load_n(ring->submit_flags, __ATOMIC_ACQUIRE) & IORING_SQ_TASKRUN)
        syscall(__NR_io_uring_enter, ring->fd, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
}

static bool ring_has_result(const struct disk_ring *ring)
{
    return *ring->result_head != __atomic_load_n(ring->result_tail, __ATOMIC_ACQUIRE);
}

bool disk_ring_take(struct disk_ring *ring, void **ret_data, int64_t *ret_result)
{
    unsigned head = *ring->result_head;
    const struct io_uring_cqe *result = &ring->results[head & ring->result_mask];
    if (!ring_has_result(ring))
        ring_finish_requests(ring);
    if (!ring_has_result(ring))
        return false;
    *ret_data = (void *)(uintptr_t)result->user_data;
    *ret_result = result->res;
    __atomic_store_n(ring->result_head, head + 1, __ATOMIC_RELEASE);
    ring->in_flight--;
    return true;
}
