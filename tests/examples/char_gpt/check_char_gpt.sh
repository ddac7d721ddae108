#!/bin/sh
# check_char_gpt.sh CHAR_GPT: the program as its users meet it. It refuses before it trains, and keeps what it has when
# it is stopped. Nothing here depends on how fast anything is.
# shellcheck source=tests/examples/program.sh
. "$(dirname "$0")/../program.sh"

awk 'BEGIN { for (i = 0; i < 3000; ++i) printf "line %d of this text\n", i * 7919 % 3000 }' >text
small="--layers 1 --heads 2 --d-model 16 --context 16 --batch 4"

# Refused at once, and nothing is touched. (Options are words: no quotes.)
mkdir folder
mkfifo pipe
cp text precious
tr l L <text >other
# shellcheck disable=SC2086
{
  refused 1 '--save: no/model: cannot create a file in its folder' --text text --save no/model $small
  refused 1 '--save: folder: is a folder' --text text --save folder $small
  refused 1 '--save: pipe: is a pipe' --text text --save pipe $small
  refused 1 '--trace: folder: is a folder' --text text --save model --trace folder $small
  refused 2 '--save would replace the file of --text' --text text --save ./text $small
  refused 2 '--trace would replace the file of --text' --text text --save model --trace "$folder/text" $small
  refused 2 '--trace and --save are one file' --text text --save model --trace ./model $small
  refused 2 '--save is in the folder of --run' --text text --run run --save ./run/checkpoint-000001.safetensors $small
  refused 2 '--trace is in the folder of --run' --text text --run run --save model --trace run/losses.jsonl $small
}
refused 2 '--threads: expects a whole number from 1 to 1024; got "4294967297"' --text text --threads 4294967297
for option in steps sample layers heads d-model context batch warmup threads; do
  for value in 9223372036854775807 9223372036854775808 -1 12x 1e3 0x10 1.0 ''; do
    refused 2 "--$option: expects a whole number from" --text text "--$option" "$value"
  done
done
for value in 9223372036854775808 -1 12x 1e3; do
  refused 2 '--seed: expects a whole number' --text text --seed $value
  refused 2 '--top-k: expects a whole number' --text text --top-k $value
done
refused 2 '--steps is for training: expects --text FILE' --load model --steps 3
refused 2 '--dropout: expects a number from 0 to 0.99; got "1"' --text text --dropout 1
refused 2 "--norm: there is no 'mid'; \`--norm list\` lists all" --text text --norm mid
expect 0 --norm list
says out 'Zhang & Sennrich 2019'
refused 1 '--text: cannot open missing' --text missing
printf 'a\0b' >zero
refused 1 '--text: zero is not a text: byte 1 is 0' --text zero --save model
refused 2 '--top-p: expects a number above 0 and at most 1; got "0"' --text text --top-p 0
for value in 0 1e7; do # what generate takes: not to be told after a training
  refused 2 "--repetition-penalty: expects a number from 1e-06 to 1000000; got \"$value\"" --text text --repetition-penalty $value
done
# A disk too small for the weights, as far as a test can have one.
( ulimit -f 16
  "$program" --text text --save model --layers 1 --heads 2 --d-model 64 --steps 5 2>err >out && exit 1
  grep -q -- '--save: model: cannot write: File too large' err || exit 1
  ! grep -q step out
) || fail "a limit on the size of files is not noticed before training"
[ ! -e model ] || fail "a refused run left a file"
cmp -s text precious || fail "the text has changed"

# Trains, saves, goes on from what it saved, in the same file; through a link; keeps permissions.
# shellcheck disable=SC2086
expect 0 --text text --save model $small --steps 3 --sample 5
says out 'weights: model'
says out ', 1 layer, '
chmod 600 model
ln -s model link
expect 0 --text text --load link --save link --steps 2 --sample 5
[ -h link ] || fail "the link was replaced"
[ "$(stat -c %a model)" = 600 ] || fail "permissions were lost"
expect 0 --load model --sample 5

# What the file says is not said again; what cannot be kept or sampled ends the run, and the file stays.
cp model kept
expect 2 --text text --load model --save model --layers 3 --steps 1
says err '--layers is determined by the file of --load'
expect 1 --text text --load model --save model --lr 1e30 --warmup 0 --steps 20
says err 'nothing is saved'
expect 1 --text text --load model --save model --prompt '日本語' --steps 100000000
says err '--prompt: Vocabulary::encode: U+65E5 is not among the'
says err 'of model'
printf '%2000s日本語%2000s' >japanese
expect 1 --text japanese --load model --save model
says err '--text: japanese: Vocabulary::encode: U+65E5'
cmp -s model kept || fail "a run that failed replaced the weights"
[ "$(find . -name '.gradus-tmp*' | wc -l)" = 0 ] || fail "temporary files are left"

# How the sample is drawn: by the likeliest characters alone, or others than those that stand there.
expect 0 --load model --sample 40
mv out drawn
for option in '--top-p 0.001' '--top-k 1' '--repetition-penalty 100'; do
  # shellcheck disable=SC2086
  expect 0 --load model --sample 40 $option
  cmp -s out drawn && fail "$option changes nothing"
  mv out "drawn$option"
