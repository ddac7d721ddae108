// Loaders of pairs (source, target) of any lengths: every pair comes once per epoch, together and complete.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "data/batches.h"

namespace gradus::test {
namespace {

using Ids = std::vector<std::int64_t>;
struct Pair {
  Tensor source, target;
};

constexpr std::int64_t kPad[] = {0, -100};

/// Tokens from 1 on, so without padding.
Ids random_text(std::int64_t most, Generator& g) {
  Ids text(static_cast<std::size_t>(g.below(most + 1)));
  for (std::int64_t& token : text) token = 1 + g.below(50);
  return text;
}

struct Corpus {
  std::vector<std::pair<Ids, Ids>> pairs;
  data::DataLoaderOptions options;

  explicit Corpus(std::uint64_t seed) {
    Generator g(seed, 5);
    const std::int64_t n = 1 + g.below(60);
    for (std::int64_t i = 0; i < n; ++i) pairs.emplace_back(random_text(12, g), random_text(9, g));
    options.batch_size = 1 + g.below(9);
    options.shuffle = g.below(2) == 0;
    options.pad = {kPad[0], kPad[1]};
    options.generator = Generator(seed);
    options.read_ahead = g.below(3);
    if (g.below(3) == 0) return;
    options.length = [this](std::int64_t i) { return length(i); };
    options.bucket = g.below(2) == 0 ? g.below(4) : 100;
    if (g.below(2) == 0) {
      options.batch_size = 1;
      options.max_tokens = 12 + g.below(60);
    } else {
      options.bucket += 1;  // 0 is for max_tokens alone
    }
  }
  Corpus(const Corpus&) = delete;

  const std::pair<Ids, Ids>& at(std::int64_t i) const { return pairs[static_cast<std::size_t>(i)]; }
  std::int64_t length(std::int64_t i) const {
    return std::max<std::int64_t>(std::ssize(at(i).first), std::ssize(at(i).second));
  }
};

/// A row without the padding at its end; there is none before.
Ids whole(const Tensor& row, std::int64_t pad) {
  Ids text = row.to_vector<std::int64_t>();
  while (!text.empty() && text.back() == pad) text.pop_back();
  CHECK(std::find(text.begin(), text.end(), pad) == text.end());
  return text;
}

TEST_CASE("random loaders of pairs: each comes once per epoch, with its partner, and is not truncated") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const Corpus corpus(seed);
    data::DataLoader loader(
        std::ssize(corpus.pairs),
        [&](std::int64_t i) {
          return Pair{from_vector(corpus.at(i).first), from_vector(corpus.at(i).second)};
        },
        corpus.options);
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::map<std::pair<Ids, Ids>, int> left;
      for (const auto& pair : corpus.pairs) ++left[pair];
      for (const auto& [source, target] : loader) {
        REQUIRE(source.size(0) == target.size(0));
        std::size_t widest[] = {0, 0};
        for (std::int64_t row = 0; row < source.size(0); ++row) {
          const std::pair<Ids, Ids> got{whole(source[row], kPad[0]), whole(target[row], kPad[1])};
          --left[got];
          widest[0] = std::max(widest[0], got.first.size());
          widest[1] = std::max(widest[1], got.second.size());
        }
        CHECK(static_cast<std::size_t>(source.size(1)) == widest[0]);  // no more padding than it takes
        CHECK(static_cast<std::size_t>(target.size(1)) == widest[1]);
        if (const std::int64_t most = corpus.options.max_tokens; most > 0) {
          CHECK(source.numel() <= most);
          CHECK(target.numel() <= most);
        } else {
          CHECK(source.size(0) <= corpus.options.batch_size);
        }
      }
      for (const auto& [pair, count] : left) CHECK(count == 0);
    }
  }
}

}  // namespace
}  // namespace gradus::test
