#!/bin/sh
# check_examples.sh SOURCE: every program of examples/ is in examples/README.md.
set -eu
cd "$1/examples"
problems=0
for program in course/[0-9]*/main.cpp your_own_*.cpp recipes/*.cpp */main.cpp; do
  grep -qF "]($program)" README.md || {
    echo "examples/README.md does not have $program"
    problems=$((problems + 1))
  }
done
[ $problems = 0 ]
