/*
 * recorder.h - keeps a cache in the state of its client (inf_client_options.state): the cache starts with
 * what an earlier process has recorded.
 */
#ifndef LIB_RECORDER_H
#define LIB_RECORDER_H

#include "informer/state.h"

struct recorder;
struct shared;

/* Starts @shared, which is new, as soon as @state is loaded, and records it from then on. */
struct recorder *recorder_new(struct shared *shared, struct inf_state *state);

/* The cache is now that of another watch or server. NULL is allowed. */
void recorder_redefined(struct recorder *recorder);

/* Records the position that was reached, and nothing more. NULL is allowed. */
void recorder_close(struct recorder *recorder);

/* After recorder_close(), when its cache is freed. NULL is allowed. */
void recorder_free(struct recorder *recorder);

/* ---- state.c ---- */

/* The recorders of @state. */
struct list *state_recorders(struct inf_state *state);

/* inf_state_note() with the cache that delivered @event. */
void state_note(struct inf_state_stream *stream, const struct inf_store *store,
                const struct inf_event *event);

/* ---- recorder.c, for state.c ---- */

/* The state of the recorder at @node is loaded; it works again after it was suspended, and is empty. */
void recorder_on_loaded(struct list *node);
void recorder_on_emptied(struct list *node);

#endif
