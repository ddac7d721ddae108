// Items of different lengths: padding, buckets of similar lengths, a limit of tokens.

#include <doctest/doctest.h>

#include <algorithm>

#include "data/batches.h"

namespace gradus::test {
namespace {

using data::DataLoader;

/// Sequence i: its number, repeated to its length.
struct Sequences {
  std::vector<std::int64_t> lengths;
  std::int64_t size() const { return static_cast<std::int64_t>(lengths.size()); }
  std::int64_t length(std::int64_t i) const { return lengths[static_cast<std::size_t>(i)]; }
  Tensor operator[](std::int64_t i) const { return full({length(i)}, i + 1); }
};

Sequences random_sequences(std::int64_t n, std::uint64_t seed) {
  Generator generator(seed);
  Sequences result;
  for (std::int64_t i = 0; i < n; ++i) result.lengths.push_back(generator.below(30));
  return result;
}

TEST_CASE("DataLoader: items are padded to the longest of their batch") {
  const Sequences s{{3, 1, 0, 2, 2}};
  DataLoader loader(5,
                    [&](std::int64_t i) {
                      return std::array{s[i], tensor(i), s[i].unsqueeze(1).to(f64)};
                    },
                    {.batch_size = 3, .pad = {9, 0, -0.5}});
  const auto [a, label, b] = loader.next();
  CHECK(equal(a, tensor({{1, 1, 1}, {2, 9, 9}, {9, 9, 9}})));
  CHECK(equal(label, tensor({0, 1, 2})));
  CHECK(equal(b, tensor({{{1.0}, {1.0}, {1.0}}, {{2.0}, {-0.5}, {-0.5}}, {{-0.5}, {-0.5}, {-0.5}}}, f64)));
  CHECK(equal(loader.next()[0], tensor({{4, 4}, {5, 5}})));
  // One value for all parts; nothing to pad with means nothing is longer.
  DataLoader one(5, [&](std::int64_t i) { return std::array{s[i], s[i]}; }, {.batch_size = 2, .pad = {-1}});
  CHECK(equal(one.next()[1], tensor({{1, 1, 1}, {2, -1, -1}})));
}

TEST_CASE("DataLoader: padding equals pad and stack written out") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Sequences s = random_sequences(17, seed);
    const auto item = [&](std::int64_t i) {
      Generator g(static_cast<std::uint64_t>(i));
      return randn({s.length(i), 3}, g);
    };
    DataLoader loader(17, item, {.batch_size = 5, .pad = {2.5}});
    std::int64_t next = 0;
    for (const auto& [x] : loader) {
      std::int64_t longest = 0;
      for (std::int64_t i = next; i < next + x.size(0); ++i) longest = std::max(longest, s.length(i));
      std::vector<Tensor> rows;
      for (std::int64_t i = next; i < next + x.size(0); ++i)
        rows.push_back(pad(item(i), {0, 0, 0, longest - s.length(i)}, 2.5));
      CHECK(equal(x, stack(rows)));
      next += x.size(0);
    }
  }
}

TEST_CASE("DataLoader: items with different shapes or dtypes") {
  const auto said = [](auto function, const data::DataLoaderOptions& options) {
    return message_of([&] { (void)DataLoader(4, function, options).next(); });
  };
  const auto ragged = [](std::int64_t i) { return std::array{tensor(i), ones({i / 2 + 1, 3})}; };
  CHECK(contains(said(ragged, {.batch_size = 4}),
                 "DataLoader: part 1 of item 2 is [2, 3], that of item 0 [1, 3]: a batch stacks items of one "
                 "shape; .pad = {0} lengthens first axes"));
  const auto wide = [](std::int64_t i) { return ones({3, i + 1}); };
  CHECK(contains(
      said(wide, {.batch_size = 4, .pad = {0}}),
      "part 0 of item 1 is [3, 2], that of item 0 [3, 1]: items are padded at the end of their first "
      "axis, and must agree in all others"));
  const auto ranks = [](std::int64_t i) { return i < 2 ? ones({2}) : ones({}); };
  CHECK(contains(said(ranks, {.batch_size = 4, .pad = {0}}), "part 0 of item 2 is [], that of item 0 [2]"));
  const auto types = [](std::int64_t i) { return ones({2}, i < 3 ? f32 : f64); };
  CHECK(contains(said(types, {.batch_size = 4}),
                 "part 0 of item 3 is f64 [2], that of item 0 f32 [2]: convert"));
  const auto undefined = [](std::int64_t i) { return i < 1 ? ones({2}) : Tensor(); };
  CHECK(contains(said(undefined, {.batch_size = 4}), "part 0 of item 1 is an undefined tensor"));
  const auto deep = [](std::int64_t) { return ones({1, 1, 1, 1, 1, 1, 1, 1}); };
  CHECK(contains(said(deep, {}), "leaves no axis for the batch"));
  const auto integers = [](std::int64_t i) { return full({i + 1}, i); };
  CHECK(contains(said(integers, {.batch_size = 4, .pad = {0.5}}), "0.5"));
  const auto huge = [](std::int64_t) { return ones({1}, boolean).expand({std::int64_t{1} << 59}); };
  CHECK(contains(said(huge, {.batch_size = 4}), "memory"));
}

