#include "gradus/distributed/detail/slices.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "gradus/core/creation.h"
#include "gradus/distributed/detail/layout.h"
#include "gradus/distributed/detail/shard_sums.h"
#include "gradus/optim/clip.h"
#include "values.h"

namespace gradus::test {

using distributed::detail::Layout;
using distributed::detail::Range;
using distributed::detail::ShardSums;
using distributed::detail::Slices;

namespace {

/// The slices of all ranks in order of elements.
std::vector<Range> sorted(const Slices& slices, int ranks) {
  std::vector<Range> all;
  for (int r = 0; r < ranks; ++r) all.push_back(slices.of(r));
  std::sort(all.begin(), all.end(), [](const Range& a, const Range& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  return all;
}

}  // namespace

TEST_CASE("slices: each element has one owner, and partners share what they had") {
  for (const int ranks : {1, 2, 4, 8, 64})
    for (const std::int64_t n : {0, 1, 7, 64, 1000}) {
      const Slices slices(n, ranks);
      std::int64_t at = 0;
      for (const Range& range : sorted(slices, ranks)) {
        CHECK(range.begin == at);
        CHECK(range.size() <= n / ranks + 1);
        at = range.end;
      }
      CHECK(at == n);
      for (int r = 0; r < ranks; ++r)
        for (int level = 0; level < slices.levels(); ++level) {
          const Range both = slices.of(r, level), mine = slices.of(r, level + 1),
                      theirs = slices.of(r ^ (1 << level), level + 1);
          CHECK(mine.size() + theirs.size() == both.size());
          CHECK(std::min(mine.begin, theirs.begin) == both.begin);
        }
    }
  const Slices eight(8, 8);
  std::vector<std::int64_t> owners(8);
  for (int r = 0; r < 8; ++r) owners[static_cast<std::size_t>(eight.of(r).begin)] = r;
  CHECK(owners == std::vector<std::int64_t>{0, 4, 2, 6, 1, 5, 3, 7});
}

TEST_CASE("layout: every parameter has a place; slices begin with a block of the norm") {
  constexpr std::int64_t block = optim::kNormBlock;
  std::vector<Tensor> parameters;
  for (const std::int64_t n : {3, 5 * 4096 + 1, 0, 1, 40'000, 17}) parameters.push_back(zeros({n}));
  parameters.push_back(zeros({50}, f64));
  for (const int ranks : {1, 2, 8, 16})
    for (const std::int64_t bytes : {1, 100'000, 1'000'000}) {
      const Layout layout(parameters, bytes, ranks);
      std::vector<std::int64_t> filled(layout.buckets().size());
      for (std::size_t i = parameters.size(); i-- > 0;) {
        const auto& place = layout.place(i);
        CHECK(layout.buckets()[place.bucket].dtype == parameters[i].dtype());
        CHECK(place.range.begin == filled[place.bucket]);
        CHECK(place.range.size() == parameters[i].numel());
        filled[place.bucket] = place.range.end;
        std::int64_t owned = 0;
        for (int r = 0; r < ranks; ++r) {
          const Range own = layout.own(i, r);
          CHECK((own.size() == 0 || own.begin % block == 0));
          CHECK((own.size() == 0 || own.end % block == 0 || own.end == parameters[i].numel()));
          owned += own.size();
        }
        CHECK(owned == parameters[i].numel());
      }
      for (std::size_t b = 0; b < filled.size(); ++b) CHECK(layout.buckets()[b].slices.size() == filled[b]);
    }
  const Layout even({zeros({8 * block})}, 1, 8);
  for (int r = 0; r < 8; ++r) CHECK(even.own(0, r).size() == block);
}

TEST_CASE("shard sums: a binary tree, in which a missing gradient is 0") {
  const auto array = [](float x) { return Array::full({1}, x, f32); };
  // In the tree 2^24 + 1 is rounded before 1 + 1 is added, in a row twice.
  ShardSums sums;
  sums.add({array(0x1p24f), Array(), array(-0.0f)});
  sums.add({array(1), array(3), Array()});
  sums.add({array(1), Array(), array(-0.0f)});
  CHECK(sums.with_last(0, array(1)).item() == 0x1p24f + 2);
  CHECK(sums.with_last(1, Array()).item() == 3);
  CHECK_FALSE(std::signbit(sums.with_last(2, array(-0.0f)).item()));
  ShardSums none;
  CHECK_FALSE(none.with_last(0, Array()).defined());
  CHECK(none.with_last(0, array(4)).item() == 4);
}

}  // namespace gradus::test
