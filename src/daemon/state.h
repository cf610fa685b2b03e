/*
 * state.h - the state directory: whose it is, and what is kept there for good.
 *
 *     lock     held by the daemon that runs
 *     key      32 random bytes by which values are hashed; nobody else's to read
 *     log-id   the name of the sequence (seq.h)
 *     seq      how far it has come
 *
 * All of this is read and written at the start, without the loop.
 */
#ifndef DAEMON_STATE_H
#define DAEMON_STATE_H

#include <stddef.h>

#include "informer/error.h"

#include "base/str.h"

enum {
    STATE_KEY_SIZE = 32,
    STATE_ID_SIZE = 33, /* 128 bits as hexadecimal digits, and a NUL */
};

/* Takes the directory for this process, until the descriptor it returns is closed. -INF_EFORBIDDEN
 * or -INF_EIO if it can't be used, -INF_ECONF if another informerd has it. */
int state_take(const char *dir, struct inf_error *err);

/* The installation's key; made when it is not there yet. -INF_EIO, saying what to do, also if others
 * can read it. */
int state_read_key(const char *dir, unsigned char ret[STATE_KEY_SIZE], struct inf_error *err);

/* Reads a small text file without its newline; -INF_ENOTFOUND if it is not there. */
int state_read_text(const char *dir, const char *name, char *ret, size_t size,
                    struct inf_error *err);

/* Writes a small file durably (durable.h), mode 0600. */
int state_write(const char *dir, const char *name, struct str bytes, struct inf_error *err);

/* 128 random bits in hexadecimal. */
void state_make_id(char ret[STATE_ID_SIZE]);

#endif
