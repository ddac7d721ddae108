#!/bin/sh
# check_studies.sh LAB: the lab's studies and claims from the command line. Three claims are measured, a study is stopped and
# resumed, parts are merged, and wrong calls are refused.
# shellcheck source=tests/examples/program.sh
. "$(dirname "$0")/../program.sh"

# The measurements without their times.
measured() { sed 's/"seconds":[^,]*,//' "$1"/"$2"/runs.jsonl | sort; }

# Three claims in their quick form.
expect 0 claim 31 --out claim-31
says out ' 31  '
says out 'false'
for claim in 10 36; do
  expect 0 claim $claim --out claim-$claim
  says out " $claim  "
  grep -q 'not measured' out && fail "claim $claim: a measure is not measured"
done
for file in index.html claims.html start/report.html start/numbers.csv start/series.csv start/study.json; do
  [ -s claim-10/$file ] || fail "no $file"
done
find . -name '*.html' -size +2048k | grep . && fail "a page of more than 2 MB"
says out '(quick form)'
expect 0 studies
says out '  start '

# Two parts are the whole.
expect 0 start --quick --out whole --threads 2
expect 0 start --quick --out part-1 --shard 1/2 --threads 1
says out 'Part 1 of 2: lab merge joins the parts'
says part-1/index.html 'part 1 of 2'
refused 1 'merge: ' merge part-1 --out too-few
says err 'runs are missing, of --shard 2/2'
expect 0 start --quick --out part-2 --shard 2/2 --threads 1
expect 0 merge part-1/start part-2 --out merged
says out ' claims: '
[ "$(measured whole start)" = "$(measured merged start)" ] || fail "merged parts differ from the whole"
cmp -s whole/start/numbers.csv merged/start/numbers.csv || fail "the merged report has other numbers"
refused 1 'merge: merged exists already' merge part-1 part-2 --out merged
refused 1 'merge: run ' merge part-1 part-1 part-2 --out doubled
says err 'is in part-1/start and in part-1/start'

# Stopped by Ctrl-C, then resumed.
"$program" start --quick --out stopped --threads 1 >out 2>err &
while [ "$(cat stopped/start/runs.jsonl 2>/dev/null | wc -l)" -lt 2 ]; do kill -0 $! || fail "ended early"; done
"$program" start --resume stopped >out2 2>err2 && fail "two at once in one folder"
says err2 'another training uses this folder'
kill -INT $!
status=0
wait $! || status=$?
[ $status = 130 ] || fail "after Ctrl-C: status $status, expected 130"
says err 'to go on: lab start --resume stopped'
for option in '--seed 3' --quick; do
  # shellcheck disable=SC2086 # one word per option
  expect 2 start --resume stopped $option
done
says err 'lab start: --quick cannot change a study under way'
refused 1 '--resume: stopped holds no study jacobians' jacobians --resume stopped
refused 1 '--resume: typo holds no study start' start --resume typo
expect 0 start --resume stopped/start
[ "$(measured whole start)" = "$(measured stopped start)" ] || fail "a resumed study differs from an unbroken one"

# report draws the pages again; a study's own folder is enough.
rm stopped/index.html stopped/start/report.html
expect 0 report stopped/start
for file in index.html start/report.html; do [ -s stopped/$file ] || fail "report drew no $file"; done

# Existing files are not overwritten, and neither another machine's runs nor other data are added.
mkdir mine
echo mine >mine/index.html
refused 1 'mine holds index.html, which does not belong to the lab' start --quick --out mine
cp -r whole/start mine # also not where the folder holds a study
refused 1 'mine holds index.html, which does not belong to the lab' layer-norm --quick --out mine
refused 1 'mine holds index.html, which does not belong to the lab' report mine
refused 1 '/' start --resume mine/start
says err '/mine holds index.html, which does not belong to the lab'
mv mine/index.html mine/claims.html
refused 1 '/' report mine/start
says err '/mine holds claims.html, which does not belong to the lab'
cp -r whole other
sed -i 's/"gradus": "[^"]*"/"gradus": "0.0.0"/' other/start/study.json
expect 0 start --resume other # another version with the same arithmetic
sed -i 's/"arithmetic": "[^"]*"/"arithmetic": "0"/' other/start/study.json
refused 1 'other/start was begun with arithmetic 0, here it is arithmetic' start --resume other
expect 2 start --quick --extend --out y
says err 'lab start: --extend goes with --resume'
expect 0 start --resume other --extend
expect 0 start --resume other # whose last runs are of this machine
[ "$(grep -c '"after"' other/start/study.json)" = 1 ] || fail 'study.json does not have one extension'
runs=$(wc -l <other/start/runs.jsonl)
grep -q "Versions and machine from run $((runs + 1)) in runs.jsonl on" other/start/report.html ||
  fail 'the page does not name both machines'
refused 1 'merge: other/start has been extended; merge before extending' merge other/start --out joined
mkdir renamed
cp -r whole/start renamed/first
refused 1 '--resume: ' start --resume renamed/first
says err '/renamed holds no study start to go on with; '
says err '/renamed/first holds it, but must have its name: rename it to start'
cp -r whole twice
cp -r twice/start twice/again
refused 1 'twice holds the study start twice' layer-norm --quick --out twice
mkdir data
echo 'too short' >data/tinyshakespeare.txt
refused 1 '--data: ' claims --data data --out x # no pairs to translate: detected before a study is created

# Before the first of all studies the program says how long they take, in total and each.
for form in --standard --full; do
  stopped INT 130 err ', 1 at a time: about' claims $form --out all$form --threads 1
  head -n 1 err >said$form
  grep -qE '^[0-9]+ studies, 1 run at a time: about [0-9].* on a fast machine: .*start [0-9].*norms [0-9]' said$form ||
    fail "claims $form does not begin with its time"
done
cmp -s said--standard said--full && fail "claims --full claims to take as long as --standard"

expect 0 help
says out '--quick'
for command in report merge claim studies; do
  expect 0 $command --help
  says out "Usage: lab $command"
done
refused 2 "there is no study 'sart'" sart
for number in 0 -1 999 4294967309 99999999999999999999; do
  refused 2 "there is no claim $number; there are 1 to" claim $number
done
# shellcheck disable=SC2086 # none or one
for words in '' 13x x; do refused 2 'claim expects the number of a claim' claim $words; done
refused 2 'studies expects nothing after it' studies extra
refused 2 'merge expects the folders' merge part-1
refused 1 'merge: . holds no folder of a study' merge . --out x
expect 2 start --quick --shard 3/2 --out x
says err 'lab start: --shard: expects I/N'
expect 2 claim 10 --standard --full --out x
says err 'lab claim: --standard and --full are different forms: give one of them'
refused 1 'whole/start holds a study already: go on with --resume whole' start --quick --out whole
refused 1 'the study text needs --data, a text file' text --quick --out x
for study in text text-variants; do
  refused 1 '--data: expects a text file, or a folder with tinyshakespeare.txt, got none' $study --quick --data none --out x
done
refused 1 'the study text-variants needs --data, a text file' text-variants --quick --out x
printf 'a\0b' >zero
refused 1 '--data: zero is not a text: byte 1 is 0' text --quick --data zero --out x
refused 1 '--data: whole is not a folder with train.de' translation --quick --data whole --out x
echo '{"run":"x"}' >>stopped/start/runs.jsonl
refused 1 'stopped/start/runs.jsonl: line' report stopped
