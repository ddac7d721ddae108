#!/bin/sh
# check_new_chapter.sh SOURCE BUILD COMPILER: a chapter needs its two folders and its row in docs/course/README.md, and nothing
# else by hand: a copy of the source tree gets one from the template, is configured, and its program, figure and exercise are
# built. check_docs --update writes the links between neighbours and the row in examples/README.md.
set -eu
source=$1 build=$2 compiler=$3
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
(cd "$source" && tar -c --exclude=./build --exclude=./.git --exclude=./my .) | tar -x -C "$copy"
cd "$copy"

last=$(cd docs/course && printf '%s\n' [0-9][0-9]_*/ | tail -n 1)
last=${last%/}
number=$((${last%%_*} + 1))
name=${number}_template
# The commands that CONTRIBUTING.md prints, with this number and name.
sed -n '/^number=.* name=/,/^sed -i /p' CONTRIBUTING.md | sed 1d >commands.sh
# shellcheck disable=SC1091
. ./commands.sh
rm commands.sh

"$build/check_docs" --update . # without programs: output is left as it is
grep -qF "next: [Title](../$name/README.md)" "docs/course/$last/README.md"
"$build/check_docs" .
sh tests/docs/check_course.sh .
sh tests/docs/check_examples.sh .
cmake -S . -B new -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release >configure.txt 2>&1 || {
  cat configure.txt
  exit 1
}
grep -rqE "^(build )?$name:" new --include=Makefile --include=build.ninja || {
  echo "CMake has no target $name"
  exit 1
}
grep -rq "docs/course/$name/figure.cpp" new --include=build.make --include=build.ninja || {
  echo "draw_pictures does not have the figure of $name"
  exit 1
}
flags="-std=c++20 -O0 -I $build/include -I $copy -I $copy/examples -I $source/tests"
# shellcheck disable=SC2086 # options
"$compiler" $flags -DGRADUS_COURSE="\"$copy/docs/course\"" -fsyntax-only "docs/course/$name/figure.cpp"
# shellcheck disable=SC2086
"$compiler" $flags -fsyntax-only "new/learn/check_$name.cpp"
# shellcheck disable=SC2086
"$compiler" $flags "examples/course/$name/main.cpp" -o program -L "$build" -lgradus $(pkg-config --libs fmt openblas 2>/dev/null || echo -lfmt -lopenblas) -pthread
sh tests/examples/check_example.sh "$copy/program" "$copy/examples/course/$name/expected.txt"
echo "$name: its two folders and one row are enough"
