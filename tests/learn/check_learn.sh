#!/bin/sh
# check_learn.sh PROGRAM SOURCE: what a learner meets, from the stub to the note after the last case.
set -eu
export LC_ALL=C # in English
program=$1
source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
folder=$scratch/my
mine=$folder/11_layer_norm.h

fail() {
  echo "check_learn: $1"
  cat "$scratch/said"
  exit 1
}
# learn STATUS ARGUMENTS: the program ends with this status.
learn() {
  wanted=$1
  shift
  status=0
  "$program" "$@" --folder "$folder" >"$scratch/said" 2>&1 </dev/null || status=$?
  [ "$status" = "$wanted" ] || fail "learn $*: status $status, not $wanted"
}
said() { grep -qF -- "$1" "$scratch/said" || fail "not said: $1"; }

learn 0
said '11_layer_norm'
said '0 of '
learn 1 --language xx
said "there is no language 'xx'"
learn 0 --language tr
said 'Bir Pre-LN dizisi'
said 'Sıradaki: ./run learn 1'
learn 1 --reset
said '--reset expects the number of an exercise'
learn 1 --hint
said '--hint expects the number of an exercise'
learn 1 --ask
said '--ask expects the number of an exercise'
learn 0 11 --hint
said 'Hint 1 of 3:'
learn 0 11 --hint
learn 0 11 --hint
said 'Hint 3 of 3:'
learn 0 11 --hint
said 'Hint 1 of 3:'
said 'Hint 3 of 3:'
learn 0 11 --hint --language pt
! grep -qF 'Hint 1 of 3:' "$scratch/said" || fail 'the hints are not translated'
# The answers to the exercises of the page.
answers() {
  typed=$1 status=0
  shift
  printf "$typed" | "$program" "$@" --answers --folder "$folder" >"$scratch/said" 2>&1 || status=$?
}
answers '7650 rows\n1790\n600\n' 20
said 'Type a number alone'
said 'Right. 16 · 100 + 19 · 10 = 1790'
said 'Right answers: 2 of 5.'
[ "$status" = 1 ] || fail "--answers: status $status, not 1"
answers '3\n300\n7650\n' 20 --language tr
! grep -qF '30000' "$scratch/said" || fail 'the first wrong answer is shown the solution'
said 'Doğru yanıt: 4 / 5.'
answers '300\n' 20 --language tr
said 'Yanlış. 6 · 50 · 100 = 30000'
answers '30000\n' 20
said 'Right answers: 5 of 5.'
[ "$status" = 0 ] || fail "--answers: status $status, not 0"
answers '2\n' 24
awk '/<!-- answers -->/ { on = 1; getline; next } on && /^```/ { exit } on' "$source/docs/exercises.md" |
  sed '/^  > 2$/{N;s/ 2\n/ /;}' >"$scratch/shown" # what is typed is not in the output
cmp -s "$scratch/shown" "$scratch/said" || fail 'docs/exercises.md shows other answers'
[ ! -e "$folder/20_cross_attention.h" ] || fail '--answers has placed the stub'
learn 1 --answers
said '--answers expects the number of a chapter'
learn 1 20 --answers --hint
said '--answers goes with none of --reset, --hint and --ask'
learn 1 11 --reset --hint
said '--hint goes with neither --reset nor --ask'
learn 2 11 --limit 1e300
said '--limit: expects a number above 0 and at most 3600'
learn 1 nothing
said "no exercise is called 'nothing'"
learn 0 11
cmp -s "$mine" "$source/examples/course/11_layer_norm/stub.h" || fail 'this is not the stub'
learn 0 layer_norm
said 'Write your code there'
[ ! -e "$mine.1" ] || fail 'it has been placed again'

# An answer that is no file.
rm "$mine"
ln -s /dev/zero "$mine"
learn 1 11
said '11_layer_norm.h is a device or a socket, expects a file'
rm "$mine"
mkfifo "$mine"
learn 1 11
said '11_layer_norm.h is a pipe, expects a file'
rm "$mine"
truncate -s 1G "$mine"
learn 1 11
said 'has 1073741824 bytes, expects at most 1048576'
rm "$mine"

# An answer, with one line of its norm replaced.
answer() { sed "s|^Tensor norm(const Tensor& x, double eps) {.*|Tensor norm(const Tensor\& x, double eps) { $1 }|" "$source/examples/course/11_layer_norm/solution.h" >"$mine"; }
answer 'return layer_norm(x, {}, {}, eps);'
learn 1 11
said 'layer_norm is yours to write here'
answer '{ double layer_norm = 0; layer_norm += eps; } auto* const f = layer_norm; return f(x, {}, {}, eps);'
learn 1 11
said "the library's layer_norm has run: here it is yours to write"
# What docs/exercises.md shows.
answer 'const Tensor c = x - x.mean(-1, true); return c / (c.square().mean(-1, true).sqrt() + eps);'
sed -i 's|const Tensor y = norm(x, eps);|const Tensor y = (x - x.mean(-1, true)) / sigma(x, eps);|' "$mine"
learn 1 11
awk '/<!-- session -->/ { on = 1; getline; next } on && /^```/ { exit } on' "$source/docs/exercises.md" >"$scratch/shown"
cmp -s "$scratch/shown" "$scratch/said" || fail 'docs/exercises.md shows something else'
learn 1 11 --language tr
said "$(sed -n '/^msgid "eps is inside the root"/{n;s/msgstr "\(.*\)"/\1/p;}' "$source/docs/languages/tr/learn/11_layer_norm.po")"
said 'İpucu: '
said "kısa bir tokenın ilk y değerinin uzun bir tokenınkine oranı: 0.945416, 0.48 olmalıydı"
for language in fa pt zh; do
  learn 1 11 --language "$language"
  ! grep -qE ' is 0\.945|Hint|FAILED|passed' "$scratch/said" || fail "not all of it is translated: $language"
