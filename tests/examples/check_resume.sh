#!/bin/sh
# check_resume.sh RESUME: stopped after its first checkpoint, killed later on and gone on with, it ends with the bits
# of a run from end to end.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$1" whole >whole.txt
"$1" parts 70 >first.txt # the last 20 steps are in no checkpoint, as when it was killed
"$1" parts >second.txt
grep -qx 'resumed after step 50' second.txt
if grep -q resumed whole.txt first.txt; then
  echo "resumed what had not begun"
  exit 1
fi
tail -n 1 second.txt | diff whole.txt -
