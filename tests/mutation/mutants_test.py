"""What mutants.py finds in a small source, and what it leaves alone."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from mutants import mutants  # noqa: E402

SOURCE = """#include <vector>  // 1 + 2
static_assert(sizeof(int) == 4);
int* f(const std::vector<int>& v, int&& n) {
  check(n < 3, "f: expects {} + 1 < 2", n + 7);
  if (n == 0 || v.empty()) fail_with("f: {}", n * 2);
  for (int i = 0; i < n; ++i) use(v[i]);
  const double x = 1e-9 + 0.5;  // n - 1
  unlink(name(n + 1));
  total += x;
  return nullptr;
}
"""
EXPECTED = """
4 check(n <= 3, "f: expects {} + 1 < 2", n + 7);
4 check(n >= 3, "f: expects {} + 1 < 2", n + 7);
4 check(n < 2, "f: expects {} + 1 < 2", n + 7);
4 check(n < 4, "f: expects {} + 1 < 2", n + 7);
4 ;
5 if (!(n == 0 || v.empty())) fail_with("f: {}", n * 2);
5 if (n != 0 || v.empty()) fail_with("f: {}", n * 2);
5 if (n == 1 || v.empty()) fail_with("f: {}", n * 2);
5 if (n == 0 && v.empty()) fail_with("f: {}", n * 2);
5 if (n == 0 || v.empty()) ;
6 for (int i = 1; i < n; ++i) use(v[i]);
6 for (int i = 0; i <= n; ++i) use(v[i]);
6 for (int i = 0; i >= n; ++i) use(v[i]);
6 for (int i = 0; i < n; --i) use(v[i]);
6 for (int i = 0; i < n; ++i) ;
7 const double x = (2 * 1e-9) + 0.5; // n - 1
7 const double x = 1e-9 - 0.5; // n - 1
7 const double x = 1e-9 + (2 * 0.5); // n - 1
9 ;
9 total -= x;
"""
found = []
for mutant in mutants("f.cpp", SOURCE):
    line, _, _, after = mutant.lines(SOURCE)
    found.append(f"{line} {after}")
wrong = sorted(set(found) ^ set(EXPECTED.strip().splitlines()))
if wrong:
    sys.exit("mutants_test: found or expected, not both:\n" + "\n".join(wrong))
print(f"{len(found)} mutants")
