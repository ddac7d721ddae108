#!/bin/sh
# Looks at the source tree: sources.sh SOURCE. No C++ file has more than 400 lines.
set -eu
cd "$1"
find core ops nn optim data kit tests examples include docs \( -name '*.cpp' -o -name '*.h' \) -type f -exec wc -l {} + |
  awk '$2 != "total" { files++ } $2 != "total" && $1 > 400 { print $2 " has " $1 " lines, the limit is 400"; bad = 1 }
       END { print files " files"; exit bad || files == 0 }'
