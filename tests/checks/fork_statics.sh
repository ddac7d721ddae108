#!/bin/sh
# fork_statics.sh LIBRARY: no static variable inside a function needs a constructor (core/threads/detail/locks.h): its first
# use holds a lock of the compiler's, which a fork would leave locked in the child. Those of threads have no such lock.
# Allowed are choice_of, made when the library is loaded, and use_one_thread, where locks::blas keeps forks out.
set -eu
readelf -sW "$1" 2>/dev/null | awk '$4 == "OBJECT" && $8 ~ /^_ZGV/ { print $8 }' | c++filt |
  grep -Ev '::(choice_of\(gradus::Isa\)|use_one_thread\(\))::' >guards.txt || true
if [ -s guards.txt ]; then
  cat guards.txt
  echo "static variables with a constructor inside functions: make them constinit, or members of the namespace"
  exit 1
fi
echo "no static variable with a constructor inside a function"
