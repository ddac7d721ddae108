#!/bin/sh
# check_references.sh SOURCE: names of files and numbers of chapters, in pages and comments, are those there are. Links are checked
# by check_docs.
set -eu
cd "$1"
# Programs of a release (tests/compat) name the files there were.
pages=$(find README.md CONTRIBUTING.md docs examples tests -name '*.md')
problems=0

# A path in the text, such as core/tensor.h or examples/course/11_layer_norm; the changelog tells of files that are gone.
# shellcheck disable=SC2086 # a list
for path in $(grep -rhoE --exclude-dir=compat --include='*.h' --include='*.cpp' --include='*.sh' --include='*.py' --include='CMakeLists.txt' --include='*.md' \
  "(^|[^A-Za-z0-9_./<{*\$-])(core|ops|nn|optim|data|distributed|text|kit|tests|examples|docs|cmake)/[A-Za-z0-9_/.-]*\.(h|cpp|md|py|sh|mjs|cmake)\b" \
  core ops nn optim data distributed text kit tests examples cmake docs $pages | sed -E 's/^[^a-z]//' | sort -u); do
  case $path in *NN_name* | *NAME* | */name.* | */a_test.*) continue ;; esac # in place of a name
  [ -e "$path" ] || [ -e "kit/$path" ] || [ -e "examples/$path" ] || [ -e "tests/$path" ] || {
    echo "there is no $path, which is named in:"
    grep -rlF --exclude-dir=build --exclude-dir=compat "$path" core ops nn optim data distributed text kit tests examples cmake docs README.md CONTRIBUTING.md | sed 's/^/    /'
    problems=$((problems + 1))
  }
done

# A link to a chapter names its number, or none; pages and examples have no numbers.
# shellcheck disable=SC2086
if grep -noE "\[(([Cc]hapter )?[0-9]+)\]\([^)]*[0-9][0-9]_[a-z_]+/README\.md[^)]*\)" $pages |
  sed -E 's/^([^:]*:[0-9]+):\[([Cc]hapter )?0*([0-9]+)\]\((.*\/)?0?([0-9]+)_[a-z_]+\/README.*/\1 \3 \5/' |
  awk '$2 != $3 { print $1 ": links to chapter " $3 " as " $2; bad = 1 } END { exit !bad }'; then
  problems=$((problems + 1))
fi
# shellcheck disable=SC2086
if { grep -nE '\b([Ee]xample|[Pp]age) \[?[0-9]+\b' $pages CHANGELOG.md
  grep -rnE --include='*.h' --include='*.cpp' --include='*.svg' '\b([Ee]xample [0-9]{2}|[Pp]age \[?[0-9]+)\b' core ops nn optim data distributed text kit tests examples docs
} | grep -v '\./run example'; then
  echo "examples and pages have names, not numbers"
  problems=$((problems + 1))
fi
chapters=$(find docs/course -path '*/[0-9][0-9]_*/README.md' | wc -l)
# shellcheck disable=SC2086
if grep -noE '\b[Cc]hapter [0-9]+\b' $pages CHANGELOG.md | awk -v last="$chapters" '$NF + 0 < 1 || $NF + 0 > last { print; bad = 1 } END { exit !bad }'; then
  echo "the chapters are 1 to $chapters"
  problems=$((problems + 1))
fi

# The folders at the root, but for those of .gitignore, each with a line of README.md.
folders='cmake core data distributed docs examples kit nn ops optim tests text'
found=$(for folder in */; do case $folder in build/ | build-*/ | my/ | runs/ | lab-results/) ;; *) printf '%s ' "${folder%/}" ;; esac; done)
[ "$found" = "$folders " ] || {
  echo "the folders at the root are $found, not $folders"
  problems=$((problems + 1))
}
for folder in $folders; do
  [ "$(grep -c "^| \[$folder\]($folder[)/]" README.md)" = 1 ] || {
    echo "README.md has no line for the folder $folder, or several"
    problems=$((problems + 1))
  }
done

# A figure of README.md that names its claim is the ledger's: "0.681 (0.556 to 0.806) nats ([claim 18](...))".
number='(−)?[0-9.]+'
figures=$(tr '\n' ' ' <README.md | tr -s ' ' | grep -oE "$number \\($number to $number\\)[^[]*\\[claim [0-9]+\\]" || :)
[ "$figures" ] || figures='none [claim 0]'
stale=$(printf '%s\n' "$figures" | while read -r figure; do
  claim=${figure##*\[claim }
  claim=${claim%]}
  figure=$(printf '%s' "$figure" | sed 's/).*/)/')
  sed -n "/<a id=\"claim-$claim\"/,/<a id=\"claim-/p" docs/claims.md | grep -qF "| $figure |" || echo "README.md: claim $claim has no figure $figure"
done)
[ -z "$stale" ] || {
  echo "$stale"
  problems=$((problems + 1))
}

# "0.00302 ± 0.00686" of README.md is on the page of results.
stale=$(grep -oE "$number ± $number" README.md | while read -r figure; do
  grep -qF "$figure (" docs/results.md || echo "docs/results.md does not have README.md's $figure"
done)
[ -z "$stale" ] || {
  echo "$stale"
  problems=$((problems + 1))
}

# "57 claims" and "7 more claims" of README.md: those of the ledger, and those that are not measured yet.
all=$(sed -n 's/.* Of \([0-9]*\) claims: .*/\1/p' docs/claims.md)
planned=$(sed -n 's/.* Of [0-9]* claims: .* \([0-9]*\) are not measured.*/\1/p' docs/claims.md)
planned=${planned:-0}
measured=$((all - planned))
set -- "ledger of $measured claims"
[ $planned = 0 ] || set -- "$@" "$planned more claims"
for words; do
  grep -qF "$words" README.md || {
    echo "README.md does not have '$words'"
    problems=$((problems + 1))
  }
done
[ $problems = 0 ]
