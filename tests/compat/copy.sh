#!/bin/sh
# copy.sh: at a release, replaces the copies here by the programs of the course, the recipes and their expected output. The files of
# earlier releases stay; those of this one have been written before (CONTRIBUTING.md, "How to release").
set -eu
cd "$(dirname "$0")"
examples=../../examples expected=../examples/expected/recipes
rm -rf course recipes
mkdir recipes
for page in "$examples"/course/[0-9]*/; do
  name=$(basename "$page")
  mkdir -p "course/$name"
  cp "$page/main.cpp" "$page/expected.txt" "course/$name"
  sed -nE 's/^#include "([^"/]+)"$/\1/p' "$page/main.cpp" | while read -r header; do cp "$page/$header" "course/$name"; done
done
for source in "$examples"/recipes/*.cpp; do
  cp "$source" "$expected/$(basename "$source" .cpp).txt" recipes
done
find course recipes files -type f | LC_ALL=C sort | xargs sha256sum >SHA256SUMS
