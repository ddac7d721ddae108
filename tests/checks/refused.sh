#!/bin/sh
# refused.sh SOURCE COMPILER FOLDER...: the lines of SOURCE marked "refused: TEXT" are errors, no other line is one,
# and near where the compiler speaks of such a line it says TEXT (it quotes the lines of headers too, with comments).
set -eu
source=$1
compiler=$2
shift 2
for folder; do
  set -- "$@" "-I$folder"
  shift
done
all=-fmax-errors=0
if "$compiler" --version | grep -q clang; then all=-ferror-limit=0; fi
said=$(mktemp)
trap 'rm -f "$said"' EXIT
"$compiler" -std=c++20 -fsyntax-only "$all" -Wall -Wextra -Werror "$@" "$source" >"$said" 2>&1 || :
awk -v source="$source:" '
  FNR == NR {
    if (match($0, /\/\/ refused: /)) wanted[FNR] = substr($0, RSTART + RLENGTH)
    next
  }
  { sub(/\/\/ refused: .*/, ""); said[FNR] = $0; lines = FNR }  # not what this file itself says
  index($0, source) == 1 {
    at = substr($0, length(source) + 1) + 0
    places[at] = places[at] FNR " "
    if (/ error: / && !(at in wanted)) { print "an error that should not be: " $0; bad = 1 }
  }
  END {
    for (line in wanted) {
      checked++
      n = split(places[line], place, " ")
      found = 0
      for (i = 1; i <= n; i++)
        for (j = place[i] - 20; j <= place[i] + 20; j++) found = found || index(said[j], wanted[line])
      if (n == 0) { print source line ": compiles, and should not"; bad = 1 }
      else if (!found) { print source line ": the compiler does not say \"" wanted[line] "\""; bad = 1; show = 1 }
    }
    if (show) for (i = 1; i <= lines; i++) print said[i]
    if (!checked) { print "nothing to check in " source; bad = 1 }
    print checked " lines are refused"
    exit bad
  }' "$source" "$said"
