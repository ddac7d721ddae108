#!/bin/sh
# check_studies.sh LAB: the lab's studies and claims as users meet them. Three claims are measured, a study is stopped and
# goes on, parts are merged, what is wrong is refused.
set -eu
lab=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "$1"
  [ ! -s err ] || cat err
  exit 1
}
expect() { # STATUS ARGS...
  wanted=$1
  shift
  status=0
  "$lab" "$@" >out 2>err || status=$?
  [ $status = "$wanted" ] || fail "lab $*: status $status, expected $wanted"
}
refused() { # STATUS PART-OF-MESSAGE ARGS...
  wanted=$1 part=$2
  shift 2
  expect "$wanted" "$@"
  [ ! -s out ] || fail "lab $*: wrote to stdout"
  grep -qF -- "$part" err || fail "lab $*: does not say '$part'"
}
# What was measured, but for how long it took.
measured() { sed 's/"seconds":[^,]*,//' "$1"/"$2"/runs.jsonl | sort; }

# Three claims, in their quick form.
expect 0 claim 31 --out claim-31
grep -q '^ 31  ' out || fail "claim 31 is not shown"
grep -q 'false' out || fail "layer norm's radius is 1"
for claim in 10 36; do
  expect 0 claim $claim --out claim-$claim
  grep -q "^ $claim  " out || fail "claim $claim is not shown"
  grep -q 'not measured' out && fail "claim $claim: something is not measured"
done
for file in index.html claims.html start/report.html start/numbers.csv start/series.csv start/study.json; do
  [ -s claim-10/$file ] || fail "no $file"
done
find . -name '*.html' -size +2048k | grep . && fail "a page of more than 2 MB"
expect 0 studies
grep -q '^  start ' out || fail "studies are not listed"

# Two parts are the whole.
expect 0 start --quick --out whole --threads 2
expect 0 start --quick --out part-1 --shard 1/2 --threads 1
refused 1 'are missing, of --shard 2/2' merge part-1 --out too-few
[ ! -e too-few ] || fail "a merge that failed left something"
expect 0 start --quick --out part-2 --shard 2/2 --threads 1
expect 0 merge part-1 part-2 --out merged
[ "$(measured whole start)" = "$(measured merged start)" ] || fail "merged parts differ from the whole"
cmp -s whole/start/numbers.csv merged/start/numbers.csv || fail "the merged report has other numbers"
refused 1 'is there already' merge part-1 part-2 --out merged
refused 1 'and in part-1' merge part-1 part-1 part-2 --out twice

# Stopped by Ctrl-C, then gone on with.
"$lab" start --quick --out stopped --threads 1 >out 2>err &
while [ "$(cat stopped/start/runs.jsonl 2>/dev/null | wc -l)" -lt 2 ]; do kill -0 $! || fail "ended early"; done
"$lab" start --resume stopped >out2 2>err2 && fail "two at once in one folder"
grep -q 'another training is at work' err2 || fail "does not say that another is at work"
kill -INT $!
status=0
wait $! || status=$?
[ $status = 130 ] || fail "after Ctrl-C: status $status, expected 130"
grep -q 'to go on: lab start --resume stopped' err || fail "does not say how to go on"
refused 2 'cannot change a study under way' start --resume stopped --seed 3
expect 0 start --resume stopped
[ "$(measured whole start)" = "$(measured stopped start)" ] || fail "a resumed study differs from an unbroken one"

# report draws again; a study's own folder will do.
rm stopped/index.html stopped/start/report.html
expect 0 report stopped/start
for file in index.html start/report.html; do [ -s stopped/$file ] || fail "report drew no $file"; done

refused 1 "there is no study 'sart'" sart
refused 1 'there is no claim 999' claim 999
refused 2 'claim takes the number of one' claim
refused 2 'merge takes the folders' merge part-1
refused 1 'no folder of a study' merge . --out x
refused 1 '--shard: expects I/N' start --quick --shard 3/2 --out x
refused 1 'go on with --resume' start --quick --out whole
refused 1 'the study text needs --data, a text file' text --quick --out x
refused 1 'expects a text file, or a folder with tinyshakespeare.txt, got none' text --quick --data none --out x
refused 1 'whole is no folder with train.de' translation --quick --data whole --out x
[ ! -e x ] || fail "a study without its data left something"
echo '{"run":"x"}' >>stopped/start/runs.jsonl
refused 1 'runs.jsonl: line' report stopped