done
cmp 'drawn--top-p 0.001' 'drawn--top-k 1' || fail 'the likeliest characters are others'

# Without --save nothing that is there is replaced.
# shellcheck disable=SC2086
{
  expect 0 --text text $small --steps 2 --sample 0
  says out 'weights: char_gpt.safetensors'
  cp char_gpt.safetensors first
  for number in 2 3; do
    expect 0 --text text $small --steps $number --sample 0
    says out "weights: char_gpt-$number.safetensors"
  done
  cmp char_gpt.safetensors first || fail 'the weights of an earlier training were replaced'
  expect 0 --text text $small --steps 5 --sample 0 --save char_gpt.safetensors
  ! cmp -s char_gpt.safetensors first || fail '--save wrote nothing'
  # Nor what another training has written meanwhile.
  "$program" --text text $small --steps 100000000 >first.out 2>err &
  until grep -qF 'will take about' first.out; do kill -0 $! || fail 'ended before its first steps'; done
  expect 0 --text text $small --steps 2 --sample 0
  says out 'weights: char_gpt-4.safetensors'
  cp char_gpt-4.safetensors fourth
  kill -INT $!
  wait $! || true
  says first.out 'weights: char_gpt-5.safetensors'
  cmp char_gpt-4.safetensors fourth || fail 'the weights of another training were replaced'
  expect 0 --load char_gpt-5.safetensors --sample 5
}

# A training that is stopped in any way and resumed ends with the bytes of one that nobody stopped. (`--run` once more
# without --resume would mix two trainings.)
refused 2 '--resume expects the --text FILE and --run FOLDER' --text text --resume
refused 1 'none contains no checkpoint to resume' --text text --run none --resume
# shellcheck disable=SC2086
{
  stops="$small --dropout 0.1 --steps 3000 --sample 0 --placement post"
  expect 0 --text text --save whole $stops
  for end in INT:130 KILL:137; do
    stopped "${end%:*}" "${end#*:}" out 'step    300' --text text --save parts $stops --run run
    # A kill comes before the first checkpoint, which Ctrl-C writes: then only its losses are there, which are kept.
    if [ "$end" = INT:130 ]; then
      expect 1 --text text --save parts $stops --run run
      says err 'run contains the checkpoints of a training'
      expect 1 --text text --save parts $stops --run run --resume --lr 0.5
      says err '--lr was 0.001, is 0.5'
      expect 1 --text other --save parts $stops --run run --resume
      says err 'cannot continue with other settings: --text was'
      says err '; vocabulary was'
      expect 0 --text text --save parts $stops --run run --resume
      says out 'continues after step'
      [ "$(wc -l <run/losses.jsonl)" = 3000 ] || fail "losses are missing"
    else
      for resume in '' --resume; do
        refused 1 'run contains the losses of a training that ended' --text text --save parts $stops --run run $resume
      done
      rm -r run
      expect 0 --text text --save parts $stops --run run
    fi
    cmp whole parts || fail "a resumed training ended with other weights"
    rm -r run parts
  done
}

# Trained and saved, but the checkpoint is not: a status of its own.
# shellcheck disable=SC2086
{
  not_kept whole --text text --save parts $small --steps 3 --sample 5 --run full
  says out 'weights: parts'
  expect 0 --load parts --sample 5
  expect 0 --help
  says out '3 done or stopped, but the training'
}

# A model writes what it has read; what controls a terminal does not reach one.
awk 'BEGIN { for (i = 0; i < 300; ++i) printf "\033]0;title\007\233\n" }' >controls
# shellcheck disable=SC2086
expect 0 --text controls --save parts $small --steps 3 --sample 200
harmless out

# A text may come from a pipe.
cat text >pipe &
# shellcheck disable=SC2086
expect 0 --text pipe --save model $small --steps 1 --sample 0
wait

# Stopped in each phase. Loading: the pipe has no writer.
# shellcheck disable=SC2086
{
  rm model
  for signal in INT:130 TERM:143 HUP:129; do
    "$program" --text pipe --save model $small >out 2>err &
    until grep -q '^SigCgt:.*4003$' "/proc/$!/status"; do kill -0 $!; done # it catches all three
    kill "-${signal%:*}" $!
    status=0
    wait $! || status=$?
    [ $status = "${signal#*:}" ] || fail "$signal while loading: status $status"
    [ ! -e model ] || fail "a run that was stopped while loading left a file"
  done
  for signal in INT:130 TERM:143; do
    stopped "${signal%:*}" "${signal#*:}" out 'will take about' --text text --save model $small --steps 100000000
    says err 'Stopping after this step.'
    says out 'weights: model'
    ! grep -q 'done in' err || fail "a training that was stopped is not done"
    ! grep -q 'validation' out || fail "goes on after it was stopped"
    expect 0 --load model --sample 5
    rm model
  done
  # Writing a sample of any length: the weights are there, the program ends at once.
  stopped TERM 143 out 'validation loss' --text text --save model $small --steps 1 --sample 1000000000
  expect 0 --load model --sample 5
}
