#!/bin/sh
# check_pictures.sh PROGRAM DOCS: the charts in docs/pictures and in the chapters are those the program draws.
set -eu
drawn=$(mktemp -d)
trap 'rm -rf "$drawn"' EXIT
"$1" "$drawn"
for chart in "$drawn"/pictures/*.svg "$drawn"/course/*/figure.svg; do
  cmp "$chart" "$2/${chart#"$drawn/"}" || stale=yes
done
if [ "${stale:-}" ]; then
  echo "cmake --build build/release --target update_docs draws them again"
  exit 1
fi
