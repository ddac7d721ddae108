#!/bin/sh
# check_options.sh FOLDER PROGRAM...: the pages of the documentation name options as --help does: those of the commands
# `./run example NAME ...` on any page, and all others on the page of a program.
set -eu
folder=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for program in "$@"; do
  "$program" --help | grep -oE -- '--[a-z][a-z-]*' | sort -u >"$scratch/${program##*/}"
  [ -s "$scratch/${program##*/}" ]
done
named() { grep -oE -- "(^|[^-a-zA-Z])--[a-z][a-z-]*" | grep -oE -- '--[a-z-]+' | sort -u; }
# expect PROGRAM PAGE: the options on stdin are the program's.
expect() {
  unknown=$(named | grep -vxFf "$scratch/$1" || true)
  [ -z "$unknown" ] && return
  echo "${2##*/}: $1 --help has no" $unknown
  : >"$scratch/wrong"
}

for page in "$folder"/README.md "$folder"/docs/*.md; do
  for program in "$@"; do
    name=${program##*/}
    sed -e ':a' -e '/\\$/N' -e 's/\\\n//' -e 'ta' "$page" | { grep -E "\./run (example )?$name( |\$)" || true; } |
      sed "s/.*\.\/run \(example \)\{0,1\}$name//; s/\`.*//" | expect "$name" "$page"
  done
done
for pair in translate:translate bert:fill_mask gpt:gpt2; do
  expect "${pair#*:}" "${pair%:*}.md" <"$folder/docs/${pair%:*}.md"
done
[ ! -e "$scratch/wrong" ]
