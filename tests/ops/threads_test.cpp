// Every op of ops.h gives the same bits, forward and backward, for any number of threads and in every run.

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "support.h"
#include "threads_cases.h"
#include "threads_guard.h"

namespace gradus::test {
namespace {

void append_bytes(std::string& all, const Tensor& x) {
  const Array values = x.array().contiguous();
  all.append(static_cast<const char*>(values.raw()),
             static_cast<std::size_t>(values.numel()) * size_of(values.dtype()));
}

/// Every byte of the result and of the gradients, with this many threads.
std::string run(const ThreadCase& test, DType dtype, int threads) {
  const ThreadsGuard guard(threads);
  Generator generator(1);
  Tensors leaves;
  for (const Shape& shape : test.shapes) {
    leaves.push_back(rand(shape, generator, dtype) + 0.1);  // positive: logarithms and roots are defined
    leaves.back().requires_grad_();
  }
  const Tensor y = test.run(leaves);
  std::string bytes;
  append_bytes(bytes, y);
  if (!y.requires_grad()) return bytes;
  y.backward(randn(y.shape(), generator, y.dtype()));
  for (const Tensor& leaf : leaves)
    if (leaf.grad().defined()) append_bytes(bytes, leaf.grad());
  return bytes;
}

std::vector<ThreadCase> all_cases() {
  std::vector<ThreadCase> cases = elementwise_cases();
  for (ThreadCase& test : product_cases()) cases.push_back(std::move(test));
  for (ThreadCase& test : shape_cases()) cases.push_back(std::move(test));
  return cases;
}

TEST_CASE("every op: the same bits for 1, 2, 3, 4 and 8 threads, and run after run") {
  for (const ThreadCase& test : all_cases())
    for (DType dtype : {f32, f64}) {
      CAPTURE(test.name);
      CAPTURE(dtype == f32);
      const std::string once = run(test, dtype, 1);
      CHECK_FALSE(once.empty());
      const std::vector<int> many = dtype == f32 ? std::vector{1, 2, 3, 4, 8, 2} : std::vector{3};
      for (int threads : many) {
        CAPTURE(threads);
        CHECK(run(test, dtype, threads) == once);
      }
    }
}

TEST_CASE("every op of ops.h has a case here") {
  std::set<std::string> tested;
  for (const ThreadCase& test : all_cases()) tested.insert(test.name.substr(0, test.name.find(' ')));
  std::ifstream stream(source_file("ops/ops.h"));
  const std::string header{std::istreambuf_iterator<char>(stream), {}};
  const std::regex declaration(R"(\n(?:Tensor|bool|std::[\w<>:, ]*Tensor[\w<>:, ]*) (\w+)\()");
  int ops = 0;
  for (std::sregex_iterator match(header.begin(), header.end(), declaration), last; match != last; ++match) {
    const std::string op = (*match)[1];
    CHECK_MESSAGE(tested.count(op) == 1, "add a case for " << op << " to threads_cases");
    ++ops;
  }
  CHECK(ops > 70);  // fewer: the pattern no longer finds them
}

}  // namespace
}  // namespace gradus::test