done
answer 'return missing(x, eps);'
learn 1 11
said 'It does not compile:'
said 'Is the name spelt right?'
answer 'for (volatile int i = 0; x.dim() > 0; ) i = 1; return x * eps;'
learn 1 11 --limit 0.2
said 'stopped after 0.2 seconds: does a loop never end?'
said '0 of 6 cases passed.'
answer 'for (volatile int i = 0; x.dim() > 0; ) std::cout << "again " << i << "\\n"; return x * eps;'
learn 1 11
said 'again 0'
said 'stopped after it has printed 64 KiB: does a loop print for ever?'
[ "$(wc -c <"$scratch/said")" -lt 700000 ] || fail 'it has printed without end'
answer 'std::printf("before it crashes\\n"); const std::vector<double> empty; return x * empty[1] * eps;'
learn 1 11
said 'before it crashes'
answer 'std::vector<double> empty; return x * empty[1] * eps;'
learn 1 11
said 'it aborts'
learn 0
said '0 of 6 cases'
answer 'return norm(x, eps);'
learn 1 11
said 'a function that calls itself for ever?'
answer 'std::vector<double> much; much.reserve(std::size_t{9} << 27); return x * eps;'
learn 1 11
said 'it throws: out of memory'
# Constants outside of functions are computed before the first case, with the same limits.
answer 'return x * eps;'
echo 'static const double never = [] { volatile double x = 1; while (x > 0) x = 1; return 1.0; }();' >>"$mine"
learn 1 11
said 'does a constant outside of the functions throw, crash, or take more than 10 seconds?'
answer 'return x * eps;'
echo 'static const std::vector<double> much(std::size_t{9} << 27);' >>"$mine"
learn 1 11
said 'bad_alloc'
# Ctrl-C, in the build and in a case, is not held against the answer.
cp "$source/examples/course/11_layer_norm/solution.h" "$mine"
learn 0 11
answer 'std::cout << "begun" << std::endl; for (volatile int i = 0; x.dim() > 0; ) i = 1; return x * eps;'
cp "$folder/11_layer_norm.json" "$scratch/before"
for word in '11. ' begun; do
  setsid "$program" 11 --folder "$folder" >"$scratch/said" 2>&1 </dev/null &
  group=$!
  until grep -qF "$word" "$scratch/said"; do sleep 0.1; done
  sleep 0.3
  kill -INT "-$group"
  status=0
  wait "$group" || status=$?
  [ "$status" = 130 ] || fail "after Ctrl-C: status $status, not 130"
  ! grep -qE 'compile|FAILED|cases' "$scratch/said" || fail 'Ctrl-C is held against the answer'
  cmp -s "$scratch/before" "$folder/11_layer_norm.json" || fail 'Ctrl-C changes the progress'
done
answer 'throw std::runtime_error("no"); return x * eps;'
learn 1 11
said 'it throws: no'
[ "$(grep -cF 'it throws: no' "$scratch/said")" = 1 ] || fail 'equal messages are repeated'
said '(as above)'
! grep -qF 'Hint' "$scratch/said" || fail 'the hint of a wrong value is shown for a case that throws'
answer 'const double two = 2 return x * eps * two;'
export LC_ALL=C.UTF-8 # in which GCC has other quotes
learn 1 11 --language en
said 'A semicolon is missing'
export LC_ALL=C
folder=$scratch/a\"b
mkdir "$folder"
cp "$mine" "$folder/"
learn 1 11
said 'give a folder without quotation marks in its name'
folder=$scratch/my

# Every solution passes as a learner's file, with nothing forbidden in it.
for exercise in "$source"/examples/course/[0-9][0-9]_*/; do
  exercise=${exercise%/}
  [ -f "$exercise/solution.h" ] || continue
  cp "$exercise/solution.h" "$folder/${exercise##*/}.h"
  learn 0 "${exercise##*/}"
  said ' cases passed.'
done

cp "$source/examples/course/11_layer_norm/solution.h" "$mine"
learn 0 11
said '6 of 6 cases passed.'
said 'The two terms after dy'
learn 0
said 'done'
answer 'return missing(x, eps);'
learn 1 11
learn 0
! grep 11_layer_norm "$scratch/said" | grep -q done || fail 'it is done, but does not compile'
cp "$source/examples/course/11_layer_norm/solution.h" "$mine"
learn 0 11

# Two at once: each is graded by its own file.
mkdir "$scratch/other"
cp "$mine" "$scratch/other/"
sed -i 's|+ eps)\.sqrt()|).sqrt() + eps|' "$scratch/other/11_layer_norm.h"
"$program" 11 --folder "$scratch/other" >"$scratch/of_other" 2>&1 </dev/null &
learn 0 11
said '6 of 6 cases passed.'
wait $! && fail 'the wrong answer passes' || grep -q 'FAILED  eps is inside the root' "$scratch/of_other" || {
  cat "$scratch/of_other"
  fail 'the wrong answer is not graded by its own file'
}

echo '// a remark' >>"$mine"
learn 0
grep 11_layer_norm "$scratch/said" | grep -qF 'changed since it passed' || fail 'a change is not shown'
learn 0 11
learn 0
grep 11_layer_norm "$scratch/said" | grep -q done || fail 'it is not done again'
learn 0 11 --reset
learn 0
! grep 11_layer_norm "$scratch/said" | grep -q done || fail 'it is done, but begun anew'
[ -e "$mine.1" ] || fail 'no copy is kept'
grep -qF '// a remark' "$mine.1" || fail 'the copy is another file'
