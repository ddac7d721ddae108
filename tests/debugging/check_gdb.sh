#!/bin/sh
# check_gdb.sh SOURCE PROGRAM: tensors in gdb, of a program that runs and of a core file; gradus::dump called there.
set -eu
source=$1 program=$2
skip() {
  echo "debugging.gdb: skipped, $1"
  exit 77
}
command -v gdb >/dev/null || skip "gdb is not installed"
gdb -nx -batch -ex 'python print("ready")' 2>&1 | grep -qx ready || skip "this gdb has no Python"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/values" <<'END'
print x
print w
print y
print view
print undefined
print mask
print ids
print scalar
print many
print layer.weight
print array
print shape
print x.array_.strides_
END
debug() { # ARGS...
  DEBUGINFOD_URLS='' gdb -nx -batch -iex 'set auto-load off' -ex 'set confirm off' -ex 'set print elements 10' -ex 'set width 0' -ex "source $source/core/gdb/gradus_gdb.py" "$@" 2>&1 |
    sed '/^Couldn.t write extended state status/d' # by an older gdb on a CPU with AMX
}

debug -ex 'break breakpoint' -ex 'run debugger' -ex up -x "$folder/values" -ex "generate-core-file $folder/core" \
  -ex 'call gradus::dump(y)' -ex 'call gradus::dump(array)' -ex 'call gradus::dump(shape)' -ex kill "$program" >"$folder/all"
! grep -q 'ptrace: Operation not permitted' "$folder/all" || skip "programs may not be traced here"
grep -q '^Saved corefile' "$folder/all" || { cat "$folder/all"; exit 1; }
sed -e '1,/^Saved corefile/d' -e '/^\[Inferior/d' "$folder/all" >"$folder/dumped"
{ grep '^\$' "$folder/all"; cat "$folder/dumped"; } >"$folder/live"
diff -u "$source/tests/debugging/expected_gdb.txt" "$folder/live" || { cat "$folder/all"; exit 1; }

debug -ex 'frame function stops' -x "$folder/values" "$program" "$folder/core" >"$folder/all"
grep '^\$' "$folder/all" >"$folder/core_values"
grep '^\$' "$source/tests/debugging/expected_gdb.txt" | diff -u - "$folder/core_values" || { cat "$folder/all"; exit 1; }
