#!/bin/sh
# isa_symbols.sh LIBRARY: what is compiled for AVX2, AVX-512, AMX or BFMMLA must be called through the dispatch table only. A weak
# symbol (an inline function, a template) would be merged by the linker with everyone else's and crash older CPUs.
set -eu
nm -A -C --defined-only "$1" | grep -E 'kernels_(avx2|avx512|avx512bf16|amx|bfmmla)\.cpp\.o:' >symbols.txt
if grep -E '\.o:[0-9a-f]+ [WVu] ' symbols.txt; then
  echo "weak symbols in files for one instruction set"
  exit 1
fi
echo "$(wc -l <symbols.txt) symbols, none of them weak"
