#!/bin/sh
# check_ranks.sh MPIRUN CHAR_GPT GPT2 TRANSLATE: these programs under mpirun print and write what one process does with as many
# shards; one rank speaks; a training that was stopped goes on with another number of ranks.
char_gpt=$2 gpt2=$3 translate=$4
here=$(cd "$(dirname "$0")" && pwd)
set -- "$1"
# shellcheck source=tests/distributed/mpirun.sh
. "$here/../../distributed/mpirun.sh"
SECONDS_FOR_RANKS=180 # where other programs have the cores
set -- "$char_gpt"
# shellcheck source=tests/examples/program.sh
. "$here/../program.sh"

without_times() { grep -v ' will take about ' "$1" | sed 's/ after [0-9.]* minutes//'; }
# same NAME COUNT ARGUMENTS...: $program on COUNT ranks prints and saves what it does alone, but for times.
same() {
  what=$1 count=$2
  shift 2
  # shellcheck disable=SC2086 # words
  ( mkdir alone && cd alone && "$program" "$@" $saves --threads 1 >../out 2>../err ) || fail "$what fails alone"
  without_times out >alone.txt
  ( mkdir many && cd many && ranks $count "$program" "$@" $saves --threads 1 >../out 2>../err ) || fail "$what fails on $count ranks"
  without_times out >many.txt
  cmp alone.txt many.txt || fail "$what prints something else on $count ranks"
  diff -r -x training alone many ||  # a training has its seconds in its checkpoint
    fail "$what saves something else on $count ranks"
  rm -r alone many
}

awk 'BEGIN { for (i = 0; i < 3000; ++i) printf "line %d of this text\n", i * 7919 % 3000 }' >text
text=$PWD/text
small="--layers 1 --heads 2 --d-model 16 --context 16 --batch 12 --dropout 0.1"
saves="--save model.safetensors"
# shellcheck disable=SC2086
{
  same char_gpt 4 --text "$text" $small --steps 20 --sample 50 --shards 8

  # Refused once, not by each rank.
  status=0
  ranks 4 "$char_gpt" --text "$text" $small --steps 3 >out 2>err || status=$?
  [ $status = 1 ] || fail "without --shards: status $status"
  says err 'char_gpt: rank 0 of 4: --shards: expects 1, 2, 4, 8, ..., at least the number of ranks'
  [ "$(grep -c -- '--shards: expects' err)" = 1 ] || fail "more than one rank has refused"
  status=0
  ranks 2 "$char_gpt" --text >out 2>err || status=$?
  [ $status = 2 ] || fail "a wrong command line: status $status"

  # A signal to one of two ranks stops both after the same step; four go on, with the bits of one process that did not stop.
  train="--text $text $small --steps 2000 --shards 8 --threads 1 --sample 0"
  "$char_gpt" $train --save whole >out 2>err || fail "alone"
  : >out # of the run before
  ranks 2 "$char_gpt" $train --save cut --run run >out 2>err &
  job=$!
  until grep -q '^step *200 ' out; do kill -0 $job || fail "ended before step 200"; done
  kill -INT "$(pgrep -f "^$char_gpt --text $text .* --run run" | tail -n 1)"
  status=0
  wait $job || status=$?
  [ $status = 130 ] || fail "a signal to one rank: status $status"
  ranks 4 "$char_gpt" $train --save cut --run run --resume >out 2>err || fail "4 ranks do not go on"
  says out 'continues after step '
  cmp whole cut || fail "a resumed training has other weights"
}

program=$gpt2
saves="--save model"
same gpt2 2 --text "$text" --vocab 270 --layers 1 --heads 2 --d-model 16 --context 16 --batch 6 --accumulate 2 --steps 10 \
  --prompt line --count 10 --shards 4

awk 'BEGIN { srand(3); for (i = 0; i < 300; ++i) { s = ""; n = 1 + int(rand() * 6); for (j = 0; j < n; ++j) s = s "w" int(rand() * 9) " "; print s } }' >en
tr w v <en >de
program=$translate
same translate 2 --source "$PWD/de" --target "$PWD/en" --layers 1 --heads 2 --d-model 16 --d-ff 32 --vocab 280 --tokens 200 \
  --longest 30 --steps 20 --average-every 5 --evaluate-every 10 --translate 'v1 v2' --shards 4
echo "char_gpt, gpt2 and translate do the same on many ranks"
