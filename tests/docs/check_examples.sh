#!/bin/sh
# check_examples.sh SOURCE: every program of examples/ stands in examples/README.md, a chapter's with the seconds that its page
# says.
set -eu
cd "$1/examples"
problems=0
for program in course/[0-9]*/main.cpp your_own_*.cpp recipes/*.cpp */main.cpp; do
  row=$(grep -F "]($program)" README.md) || {
    echo "examples/README.md does not have $program"
    problems=$((problems + 1))
    continue
  }
  case $program in course/*) ;; *) continue ;; esac
  name=$(basename "${program%/main.cpp}")
  seconds=$(sed -nE '3s/.*\.cpp\), (about|below|less than) ([0-9]+) second.*/\1 \2/p' "../docs/course/$name/README.md" |
    sed -E 's/^about //; s/^[a-z ]+/< /')
  case $row in *"| $seconds |"*) ;; *)
    echo "examples/README.md does not say of $program: $seconds seconds"
    problems=$((problems + 1))
    ;;
  esac
done
[ $problems = 0 ]
