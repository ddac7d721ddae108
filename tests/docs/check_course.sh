#!/bin/sh
# check_course.sh SOURCE: every chapter of the course has its parts in their order, a picture, its program and its
# questions, and is in the contents with the minutes it takes to read.
set -eu
cd "$1/docs/course"
words_a_minute=150 # for readers whose first language is another one
problems=0
problem() {
  echo "$*"
  problems=$((problems + 1))
}

parts='**Question.**
## Predict
## Why it matters
## Equation
## In code
## What it prints
## What texts get wrong
## Exercises'

# Prose only: quoted code and output, pictures and headings are looked at, not read word by word.
minutes() {
  awk '/^ *(```|[$][$])/ { code = !code; next } { gsub(/[$][^$]+[$]/, "formula") } !code && !/^(#|<|Program:|\[Contents\])/ && !/^    / { words += NF }
       END { printf "%d", words / '$words_a_minute' + 1 }' "$1"
}

set -- [0-9][0-9]_*/README.md
[ $# -ge 30 ] || problem "there are $# chapters, fewer than 30"
number=0
for page; do
  number=$((number + 1))
  name=${page%/README.md}
  title=$(sed -n "1s/^# $number\. //p" "$page")
  case $name in "$(printf %02d $number)"_*) ;; *) problem "$page is the chapter number $number" ;; esac
  [ "$title" ] || problem "$page: its first line is not '# $number. ' and a title"
  found=$(grep -nxF "$parts" "$page" | cut -d : -f 2-; :)
  wanted=$(printf '%s\n' "$parts" | sed 1d)
  grep -q '^\*\*Question\.\*\* ' "$page" || problem "$page has no **Question.**"
  [ "$found" = "$wanted" ] || problem "$page: its parts are not, in this order: $(echo "$wanted" | tr '\n' ',')"
  # A live figure is not one: it does not show where Markdown is read as it is.
  grep -Eq '^<img src="(figure|\.\./\.\./pictures/[^"]+)\.(svg|png)".* alt="[^"]+">$' "$page" || problem "$page has no picture"
  for words in "learn $number" "example $(printf %02d $number)"; do
    grep -qF "\`./run $words\`" "$page" || problem "$page does not name \`./run $words\`"
  done
  program=../../examples/course/$name/main.cpp
  if [ ! -f "$program" ]; then
    problem "there is no $program"
  elif [ "$(wc -l <"$program")" -gt 120 ]; then
    problem "$program has more than 120 lines"
  fi
  sed -n 2p "$program" | grep -qxF "// Its chapter: docs/course/$page" || problem "line 2 of $program does not link to $page"
  grep -qF "](../../../examples/course/$name/main.cpp)" "$page" || problem "$page does not link to $program"
  [ -f "../../examples/course/$name/questions.json" ] || problem "there is no examples/course/$name/questions.json"
  row="| $number | [$title]($page) | $(minutes "$page") |"
  grep -qF "$row" README.md || problem "README.md has no row that begins with: $row"
done
[ $problems = 0 ] || exit 1
echo "$number chapters"
