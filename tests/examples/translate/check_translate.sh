#!/bin/sh
# check_translate.sh TRANSLATE: the program as its users meet it. It refuses before it trains, and keeps what it has
# when it is stopped. Nothing here depends on how fast anything is.
# shellcheck source=tests/examples/program.sh
. "$(dirname "$0")/../program.sh"

# Two languages: the second says the same backwards.
awk 'BEGIN { split("ein zwei rot groß Hund Katze läuft sieht", a); split("a two red big dog cat runs sees", b)
  for (i = 0; i < 300; ++i) {
    s = t = ""
    for (j = 0; j < 1 + i % 5; ++j) { k = 1 + i * (j + 3) * 7919 % 8; s = s a[k] " "; t = b[k] " " t }
    print s >"de"; print t >"en"
  } }'
gzip -c de >de.gz
head -n 20 de >few.de
head -n 20 en >few.en
small="--layers 1 --heads 2 --d-model 16 --d-ff 32 --vocab 300 --tokens 256 --warmup 20 --lr 0.01"
train="--source de.gz --target en --val-source few.de --val-target few.en $small"

# Refused at once, and nothing is touched. (Options are words: no quotes.)
mkdir folder folder.svg
echo precious >folder/precious
printf 'ein\377\n' >bytes
: >empty
echo ein >one
head -n 299 en >short
head -c 200 de.gz >cut.gz
# shellcheck disable=SC2086
{
  refused 2 'expects --source FILE and --target FILE to train on, or --load FOLDER to translate'
  refused 2 '--source expects --target FILE too' --source de
  refused 2 '--val-target expects --val-source FILE too' --source de --target en --val-target en
  refused 2 '--load is for translating, --source and --target for training' --source de --target en --load folder
  refused 2 '--resume expects the --source, --target and --run FOLDER' --source de --target en --resume
  refused 2 '--time is for training: expects --source FILE and --target FILE' --load folder --time 3
  refused 2 '--dropout: expects a number from 0 to 0.99' --source de --target en --dropout 1
  refused 2 '--layers is determined by the folder of --load' --load folder --layers 3
  refused 2 '--heads 3 does not divide --d-model 16' --source de --target en --d-model 16 --heads 3
  refused 2 '--tokens 50 has no room for --longest 100' --source de --target en --tokens 50
  refused 2 '--run and --save are one folder' --source de --target en --run x --save ./x
  refused 2 '--save is in the folder of --run' --source de --target en --run x --save x/model
  refused 2 '--attention expects --translate TEXT' --load folder --attention a.svg
  refused 2 '--layer expects --attention FILE' --load folder --translate x --layer 1
  refused 2 '--attention expects a name that ends in .svg or .html, got a.png' --load folder --translate x \
    --attention a.png
  refused 2 "--placement: there is no 'mid'" --source de --target en --placement mid
  refused 2 "--norm: there is no 'mid'" --source de --target en --norm mid
  refused 1 "--save: folder contains 'precious', which would be mixed with the output" $train --save folder
  refused 1 '--save: de is not a folder' $train --save de
  refused 1 'none contains no checkpoint to resume' $train --save new/model --run none --resume
  refused 1 '--source: cannot open missing' --source missing --target en
  refused 1 '--source: empty: is empty' --source empty --target en
  refused 1 '--source: bytes: line 1 is not UTF-8' --source bytes --target en
  refused 1 '--source: has 1 sentence: expects 20 or more' --source one --target one
  refused 1 '--source: cut.gz: is cut short' --source cut.gz --target en
  refused 1 '--source de has 300 lines, --target short has 299' --source de --target short
  refused 1 '--test-source few.de has 20 lines, --test-target en has 300' $train --test-source few.de --test-target en
  refused 1 '--layer 2: the decoder has 1' $train --translate x --attention a.svg --layer 2
  refused 1 '--attention: folder.svg: is a folder' $train --translate x --attention folder.svg
  refused 1 'Seq2SeqTransformer::load_pretrained: folder' --load folder
  for option in steps tokens longest layers heads d-model d-ff average average-every evaluate-every threads beams; do
    for value in 9223372036854775808 -1 12x 1e3 ''; do
      refused 2 "--$option: expects a whole number" --source de --target en "--$option" "$value"
    done
  done
}
expect 0 --placement list
says out 'x + f(LN(x))'
grep -A 1 '^keel ' out | grep -q 'not for decoders with memory' || fail 'a placement that is refused is not marked'
expect 2 --source de --target en --placement keel
says err '--placement: keel is not for decoders with memory, which translate needs'

