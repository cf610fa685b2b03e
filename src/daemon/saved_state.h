/*
 * saved_state.h - the daemon's state on disk: the reported objects of all watches, and the lines that
 * event logs have not written yet. It is in the directory `cache` of state_dir.
 *
 * It is loaded before the watches are opened. watch/saved_stream.c and the journal add to it; the
 * journal decides when it is written. If the disk fails, the daemon continues without it and logs that;
 * when the disk works again, all streams are saved again.
 */
#ifndef DAEMON_SAVED_STATE_H
#define DAEMON_SAVED_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/state.h"

#include "base/buf.h"
#include "base/timers.h"

struct conf;
struct daemon;

enum {
    SAVED_STATE_EPOCH_SIZE = 17,
};

struct saved_state {
    struct inf_state *state; /* NULL: none */
    char *dir;               /* owned */
    struct timer positions;  /* saves the versions that streams reach without changes */
    void (*on_loaded)(struct daemon *d);
    void (*on_closed)(struct daemon *d);
};

/* The epoch of a state with values that were hashed with @key (STATE_KEY_SIZE bytes). */
void saved_state_epoch(const unsigned char *key, char ret[SAVED_STATE_EPOCH_SIZE]);

/* Starts to load the state, if @conf enables it; then calls @on_loaded. Without state, calls it at
 * once. */
void saved_state_open(struct daemon *d, const struct conf *conf,
                      void (*on_loaded)(struct daemon *d));

/* Whether the host was started after @written_us, if it now runs for @uptime_s. */
bool saved_state_is_before_boot(int64_t written_us, int64_t now_us, double uptime_s);

/* The age of a state; 0 if the host's time was set back since it was written. */
uint64_t saved_state_age_ms(int64_t written_us, int64_t now_us);

/* Adds what the START record says about it: "; continues from the state of 12s ago: ...". */
void saved_state_describe(struct daemon *d, struct buf *out);

/* The same for what saved_state_forget_unused() is going to remove. Call it when all watches are open. */
void saved_state_describe_unused(const struct daemon *d, struct buf *out);

/* Removes what belongs to watches and event logs that are no longer configured. */
void saved_state_forget_unused(struct daemon *d);

/* Saves changed names of watches and settings of clusters, by which the next run recognises the streams. */
void saved_state_update_ids(struct daemon *d);

/* Saves the positions of all streams, for the next flush. */
void saved_state_settle(struct daemon *d);

/* Writes what is left and calls @on_closed, at once if there is no state. */
void saved_state_close(struct daemon *d, void (*on_closed)(struct daemon *d));

#endif
