#!/bin/sh
# check_ranks.sh LAB MPIRUN: a study under mpirun measures what one process does; when a rank is killed, all end, no finished run is
# lost, and --resume goes on with any number of ranks.
lab=$1
here=$(cd "$(dirname "$0")" && pwd)
set -- "$2"
# shellcheck source=tests/distributed/mpirun.sh
. "$here/../../distributed/mpirun.sh"
SECONDS_FOR_RANKS=600
# shellcheck source=tests/examples/program.sh
set -- "$lab"
. "$here/../program.sh"

# The measurements without their times.
measured() { sed 's/"seconds":[^,]*,//' "$1"/start/runs.jsonl | sort; }

expect 0 start --quick --out whole --threads 1
ranks 3 "$program" start --quick --out together >out 2>err || fail "3 ranks failed"
says err '3 at a time'
[ "$(grep -c ' claims: ' out)" = 1 ] || fail "not one rank has printed the result"
[ "$(measured whole)" = "$(measured together)" ] || fail "3 ranks measure other numbers than one process"
cmp -s whole/start/numbers.csv together/start/numbers.csv || fail "the report of 3 ranks has other numbers"

ranks 3 "$program" start --quick --out killed >out 2>err &
job=$!
while [ "$(cat killed/start/runs.jsonl 2>/dev/null | wc -l)" -lt 2 ]; do kill -0 $job || fail "ended early"; done
victim=$(pgrep -f "^$program start --quick --out killed" | sed -n 2p)
kill -KILL "$victim"
status=0
wait $job || status=$?
[ $status != 0 ] && [ $status != 124 ] || fail "after a kill: status $status"
[ -z "$(pgrep -f "^$program start --quick --out killed")" ] || sleep 2
[ -z "$(pgrep -f "^$program start --quick --out killed")" ] || fail "after a kill, ranks stayed"
finished=$(wc -l <killed/start/runs.jsonl)
[ "$finished" -ge 2 ] || fail "finished runs were lost"
[ "$finished" -lt "$(wc -l <whole/start/runs.jsonl)" ] || fail "killed too late to go on"
ranks 2 "$program" start --resume killed >out 2>err || fail "2 ranks do not go on"
says err "$finished done already"
[ "$(measured whole)" = "$(measured killed)" ] || fail "a resumed study differs from an unbroken one"

status=0
ranks 2 "$program" sart >out 2>err || status=$?
[ $status = 2 ] || fail "a wrong name: status $status"
[ "$(grep -c "there is no study 'sart'" err)" = 1 ] || fail "not one rank has refused a wrong name"
