#!/bin/sh
# check_failures.sh MPIRUN PROGRAM: when a rank fails, in whatever way, all end within seconds, and the message says which rank
# did what.
set -eu
here=$(dirname "$0")
# shellcheck source=tests/distributed/mpirun.sh
. "$here/mpirun.sh"
program=$1
SECONDS_FOR_RANKS=30
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# expect_end PATTERN COUNT ARGUMENTS...: the program ends by itself with an error and a line like PATTERN.
expect_end() {
  pattern=$1
  shift
  status=0
  ranks "$@" >"$output" 2>&1 || status=$?
  if [ $status = 0 ] || [ $status = 124 ] || ! grep -Eq "$pattern" "$output"; then
    echo "ended with status $status, without a line '$pattern': $*"
    cat "$output"
    exit 1
  fi
}

for rank in 0 3; do
  expect_end "^distributed_program: rank $rank of 4: step 3 of rank $rank failed" 4 "$program" fail throw $rank
  expect_end "^distributed_program: rank $rank of 4: shard $((2 * rank + 1)) failed" 4 "$program" fail inside $rank
  expect_end "rank $rank.*(signal 9|Killed)|exit code: 9|KILLED" 4 "$program" fail kill $rank
  expect_end "^distributed_program: rank $rank of 4: the program called exit\(\)" 4 "$program" fail exit $rank
  expect_end "rank $rank has ended its program|rank [0-3] is at the end|ended its program" 4 "$program" fail return $rank
done
expect_end "signal 6|Aborted|exit code: 6" 4 "$program" fail abort 1
expect_end "^distributed_program: rank 1 of 4: a thread failed" 4 "$program" fail terminate 1
expect_end "every rank makes the same calls in the same order" 4 "$program" fail call 2
expect_end "the same shape and dtype|every rank makes the same calls" 4 "$program" fail shape 2
expect_end "rank 2 has a batch of 7 rows, rank 0 one of 8" 4 "$program" fail batch 2
expect_end "DataParallel's options must be the same on all ranks. Different from rank 0: rank 1" 2 "$program" fail bucket 0
expect_end "^distributed_program: rank 2 of 4: Linear: expects x \[\.\.\., 5\], got \[2, 4\] \(in 2\)" 4 "$program" fail stage 2
expect_end "has waited 1 s for rank" 2 "$program" fail hang 1
expect_end "The program's arguments must be the same on all ranks. Different from rank 0: rank 1, 2. Rank 1 has .*0\.2" \
  1 "$program" option "--lr 0.1" : -n 2 "$program" option "--lr 0.2"
expect_end "What computes .* must be the same on all ranks. Different from rank 0: rank 1" \
  1 "$program" option x : -n 1 env GRADUS_MATMUL=gradus GRADUS_ISA=scalar "$program" option x
echo "every failure ended all ranks, with its message"
