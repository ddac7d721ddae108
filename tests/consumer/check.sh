#!/bin/sh
# Uses gradus as its users do: check.sh STEP SOURCE BUILD COMPILER, in the current folder. Step `install` comes
# first; find_package, package, pkg_config and add_subdirectory build the same four programs, main.cpp and, with gradus::kit,
# gradus::text and gradus::distributed, kit.cpp, text.cpp and ranks.cpp, and look at what they leave. Step version compares versions. Step without_kit is a user who has not installed the
# packages of these two.
set -eu
step=$1 source=$2 build=$3 compiler=$4
consumer=$source/tests/consumer
prefix=$PWD/prefix
newest=$(sed -nE 's/^## \[([0-9]+\.[0-9]+\.[0-9]+)\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$/\1/p' "$source/CHANGELOG.md" | head -n 1) # release
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name gradus.pc 2>/dev/null)")
export PKG_CONFIG_PATH

check_training() { # PROGRAM
  "$1" | tee "loss_$step.txt"
  awk 'END { if (NR != 10 || $1 != 900 || $2 !~ /^[0-9.]+$/ || $2 >= 0.01) { print "not trained"; exit 1 } }' "loss_$step.txt"
}

# price = 2 weight - power, and what the program makes of it: a loss that falls, a line for each step, a report.
check_kit() { # PROGRAM
  out=run_$step
  rm -rf "$out"
  mkdir "$out"
  awk 'BEGIN { srand(1); print "\"weight\",power,price"
               for (i = 0; i < 50; i++) { w = rand(); p = rand(); print w "," p "," 2 * w - p } }' >"$out/cars.csv"
  "$1" --table "$out/cars.csv" --out "$out" --steps 10
  "$1" --table "$out/cars.csv" --out "$out" --steps 200
  awk -F '[:,}]' '{ loss = $4 } NR == 1 { first = loss }
    END { if (NR != 200 || $2 != 200 || !(loss < first / 10)) { print "not learned"; exit 1 } }' "$out/metrics.jsonl"
  grep -q '<svg' "$out/report.html"
  status=0
  "$1" --steps 0 2>"$out/stderr" || status=$?
  [ $status = 2 ] && grep -q 'cars: --steps: expects a whole number of at least 1; got "0"' "$out/stderr"
}

# A vocabulary is learned, saved and loaded; the text comes back.
check_text() { # PROGRAM
  "$1" "words_$step" | tee "text_$step.txt"
  grep -qx 'low lower lowest' "text_$step.txt"
  [ -s "words_$step/tokenizer.json" ]
}

# One rank learns y = x1 + x2 + 3.
check_ranks() { # PROGRAM
  "$1" | tee "ranks_$step.txt"
  grep -qE '^1 ranks: loss 0\.000' "ranks_$step.txt"
}

# Configuring fails, and says TEXT.
refused_with() { # TEXT OPTIONS
  text=$1
  shift
  if cmake "$@" -DCMAKE_CXX_COMPILER="$compiler" >refused.txt 2>&1; then echo "not refused: $text"; exit 1; fi
  tr -s ' \n' ' ' <refused.txt | grep -qF "$text" || { cat refused.txt; exit 1; }
}

build_with_cmake() { # FOLDER [OPTIONS]
  folder=$1
  shift
  cmake -S "$consumer" -B "$folder" -DCMAKE_CXX_COMPILER="$compiler" "$@"
  cmake --build "$folder" --target app --parallel 2
}

# Every installed header that includes HEADER, itself or through others.
users_of() { # HEADER
  users=''
  wanted=$1
  while :; do
    more=$(cd "$prefix/include" && grep -rlE "#include \"($wanted)\"" gradus | sort)
    [ "$more" != "$users" ] || break
    users=$more
    wanted=$1$(echo "$users" | awk '{ printf "|%s", $1 }')
  done
  echo "$users"
}

