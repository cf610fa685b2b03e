#!/bin/sh
# What `make run` shows without a cluster:  test/demo/run.sh INFORMERD KUBESIM CONF [options of kubesim]
#
# This shell becomes informerd, so signals and the exit status are informerd's own. What lives beside it hangs on a
# leash, a pipe that informerd holds without knowing: when informerd has ended, however that was, the simulated
# cluster ends and the directory goes.
set -eu
informerd=$1 kubesim=$2 conf=$3
shift 3

dir=$(mktemp -d "${TMPDIR:-/tmp}/informerd-demo.XXXXXX")
mkdir "$dir/state"
mkfifo "$dir/leash" "$dir/ready"

exec 3<>"$dir/leash" 4<"$dir/leash" 5<"$dir/leash" # kubesim gets an end of its own: it makes it non-blocking

# The keeper. Ctrl-C and the end of a terminal are not for it, nor for kubesim; both end when informerd has. If
# kubesim is the first to go, informerd is told to follow, and the end of the leash says that it has.
(
    trap '' INT TERM HUP
    setsid "$kubesim" --self-signed "$dir" --stdin --demo "$@" <&5 >"$dir/ready" || :
    kill "$$" 2>/dev/null || :
    cat <&4 || :
    rm -rf "$dir"
) 3>&- >/dev/null &
exec 4<&- 5<&-

if ! read -r _ <"$dir/ready"; then
    echo "$0: $kubesim did not start" >&2
    exit 69
fi

# Loopback has sixteen million addresses: with one for each process, no two demos can want the same.
export INFORMERD_DEMO_DIR="$dir"
export INFORMERD_DEMO_HTTP="127.$(($$ >> 16 & 255)).$(($$ >> 8 & 255)).$(($$ & 255)):9470"

cat <<END
A small simulated cluster, and every change of its nodes, deployments, pods, jobs, configmaps, secrets and events.

  the same as JSON   tail -f $dir/events.jsonl
  the metrics        curl http://$INFORMERD_DEMO_HTTP/metrics
  on the socket      curl --unix-socket $dir/informerd.sock 'http://informerd/readyz?verbose'
  the cluster        kubectl --kubeconfig $dir/kubeconfig get pods -A

Ctrl-C ends it all and leaves nothing behind. With a cluster of your own: make run KUBECONFIG=path

END
exec "$informerd" -c "$conf"
