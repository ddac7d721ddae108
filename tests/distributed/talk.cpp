#include "distributed/talk.h"

#include <bit>
#include <cstring>
#include <functional>
#include <vector>

#include "gradus/gradus.h"

namespace gradus::test {

namespace {

/// What rank r contributes: numbers of very different sizes, whose sum depends on its order.
Tensor terms(int rank, const Shape& shape, DType dtype) {
  Generator generator(11, static_cast<std::uint64_t>(rank));
  const Tensor x(random_normal(shape, 0, 1, dtype, generator));
  return x * exp(x * 4);
}

void expect_bits(const char* what, const Tensor& got, const Tensor& wanted) {
  check(got.shape() == wanted.shape() && got.dtype() == wanted.dtype(), "{}: got {} {}, expects {} {}", what,
        got.dtype(), got.shape(), wanted.dtype(), wanted.shape());
  const auto bytes = static_cast<std::size_t>(got.numel()) * size_of(got.dtype());
  const Tensor a = got.contiguous(), b = wanted.contiguous();
  check(std::memcmp(a.array().raw(), b.array().raw(), bytes) == 0, "{}: other bits than expected", what);
}

Tensor tree(int begin, int end, const std::function<Tensor(int)>& leaf) {
  if (end - begin == 1) return leaf(begin);
  const int middle = begin + (end - begin) / 2;
  return tree(begin, middle, leaf) + tree(middle, end, leaf);
}

void check_sums(const distributed::Communicator& world) {
  const int size = world.size();
  for (const DType dtype : {f32, f64})
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{7}, Shape{5, 3, 2}, Shape{100'000}}) {
      const auto leaf = [&](int r) { return terms(r, shape, dtype); };
      const Tensor x = leaf(world.rank()), expected = tree(0, size, leaf);
      world.all_reduce(x);
      expect_bits("all_reduce", x, expected);
      const Tensor y = leaf(world.rank()), z = leaf(world.rank());
      distributed::Work first = world.all_reduce_async(y), second = world.all_reduce_async(z);
      while (!second.done()) first.done();  // both are under way; the later one may end first
      first.wait();
      expect_bits("all_reduce_async", y, expected);
      expect_bits("all_reduce_async", z, expected);
      Shape rows = shape;
      rows.insert(0, size);
      const auto all = [&](int r) { return terms(100 + r, rows, dtype); };
      expect_bits("reduce_scatter", world.reduce_scatter(all(world.rank())),
                  tree(0, size, all).select(0, world.rank()));
    }
  const Tensor count = tensor({world.rank(), 1});
  world.all_reduce(count);
  expect_bits("all_reduce", count, tensor({size * (size - 1) / 2, size}));
}

}  // namespace

void check_calls(const distributed::Communicator& world) {
  const int size = world.size(), rank = world.rank();
  for (int round = 0; round < 3; ++round) world.barrier();
  if (std::has_single_bit(static_cast<unsigned>(size))) check_sums(world);
  for (const DType dtype : {f32, f64, i64, boolean})
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{3}, Shape{300, 101}}) {
      const auto of_rank = [&](int r) { return (terms(r, shape, f64) * 10).to(dtype); };
      for (int root = 0; root < size; ++root) {
        const Tensor x = of_rank(rank);
        world.broadcast(x, root);
        expect_bits("broadcast", x, of_rank(root));
      }
      const Tensor all = world.all_gather(of_rank(rank));
      check(all.size(0) == size, "all_gather: {}", all.shape());
      for (int r = 0; r < size; ++r) expect_bits("all_gather", all[r], of_rank(r));
      if (size == 1) continue;
      const int next = (rank + 1) % size, before = (rank + size - 1) % size;
      const Tensor x = zeros(shape, dtype), y = zeros(shape, dtype);
      distributed::Work sent = world.isend(of_rank(rank), next, 5);
      distributed::Work sent_too = world.isend(of_rank(rank + 50), next, 6);
      world.recv(y, before, 6);
      world.recv(x, before, 5);
      sent.wait();
      sent_too.wait();
      expect_bits("recv", x, of_rank(before));
      expect_bits("recv", y, of_rank(before + 50));
    }
  world.expect_same("The size", std::to_string(size));
}

}  // namespace gradus::test
