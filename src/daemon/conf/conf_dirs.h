/*
 * conf_dirs.h - defaults of paths that depend on the environment: state_dir and socket.path.
 *
 * state_dir, the first of:
 *     $STATE_DIRECTORY                 set by systemd
 *     /var/lib/informerd               for root, or if it is writable
 *     $XDG_STATE_HOME/informerd
 *     $HOME/.local/state/informerd
 *     /var/lib/informerd               without a home directory
 *
 * socket.path: $RUNTIME_DIRECTORY/informerd.sock; without that variable there is no socket.
 */
#ifndef DAEMON_CONF_DIRS_H
#define DAEMON_CONF_DIRS_H

#include "daemon/conf/conf.h"

/* Sets the paths that no file sets, and the variable they come from as their origin. */
void conf_dirs_default(struct conf *conf);

/* Whether state_dir is a default below the home directory: it is created with its parents. */
bool conf_state_dir_is_below_home(const struct conf *conf);

/* Whether state_dir is a default, not a value of a file. */
bool conf_state_dir_is_default(const struct conf *conf);

#endif
