/*
 * listen_socket.h - creates the sockets for loop/listen.c: bound, not listening yet.
 */
#ifndef LOOP_LISTEN_SOCKET_H
#define LOOP_LISTEN_SOCKET_H

#include <stdbool.h>
#include <sys/stat.h>

#include "informer/error.h"

#include "loop/listen.h"

/* The first two return a descriptor, which the caller closes, or a negated error code. */

/* On "host:port", where host is an address or localhost. Other names are not accepted, because they
 * could resolve to another host later. */
int listen_socket_tcp(const char *address, struct inf_error *err);

/* At @options->path, with mode and group set before a client can connect. @ret_file identifies the
 * socket file, in case another file replaces it later. A socket that the service manager has opened at
 * this path (sd_listen_fds(3)) is used as it is; then @ret_is_inherited is set, and the file belongs to
 * the service manager. */
int listen_socket_unix(const struct listen_options *options, struct stat *ret_file,
                       bool *ret_is_inherited, struct inf_error *err);

/* Changes mode and group of the socket at @path, if it is still @file. Mode 0 is 0600, group NULL
 * is our own. */
int listen_socket_permit(const char *path, const struct stat *file, mode_t mode, const char *group,
                         struct inf_error *err);

/* Removes the socket at @path if it is still @file. */
void listen_socket_remove(const char *path, const struct stat *file);

#endif
