/*
 * state.h - the state directory: its lock and the small files in it.
 *
 *     lock     held by the running daemon
 *     key      32 random bytes, the key of hashed values; readable only by the owner
 *     log-id   the id of the sequence (seq.h)
 *     seq      the sequence numbers used so far
 *
 * All files are read and written at startup, without the loop.
 */
#ifndef DAEMON_STATE_H
#define DAEMON_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

#include "base/str.h"

enum {
    STATE_KEY_SIZE = 32,
    STATE_ID_SIZE = 33, /* 128 bits as hexadecimal digits, and a NUL */
};

/* Creates the directory with mode 0700 if it does not exist, with @parents also those above it.
 * Returns 1 if it was created, 0 if it exists, or fails as state_take() does. */
int state_create(const char *dir, bool parents, struct inf_error *err);

/* Locks the directory for this process until the returned descriptor is closed. To be called once in
 * a process: a second descriptor of the same lock ends it when it is closed. Returns -INF_EFORBIDDEN
 * or -INF_EIO if the directory can't be used, -INF_ECONF if another process has locked it. */
int state_take(const char *dir, struct inf_error *err);

/* Reads the key of the installation. Returns -INF_EIO, with the remedy in @err, also if other users can read
 * it; -INF_ENOTFOUND if it does not exist. */
int state_find_key(const char *dir, unsigned char ret[STATE_KEY_SIZE], struct inf_error *err);

/* The same, but creates it if it does not exist. */
int state_read_key(const char *dir, unsigned char ret[STATE_KEY_SIZE], struct inf_error *err);

/* Reads a small text file without its newline. -INF_ENOTFOUND if it does not exist. */
int state_read_text(const char *dir, const char *name, char *ret, size_t size,
                    struct inf_error *err);

/* Writes a small file durably (durable.h), mode 0600. */
int state_write(const char *dir, const char *name, struct str bytes, struct inf_error *err);

/* The same without space for another file: overwrites the beginning of a file that exists, in place. For a line
 * that ends before what remains of the old one; it is shorter than a sector, which a disk writes completely or not
 * at all. */
int state_overwrite(const char *dir, const char *name, struct str line, struct inf_error *err);

/* 128 random bits in hexadecimal. */
void state_make_id(char ret[STATE_ID_SIZE]);

#endif
