# shellcheck shell=sh
# Read by the checks of programs, which are called with a program: an empty folder to work in, and what its users may
# expect of it.
set -eu
export GRADUS_BACKTRACE=0 # messages alone, also with debug information
program=$1
name=$(basename "$program")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "$1"
  cat out err
  exit 1
}
# expect STATUS ARGS...: runs the program; what it said is in out and err.
expect() {
  wanted=$1
  shift
  status=0
  "$program" "$@" >out 2>err </dev/null || status=$?
  [ $status = "$wanted" ] || fail "$name $*: status $status, expected $wanted"
}
says() { # FILE TEXT
  grep -qF -- "$2" "$1" || fail "'$2' is not in $1"
}
everything() { # names and contents
  find . ! -name out ! -name err
  find . -type f ! -name out ! -name err -exec cksum {} +
}
# refused STATUS MESSAGE ARGS...: says so in one line, before it trains, and leaves everything as it is.
refused() {
  wanted=$1 message=$2
  shift 2
  before=$(everything)
  expect "$wanted" "$@"
  [ ! -s out ] || fail "$name $*: wrote to stdout"
  says err "$name: $message"
  [ "$(everything)" = "$before" ] || fail "$name $*: changed files"
}
# stopped SIGNAL STATUS FILE TEXT ARGS...: starts the program, sends the signal once FILE has TEXT.
stopped() {
  signal=$1 wanted=$2 file=$3 text=$4
  shift 4
  : >out
  : >err
  "$program" "$@" >out 2>err </dev/null &
  until grep -qF -- "$text" "$file"; do kill -0 $! || fail "ended before '$text'"; done
  kill "-$signal" $!
  status=0
  wait $! || status=$?
  [ $status = "$wanted" ] || fail "$signal after '$text': status $status, expected $wanted"
}
# not_kept MODEL ARGS...: trains where files have room for such a MODEL, and not for the checkpoint that ends a training.
not_kept() {
  blocks=$(($(wc -c <"$1") * 3 / 2 / 512)) # a checkpoint is three times a model
  shift
  status=0
  ( ulimit -f $blocks && trap '' XFSZ && exec "$program" "$@" ) >out 2>err </dev/null || status=$?
  [ $status = 3 ] || fail "$name $*: status $status with its last checkpoint lost, expected 3"
  says err 'no checkpoint of step 3: '
}
# harmless FILE: nothing in it controls a terminal, but U+FFFD stands there.
harmless() {
  [ "$(LC_ALL=C tr -d '\n\t -~\200-\377' <"$1" | wc -c)" = 0 ] || fail "control characters in $1"
  says "$1" "$(printf '\357\277\275')"
}
