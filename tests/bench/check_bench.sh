#!/bin/sh
# check_bench.sh BENCH: the program as its users meet it, with a made-up python3 in PyTorch's place. Nothing here
# depends on how fast anything is.
set -eu
bench=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "$1"
  cat out err
  exit 1
}
# expect STATUS ARGS...: runs the program with the python3 of this folder; what it said is in out and err.
expect() {
  wanted=$1
  shift
  status=0
  GRADUS_PYTHON=$folder/python3 "$bench" "$@" >out 2>err || status=$?
  [ $status = "$wanted" ] || fail "bench $*: status $status, expected $wanted"
}
says() { # FILE TEXT
  grep -qF -- "$2" "$1" || fail "'$2' is not in $1"
}
python() { # the script it is to be
  { echo '#!/bin/sh' && cat; } >python3
  chmod +x python3
}

expect 2 --against-pytorch # there is no such file yet
says err 'apt-get install python3-torch'
expect 2 no-such-case
expect 2 --stepz 3 gelu
says err 'bench: does not know --stepz'
expect 0 --help
for name in mlp gelu tiny-ops; do
  says out " $name"
done
for value in 0 4294967297 12x 1e3 0x10 -1 ''; do
  expect 2 --threads "$value"
  says err "bench: --threads: expects a whole number from 1 to 1024; got \"$value\""
  expect 2 --steps "$value"
done
expect 2 --rounds 2 # says nothing without --against-pytorch
expect 2 --against-pytorch --rounds 0
expect 2 --part depth # without --record
expect 2 --record kept.json --part no-such-part
# Told before anything is measured, and nothing is touched.
expect 1 --record no/kept.json
says err 'bench: --record: no/kept.json: cannot create a file in its folder'
echo 'not JSON' >other
expect 1 --record other
says err 'bench: other: expects a JSON object'
[ "$(cat other)" = 'not JSON' ] || fail "a file that is no record has changed"
[ ! -s out ] && ! grep -q ' \.\.\.$' err || fail "measured before it looked"
mkfifo pipe
expect 1 --record pipe
says err 'is a pipe'
[ ! -e kept.json ] || fail "a refused run left a file"
expect 2 --precision f16
expect 2 --precision bf16 --record kept.json
says err '--precision goes with --record only next to --against-pytorch'

# SIGTERM to the program alone: its child, which measures a case, ends with it. Its output is open until then.
: >out
mkfifo ends
"$bench" >ends 2>err &
exec 3<ends
read -r line <&3
kill -TERM $!
status=0
wait $! || status=$?
[ $status = 143 ] || fail "after SIGTERM: status $status, expected 143"
cat <&3 >out
exec 3<&-
expect 0 mlp --steps 1 --threads 1 --json
[ "$(wc -l <out)" = 1 ] || fail "not one line"
says out '"case":"mlp"'
says out '"matmul":"'
expect 0 mlp --steps 1 --threads 1 --precision bf16
says out 'matrix products in bf16 by '
export GRADUS_ISA=scalar
expect 0 mlp --steps 1 --threads 1 --precision bf16 --json
unset GRADUS_ISA
says out '"precision":"bf16"'
says err 'products in bf16 are no faster than in f32 here: scalar kernels'
expect 0 gelu mlp --steps 1 --threads 1 --json
[ "$(sed -n 's/^{"case":"\([a-z-]*\)",.*/\1/p' out | tr '\n' ' ')" = 'gelu mlp ' ] || fail "not these two in this order"
expect 2 mlp no-such-case another
says err 'CASE: expects one of '
says err 'got "no-such-case"'
expect 2 mlp --record kept.json
says err 'CASE does not go with --record alone'

# No PyTorch, or no python3 that runs.
for status in 3 127; do
  python <<EOT
echo 'ModuleNotFoundError: No module named torch' >&2
exit $status
EOT
  expect 2 --against-pytorch
  [ ! -s out ] || fail "wrote to stdout"
  [ "$(wc -l <err)" = 1 ] || fail "not one line"
  says err 'apt-get install python3-torch'
done

# A PyTorch that is best with one thread, at 1.5 s a step, and knows one case.
python <<'EOT'
case "$*" in
  *--list) echo '{"torch": "9.9", "blas_core": "", "cases": ["mlp"]}' ;;
  *"mlp --threads 1 "*) echo '{"median_s": 1.5}' ;;
  *"mlp --threads "*) echo '{"median_s": 3.0}' ;;
  *) exit 1 ;;
esac
EOT
expect 0 --against-pytorch --threads 2 --steps 1 --rounds 1
says out '2 threads, '
says out 'PyTorch 9.9'
[ "$(grep -c '^mlp .* 1\.500 s .* 1 thread$' out)" = 1 ] || fail "no row of mlp"
[ "$(wc -l <out)" = 4 ] || fail "not one case"
expect 0 mlp --against-pytorch --threads 1 --steps 1 --rounds 2 --json
[ "$(wc -l <out)" = 1 ] || fail "not one line"
says out '"pytorch_s":1.5,'
expect 0 mlp --against-pytorch --threads 1 --steps 1 --rounds 1 --record kept.json
says kept.json '"pytorch_s":1.5,'
expect 0 tiny-ops --against-pytorch
says err 'tiny-ops has no counterpart in PyTorch'
expect 0 tiny-ops mlp --against-pytorch --threads 1 --steps 1 --rounds 1 --json
[ "$(wc -l <out)" = 1 ] || fail "not one line"
says out '"case":"mlp"'
says err 'tiny-ops has no counterpart in PyTorch'

# One that is fastest in bf16, and one that is not: the better one counts.
for fastest in bf16 f32; do
  python <<EOT
case "\$*" in
  *--list) echo '{"torch": "9.9", "blas_core": "", "cases": ["mlp"]}' ;;
  *"--precision $fastest") echo '{"median_s": 1.5}' ;;
  *--precision*) echo '{"median_s": 3.0}' ;;
esac
EOT
  expect 0 mlp --against-pytorch --precision bf16 --threads 1 --steps 1 --rounds 1
  says out 'gradus in bf16, PyTorch in the faster of f32 and bf16'
  row=' 1\.500 s .* 1 thread'
  [ $fastest = f32 ] || row="$row, bf16"
  [ "$(grep -c "^mlp .*$row\$" out)" = 1 ] || fail "no row with PyTorch in $fastest"
done
expect 0 mlp --against-pytorch --precision bf16 --threads 1 --steps 1 --rounds 1 --record kept.json
says kept.json '"pytorch_bf16"'

# One that breaks.
python <<'EOT'
case "$*" in *--list) echo '{"torch": "9.9", "blas_core": "", "cases": ["mlp"]}' ;; *) exit 1 ;; esac
EOT
expect 1 mlp --against-pytorch --threads 2 --steps 1 --rounds 1
says err 'mlp failed'
