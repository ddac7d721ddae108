#!/bin/sh
# architecture.sh SOURCE PUBLIC_FOLDER...: who includes whom. The table in docs/architecture.md says which floor may
# include which, always one above it in the table, so that dependencies go one way; headers in the PUBLIC_FOLDERs are installed,
# and only they are public. Besides: public headers include
# public headers and none of fmt, JSON, BLAS, MPI and what kit and text are built on; cblas.h is included in ops/kernels/blas.cpp
# alone, mpi.h in distributed/detail/mpi.cpp.
set -eu
cd "$1"
shift
{
  find core ops nn optim data distributed kit text examples docs/draw docs/course gradus.h -name '*.h' -o -name '*.cpp' | sort | sed 's/^/file /'
  grep -rHE --include='*.h' --include='*.cpp' '^[[:space:]]*#[[:space:]]*include' core ops nn optim data distributed kit text examples docs/draw docs/course gradus.h |
    sed -E 's/^([^:]*):[[:space:]]*#[[:space:]]*include[[:space:]]*/include \1 /'
} | awk -v public_folders="$*" '
  function problem(text) { print text; bad++ }
  # The floor of a file: that of the longest name in the table that it begins with.
  function floor_of(path, name, best) {
    best = ""
    for (name in floor) if (index(path, name) == 1 && length(name) > length(best)) best = name
    return best == "" ? "" : floor[best]
  }
  function folder_of(path) { sub(/\/[^\/]*$/, "", path); return path }
  function is_public(header) { return header == "gradus.h" || folder_of(header) in installed }
  # Where the header of an #include "..." stands.
  function path_of(name, from) {
    if (name == "gradus/gradus.h") return "gradus.h"
    if (name ~ /^gradus\//) return substr(name, 8)
    if (name ~ /^(browser|course|learn|lab|ranks|char_gpt|fill_mask|gpt2|translate)\//) return "examples/" name
    return name ~ /\// ? name : folder_of(from) "/" name
  }
  function trim(text) { gsub(/^[ *]+|[ *]+$/, "", text); return text }

  # --- the table: | floor | names as links, ... | floors it may include |
  FNR == 1 { part++; if (part == 2) { n = split(public_folders, list, " "); for (i = 1; i <= n; i++) installed[list[i]] } }
  part == 1 && /<!-- floors -->/ { in_table = 1; next }
  part == 1 && in_table && /^\|/ {
    split($0, cell, "|")
    name = trim(cell[2])
    if (name == "floor" || name ~ /^-+$/) next
    rest = cell[3]
    while (match(rest, /\]\(\.\.\/[^)]*\)/)) {
      link = substr(rest, RSTART + 5, RLENGTH - 6)
      if (!sub(/\.(h|cpp)$/, ".", link) && link !~ /_$/) sub(/\/?$/, "/", link)
      floor[link] = name
      rest = substr(rest, RSTART + RLENGTH)
    }
    n = split(cell[4], list, ",")
    for (i = 1; i <= n; i++) {
      wanted = trim(list[i])
      if (wanted == "all above") { for (j = 1; j <= floors; j++) may[name, order[j]] }
      else if (wanted != "nothing" && wanted != "installed headers") {
        if (!(wanted in above)) problem(name ": no floor above it in the table is called " wanted)
        may[name, wanted]
      } else may[name, wanted]
    }
    may[name, name]
    above[name]
    order[++floors] = name
    next
  }
  part == 1 { if (in_table && floors) in_table = 0; next }

  # --- the tree
  $1 == "file" {
    files++
    at = floor_of($2)
    if (at == "" && $2 != "gradus.h") problem($2 " stands on no floor of docs/architecture.md")
    used[at]
    next
  }
  {
    from = $2
    to = substr($0, length("include " from " ") + 1)
    arrows++
    if (to ~ /^<cblas/ && from != "ops/kernels/blas.cpp") problem(from " includes " to ": only ops/kernels/blas.cpp does")
    if (to ~ /^<mpi\.h/ && from != "distributed/detail/mpi.cpp") problem(from " includes " to ": only distributed/detail/mpi.cpp does")
    if (is_public(from) && from ~ /\.h$/ && to ~ /^<(fmt|nlohmann|CLI|csv|png|zlib|pcre2|utf8proc|sentencepiece|cblas|openblas|mpi)/)
      problem(from " is installed and includes " to)
    if (to !~ /^"/) next
    to = substr(to, 2)
    sub(/".*/, "", to)
    to = path_of(to, from)
    if (is_public(from) && from ~ /\.h$/ && !is_public(to)) problem(from " is installed and includes " to ", which is not")
    if (from == "gradus.h") next
    a = floor_of(from)
    b = floor_of(to)
    if ((a, b) in may || ((a, "installed headers") in may && is_public(to))) next
    problem(from " (" a ") includes " to " (" (b == "" ? "of no floor" : b) ")")
  }
  END {
    for (i = 1; i <= floors; i++) {
      if (!(order[i] in used)) problem("floor " order[i] ": no file stands there")
    }
    print floors " floors, " files " files, " arrows " arrows, " bad + 0 " problems"
    exit bad || floors < 10 || files < 100
  }' docs/architecture.md -
