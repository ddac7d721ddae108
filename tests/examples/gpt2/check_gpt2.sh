#!/bin/sh
# check_gpt2.sh GPT2: the program as its users meet it. It refuses before it trains or writes, keeps what it has when it is
# stopped, goes on from there, fine-tunes what it saved, and writes with it. Nothing here depends on how fast anything is.
# shellcheck source=tests/examples/program.sh
. "$(dirname "$0")/../program.sh"

awk 'BEGIN { for (i = 0; i < 1500; ++i) print (i % 3 == 0 ? "the dog barks." : i % 3 == 1 ? "a cat meows." : "one cow moos.") }' >text
small="--vocab 300 --layers 2 --heads 4 --d-model 32 --context 16 --batch 8 --lr 0.003 --warmup 20"

refused 2 'expects --weights FOLDER with a model that generates, or --text FILE to train on'
refused 2 '--resume expects the --text FILE' --weights model --resume
refused 2 '--steps is for training: expects --text FILE' --weights model --steps 3
refused 2 '--dropout: expects a number from 0 to 0.99' --text text --dropout 1
refused 2 '--layers is determined by the folder of --weights' --weights model --layers 3
refused 2 '--layers is determined by --new gpt2-124m' --text text --new gpt2-124m --layers 3
refused 2 "--new gpt2-5b: gpt2: there is no size '5b'" --text text --new gpt2-5b
refused 2 '--new gpt9: expects gpt1, gpt2, gpt3 or llama' --text text --new gpt9
refused 2 "--placement: there is no 'sideways';" --text text --placement sideways
refused 2 '--d-model 16 is not divisible by --heads 3' --text text --d-model 16 --heads 3
refused 2 '--beams searches: --top-k is for sampling' --weights model --beams 4 --top-k 3
refused 2 '--greedy takes the likeliest token: --top-p is for sampling' --weights model --greedy --top-p 0.5
refused 2 '--vocab is determined by the folder of --tokenizer' --text text --tokenizer model --vocab 500
refused 2 '--save would replace the model of --weights' --text text --weights model --save ./model
refused 2 '--top-p: expects a number' --weights model --top-p 0
refused 2 '--repetition-penalty: expects a number from' --text text --repetition-penalty 1e7
refused 1 '--text: cannot open missing' --text missing
refused 1 'load_tokenizer: missing' --weights missing
: >empty
refused 1 'empty: has 0 tokens' --text empty
refused 1 '--save: text is not a folder' --text text --save text
printf 'a\0b' >zero
refused 1 '--text: zero is not a text: byte 1 is 0' --text zero
refused 1 'new/training contains no checkpoint to resume' --text text --save new --resume
mkdir other && : >other/config.json
refused 1 "--save: other contains 'config.json'" --text text --save other
expect 0 --placement list
says out 'Post-LN'
expect 0 --norm list
says out 'Zhang & Sennrich'

