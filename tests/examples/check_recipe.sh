#!/bin/sh
# check_recipe.sh PROGRAM EXPECTED [ARGS...]: the program's last lines must be the file's, word by word. There >=N and
# <=N stand for a number that is no smaller or no larger: the last digits of a loss may depend on the processor.
set -eu
program=$1
expected=$2
shift 2
if ! [ -s "$expected" ]; then
  echo "there is no $expected with the last lines of this recipe"
  exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# shellcheck disable=SC2086 # an emulator and its options, or nothing
${GRADUS_EMULATOR:-} "$program" "$@" >output.txt
tail -n "$(wc -l <"$expected")" output.txt | awk '
  function problem() {
    print "line " FNR " is not \"" wanted[FNR] "\" but \"" $0 "\""
    bad = 1
  }
  function fits(word, pattern) {
    if (pattern !~ /^[<>]=/) return word == pattern
    if (sub(/,$/, "", pattern) && !sub(/,$/, "", word)) return 0
    if (word !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) return 0
    return pattern ~ /^>/ ? word + 0 >= substr(pattern, 3) + 0 : word + 0 <= substr(pattern, 3) + 0
  }
  NR == FNR { wanted[FNR] = $0; lines = FNR; next }
  {
    seen = FNR
    n = split(wanted[FNR], pattern)
    ok = n == NF
    for (i = 1; i <= n && ok; i++) ok = fits($i, pattern[i])
    if (!ok) problem()
  }
  END {
    if (seen != lines) { print seen + 0 " lines of " lines; bad = 1 }
    exit bad
  }' "$expected" -
