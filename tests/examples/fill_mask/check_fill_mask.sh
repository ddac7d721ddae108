#!/bin/sh
# check_fill_mask.sh FILL_MASK: the program as its users meet it. It refuses before it trains, keeps what it has when it
# is stopped, goes on from there, and fills masks with what it saved. Nothing here depends on how fast anything is.
# shellcheck source=tests/examples/program.sh
. "$(dirname "$0")/../program.sh"

awk 'BEGIN { for (i = 0; i < 1500; ++i) print (i % 3 == 0 ? "the dog barks ." : i % 3 == 1 ? "a cat meows ." : "one cow moos .") }' >text
small="--vocab 100 --layers 2 --heads 4 --d-model 32 --context 10 --batch 16 --lr 0.003 --warmup 50"

refused 2 'expects --text FILE to train on, or --load FOLDER with a trained model'
refused 2 '--resume expects the --text FILE' --load model --resume
refused 2 'expects --text FILE or --load FOLDER, not both' --text text --load model
refused 2 '--save is for training: expects --text FILE' --load model --save x
refused 2 '--dropout: expects a number from 0 to 0.99' --text text --dropout 1
refused 2 '--layers is determined by the folder of --load' --load model --layers 3
refused 2 "--placement: there is no 'sideways';" --text text --placement sideways
refused 2 "--norm: there is no 'loud'; \`--norm list\` lists all" --text text --norm loud
refused 2 '--d-model 16 is not divisible by --heads 3' --text text --d-model 16 --heads 3
refused 2 '--masked: expects a number above 0 and at most 1; got "1.5"' --text text --masked 1.5
refused 1 '--text: cannot open missing' --text missing
refused 1 'Bert::load_pretrained: missing' --load missing
: >empty
printf 'a\0b' >zero
LC_ALL=C awk 'BEGIN { for (i = 0; i < 128; ++i) printf "%c%c%c ", 228, 184 + int(i / 64), 128 + i % 64 }' >chinese
refused 1 'empty: has 0 tokens' --text empty
refused 1 '--save: text is not a folder' --text text --save text
refused 1 '--text: zero is not a text: byte 1 is 0' --text zero
mkdir other && : >other/precious
refused 1 "--save: other contains 'precious'" --text text --save other
refused 1 'new/training contains no checkpoint to resume' --text text --save new --resume
refused 1 '--vocab, with --text chinese: train_word_piece: expects a vocab of at least' --text chinese --vocab 100
refused 1 'expects a sentence with [MASK], got ""' --text text $small --prompt ''
expect 0 --placement list
says out 'Post-LN'
expect 0 --norm list
says out 'Zhang & Sennrich'

# shellcheck disable=SC2086
{
  # A training that is stopped and resumed ends with the bytes of one that nobody stopped.
  options="--text text $small --steps 1500 --placement pre --norm rms"
  expect 0 $options --save whole --prompt 'the [MASK] barks .'
  says out 'the dog barks.'
  says out 'masked tokens right'
  : >out
  "$program" $options --save parts >out 2>err &
  until grep -q 'step    150' out; do kill -0 $! || fail 'ended before step 150'; done
  kill -INT $!
  status=0
  wait $! || status=$?
  [ $status = 130 ] || fail "INT: status $status"
  says out '--resume continues it'
  expect 0 --load parts --prompt 'a [MASK]' # what is saved is a model
  expect 1 $options --save parts
  says err 'contains the checkpoints of a training'
  not_kept whole/model.safetensors --text text $small --steps 3 --norm rms --save full
  says out 'model: full'
  expect 1 $options --save parts --resume --weight-decay 0.5
  says err '--weight-decay was 0.01, is 0.5'
  tr d D <text >other_text
  expect 1 --text other_text ${options#--text text} --save parts --resume
  says err 'cannot continue with other settings: --text was'
  expect 0 $options --save parts --resume
  says out 'continues after step'
  for file in model.safetensors config.json vocab.txt; do
    cmp whole/$file parts/$file || fail "a resumed training ended with another $file"
  done
}

# The folder fills, from the command line and from lines of stdin.
expect 0 --load whole --prompt 'a [MASK] meows . one [MASK] moos .' --top 1
says out 'a cat meows. one cow moos.'
printf 'the [MASK] barks .\n\nno mask\na [MASK] meows .\n' | "$program" --load whole --top 1 >out 2>err
says out 'the dog barks.'
says out 'a cat meows.'
says err 'fill_mask: expects a sentence with [MASK], got "no mask"'
for prompt in 'nothing to fill' ''; do
  expect 1 --load whole --prompt "$prompt"
  says err "expects a sentence with [MASK], got \"$prompt\""
done

# A model of any norm is written and read.
for norm in batch group; do
  # shellcheck disable=SC2086
  expect 0 --text text $small --steps 2 --norm $norm --save $norm
  expect 0 --load $norm --prompt 'a [MASK]'
done

# Folders that are damaged or of something else.
cp -r whole broken
head -c 1000 whole/model.safetensors >broken/model.safetensors
expect 1 --load broken --prompt 'a [MASK]'
says err 'model.safetensors'
cp whole/model.safetensors broken
sed 's/"vocab_size": [0-9]*/"vocab_size": 5000/' whole/config.json >broken/config.json
expect 1 --load broken --prompt 'a [MASK]'
says err 'expects [5000, 32]'
cp whole/config.json broken
rm broken/vocab.txt broken/tokenizer.json
expect 1 --load broken --prompt 'a [MASK]'
says err 'broken'
