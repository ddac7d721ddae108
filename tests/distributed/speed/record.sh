#!/bin/sh
# record.sh measure MPIRUN PROGRAM FOLDER [NOTE]: what ranks cost on this machine; on a quiet one, a few minutes.
# record.sh simulate FOLDER [RANKS]: steps on clusters that SimGrid simulates (apt install libsimgrid-dev), the real tree,
# buckets and MPI transport with sizes in place of data; on up to RANKS ranks.
# docs/many_machines_speed.md shows both; `update_docs` writes its tables and charts again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)

measure() {
  . "$here/../mpirun.sh" # sets $mpirun from $1, and one thread to a rank
  program=$1 folder=$2 note=${3:-}
  mkdir -p "$folder"
  models=${MODELS:-char-gpt,gpt-11m,gpt2-124m} rounds=${ROUNDS:-11} largest=${LARGEST:-67108864}
  export SECONDS_FOR_RANKS=${SECONDS_FOR_RANKS:-1200}
  for setting in 1x1 1x2 2x1 4x1; do # ranks x threads
    echo "$setting: ${setting%x*} ranks with ${setting#*x} threads each"
    GRADUS_NUM_THREADS=${setting#*x} ranks "${setting%x*}" "$program" --record "$folder/$setting.json" --models "$models" \
      --rounds "$rounds" --largest "$largest" --note "$note"
  done
}

# RANKS GBIT: a cluster without a bottleneck in its middle, 30 us from host to host.
cluster() {
  cat >"$scratch/cluster.xml" <<END
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="rank" suffix="" radical="0-$(($1 - 1))" speed="1Gf" bw="$2Gbps" lat="15us" sharing_policy="SPLITDUPLEX"/>
</platform>
END
  i=0
  while [ $i -lt "$1" ]; do
    echo "rank$i"
    i=$((i + 1))
  done >"$scratch/hosts"
}

# MODEL GBIT RANKS TOKENS BUCKET_MIB: one line of the record.
simulated_step() {
  cluster "$3" "$2"
  bytes=$(($5 << 20)) poll=1e-3
  [ "$1" != gpt2-1.5b ] || poll=1e-2 # its steps take seconds
  set -- "$@" $(smpirun -np "$3" -platform "$scratch/cluster.xml" -hostfile "$scratch/hosts" --cfg=smpi/simulate-computation:no \
    --cfg=smpi/test:0 --cfg=smpi/privatization:no --cfg=network/crosstraffic:0 --log=root.thres:warning \
    "$scratch/simulate" "$1" "$4" "$bytes" $poll)
  [ $# = 7 ] || return 1
  echo "{\"model\":\"$1\",\"gbit\":$2,\"ranks\":$3,\"tokens\":$4,\"bucket_bytes\":$bytes,\"computing_s\":$6,\"step_s\":$7}"
}

simulate() {
  folder=$1 most=${2:-1024}
  mkdir -p "$folder"
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  ln -s "$root" "$scratch/gradus"
  detail=$root/distributed/detail
  smpicxx -std=c++20 -O2 -I"$here/simulated" -I"$scratch" -I"$root/tests" "$here/simulated/simulate.cpp" "$here/model.cpp" \
    "$detail/tree.cpp" "$detail/traffic.cpp" "$detail/mpi.cpp" "$detail/layout.cpp" -o "$scratch/simulate"
  : >"$scratch/rows"
  for ranks in 8 64 256 1024; do
    [ "$ranks" -le "$most" ] || continue
    for model in ${MODELS:-gpt2-124m gpt2-1.5b}; do
      for gbit in 10 100; do
        for tokens in ${TOKENS:-256 800 2100}; do
          simulated_step $model $gbit $ranks "$tokens" 25 | tee -a "$scratch/rows"
        done
      done
    done
    for bucket in ${BUCKETS:-1 5 100}; do simulated_step gpt2-124m 10 $ranks 2100 "$bucket" | tee -a "$scratch/rows"; done
  done
  {
    echo '{"steps": ['
    sed '$!s/$/,/; s/^/  /' "$scratch/rows"
    echo ']}'
  } >"$folder/simulated.json"
}

what=$1
shift
"$what" "$@"
