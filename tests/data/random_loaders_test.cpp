// Properties of every loader, tested on many random ones.

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "data/batches.h"
#include "threads_guard.h"

namespace gradus::test {
namespace {

using data::DataLoader;

struct Case {
  std::int64_t n;
  std::vector<std::int64_t> lengths;
  data::DataLoaderOptions options;
  int threads;
};

Case random_case(std::uint64_t seed) {
  Generator g(seed, 77);
  Case c{.n = 1 + g.below(40), .lengths = {}, .options = {}, .threads = static_cast<int>(1 + g.below(3))};
  for (std::int64_t i = 0; i < c.n; ++i) c.lengths.push_back(g.below(9));
  data::DataLoaderOptions& o = c.options;
  o.batch_size = 1 + g.below(g.below(2) == 0 ? 4 : 50);
  o.shuffle = g.below(2) == 0;
  o.pad = {-1};
  o.generator = Generator(seed);
  o.read_ahead = g.below(4);
  if (g.below(2) == 0) {
    o.length = [lengths = c.lengths](std::int64_t i) { return lengths[static_cast<std::size_t>(i)]; };
    o.bucket = 1 + g.below(5);
    if (g.below(2) == 0) {
      o.batch_size = 1;
      o.max_tokens = 8 + g.below(40);
      o.bucket = g.below(4);
    }
  }
  if (o.max_tokens == 0) o.drop_last = c.n >= o.batch_size && g.below(2) == 0;
  return c;
}

using Batches = std::vector<std::array<Tensor, 2>>;

DataLoader<2> loader_of(const Case& c, std::int64_t read_ahead) {
  data::DataLoaderOptions options = c.options;
  options.read_ahead = read_ahead;
  return DataLoader(
      c.n,
      [lengths = c.lengths](std::int64_t i) {
        return std::array{rand({lengths[static_cast<std::size_t>(i)]}), tensor(i)};
      },
      options);
}

/// The padded batch of some items, written out.
Tensor written_out(const Case& c, const Tensor& batch, const std::vector<std::int64_t>& items) {
  std::int64_t longest = 0;
  for (const std::int64_t i : items) longest = std::max(longest, c.lengths[static_cast<std::size_t>(i)]);
  std::vector<Tensor> rows;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const std::int64_t length = c.lengths[static_cast<std::size_t>(items[k])];
    rows.push_back(pad(batch[static_cast<std::int64_t>(k)].slice(0, 0, length), {0, longest - length}, -1));
  }
  return stack(rows);
}

void check_epoch(const Case& c, const Batches& batches) {
  std::vector<std::int64_t> items = ids_of(batches, 1);
  const bool in_order = std::is_sorted(items.begin(), items.end());
  if (!c.options.shuffle && (!c.options.length || c.options.bucket == 0)) CHECK(in_order);
  std::sort(items.begin(), items.end());
  CHECK(std::adjacent_find(items.begin(), items.end()) == items.end());  // none twice
  const std::int64_t expected = c.options.drop_last ? c.n / c.options.batch_size * c.options.batch_size : c.n;
  CHECK(static_cast<std::int64_t>(items.size()) == expected);
  CHECK((items.front() >= 0 && items.back() < c.n));
  for (const auto& [x, ids] : batches) {
    CHECK(equal(x, written_out(c, x, ids.to_vector<std::int64_t>())));
    CHECK(x.size(0) == ids.size(0));
    if (c.options.max_tokens > 0)
      CHECK(x.numel() <= c.options.max_tokens);
    else if (c.options.drop_last)
      CHECK(x.size(0) == c.options.batch_size);
    else
      CHECK(x.size(0) <= c.options.batch_size);
  }
}

TEST_CASE("random loaders: every item once per epoch, the same read ahead, and after a restore anywhere") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Case c = random_case(seed);
    const ThreadsGuard guard(c.threads);
    auto plain = loader_of(c, 0), ahead = loader_of(c, c.options.read_ahead);
    Batches all;
    std::vector<StateDict> states = {ahead.state_dict()};
    for (int epoch = 0; epoch < 3; ++epoch) {
      const std::int64_t size = ahead.size();
      const Batches expected = loop(plain);
      Batches got;
      for (const auto& batch : ahead) {
        got.push_back(batch);
        states.push_back(ahead.state_dict());
      }
      CHECK(same(got, expected));
      CHECK(static_cast<std::int64_t>(got.size()) == size);
      check_epoch(c, got);
      all.insert(all.end(), got.begin(), got.end());
    }
    Generator g(seed, 78);
    const auto from = static_cast<std::size_t>(g.below(static_cast<std::int64_t>(states.size())));
    auto restored = loader_of(c, g.below(3));
    restored.load_state_dict(states[from]);
    Batches rest;
    while (restored.epoch() < 3)
      for (const auto& batch : restored) rest.push_back(batch);
    CHECK(same(rest, Batches(all.begin() + static_cast<std::ptrdiff_t>(from), all.end())));
  }
}

}  // namespace
}  // namespace gradus::test
