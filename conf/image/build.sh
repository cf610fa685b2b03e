#!/bin/sh
# build.sh [FLAGS OF BUILDAH]: builds the container image with buildah, and writes its SBOM beside it.
#
#   TARGET    informerd (default) or informerd-kafka
#   IMAGE     name of the image; default: localhost/TARGET:VERSION, with the version of meson.build
#   BASE      image to build in; default: Debian made from packages, which needs no registry
#   FRESH=1   make the base again and reuse no layer: with the newest packages
#   SBOM      file for the SBOM; default: build/TARGET.spdx.json
#
# Flags are those before the command, for example --root DIR for another image store. Chroot isolation and the host's network
# work without a configured container network, also inside a container.
set -eu
cd "$(dirname "$0")/../.."
export BUILDAH_ISOLATION=chroot

suite=trixie
base_name=localhost/informerd-base:$suite
target=${TARGET:-informerd}
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
image=${IMAGE:-localhost/$target:$version}
sbom=${SBOM:-build/$target.spdx.json}

die() {
    echo "build.sh: $*" >&2
    exit 1
}

# The package source of this machine with that label, for the suite $2; nothing if it has none.
source_line() {
    site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' "Label: $1" | head -n 1)
    [ -z "$site" ] || echo "deb $site $2 main"
}

make_base() {
    command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: install it, or set BASE to an image with Debian $suite"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    { source_line Debian $suite; source_line Debian-Security $suite-security; } >"$work/sources"
    [ -s "$work/sources" ] || die "apt has no source of Debian packages: set BASE to an image with Debian $suite"
    mmdebstrap --quiet --variant=minbase --include=ca-certificates $suite "$work/base.tar" <"$work/sources"
    container=$(buildah "$@" from scratch)
    buildah "$@" add --quiet "$container" "$work/base.tar" / >/dev/null
    buildah "$@" commit --quiet --rm "$container" "$base_name" >/dev/null
}

command -v buildah >/dev/null || die "buildah is missing: install it, or use podman build or docker build with conf/image/Containerfile"
if [ -z "${BASE:-}" ]; then
    BASE=$base_name
    [ -z "${FRESH:-}" ] && buildah "$@" inspect --type image "$BASE" >/dev/null 2>&1 || make_base "$@"
fi
layers=--layers
[ -z "${FRESH:-}" ] || layers=--no-cache
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
buildah "$@" build --network host $layers --build-arg BASE="$BASE" --build-arg VERSION="$version" \
    --build-arg SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" --timestamp "$SOURCE_DATE_EPOCH" \
    --target "$target" --tag "$image" --file conf/image/Containerfile .

container=$(buildah "$@" from "$image")
mkdir -p "$(dirname "$sbom")"
root=$(buildah "$@" mount "$container")
cp "$root/usr/share/doc/informerd/sbom.spdx.json" "$sbom"
size=$(du -sk "$root" | cut -f 1)
buildah "$@" rm "$container" >/dev/null
echo "$image: $((size / 1024)) MiB on disk; SBOM: $sbom"