TEST_CASE("DataLoader: batches of similar lengths") {
  const Sequences s = random_sequences(1000, 1);
  const auto length = [&](std::int64_t i) { return s.length(i); };
  DataLoader loader(
      {arange(1000)},
      {.batch_size = 8, .shuffle = true, .length = length, .bucket = 10, .generator = Generator(4)});
  CHECK(loader.size() == 125);
  auto batches = loop(loader);
  // Within a batch and a pool of 80 the lengths are sorted; a spread of 1000 / 80 pools' worth is far below
  // random.
  double spread = 0, steps = 0;
  std::int64_t last = 0;
  for (const auto& [ids] : batches) {
    const auto items = ids.to_vector<std::int64_t>();
    for (std::size_t i = 1; i < items.size(); ++i) CHECK(s.length(items[i - 1]) <= s.length(items[i]));
    spread += static_cast<double>(s.length(items.back()) - s.length(items[0])) / 125;
    steps += std::abs(static_cast<double>(s.length(items[0]) - last)) / 125;
    last = s.length(items[0]);
  }
  CHECK(spread < 5);  // 10 batches share 30 lengths: 3; of random batches it would be 23
  CHECK(steps > 5);   // the batches themselves are shuffled: else short and long ones would take turns
  auto all = ids_of(batches);
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<std::int64_t>(i));
  CHECK(ids_of(loop(loader)) != ids_of(batches));
}

TEST_CASE("DataLoader: buckets without a shuffle, written out") {
  const Sequences s{{5, 1, 3, 3, 2, 9, 0, 4, 1, 1}};
  const auto length = [&](std::int64_t i) { return s.length(i); };
  const auto order = [&](const data::DataLoaderOptions& options) {
    DataLoader loader({arange(10)}, options);
    std::vector<std::vector<std::int64_t>> result;
    for (const auto& [ids] : loader) result.push_back(ids.to_vector<std::int64_t>());
    CHECK(static_cast<std::size_t>(loader.size()) == result.size());
    return result;
  };
  using Order = std::vector<std::vector<std::int64_t>>;
  CHECK(order({.batch_size = 3, .length = length, .bucket = 2}) ==
        Order{{1, 4, 2}, {3, 0, 5}, {6, 8, 9}, {7}});
  CHECK(order({.batch_size = 3, .drop_last = true, .length = length, .bucket = 2}) ==
        Order{{1, 4, 2}, {3, 0, 5}, {6, 8, 9}});
  CHECK(order({.batch_size = 4, .length = length, .bucket = INT64_MAX}) ==
        Order{{6, 1, 8, 9}, {4, 2, 3, 7}, {0, 5}});
  // At most 10 tokens, the longest times the number of items; in the order of the items, or sorted.
  CHECK(order({.max_tokens = 10, .length = length, .bucket = 0}) ==
        Order{{0, 1}, {2, 3, 4}, {5}, {6, 7}, {8, 9}});
  CHECK(order({.max_tokens = 10, .length = length, .bucket = INT64_MAX}) ==
        Order{{6, 1, 8, 9, 4}, {2, 3}, {7, 0}, {5}});
  // Pools of fewer than 10 tokens in all: of the items 0 1 2, 3 4, 5 6 and 7 8 9.
  CHECK(order({.max_tokens = 10, .length = length, .bucket = 1}) ==
        Order{{1, 2}, {0}, {4, 3}, {6}, {5}, {8, 9}, {7}});
}

TEST_CASE("DataLoader: max_tokens holds, and as many items as fit are taken") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Sequences s = random_sequences(300, seed);
    DataLoader loader(300,
                      [&](std::int64_t i) {
                        return std::array{s[i], tensor(i)};
                      },
                      {.max_tokens = 64, .shuffle = true, .pad = {0}, .length = [&](std::int64_t i) {
                         return s.length(i);
                       }});
    for (int epoch = 0; epoch < 2; ++epoch) {
      const std::int64_t size = loader.size();
      const auto batches = loop(loader);
      CHECK(static_cast<std::int64_t>(batches.size()) == size);
      CHECK(ids_of(batches, 1).size() == 300);
      std::int64_t tokens = 0;
      for (const auto& batch : batches) {
        CHECK(batch[0].numel() <= 64);
        tokens += batch[0].numel();
      }
      CHECK(static_cast<double>(tokens) / static_cast<double>(size) > 40);
    }
  }
}

TEST_CASE("DataLoader: lengths are asked for once") {
  int asked = 0;
  DataLoader loader({arange(9)}, {.batch_size = 2, .length = [&](std::int64_t i) { return ++asked, i; }});
  for (int epoch = 0; epoch < 3; ++epoch) (void)loop(loader);
  CHECK(asked == 9);
}

}  // namespace
}  // namespace gradus::test
