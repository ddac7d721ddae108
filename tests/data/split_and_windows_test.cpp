// random_split, text_windows and random_windows.

#include <doctest/doctest.h>

#include <algorithm>

#include "data/batches.h"

namespace gradus::test {
namespace {

using data::random_split;
using data::random_windows;
using data::text_windows;

template <std::size_t N>
std::vector<std::int64_t> sizes(const std::array<Tensor, N>& parts) {
  std::vector<std::int64_t> result;
  for (const Tensor& part : parts) result.push_back(part.size(0));
  return result;
}

using Sizes = std::vector<std::int64_t>;

TEST_CASE("random_split: every index once, in a random order that the generator decides") {
  Generator a(1), b(1), c(2);
  const auto [train, test] = random_split(100, 0.8, a);
  CHECK(train.dtype() == i64);
  CHECK(train.size(0) == 80);
  const Tensor all = cat({train, test});
  CHECK(equal(sort(all).first, arange(100)));
  CHECK(!equal(all, arange(100)));
  const auto again = random_split(100, 0.8, b), other = random_split(100, 0.8, c);
  CHECK(equal(again[0], train));
  CHECK(!equal(other[0], train));
  manual_seed(1);
  CHECK(equal(random_split(100, {0.8, 0.2})[0], train));
  const Tensor x = arange(100) * 2;
  CHECK(equal(x[test], test * 2));
}

TEST_CASE("random_split: sizes are PyTorch's") {
  // torch.utils.data.random_split(range(n), shares), the lengths of the subsets, PyTorch 1.13.
  CHECK(sizes(random_split(10, {0.8, 0.1, 0.1})) == Sizes{8, 1, 1});
  CHECK(sizes(random_split(11, {0.8, 0.1, 0.1})) == Sizes{9, 1, 1});
  CHECK(sizes(random_split(19, {0.8, 0.1, 0.1})) == Sizes{16, 2, 1});
  CHECK(sizes(random_split(103, {0.5, 0.25, 0.125, 0.125})) == Sizes{52, 26, 13, 12});
  CHECK(sizes(random_split(7, {0.3, 0.3, 0.4})) == Sizes{3, 2, 2});
  CHECK(sizes(random_split(100, {0.41, 0.29, 0.3})) == Sizes{42, 28, 30});
  CHECK(sizes(random_split(1, {0.5, 0.5})) == Sizes{1, 0});
  // One share goes with what is left of 1: [0.8, 0.2], [0.07, 0.93], ...
  CHECK(sizes(random_split(10, 0.8)) == Sizes{8, 2});
  CHECK(sizes(random_split(11, 0.8)) == Sizes{9, 2});
  CHECK(sizes(random_split(100, 0.07)) == Sizes{7, 93});
  CHECK(sizes(random_split(100, 0.29)) == Sizes{29, 71});
  CHECK(sizes(random_split(5, 1)) == Sizes{5, 0});
  CHECK(sizes(random_split(5, 0.0)) == Sizes{0, 5});
  // Sizes themselves.
  const std::int64_t train = 8;
  CHECK(sizes(random_split(10, {train, 10 - train})) == Sizes{8, 2});
}

TEST_CASE("random_split: parts that do not add up") {
  CHECK(contains(message_of([] {
                   random_split(10, {0.8, 0.1});
                 }),
                 "random_split: {0.8, 0.1} are neither shares that add up to 1 nor sizes that add up to 10"));
  CHECK(contains(message_of([] { random_split(10, {8, 3}); }), "{8, 3} are neither"));
  CHECK(contains(message_of([] { random_split(10, {8, 1}); }), "neither"));
  CHECK(contains(message_of([] { random_split(10, {12, -2}); }), "neither"));
  CHECK(contains(message_of([] { random_split(10, {-2, 12}); }), "{-2, 12} are neither"));
  CHECK(contains(message_of([] { random_split(10, {0.5, NAN}); }), "neither"));
  CHECK(contains(message_of([] { random_split(10, {1.5, -0.5}); }), "neither"));
  CHECK(contains(message_of([] { random_split(10, 8); }),
                 "expects a share of 0 to 1, got 8: sizes go in braces, {8, 2}"));
  CHECK(contains(message_of([] { random_split(10, NAN); }), "expects a share"));
  CHECK(contains(message_of([] { random_split(0, 0.5); }), "expects 1 to 2^53 - 1 items, got 0"));
  CHECK(contains(message_of([] { random_split(INT64_MAX, 0.5); }), "expects 1 to 2^53 - 1 items"));
}

TEST_CASE("text_windows: inputs and the tokens after them, as views") {
  const Tensor ids = arange(10) * 10;
  const auto [x, y] = text_windows(ids, 4);
  CHECK(x.shape() == Shape{6, 4});
  CHECK(equal(x[2], tensor({20, 30, 40, 50})));
  CHECK(equal(y, x + 10));
  CHECK(equal(x[5], tensor({50, 60, 70, 80})));
  CHECK(x.array().storage().data() == ids.array().storage().data());
  CHECK(y.array().storage().data() == ids.array().storage().data());
  const auto [every, next] = text_windows(ids, 4, 4);
  CHECK(equal(every, tensor({{0, 10, 20, 30}, {40, 50, 60, 70}})));
  CHECK(equal(next, every + 10));
  CHECK(text_windows(ids, 4, INT64_MAX)[0].shape() == Shape{1, 4});
  CHECK(text_windows(ids, 9)[1].shape() == Shape{1, 9});
  const Tensor strided = arange(20).slice(0, 0, 20, 2);
  CHECK(equal(text_windows(strided, 2)[1][0], tensor({2, 4})));
}

TEST_CASE("text_windows: a loader of them uses no memory except its order and a batch") {
  const Tensor ids = arange(200000);
  data::DataLoader loader(text_windows(ids, 100), {.batch_size = 8, .shuffle = true});
  const std::int64_t before = memory_stats().live_bytes;
  int batches = 0;
  for (const auto& [x, y] : loader) {
    CHECK(equal(x + 1, y));
    if (++batches == 5) break;
  }
  CHECK(memory_stats().live_bytes - before < 2 * 200000 * 8);  // the windows: 160 million
}

TEST_CASE("random_windows: every position that fits, equally likely, and no other") {
  const Tensor ids = arange(10);
  Generator generator(7), same(7);
  const auto [x, y] = random_windows(ids, 600, 4, generator);
  REQUIRE(x.shape() == Shape{600, 4});
  CHECK(equal(y, x + 1));
  CHECK(equal(x, x.slice(1, 0, 1) + arange(4)));
  for (int start = 0; start < 6; ++start)
    CHECK(std::abs((x.slice(1, 0, 1) == start).sum().item<int>() - 100) < 40);
  CHECK(equal(random_windows(ids, 600, 4, same)[0], x));
  CHECK(random_windows(ids, 0, 4)[1].shape() == Shape{0, 4});
  CHECK(contains(message_of([&] { random_windows(ids, -1, 4); }), "expects a count of 0 or more, got -1"));
  CHECK(contains(message_of([&] { random_windows(ids, 1, 10); }),
                 "random_windows: 10 ids are too few for a window of 10 and the token after it"));
}

TEST_CASE("text_windows: errors") {
  const Tensor ids = arange(5);
  CHECK(contains(
      message_of([&] { text_windows(ids, 5); }),
      "text_windows: 5 ids are too few for a window of 5 and the token after it: expects 6 or more"));
  CHECK(contains(message_of([&] { text_windows(arange(0), 1); }), "0 ids are too few"));
  CHECK(contains(message_of([&] { text_windows(ids, INT64_MAX); }), "too few"));
  CHECK(contains(message_of([&] { text_windows(ids, 0); }),
                 "a context and a stride of 1 or more, got 0 and 1"));
  CHECK(contains(message_of([&] { text_windows(ids, 2, 0); }), "got 2 and 0"));
  CHECK(contains(message_of([&] { text_windows(ids.to(f32), 2); }), "expects ids i64 [N], got f32 [5]"));
  CHECK(contains(message_of([&] { text_windows(ids.unsqueeze(0), 2); }), "got i64 [1, 5]"));
  CHECK(contains(message_of([&] { text_windows({}, 2); }), "text_windows: ids is undefined"));
}

}  // namespace
}  // namespace gradus::test
