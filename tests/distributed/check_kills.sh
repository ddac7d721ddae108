#!/bin/sh
# check_kills.sh MPIRUN PROGRAM: a training of 2, 4 or 8 ranks, one of which is killed at a random moment, and which then goes on
# with another number of ranks, KILLS times (3), or for GRADUS_SOAK_MINUTES: each time all ranks end, and the last bits are those
# of an unbroken run; the folder keeps no files of saves that were cut short. Every five minutes it prints how far it is.
set -eu
here=$(dirname "$0")
# shellcheck source=tests/distributed/mpirun.sh
. "$here/mpirun.sh"
program=$1
kills=${KILLS:-3} steps=${STEPS:-400} minutes=${GRADUS_SOAK_MINUTES:-0} seconds_to_end=${SECONDS_TO_END:-20}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$*"
  cat "$folder/output"
  exit 1
}

unbroken=$("$program" resume "$folder/unbroken" "$steps")
random=${SEED:-1}
number_below() { # N: sets $number
  random=$(((random * 1103515245 + 12345) % 2147483648))
  number=$((random / 65536 % $1))
}

# The ranks are found by the name of the folder, which no other program has among its arguments.
pids_of_ranks() { pgrep -f "^$program resume $folder/broken" || :; }

killed=0 early=0 finished=0 compared=0 most=0 launchers=0
begin=$(date +%s) said=0
while [ $killed -lt "$kills" ] || [ $(($(date +%s) - begin)) -lt "$((60 * minutes))" ]; do
  number_below 3
  count=$((2 << number))
  ranks $count "$program" resume "$folder/broken" "$steps" >"$folder/output" 2>&1 &
  job=$!
  number_below 1500 # milliseconds after the ranks are there
  waited=0
  while [ "$(pids_of_ranks | wc -l)" -lt $count ] && kill -0 $job 2>/dev/null && [ $waited -lt 300 ]; do
    sleep 0.1
    waited=$((waited + 1))
  done
  sleep "$((number / 1000)).$(printf %03d $((number % 1000)))"
  number_below $count
  victim=$(pids_of_ranks | sed -n "$((number + 1))p")
  if [ -n "$victim" ] && kill -KILL "$victim" 2>/dev/null; then
    start=$(date +%s)
    while kill -0 $job 2>/dev/null && [ $(($(date +%s) - start)) -le "$seconds_to_end" ]; do sleep 0.2; done
    # All ranks have ended, but Open MPI's mpirun (4.1) may then sleep on a lock for ever, after a rank died while connecting to it.
    if kill -0 $job 2>/dev/null && [ -z "$(pids_of_ranks)" ] && grep -q 'PMIX ERROR' "$folder/output"; then
      launchers=$((launchers + 1))
      pkill -P $job || : # timeout, which ends mpirun
      wait $job || :
      status=137
    else
      status=0
      wait $job || status=$?
      [ $status != 124 ] || fail "after a kill, $count ranks went on"
      [ $(($(date +%s) - start)) -le $((seconds_to_end + 1)) ] || fail "after a kill, $count ranks took $(($(date +%s) - start)) s to end"
    fi
    [ -z "$(pids_of_ranks)" ] || sleep 1
    [ -z "$(pids_of_ranks)" ] || fail "after a kill, some of $count ranks stayed"
    if [ $status != 0 ]; then
      # Of a rank that dies in MPI_Init, mpirun may say no more than that one process failed.
      grep -Eq 'signal 9|Killed|KILLED|exit code: 9' "$folder/output" ||
        ! grep -Evq '^-*$|^Primary job  terminated normally, but 1 process returned$|^a non-zero exit code. Per user-direction' \
          "$folder/output" || fail "nobody said that a rank of $count was killed"
    else
      finished=$((finished + 1)) # it came after the last call
    fi
    killed=$((killed + 1))
    ls "$folder"/broken/checkpoint-??????.safetensors >/dev/null 2>&1 || early=$((early + 1))
  else
    wait $job || fail "ended by itself"
    finished=$((finished + 1))
  fi
  if [ $((($(date +%s) - begin) / 300)) -gt $said ]; then
    said=$((($(date +%s) - begin) / 300))
    echo "after $((5 * said)) minutes: $killed kills, $compared whole trainings with the bits of an unbroken one; $launchers times only mpirun stayed"
  fi
  # Once finished, it begins again.
  if grep -qx "$unbroken" "$folder/output"; then
    compared=$((compared + 1))
    files=$(find "$folder/broken" -type f | wc -l)
    if [ "$files" -gt "$most" ]; then most=$files; fi
    others=$(find "$folder/broken" -type f ! -name 'checkpoint-??????.safetensors' ! -name 'checkpoint-??????.part-?-of-?.safetensors')
    if [ -n "$others" ] || [ "$files" -gt 27 ]; then
      fail "after a whole training, $files files in its folder; not of a checkpoint: $others"
    fi
    rm -rf "$folder/broken"
  elif grep -Eq '^[0-9a-f]{64} ' "$folder/output"; then
    fail "other bits than those of an unbroken run: $unbroken"
  fi
done
for count in 1 4; do
  [ "$(ranks $count "$program" resume "$folder/broken" "$steps" 2>&1 | tee "$folder/output")" = "$unbroken" ] ||
    fail "other bits than those of an unbroken run: $unbroken"
done
echo "$killed kills in $(($(date +%s) - begin)) s, $early of them before the first checkpoint, $finished after the end; $((compared + 2)) \
whole trainings: the bits are those of an unbroken run; at most $most files in its folder, all of checkpoints; $launchers times only mpirun stayed"
