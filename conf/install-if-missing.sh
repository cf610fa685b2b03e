#!/bin/sh
# install-if-missing.sh FILE TARGET: copies FILE to TARGET below DESTDIR, unless TARGET exists. For `meson install`.
set -eu
target=${DESTDIR:-}$2
[ -e "$target" ] || [ -L "$target" ] || install -D -m 0644 "$1" "$target"