# Trains, measures, translates; the folder says the same again, line by line.
# shellcheck disable=SC2086
expect 0 $train --steps 60 --evaluate-every 30 --average-every 5 --save model --test-source few.de \
  --test-target few.en --translate 'ein Hund' --attention a.svg
says out 'step     60  validation'
grep -qx 'validation [0-9.]*, with the [a-z0-9 ]*weights' out || fail "no validation at the end"
says out 'BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp  beams:5'
grep -q '<svg' a.svg || fail "no picture"
says out ', validation not counted'
bleu=$(grep '^BLEU [0-9]' out)
# shellcheck disable=SC2086
refused 1 "--save: model contains '" $train --save model
for file in config.json model.safetensors tokenizer.json; do [ -f model/$file ] || fail "model/$file is missing"; done
expect 0 --load model --test-source few.de --test-target few.en
says out "$bleu"
printf 'ein Hund\n\nzwei Katze' | "$program" --load model >out 2>err
[ "$(wc -l <out)" = 3 ] || fail "lines went missing"
[ -z "$(sed -n 2p out)" ] || fail "an empty line has a translation"
"$program" --load model --translate 'zwei Katze' >again
sed -n 3p out | cmp -s - again || fail "a line is translated otherwise than --translate"

expect 0 --load model --translate ''
[ "$(wc -l <out)" = 1 ] || fail "an empty text has no translation"

# A line that is too long is told, and the others are translated.
awk 'BEGIN { for (i = 0; i < 2000; ++i) printf "Hund "; print ""; print "ein Hund" }' >long
"$program" --load model <long >out 2>err || fail "a long line ended the program"
says err 'the model reads at most 512: split it into sentences'
[ "$(wc -l <out)" = 2 ] || fail "lines went missing"
"$program" --load model <bytes >out 2>err || fail "a line of other bytes ended the program"
says err 'translate: a line is not UTF-8: convert it, with iconv for example'

# Stopped, it keeps what it has and says how to go on; resumed, it ends with the bytes of one that nobody stopped.
# shellcheck disable=SC2086
{
  stops="$train --dropout 0.1 --average-every 50 --steps 1500 --evaluate-every 700 --placement post"
  expect 0 $stops --save whole
  stopped INT 130 out 'step    150' $stops --save parts --run run
  says out 'Run it again with --resume to continue the training.'
  expect 0 --load parts --translate 'ein Hund'
  refused 1 'run contains the checkpoints of a training' $stops --save other --run run
  refused 1 "--save: folder contains 'precious'" $stops --save folder --run run --resume
  expect 1 $stops --save parts --run run --resume --smoothing 0.2
  says err '--smoothing was 0.1, is 0.2'
  tr t T <en >other
  expect 1 --source de.gz --target other ${stops#*--target en} --save parts --run run --resume
  says err 'cannot continue with other settings: texts was'
  expect 0 $stops --save parts --run run --resume
  says out 'continues after step'
  [ "$(grep -c '"loss"' run/losses.jsonl)" = 1500 ] || fail "losses are missing"
  [ "$(grep -c '"bleu"' run/losses.jsonl)" = 2 ] || fail "validations are missing"
  for file in whole/*; do cmp "$file" "parts/${file#whole/}" || fail "a resumed training ended otherwise"; done
  not_kept whole/model.safetensors $train --steps 3 --save full --run full_run
  says out 'model: full'
  awk 'BEGIN { for (i = 0; i < 40; ++i) printf "\033]0;title\007\n" }' >controls
  expect 0 --source controls --target controls $small --steps 100 --save controlled --translate title
  harmless out
  stopped TERM 143 out 'will take about' $train --steps 100000000 --save stopped
  says out 'with --run FOLDER a training can be resumed'
  expect 0 --load stopped --translate 'ein Hund'
}

# A limit of time ends a training as its steps do.
# shellcheck disable=SC2086
expect 0 $train --steps 100000000 --time 0.005 --save quick
says out 'model: quick'

# A warm-up that the time has no room for is told.
# shellcheck disable=SC2086
stopped INT 130 err 'steps, too few for --warmup 1000000000: choose a smaller one' ${train%--warmup*} \
  --warmup 1000000000 --time 60 --steps 1000000000 --save warm

# A model of any norm is written and read.
for norm in batch group; do
  # shellcheck disable=SC2086
  expect 0 $train --steps 4 --norm $norm --save $norm
  expect 0 --load $norm --translate 'ein Hund'
done
