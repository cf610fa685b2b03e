#!/bin/sh
# dist.sh FOLDER: writes the source of the last commit to FOLDER/informerd-VERSION.tar.gz, and prints that name.
#
# The same commit gives the same bytes everywhere: names, modes and times come from the commit, and neither the settings of git
# nor the environment count. Fails outside a clone.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null LC_ALL=C
unset GZIP

git() {
    command git -C "$here" -c tar.umask=0022 -c core.autocrlf=false -c core.attributesFile=/dev/null -c safe.directory='*' "$@"
}

commit=$(git rev-parse --verify --quiet HEAD) || {
    echo "dist.sh: $here is not a clone: the source is packed from a commit" >&2
    exit 1
}
[ -z "$(git status --porcelain)" ] || echo 'dist.sh: changes that are not committed are left out' >&2
version=$(git show "$commit:meson.build" | sed -n "s/^  version: '\(.*\)',\$/\1/p")
name=informerd-$version

mkdir -p "$1"
git archive --format=tar --prefix="$name/" -o "$1/$name.tar" "$commit"
gzip -9 -n -f "$1/$name.tar"
echo "$1/$name.tar.gz"
