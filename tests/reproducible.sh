#!/bin/sh
# tests/reproducible.sh [MAKE] - two builds of the commit that is checked out, in folders of different names, are the same
# bytes: the program, the static and the shared library.
cd "$(dirname "$0")/.." || exit 1
make=${1:-make} dir=$(mktemp -d) bad=0
trap 'rm -rf "$dir"' EXIT
for name in a another; do
    git clone -q . "$dir/$name" || exit 1
    $make -s -C "$dir/$name" run lib >/dev/null || exit 1
done
for file in run $(cd "$dir/a/build/release" && ls libroformer.*); do
    [ "$file" = run ] && path=run || path=build/release/$file
    if cmp "$dir/a/$path" "$dir/another/$path"; then echo "the same: $file"; else bad=1; fi
done
exit $bad
