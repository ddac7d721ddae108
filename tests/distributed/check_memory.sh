#!/bin/sh
# check_memory.sh MPIRUN PROGRAM: a model that one process cannot train within a limit of memory trains in 4 stages within it, with
# the losses of one process without a limit.
set -eu
here=$(dirname "$0")
# shellcheck source=tests/distributed/mpirun.sh
. "$here/mpirun.sh"
program=$1
limit=100 # MiB that a process may add to what it has when it starts

whole=$("$program" memory 0)
status=0
output=$("$program" memory $limit 2>&1) || status=$?
if [ $status = 0 ] || ! echo "$output" | grep -q 'out of memory'; then
  printf '%s\n' "one process within $limit MiB ended with status $status, not out of memory:" "$output"
  exit 1
fi
stages=$(ranks 4 "$program" memory $limit)
if [ "$stages" != "$whole" ]; then
  printf '%s\n' "4 stages within $limit MiB:" "$stages" "one process without a limit:" "$whole"
  exit 1
fi
echo "$output" | tail -n 1
echo "$stages"
