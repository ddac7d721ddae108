#!/bin/sh
# check.sh SOURCE BUILD: the copies in tests/compat are those of the release, and each equals today's program and output, which
# have a test, or has been compiled.
set -eu
source=$1 build=$2
cd "$source/tests/compat"
sha256sum --quiet -c SHA256SUMS || {
  echo "tests/compat changes only at a release, with tests/compat/copy.sh"
  exit 1
}
find course recipes files -type f | sort >"$build/compat_files.txt"
sed 's/^[^ ]*  //' SHA256SUMS | sort | diff - "$build/compat_files.txt" || {
  echo "tests/compat has other files than SHA256SUMS"
  exit 1
}
same=0 compiled=0
covered() { # NAME: whether the copy that differs has been compiled
  ! grep -qx "$1" "$build/compat/too_new.txt" || return 0
  compiled=$((compiled + 1))
  [ -x "$build/compat/compat_$1" ] || {
    echo "the copy of $1 differs from today's program, and compat_$1 has not been built"
    exit 1
  }
}
for copy in course/*/; do
  name=$(basename "$copy")
  equal=yes
  for file in "$copy"*; do cmp -s "$file" "$source/examples/$file" || equal=no; done
  if [ $equal = yes ]; then same=$((same + 1)); else covered "$name"; fi
done
for copy in recipes/*.cpp; do
  name=$(basename "$copy" .cpp)
  if cmp -s "$copy" "$source/examples/$copy" && cmp -s "recipes/$name.txt" "$source/tests/examples/expected/recipes/$name.txt"; then
    same=$((same + 1))
  else
    covered "recipe_$name"
  fi
done
echo "$same programs of the release are unchanged, $compiled are compiled from their copies"
