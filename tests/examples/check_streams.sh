#!/bin/sh
# check_streams.sh 02_TENSORS 29_SAVING CHAR_GPT LAB BENCH: programs whose stdout or stderr is closed, full or no longer
# read, and folders they may not write.
set -eu
tensors=$1 saving=$2 char_gpt=$3 lab=$4 bench=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
awk 'BEGIN { for (i = 0; i < 300; ++i) printf "line %d of this text\n", i * 7919 % 300 }' >text
gpt="--text text --save model --layers 1 --heads 2 --d-model 16 --context 16 --batch 4 --steps 3 --sample 5"
runs="--depths 1 --lrs 0.01 --warmups 0 --seeds 2 --steps 2 --threads 1"

fail() {
  echo "$1"
  [ ! -s err ] || cat err
  exit 1
}
# status WANTED WHAT: of the last command, kept by `|| status=$?`.
is() {
  [ "$status" = "$1" ] || fail "$2: status $status, expected $1"
  status=0
}
says() { grep -qF -- "$1" err || fail "'$1' is not in what it says"; }
status=0

# Closed: told before any work.
# shellcheck disable=SC2086
{
  "$char_gpt" $gpt >&- 2>err || status=$?
  is 1 "char_gpt, stdout closed"
  says 'char_gpt: stdout is closed'
  [ ! -e model ] || fail "char_gpt trained with its stdout closed"
  "$lab" $runs --out lab >&- 2>err || status=$?
  is 1 "lab, stdout closed"
  [ ! -e lab ] || fail "the lab began with its stdout closed"
  "$bench" tiny-ops >&- 2>err || status=$?
  is 1 "bench, stdout closed"
  "$tensors" >&- 2>err || status=$?
  is 1 "02_tensors, stdout closed"
  says 'cannot write to stdout: Bad file descriptor'
  "$saving" >&- 2>err || status=$?
  is 1 "37_saving, stdout closed"

  # A closed stderr is no reason to stop, and no file takes its place.
  "$char_gpt" $gpt >out 2>&- || status=$?
  is 0 "char_gpt, stderr closed"
  "$char_gpt" --load model --sample 5 >out 2>err || fail "with stderr closed the weights were spoiled"
  "$char_gpt" --threads 0 2>&- || status=$?
  is 2 "char_gpt, a wrong option with stderr closed"
  "$lab" $runs --out lab >out 2>&- <&- || status=$?
  is 0 "lab, stderr and stdin closed"
  "$lab" report lab >out 2>err || fail "with stderr closed the lab's files were spoiled"
  "$bench" tiny-ops --steps 1 >out 2>&- || status=$?
  is 0 "bench, stderr closed"
}

# Full: a file that may not grow. What was computed is kept; the status says that not all was said.
for program in "$tensors" "$saving"; do
  head -c 512 text >full
  status=0
  ( ulimit -f 1 && trap '' XFSZ && exec "$program" >>full ) 2>err || status=$?
  [ "${program##*/}" = 37_saving ] || is 1 "$program, stdout full"
  status=0
done
says 'File too large'
if mknod device c 1 7 2>/dev/null && ! echo x 2>/dev/null >device; then # always full, where one may make one
  # shellcheck disable=SC2086
  {
    rm -f model
    "$char_gpt" $gpt >device 2>err || status=$?
    is 1 "char_gpt, stdout full"
    says 'char_gpt: cannot write to stdout: No space left on device'
    [ -s model ] || fail "char_gpt lost its weights to a full stdout"
    "$lab" report lab >device 2>err || status=$?
    is 1 "lab report, stdout full"
    says 'lab: cannot write to stdout: No space left on device'
    "$bench" tiny-ops --steps 1 >device 2>err || status=$?
    is 1 "bench, stdout full"
    says 'bench: cannot write to stdout: No space left on device'
    for program in "$char_gpt" "$lab" "$bench"; do
      "$program" --help >device 2>err || status=$?
      is 1 "$program --help, stdout full"
    done
    "$tensors" >device 2>err || status=$?
    is 1 "02_tensors, stdout full"
    says 'cannot write to stdout: No space left on device'
    # stderr full: lost, nothing else.
    "$char_gpt" $gpt >out 2>device || status=$?
    is 0 "char_gpt, stderr full"
    "$lab" report nothing >out 2>device || status=$?
    is 1 "lab report nothing, stderr full"
  }
fi

# No longer read (| head): ends quietly, with the status of SIGPIPE, and keeps what it has.
mkfifo pipe
# shellcheck disable=SC2086
{
  rm -f model
  : <pipe & # a reader that goes at once
  "$char_gpt" $gpt --seed 1 >pipe 2>err || status=$?
  is 141 "char_gpt | head"
  [ -s model ] || fail "char_gpt | head lost its weights"
  ! grep -q 'char_gpt:' err || fail "char_gpt | head complains"
  : <pipe &
  "$bench" --steps 1 >pipe 2>err || status=$?
  is 141 "bench | head"
  [ ! -s err ] || fail "bench | head complains"
  : <pipe &
  "$tensors" >pipe 2>err || status=$?
  case $status in 0 | 1 | 141) ;; *) fail "02_tensors | head: status $status" ;; esac
  status=0
  wait
}

# A folder that may not be written. Root may write any, so root becomes somebody else.
mkdir closed
chmod 555 closed
as= && [ "$(id -u)" != 0 ] || as="setpriv --reuid 65534 --regid 65534 --clear-groups"
chmod 755 "$folder"
if ${as:-env} true 2>/dev/null && ${as:-env} test -x "$saving"; then
  # shellcheck disable=SC2086
  ( cd closed && $as "$saving" 2>../err >../out ) || status=$?
  is 1 "37_saving in a folder it may not write"
  says '37_saving: '
  says 'Permission denied'
fi
