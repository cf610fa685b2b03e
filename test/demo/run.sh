#!/bin/sh
# The demo of `make run`:  test/demo/run.sh INFORMERD KUBESIM CONF [options of kubesim]
#
# This shell becomes informerd, so signals and the exit status are those of informerd. informerd inherits one end of a
# pipe, the leash. When it ends for any reason, the pipe closes, the simulated cluster ends and the directory is removed.
set -eu
informerd=$1 kubesim=$2 conf=$3
informerctl=$(dirname "$informerd")/informerctl
shift 3

dir=$(mktemp -d "${TMPDIR:-/tmp}/informerd-demo.XXXXXX")
mkdir "$dir/state"
mkfifo "$dir/leash" "$dir/ready"

exec 3<>"$dir/leash" 4<"$dir/leash" 5<"$dir/leash" # kubesim makes its end non-blocking, so it gets a separate one

# Runs kubesim and cleans up. Both ignore Ctrl-C and the end of the terminal, and end after informerd. If kubesim ends
# first, informerd gets SIGTERM.
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

# A loopback address derived from the process id, so that demos that run at the same time do not collide.
export INFORMERD_DEMO_DIR="$dir"
address="127.$(($$ >> 16 & 255)).$(($$ >> 8 & 255)).$(($$ & 255))"
export INFORMERD_DEMO_HTTP="$address:9470"
export INFORMERD_DEMO_API="$address:6444"

cat <<END
A simulated cluster, and every change of its objects.

  event log as JSON  tail -f $dir/events.jsonl
  metrics            curl http://$INFORMERD_DEMO_HTTP/metrics
  health             curl --unix-socket $dir/informerd.sock 'http://informerd/readyz?verbose'
  live overview      $informerctl top -s $dir/informerd.sock
  the cluster        kubectl --kubeconfig $dir/kubeconfig get pods -A
  web page           $informerctl page -s $dir/informerd.sock

Press Ctrl-C to stop; everything is removed.
To watch your own cluster: make run KUBECONFIG=path

END
# The address of the page, with a code that is valid for 60 seconds, as soon as informerd listens.
(
    while [ -d "$dir" ] && [ ! -S "$dir/informerd.sock" ]; do sleep 0.05; done
    page=$("$informerctl" page --no-open -s "$dir/informerd.sock" 2>/dev/null) && echo "web page: $page" || :
) 3>&- &
exec "$informerd" -c "$conf"
