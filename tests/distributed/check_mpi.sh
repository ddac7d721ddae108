#!/bin/sh
# check_mpi.sh MPIRUN PROGRAM RECIPE: ranks as processes of MPI. Every call of a communicator is right; 100 steps of each training
# case end with the hashes of one process, whatever the number of ranks and threads; the recipe prints the same.
set -eu
here=$(dirname "$0")
# shellcheck source=tests/distributed/mpirun.sh
. "$here/mpirun.sh"
program=$1 recipe=$2
steps=${STEPS:-100}

for count in 2 3 8; do ranks $count "$program" calls 1073741824; done
ranks 4 "$program" calls 1000                # longer messages come in pieces
OMPI_MCA_btl=self,tcp ranks 4 "$program" calls 100000 # over the loopback instead of shared memory

alone=$("$program" train 1 "$steps")
echo "$alone"
for setting in ${SETTINGS:-1:2 2:1 4:2 8:1}; do # ranks:threads
  many=$(ranks "${setting%:*}" "$program" train "${setting#*:}" "$steps")
  if [ "$many" != "$alone" ]; then
    printf '%s\n' "${setting%:*} ranks with ${setting#*:} threads differ from one process:" "$many"
    exit 1
  fi
done
sharded=$(echo "$alone" | sed -n 's/^gpt[-a-z]*: //p' | sort -u | wc -l)
[ "$sharded" = 1 ] || { echo "a sharded optimizer has other bits than a whole one"; exit 1; }

if [ "$(ranks 4 "$recipe")" != "$("$recipe")" ]; then
  echo "the recipe prints something else on 4 ranks"
  exit 1
fi
