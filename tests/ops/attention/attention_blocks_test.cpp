// The partition of a tile's keys into blocks.

#include <vector>

#include <doctest/doctest.h>

#include "gradus/ops/attention/attention_scores.h"

namespace gradus::test {

TEST_CASE("attention: a tile's keys are cut into blocks of nearly equal size, at multiples of a vector") {
  using attention::I;
  std::vector<I> lengths;
  for (I keys = 0; keys <= 1100; ++keys) lengths.push_back(keys);
  for (const I full : {1536, 8192, 512 * 1024})
    for (I more = -17; more <= 17; ++more) lengths.push_back(full + more);
  for (const I keys : lengths) {
    const I first = 40, blocks = std::max<I>(1, (keys + 511) / 512), stride = attention::block_stride(keys);
    I count = 0, next = first;
    bool good = stride % 16 == 0 && stride <= std::max<I>(16, std::min<I>((keys + 15) / 16 * 16, 512));
    attention::for_each_block({1, 2, 3, first, keys}, [&](const attention::Block& b) {
      good = good && b.head == 1 && b.begin == 2 && b.rows == 3 && b.first == next &&
             (b.first - first) % 16 == 0;
      good = good && b.keys <= stride && b.keys * blocks >= keys - 16 * blocks && b.starts == (count == 0);
      next += b.keys;
      ++count;
    });
    CAPTURE(keys);
    CHECK((good && next == first + keys && count == blocks));
  }
}

}  // namespace gradus::test
