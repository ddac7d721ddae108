#!/bin/sh
# check_lab.sh LAB: the program from the command line. It is stopped, resumed, draws its report again, and refuses wrong calls.
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
# expect STATUS ARGS...: runs the lab; its output is in out and err.
expect() {
  wanted=$1
  shift
  status=0
  "$lab" "$@" >out 2>err || status=$?
  [ $status = "$wanted" ] || fail "lab $*: status $status, expected $wanted"
}
refused() { # STATUS PART-OF-MESSAGE ARGS...: one clear line
  wanted=$1 part=$2
  shift 2
  expect "$wanted" "$@"
  [ ! -s out ] || fail "lab $*: wrote to stdout"
  grep -qF -- "$part" err || fail "lab $*: does not say '$part'"
  [ "$(grep -c '^lab: ' err)" = 1 ] || fail "lab $*: not one message"
}
fingerprints() { grep -o '"parameters_sha256": "[0-9a-f]*"' "$1/compare/summary.json"; }

small="--depths 1,2 --lrs 0.003,0.01 --warmups 0,5 --seeds 1 --steps 25"
# shellcheck disable=SC2086 # one word per option
expect 0 $small --threads 2 --out unbroken
[ "$(wc -l <out)" = 2 ] || fail "stdout is not the verdict and the path"
[ "$(tail -n 1 out)" = unbroken/compare/report.html ] || fail "the last line is not the report's path"
for file in report.html study.json runs.jsonl summary.json plots/loss_by_rate.svg; do
  [ -s unbroken/compare/$file ] || fail "no $file"
done
grep -q 'at a time: about' err || fail "no estimate of the time"
[ "$(fingerprints unbroken | wc -l)" = 20 ] || fail "not 20 runs in summary.json"

# Stopped by Ctrl-C after some runs, then resumed with another number of threads.
# shellcheck disable=SC2086
"$lab" $small --threads 1 --out broken >out 2>err &
while [ "$(cat broken/compare/runs.jsonl 2>/dev/null | grep -c parameters-sha256)" -lt 3 ]; do kill -0 $! || fail "ended early"; done
mv err first.err
refused 1 'broken/compare: another training uses this folder' --resume broken --threads 1
mv first.err err
kill -INT $!
status=0
wait $! || status=$?
[ $status = 130 ] || fail "after Ctrl-C: status $status, expected 130"
grep -q 'lab compare --resume broken' err || fail "does not say how to go on"
grep -q Unfinished broken/compare/report.html || fail "the report of a stopped lab does not say so"
[ "$(fingerprints broken | wc -l)" -lt 20 ] || fail "was not stopped"
refused 2 'only --threads, --text and --extend go with --resume' --resume broken --steps 5
expect 0 --resume broken --threads 2
[ "$(fingerprints unbroken)" = "$(fingerprints broken)" ] || fail "a resumed lab differs from an unbroken one"
expect 0 --resume broken --threads 2
grep -q '42 done already' err || fail "does not say that all runs are done"

# Stopped by SIGTERM before it has results: status 143 and a correct message.
: >err
"$lab" --depths 1,40 --lrs 0.01 --warmups 0 --seeds 1 --steps 25 --out early >out 2>err &
until grep -q 'at a time: about' err; do kill -0 $! || fail "ended early"; done
kill -TERM $!
status=0
wait $! || status=$?
[ $status = 143 ] || fail "after SIGTERM: status $status, expected 143"
grep -q 'lab compare --resume early' err || fail "does not say how to go on"
[ -s early/compare/report.html ] || fail "no page that shows the progress"
[ "$(find early -name '.gradus-tmp*' | wc -l)" = 0 ] || fail "temporary files are left"

# Drawn again from the files: the same page.
cp unbroken/compare/report.html before.html
rm -r unbroken/compare/report.html unbroken/compare/summary.json unbroken/compare/plots
expect 0 report unbroken
cmp before.html unbroken/compare/report.html || fail "drawn again, the report differs"
[ "$(tail -n 1 out)" = unbroken/compare/report.html ] || fail "report does not end with the path"

# Another placement, and the list of all.
# shellcheck disable=SC2086
expect 0 $small --placement rezero --out zero
grep -q '^One seed .*ReZero in' out || fail "the verdict does not name ReZero"
grep -q 'Pre-LN or ReZero?' zero/compare/report.html || fail "the report does not name ReZero"
! grep -q 'Post-LN' zero/compare/report.html || fail "the report of other placements mentions Post-LN"
expect 0 --placement list
grep -q '^rezero  *ReZero: .*a f(x)' out || fail "--placement list has no ReZero"
refused 2 "--placement: there is no 'mid'; \`--placement list\` lists all" --placement mid
refused 2 '--placement: expects one name, or two separated by a comma' --placement peri,deep,pre
refused 2 '--placement: Peri-LN cannot be compared with itself' --placement peri,peri

# Any bytes but zeros are a text.
awk 'BEGIN { for (i = 0; i < 1500; ++i) printf "%c\377ab%c", 33 + i % 90, 10 + i % 3 }' >text
expect 0 --text text --depths 1 --lrs 0.01 --warmups 0 --seeds 2 --steps 5 --out text-lab
grep -q '"entropy": null' text-lab/compare/summary.json || fail "a text has an entropy"
mv text moved
refused 1 'text is gone: name its new place with --text' --resume text-lab
expect 0 --resume text-lab --text moved
mv moved text
expect 0 --resume text-lab --text text
echo more >>text
refused 1 'text has changed since' --resume text-lab

head -c 200 text >short
refused 1 short --text short --out nothing
refused 1 missing.txt --text missing.txt --out nothing
[ ! -e nothing ] || fail "a lab that cannot start left a folder"
refused 1 'unbroken/compare holds a study already: go on with --resume unbroken' --quick --out unbroken
mkdir -p other/compare
echo mine >other/compare/runs.jsonl
refused 1 'other/compare' --quick --out other
[ "$(cat other/compare/runs.jsonl)" = mine ] || fail "a file that is not the lab's has changed"
refused 1 'cannot make the folder: Not a directory' --quick --out text/lab
printf 'a\0b' >bytes
refused 1 '--text: bytes is not a text: byte 1 is 0' --quick --text bytes --out nothing
mkfifo pipe
refused 1 'is a pipe' --quick --text pipe --out nothing
cp -r unbroken special
rm special/compare/runs.jsonl
mkfifo special/compare/runs.jsonl
refused 1 'special/compare/runs.jsonl' --resume special
refused 1 'special/compare/runs.jsonl is a pipe' report special
# A file of the folder may not grow: reported before any training.
( ulimit -f 1; "$lab" --quick --out small >out 2>err && exit 1; grep -q 'lab: --out: small/.*: cannot write: File too large' err ) ||
  fail "a limit on the size of files is not noticed"
for value in 9223372036854775808 -1 12x 1e3 0x10 4294967297; do
  for option in threads seeds; do refused 2 "--$option: expects a whole number from 1 to" "--$option" $value; done
done
refused 2 'expects at most 100000' --seeds 1000 --depths 1,2,3,4,5,6,7,8,9,10 --lrs 1,2,3
refused 1 'holds no study compare to go on with' --resume nothing
refused 1 study.json report nothing
mkdir old
echo '{}' >old/config.json
refused 1 'a lab of an older version wrote its config.json' --resume old
refused 1 'a lab of an older version wrote it' report old
refused 1 'old has a config.json, which a lab of an older version wrote' --quick --out old
[ ! -e old/compare ] || fail "a study was written into an older lab's folder"
refused 2 'report expects the folder' report
refused 2 '--lrs' --lrs 0
