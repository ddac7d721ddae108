#!/bin/sh
# check_example.sh PROGRAM EXPECTED: the program's last lines must equal the file's.
set -eu
if ! [ -s "$2" ]; then
  echo "there is no $2 with the last lines of this example"
  exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# shellcheck disable=SC2086 # an emulator and its options, or nothing
${GRADUS_EMULATOR:-} "$1" >output.txt
tail -n "$(wc -l <"$2")" output.txt | diff "$2" -
