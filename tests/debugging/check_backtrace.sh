#!/bin/sh
# check_backtrace.sh SOURCE PROGRAM PROGRAM_WITHOUT_G: what is said of where an error came from.
set -eu
source=$1 program=$2 without_g=$3
command -v addr2line >/dev/null || {
  echo "debugging.backtrace: skipped, addr2line (binutils) is not installed"
  exit 77
}
ulimit -c 0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$source" # files are named from the current folder

# says STATUS EXPECTED ENVIRONMENT PROGRAM CASE: its status, and all that it says on stderr. Compilers name lambdas differently.
says() {
  status=0
  env "$3" "$4" "$5" 2>"$folder/all" >&2 || status=$?
  [ $status = "$1" ] || { echo "$5: status $status, expected $1"; cat "$folder/all"; exit 1; }
  sed -E -e '/^Aborted/d' -e 's/ in .*(\{lambda.*\}|\$_[0-9]+)::operator\(\)$/ in a lambda/' "$folder/all" >"$folder/said"
  echo "$2" | diff -u - "$folder/said" || { echo "$5 with $3: the lines with + are not those expected"; exit 1; }
}
# The number of the line of program.cpp that holds a text.
line() { grep -nF "$1" tests/debugging/program.cpp | head -n 1 | cut -d : -f 1; }
at() { echo "  at tests/debugging/program.cpp:$(line "$1") in $2"; }
from() { echo "  called from tests/debugging/program.cpp:$(line "$1") in $2"; }
# ends MESSAGE CASE LINES...: a gradus::Error that nobody catches, its lines before it.
ends() {
  what=$1 case=$2
  shift 2
  says 134 "uncaught exception:
$(printf '%s\n' "$@")
terminate called after throwing an instance of 'gradus::Error'
  what():  $what" GRADUS_UNUSED=1 "$program" "$case"
}

message=$(sed -n 's/^train: //p' tests/debugging/expected_run.txt)
lines=$(sed 1d tests/debugging/expected_run.txt)
terminated="terminate called after throwing an instance of 'gradus::Error'
  what():  $message"

# run_program, and what GRADUS_BACKTRACE makes of it; without debug information it says no more than before.
says 1 "train: $message
$lines" GRADUS_UNUSED=1 "$program" run_program
says 1 "train: $message" GRADUS_BACKTRACE=0 "$program" run_program
says 1 "train: $message" GRADUS_UNUSED=1 "$without_g" run_program
says 1 "train: $message
  (no line known: the program has no debug information: compile it with -g)" GRADUS_BACKTRACE=1 "$without_g" run_program
says 1 "train: $message" PATH= "$program" run_program
(
  export GRADUS_BACKTRACE=1
  says 1 "train: $message
  (no line known: addr2line is not installed: it is part of binutils)" PATH= "$program" run_program
)

# What the user gave is wrong: no line of the program is at fault.
no_folder='train: make_folder: /dev/null/out: cannot make the folder: Not a directory'
says 1 "$no_folder" GRADUS_UNUSED=1 "$program" input
says 1 "$no_folder
$(at 'kit::make_folder(' 'a lambda')
$(from '"input"' main)" GRADUS_BACKTRACE=1 "$program" input

uncaught="terminate called after throwing an instance of 'gradus::Error'
  what():  ${no_folder#train: }"
says 134 "$uncaught" GRADUS_UNUSED=1 "$program" 'input uncaught'
says 134 "uncaught exception:
$(at '"input uncaught"' main)
$uncaught" GRADUS_BACKTRACE=1 "$program" 'input uncaught'
says 134 "terminate called after throwing an instance of 'gradus::Error'
  what():  no file works" GRADUS_UNUSED=1 "$program" 'input pool'

# A program that does nothing for it.
says 134 "$terminated" GRADUS_UNUSED=1 "$program" plain
inner=$(echo "$lines" | sed '$d')
says 134 "uncaught exception:
$inner
$(from 'return train();' main)
$terminated" GRADUS_BACKTRACE=1 "$program" plain

# Before any Error.
status=0
GRADUS_BACKTRACE=1 "$program" unchanged 2>"$folder/all" || status=$?
[ $status = 134 ] && grep -qxF 'uncaught exception:' "$folder/all" && grep -qxF "$(at '"unchanged")' main)" "$folder/all" ||
  { cat "$folder/all"; exit 1; }
says 134 "std::terminate() was called without an exception:
$(at '"none"' main)
terminate called without an active exception" GRADUS_UNUSED=1 "$program" none

# set_error_backtrace(true): functions of the program that gradus calls, threads, recursion, other exceptions.
ends "$message" train "$inner" "$(from 'return train();' main)"
ends 'reshape: [2, 3] with 6 elements does not fit into [7] with 7' lambda "$(at 'return reshape(x, {7})' 'a lambda')" \
  "$(from 'model(ones({2, 3}))' fails_in_a_lambda)" "$(from '"lambda")' main)"
ends 'reshape: [3] with 3 elements does not fit into [7] with 7' backward "$(at 'return reshape(dy' 'a lambda')" \
  "$(from 'y.sum().backward()' fails_in_backward)" "$(from '"backward")' main)"
ends 'no chunk works' pool "$(at 'no chunk works' 'a lambda')" "$(from 'parallel_for(' fails_in_the_pool)" "$(from '"pool")' main)"
# The thread that reads ahead has no calls of the program.
says 1 "loader: DataLoader: part 0 of item 1 is [2], that of item 0 [1]: a batch stacks items of one shape; .pad = {0} lengthens \
first axes to the longest
$(at 'loader.next()' fails_in_the_loader)
$(from '"loader"' main)" GRADUS_UNUSED=1 "$program" loader
again=$(from 'return recursive(' recursive)
ends 'too deep' recursive "$(at 'fail("too deep")' check_not_zero)" "$(from 'check_not_zero(depth);' recursive)" \
  "$again" "$again" "$again"
ends 'too deep' rethrown "$(at 'fail("too deep")' check_not_zero)" "$(from 'check_not_zero(depth);' recursive)" \
  "$(from 'recursive(0)' caught_and_rethrown)" "$(from '"rethrown")' main)"
ends "$message" thread "$inner" "$(from '"thread")' 'a lambda')"
"$program" other 2>"$folder/all" && exit 1
grep -qxF "$(at '"other")' main)" "$folder/all" || { cat "$folder/all"; exit 1; }
