/*
 * stream_id.h - the ids of streams in the state on disk: lines "NAME value".
 *
 *     uid 6fb3…                       of the cluster (its namespace kube-system); "-": not known
 *     server https://10.0.0.1:6443
 *     ca 5f0a…                        digest of the accepted authorities
 *     watch pods                      its name in the configuration
 *     resource pods
 *     namespace shop                  "*": all
 *                                     (an empty line)
 *     labels app=web                  what determines which objects are selected, and their form
 *
 * A cluster is recognised by its uid, whatever its name in the configuration and its URL. If the uid
 * was not known in one of the runs, server and ca have to be equal.
 */
#ifndef DAEMON_WATCH_STREAM_ID_H
#define DAEMON_WATCH_STREAM_ID_H

#include "base/str.h"

struct cluster;
struct conf_watch;
struct watch_stream;
struct watcher;

enum stream_match {
    STREAM_OTHER,     /* of another watch, namespace or cluster */
    STREAM_UNDECIDED, /* the same, if the server, which has another address, is the same cluster */
    STREAM_SAME,      /* of the same objects, perhaps in another form */
};

/* The id of @stream now. The caller frees it. */
char *stream_id_make(const struct watch_stream *stream);

/* The name of @stream for other processes: its namespace, or "*", and a digest of the form. The caller frees
 * it. */
char *stream_id_track(const struct watch_stream *stream);

/* The value of the line @name, borrowed from @id; "-" if there is none. */
struct str stream_id_part(const char *id, const char *name);

/* What determines which objects are selected, and their form; borrowed from @id. */
const char *stream_id_form(const char *id);

/* Whether @id names the cluster of @cluster. */
enum stream_match stream_id_match_cluster(const char *id, const struct cluster *cluster);

/* Whether @id names watch and resource of @conf, in any cluster and namespace. */
bool stream_id_names_watch(const char *id, const struct conf_watch *conf);

/* Whether @id names watch, resource and cluster of @watcher, in any namespace. */
enum stream_match stream_id_match_watch(const char *id, const struct watcher *watcher);

/* Whether the objects of the stream @id are those of @stream, in one form or another. */
enum stream_match stream_id_match(const char *id, const struct watch_stream *stream);

#endif
