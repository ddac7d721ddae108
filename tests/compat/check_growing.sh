#!/bin/sh
# check_growing.sh PROGRAM EXPECTED: the program prints every line of the file, in this order. There may be more lines between
# them: a version may add what the program lists.
set -eu
if ! [ -s "$2" ]; then
  echo "there is no $2 with the lines of this program"
  exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# shellcheck disable=SC2086 # an emulator and its options, or nothing
${GRADUS_EMULATOR:-} "$1" >output.txt
awk '
  NR == FNR { wanted[FNR] = $0; lines = FNR; next }
  found < lines && $0 == wanted[found + 1] { found += 1 }
  END {
    if (found == lines) exit
    print "the output does not have, after the lines above it: " wanted[found + 1]
    exit 1
  }' "$2" output.txt
