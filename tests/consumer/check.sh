#!/bin/sh
# Uses gradus as its users do: check.sh STEP SOURCE BUILD COMPILER, in the current folder. Step `install` comes
# first; find_package, pkg_config and add_subdirectory build the same program and look at the loss it ends with.
set -eu
step=$1 source=$2 build=$3 compiler=$4
consumer=$source/tests/consumer
prefix=$PWD/prefix
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name gradus.pc 2>/dev/null)")
export PKG_CONFIG_PATH

check_training() { # PROGRAM
  "$1" | tee loss.txt
  awk 'END { if (NR != 10 || $1 != 900 || $2 !~ /^[0-9.]+$/ || $2 >= 0.01) { print "not trained"; exit 1 } }' loss.txt
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
  find_package)
    build_with_cmake find_package -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix"
    check_training find_package/app
    ;;
  add_subdirectory)
    build_with_cmake add_subdirectory -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DGRADUS_SOURCE="$source" \
      -DGRADUS_BUILT="$build" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
    check_training add_subdirectory/app
    ;;
  pkg_config)
    # pkg-config separates its words by blanks: a folder with a blank in its name comes with a backslash before it.
    eval "set -- $(pkg-config --cflags --libs gradus)"
    "$compiler" -std=c++20 -O2 "$consumer/main.cpp" -o app "$@"
    check_training ./app
    start=$(date +%s.%N)
    "$compiler" -std=c++20 "$consumer/hello.cpp" -o hello "$@"
    echo "a hello-world compiles and links in $(echo "$start $(date +%s.%N)" | awk '{ printf "%.1f", $2 - $1 }') s"
    ./hello
    ;;
  headers)
    # Each public header alone; none may bring in fmt, JSON or BLAS, and gradus.h has them all.
    failed=0
    echo '#include "gradus/gradus.h"' | "$compiler" -std=c++20 -I "$prefix/include" -M -x c++ - >all.d
    if grep -E '/(fmt|nlohmann|CLI)/|cblas' all.d; then
      echo "gradus.h includes a header no user should need"
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
      grep -q "/$header" all.d || { echo "gradus.h does not include $header"; failed=1; }
    done
    exit $failed
    ;;
esac