# shellcheck disable=SC2086
{
  # A training that is stopped and resumed ends with the bytes of one that nobody stopped.
  options="--text text $small --steps 600 --placement peri --dropout 0.1 --accumulate 2"
  expect 0 $options --save whole --prompt 'the dog' --greedy --count 3
  says out 'validation loss before: '
  says out 'the dog barks.'
  says err ' per second'
  : >out
  "$program" $options --save parts >out 2>err &
  until grep -q 'step     60' out; do kill -0 $! || fail 'ended before step 60'; done
  kill -INT $!
  status=0
  wait $! || status=$?
  [ $status = 130 ] || fail "INT: status $status"
  says out '--resume continues it'
  expect 0 --weights parts --prompt 'a cat' --count 3 # what is saved is a model
  expect 1 $options --save parts
  says err 'contains the checkpoints of a training'
  not_kept whole/model.safetensors --text text $small --steps 3 --save full
  says out 'model: full'
  awk 'BEGIN { for (i = 0; i < 300; ++i) printf "\033]0;title\007\n" }' >controls
  expect 0 --text controls $small --steps 1 --save controlled --prompt title
  harmless out
  expect 1 $options --save parts --resume --clip 2
  says err '--clip was 1, is 2'
  tr d D <text >other_text
  expect 1 --text other_text ${options#--text text} --save parts --resume
  says err 'cannot continue with other settings: --text was'
  expect 0 $options --save parts --resume
  says out 'continues after step'
  for file in model.safetensors config.json tokenizer.json merges.txt; do
    cmp whole/$file parts/$file || fail "a resumed training ended with another $file"
  done

  # Every kind of model can be made; what it saved is trained further, with and without recompute to the same bytes.
  for kind in gpt1 gpt3 llama; do expect 0 --text text $small --new $kind --steps 2 --save $kind; done
  for norm in batch group; do
    expect 0 --text text $small --norm $norm --steps 2 --save $norm
    expect 0 --weights $norm --prompt 'a cat' --count 2
  done
  expect 0 --text text $small --norm batch --steps 2 --checkpoint --save batch_again
  cmp batch/model.safetensors batch_again/model.safetensors || fail '--checkpoint: other running statistics'
  tuning="--weights llama --text text --context 8 --batch 2 --steps 3 --dropout 0"
  expect 0 $tuning --save tuned
  says out 'validation loss: '
  expect 0 $tuning --checkpoint --save again
  cmp tuned/model.safetensors again/model.safetensors || fail '--checkpoint trained another model'
  expect 1 --weights llama --text text --context 17 --save none
  says err '--context 17: the model sees at most 16 tokens'
}

# A training does not go on with another vocabulary of the same size.
# shellcheck disable=SC2086
{
  expect 0 --text other_text ${small} --steps 1 --save other_words
  expect 0 --text text --tokenizer whole ${small#--vocab 300} --steps 2 --save given
  cp given/model.safetensors first
  expect 1 --text text --tokenizer other_words ${small#--vocab 300} --steps 2 --save given --resume
  says err 'cannot continue with other settings: tokenizer was'
  expect 1 --text text ${small} --steps 2 --save given --resume
  says err 'is learned from --text'
  cmp given/model.safetensors first || fail 'the model of another vocabulary was written'
  expect 0 --text text --tokenizer whole ${small#--vocab 300} --steps 2 --save given --resume
}

# Writing, from the command line and from lines of stdin: all there is on stdout is the text.
expect 0 --weights whole --prompt 'the dog' --count 40 --greedy
says out 'a cat meows.'
cp out greedy
expect 0 --weights whole --prompt 'the dog' --count 40 --top-k 1
cmp out greedy || fail 'one token to choose from, and another text'
expect 0 --weights whole --prompt 'the dog' --count 40 --greedy --stop ' cat'
[ "$(tail -n 1 out)" = a ] || fail 'the text goes on behind --stop'
expect 0 --weights whole --prompt 'the dog' --count 4 --beams 3
says out 'the dog barks.'
expect 0 --weights whole --prompt '' --count 2
expect 0 --weights whole --prompt 'the dog' --count 0
[ "$(cat out)" = 'the dog' ] || fail 'more than the prompt'
expect 0 --weights whole --prompt 'the dog' --count 40 --beams 3
expect 1 --weights whole --prompt "$(printf 'the dog %.0s' 1 2 3 4 5 6 7 8 9)" --beams 3
says err 'fills the context of 16, and a search does not slide'
for seed in 1 1 2; do
  expect 0 --weights whole --prompt 'dog' --count 30 --temperature 3 --seed $seed
  mv out drawn$seed.$((n = ${n:-0} + 1))
done
cmp drawn1.1 drawn1.2 || fail 'the same seed wrote another text'
cmp drawn1.1 drawn2.3 >/dev/null && fail 'another seed wrote the same text'
printf 'the dog\n\none cow\n' | "$program" --weights whole --count 3 --greedy >out 2>err
says out 'the dog barks.'
says out 'one cow moos.'

# Folders that are damaged or do not fit.
cp -r whole broken
head -c 1000 whole/model.safetensors >broken/model.safetensors
refused 1 'load_safetensors: broken/model.safetensors' --weights broken --prompt a
cp whole/model.safetensors broken
head -c 1000 whole/tokenizer.json >broken/tokenizer.json
refused 1 'load_tokenizer: broken/tokenizer.json' --weights broken --prompt a
rm broken/tokenizer.json broken/vocab.json broken/merges.txt
refused 1 'load_tokenizer: broken' --weights broken --prompt a
expect 0 --weights broken --tokenizer whole --prompt a --count 1
sed 's/"model_type": "[a-z0-9-]*"/"model_type": "openai-gpt"/' whole/config.json >broken/config.json
refused 1 'load_tokenizer: broken' --weights broken --prompt a
says err "GPT-1's own tokenizer is not supported: name a folder with another by --tokenizer"
sed 's/"model_type": "[a-z0-9-]*"/"model_type": "bert"/' whole/config.json >broken/config.json
refused 1 'GPT::load_pretrained: broken/config.json' --weights broken --tokenizer whole --prompt a

# A folder that may not be looked into. Root may look into any, so root becomes somebody else.
mkdir closed && chmod 000 closed
chmod 755 "$folder"
as= && [ "$(id -u)" != 0 ] || as="setpriv --reuid 65534 --regid 65534 --clear-groups"
if ${as:-env} test -x "$program" 2>/dev/null; then
  status=0
  ${as:-env} "$program" --weights closed --prompt a >out 2>err || status=$?
  [ $status = 1 ] || fail "a closed folder: status $status"
  says err 'gpt2: load_tokenizer: cannot look at closed/spiece.model: Permission denied'
fi
chmod 755 closed

# A vocabulary of another size than the model's is told before a word is written.
sed 's/\(the\|a\|one\) /\1 quick brown fox and another /' text >longer
expect 0 --text longer --d-model 32 --context 16 --batch 8 --steps 1 --save larger
refused 1 'larger: the tokenizer has' --weights whole --tokenizer larger --prompt a
says err 'vocab_size in whole/config.json is'
expect 0 --weights larger --tokenizer whole --prompt a --count 3 # rows that are no tokens are nothing
