#!/bin/sh
# Builds the programs of `make run` quietly:  test/demo/build.sh BUILDDIR TARGET...
#
# On a terminal one line shows the progress and is erased at the end. Otherwise one line is printed, and nothing if all is
# up to date. The output of meson and ninja is printed only if they fail. Everything goes to stderr, so that the output of
# the demo can be piped.
#
# The build directory is separate from the release: it is compiled in a third of the time, with little optimisation.
set -eu
dir=$1
shift

log=$(mktemp "${TMPDIR:-/tmp}/informerd-build.XXXXXX")
trap 'rm -f "$log" "$log.ok"' EXIT
trap 'exit 1' HUP INT TERM
announced=

# progress TEXT
progress() {
    if [ -t 2 ]; then
        printf '\rbuilding informerd: %s\033[K' "$1" >&2
    elif [ -z "$announced" ]; then
        echo 'building informerd' >&2
    fi
    announced=yes
}

fail() {
    [ ! -t 2 ] || printf '\r\033[K' >&2
    cat "$log" >&2
    echo "$0: the build failed" >&2
    exit 1
}

configure() {
    rm -rf "$dir"
    if "${CC:-cc}" -fuse-ld=mold -Wl,--version >/dev/null 2>&1; then
        export CC_LD="${CC_LD:-mold}"
    fi
    meson setup "$dir" -Doptimization=1 -Ddebug=false
}

if [ ! -e "$dir/build.ninja" ]; then
    progress configuring
    configure >"$log" 2>&1 || fail
fi

# Lines of ninja are "[120/240] Compiling C object ...".
{ ninja -C "$dir" "$@" 2>&1 && : >"$log.ok"; } | while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    case $line in
    \[[0-9]*/[0-9]*\]*)
        count=${line#\[}
        progress "${count%%\]*}"
        ;;
    esac
done
[ -e "$log.ok" ] || fail
[ ! -t 2 ] || printf '\r\033[K' >&2
