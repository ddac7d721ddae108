#!/bin/sh
# Looks at the source tree: sources.sh SOURCE. No file of C++, JavaScript or CSS has more than 500 lines (files aim for 200; the
# limit leaves room, so that a file is split by subject and never to fit), no recipe more than 39,
# every recipe is in docs/recipes.md, what ./run example says of an example ends with its sentence, and what only Linux or x86 has is asked for in core/detail/platform* alone, but for what a
# report says of its machine.
set -eu
cd "$1"
find core ops nn optim data distributed kit text tests examples docs gradus.h \( -name '*.cpp' -o -name '*.h' -o -name '*.js' -o -name '*.mjs' -o -name '*.css' \) -type f -exec wc -l {} + |
  awk '$2 == "total" { next }
       { files++; limit = $2 ~ /^examples\/recipes\// ? 39 : 500 }
       $1 > limit { print $2 " has " $1 " lines, the limit is " limit; bad = 1 }
       END { print files " files"; exit bad || files == 0 }'
for recipe in examples/recipes/*.cpp; do
  grep -qF "<!-- snippet: $recipe -->" docs/recipes.md || {
    echo "$recipe is not in docs/recipes.md"
    exit 1
  }
done
if ./run example | grep -v '[.?]$'; then
  echo "./run example shows the first line of an example's opening comment: it must end with its sentence"
  exit 1
fi
if grep -nE '(madvise|mmap|mincore|fallocate|statx|prctl|sysconf|sched_getaffinity|pthread_atfork|getauxval|__builtin_ia32_pause|__builtin_cpu_supports) *\(|<sched\.h>|<sys/(auxv|mman|prctl|sysinfo)\.h>|"/(proc|sys)/|__linux__' \
  -r core ops nn optim data distributed kit text examples --include='*.cpp' --include='*.h' |
  grep -vE '^(core/detail/platform|kit/data/system_info\.cpp)'; then
  echo "belongs into core/detail/platform.h, with something that stands in for it elsewhere"
  exit 1
fi
