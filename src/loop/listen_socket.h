/*
 * listen_socket.h - the sockets behind loop/listen.c: named and bound, not listening yet.
 */
#ifndef LOOP_LISTEN_SOCKET_H
#define LOOP_LISTEN_SOCKET_H

#include <sys/stat.h>

#include "informer/error.h"

#include "loop/listen.h"

/* Each returns a descriptor, the caller's to close, or a negated code. */

/* On "host:port", where host is an address or localhost: names could mean another host tomorrow. */
int listen_socket_tcp(const char *address, struct inf_error *err);

/* At @options->path, with mode and group set before anybody can connect. @ret_file tells the socket
 * file from one that takes its place later. */
int listen_socket_unix(const struct listen_options *options, struct stat *ret_file,
                       struct inf_error *err);

/* Another mode and group for the socket at @path, if it is still @file. 0 is 0600, NULL our own. */
int listen_socket_permit(const char *path, const struct stat *file, mode_t mode, const char *group,
                         struct inf_error *err);

/* Removes the socket at @path if it is still @file. */
void listen_socket_remove(const char *path, const struct stat *file);

#endif
