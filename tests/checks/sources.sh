#!/bin/sh
# Looks at the source tree: sources.sh SOURCE. No C++ file has more than 400 lines, no recipe more than 39,
# and every recipe is in docs/recipes.md.
set -eu
cd "$1"
find core ops nn optim data kit text tests examples browser include docs \( -name '*.cpp' -o -name '*.h' \) -type f -exec wc -l {} + |
  awk '$2 == "total" { next }
       { files++; limit = $2 ~ /^examples\/recipes\// ? 39 : 400 }
       $1 > limit { print $2 " has " $1 " lines, the limit is " limit; bad = 1 }
       END { print files " files"; exit bad || files == 0 }'
for recipe in examples/recipes/*.cpp; do
  grep -qF "<!-- snippet: $recipe -->" docs/recipes.md || {
    echo "$recipe is not in docs/recipes.md"
    exit 1
  }
done
