#!/bin/sh
# check_pictures.sh PROGRAM FOLDER: the charts in the folder must be those the program draws.
set -eu
drawn=$(mktemp -d)
trap 'rm -rf "$drawn"' EXIT
"$1" "$drawn"
for chart in "$drawn"/*.svg; do
  cmp "$chart" "$2/${chart##*/}" || stale=yes
done
if [ "${stale:-}" ]; then
  echo "cmake --build build/release --target update_docs draws them again"
  exit 1
fi
