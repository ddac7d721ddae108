// Template for a chapter: one sentence that says what the program shows.
// Its chapter: docs/course/template/README.md
//
//   mean = (x_1 + ... + x_n) / n

#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [mean]
Tensor mean_of(const Tensor& x) { return x.sum() / double(x.numel()); }
// [/mean]

}  // namespace

int main() {
  const Tensor x = tensor({1.0, 2.0, 6.0});
  std::printf("mean of 1, 2, 6: %g\n", mean_of(x).item());
}