case $step in
  install)
    rm -rf "$prefix"
    cmake --install "$build" --prefix "$prefix"
    ;;
  version)
    # core/version.h says it; the changelog's newest release, both packages and the installed files agree.
    fail() { echo "$*" && exit 1; }
    [ "$newest" ] || fail "CHANGELOG.md has no line '## [1.2.3] - 2026-01-31'"
    first=$(sed -n '/^## \[Unreleased\]$/,/^### /p' "$source/CHANGELOG.md" | tail -n 1)
    [ "$first" = '### Breaking changes' ] || fail "CHANGELOG.md: [Unreleased] begins with '$first', not '### Breaking changes'"
    defined=$(sed -n 's/^#define GRADUS_VERSION_[A-Z]* //p' "$prefix/include/gradus/core/version.h" | paste -s -d .)
    [ "$defined" = "$newest" ] || fail "core/version.h has $defined, CHANGELOG.md $newest"
    for package in gradus gradus-distributed gradus-kit gradus-text; do
      found=$(pkg-config --modversion $package)
      [ "$found" = "$newest" ] || fail "pkg-config finds $package $found, CHANGELOG.md has $newest"
    done
    grep -qxF "set(CPACK_PACKAGE_VERSION \"$newest\")" "$build/CPackConfig.cmake" || fail "cpack does not package $newest"
    # A program asks for a version of the same major and minor number.
    set -- -S "$consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler"
    cmake "$@" -B same_version -DGRADUS_WANTED="${newest%.*}" >same_version.txt 2>&1 || { cat same_version.txt; exit 1; }
    minor=${newest#*.}
    refused_with "compatible with requested version" "$@" -B newer_version -DGRADUS_WANTED="${newest%%.*}.$((${minor%.*} + 1))"
    ;;
  find_package)
    build_with_cmake find_package -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" "-DGRADUS_COMPONENTS=kit;text;distributed"
    check_training find_package/app
    check_kit find_package/cars
    check_text find_package/words
    check_ranks find_package/ranks
    ;;
  package)
    # Each package has the installed files, and programs build against it.
    rm -rf package
    mkdir -p package/tgz/usr package/deb
    cpack --config "$build/CPackConfig.cmake" -B package >package/cpack.txt 2>&1 || { cat package/cpack.txt; exit 1; }
    tar -xzf "package/gradus-$newest"-*.tar.gz -C package/tgz/usr --strip-components 1
    kinds=tgz
    if command -v dpkg-deb >/dev/null; then
      kinds='tgz deb'
      dpkg-deb -x package/libgradus-dev_*.deb package/deb
      dpkg-deb -f package/libgradus-dev_*.deb Depends | grep libopenblas-dev
      dpkg-deb -f package/libgradus-dev_*.deb Version | grep -xF "$newest"
    fi
    (cd "$prefix" && find . ! -type d | sort) >package/installed.txt
    for kind in $kinds; do
      (cd package/$kind/usr && find . ! -type d | sort) | diff package/installed.txt -
      build_with_cmake package/from_$kind -DCMAKE_PREFIX_PATH="$PWD/package/$kind/usr" "-DGRADUS_COMPONENTS=kit;text;distributed"
      check_training package/from_$kind/app
      check_kit package/from_$kind/cars
      check_text package/from_$kind/words
      check_ranks package/from_$kind/ranks
    done
    ;;
  add_subdirectory)
    build_with_cmake add_subdirectory -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DGRADUS_SOURCE="$source" \
      -DGRADUS_BUILT="$build" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
    check_training add_subdirectory/app
    check_kit add_subdirectory/cars
    check_text add_subdirectory/words
    check_ranks add_subdirectory/ranks
    ;;
  pkg_config)
    # pkg-config separates its words by blanks: a folder with a blank in its name comes with a backslash before it.
    eval "set -- $(pkg-config --cflags --libs gradus)"
    "$compiler" -std=c++20 -O2 "$consumer/main.cpp" -o app "$@"
    check_training ./app
    eval "set -- $(pkg-config --cflags --libs gradus-kit)"
    "$compiler" -std=c++20 "$consumer/kit.cpp" -o cars "$@"
    check_kit ./cars
    start=$(date +%s.%N)
    "$compiler" -std=c++20 "$consumer/hello.cpp" -o hello "$@"
    echo "a hello-world compiles and links in $(echo "$start $(date +%s.%N)" | awk '{ printf "%.1f", $2 - $1 }') s"
    ./hello
    eval "set -- $(pkg-config --cflags --libs gradus-text)"
    "$compiler" -std=c++20 "$consumer/text.cpp" -o words "$@"
    check_text ./words
    eval "set -- $(pkg-config --cflags --libs gradus-distributed)"
    "$compiler" -std=c++20 "$consumer/ranks.cpp" -o ranks "$@"
    check_ranks ./ranks
    ;;
  without_kit)
    rm -rf without_kit
    set -- -S "$source" -B without_kit -DGRADUS_BUILD_EXAMPLES=OFF -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
    cmake "$@" -DGRADUS_BUILD_TESTS=OFF -DCMAKE_CXX_COMPILER="$compiler" | tee without_kit.txt
    grep -q '^-- gradus::kit is left out; .*: apt install libcli11-dev$' without_kit.txt
    set -- "$@" -DGRADUS_BUILD_TESTS=ON
    refused_with 'Examples and tests need gradus::kit. gradus::kit is left out; it needs CLI11' "$@"
    refused_with 'Examples and tests need gradus::kit: with GRADUS_BUILD_KIT=OFF' "$@" -DGRADUS_BUILD_KIT=OFF
    set -- -S "$source" -B without_text -DGRADUS_BUILD_EXAMPLES=OFF -DGRADUS_PCRE2_LIBRARY=
    cmake "$@" -DGRADUS_BUILD_TESTS=OFF -DCMAKE_CXX_COMPILER="$compiler" | tee without_text.txt
    grep -q '^-- gradus::text is left out; .*: apt install libpcre2-dev$' without_text.txt
    refused_with 'Examples and tests need gradus::text. gradus::text is left out; it needs PCRE2' "$@" -DGRADUS_BUILD_TESTS=ON
    # An installed copy without the files of both.
    rm -rf bare bare_consumer
    cp -rl "$prefix" bare
    find bare \( -iname '*kit*' -o -name 'gradusText*' -o -name gradusCsv.cmake \) -prune -exec rm -rf {} +
    set -- -S "$consumer" -B bare_consumer -DCMAKE_PREFIX_PATH="$PWD/bare"
    refused_with 'This gradus was built without its kit' "$@" -DGRADUS_COMPONENTS=kit
    refused_with 'This gradus was built without its text' "$@" -DGRADUS_COMPONENTS=text
    refused_with 'gradus has no component kitt; its components are kit, text and distributed.' "$@" -DGRADUS_COMPONENTS=kitt
    # Each reason is given.
    refused_with 'no component kitt; its components are kit, text and distributed. This gradus was built without its kit' "$@" \
      "-DGRADUS_COMPONENTS=kitt;kit"
    cmake "$@" -DGRADUS_COMPONENTS=
    refused_with 'apt install libcsv-dev' -S "$consumer" -B no_libcsv -DCMAKE_PREFIX_PATH="$prefix" \
      -DGRADUS_COMPONENTS=kit -DGRADUS_CSV_LIBRARY=
    refused_with 'apt install libcsv-dev libpng-dev' -S "$consumer" -B no_libpng -DCMAKE_PREFIX_PATH="$prefix" \
      -DGRADUS_COMPONENTS=kit -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON
    refused_with 'apt install libutf8proc-dev' -S "$consumer" -B no_utf8proc -DCMAKE_PREFIX_PATH="$prefix" \
      -DGRADUS_COMPONENTS=text -DGRADUS_UTF8PROC_LIBRARY=
    ;;
  headers)
    # Each public header alone; none may bring in a library's, and gradus.h, distributed.h, kit.h and text.h have them all.
    failed=0
    echo '#include "gradus/gradus.h"' | "$compiler" -std=c++20 -I "$prefix/include" -M -x c++ - >all.d
    echo '#include "gradus/kit/kit.h"' | "$compiler" -std=c++20 -I "$prefix/include" -M -x c++ - >kit.d
    echo '#include "gradus/text/text.h"' | "$compiler" -std=c++20 -I "$prefix/include" -M -x c++ - >text.d
    echo '#include "gradus/distributed/distributed.h"' | "$compiler" -std=c++20 -I "$prefix/include" -M -x c++ - >distributed.d
    if cat all.d kit.d text.d distributed.d | tr -s ' ' '\n' |
      grep -E '/(fmt|nlohmann|CLI)/|cblas|(include|mpi)/(csv|png|pcre2|utf8proc|sentencepiece.*|mpi)\.h'; then
      echo "gradus.h, distributed.h, kit.h or text.h includes a header no user should need"
      failed=1
    fi
    if grep -qE 'gradus/(distributed|kit|text)/' all.d; then
      echo "gradus.h includes headers of distributed, of the kit or of text"
      failed=1
    fi
    set -- "$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I "$prefix/include" -I .
    # Two of them are read once: what includes one of these, by way of others too, may as well start with it.
    for base in gradus/core/tensor.h gradus/nn/module/module.h; do
      name=$(basename "$base")
      echo "#include \"$base\"" >"base_$name"
      "$@" -x c++-header "base_$name" -o "base_$name.gch"
      users_of "$base" >"users_of_$name"
    done
    for header in $(cd "$prefix/include" && find gradus -name '*.h' | sort); do
      base=
      for name in tensor.h module.h; do
        if grep -qxF "$header" "users_of_$name"; then base="-include base_$name"; fi
      done
      # shellcheck disable=SC2086 # two words or none
      echo "#include \"$header\"" | "$@" -fsyntax-only $base -x c++ - ||
        { echo "$header does not compile alone"; failed=1; }
      case $header in gradus/kit/*) all=kit ;; gradus/text/*) all=text ;; gradus/distributed/* | gradus/core/io/checkpoint_parts.h) all=distributed ;; *) all=all ;; esac
      grep -q "/$header" $all.d || { echo "$header is in none of gradus.h, distributed.h, kit.h and text.h"; failed=1; }
      # For an older standard: one reason, and nothing after it.
      if echo "#include \"$header\"" | "$compiler" -std=c++17 -fsyntax-only -I "$prefix/include" -x c++ - >older.txt 2>&1; then
        echo "$header compiles as C++17: it should include gradus/core/cxx20.h"
        failed=1
      elif ! grep -q 'gradus needs C++20: compile with -std=c++20' older.txt || [ "$(grep -c 'error:' older.txt)" -gt 2 ]; then
        echo "$header, as C++17:"
        head -n 20 older.txt
        failed=1
      fi
    done
    exit $failed
    ;;
esac
