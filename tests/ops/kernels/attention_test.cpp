// Attention's kernels at every tail, with causal edges inside the tile, on every instruction set.

#include "attention_check.h"

namespace gradus::test {
namespace {

TEST_CASE_TEMPLATE("attention's kernels at every tail and causal edge", T, float, double) {
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    at_every_tail([&](I n, I offset) {
      for (const auto& [seen, step] : {std::pair<I, I>{n, 0}, {n / 2, 1}, {-2, 1}}) {
        const ScoreTile<T> tile(5, n, seen, step, static_cast<std::uint64_t>(n));
        CAPTURE(tile.seen);
        check_attention_exp(table, tile, n / 3, offset);
        check_attention_weights(table, tile, offset);
        check_attention_score_grad(table, tile, n / 3, offset);
      }
      check_attention_output(table, 5, n, offset);
      check_attention_output(table, n, 5, offset);
      check_attention_delta(table, 5, n, offset);
    });
  });
}

TEST_CASE_TEMPLATE("attention_exp: a row that has seen nothing, then something, then more of it", T, float,
                   double) {
  const T infinity = std::numeric_limits<T>::infinity();
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    T largest = -infinity, sum = 0, correction = 7;
    const auto see = [&](std::vector<T> s) {
      const I n = static_cast<I>(s.size());
      table.attention_exp({1, n, s.data(), n, n, 0}, &largest, &sum, &correction);
      return s;
    };
    CHECK(see({-infinity, -infinity}) == std::vector<T>{0, 0});
    CHECK(sum == 0);
    CHECK(see({3}) == std::vector<T>{1});
    CHECK(correction == 0);
    CHECK(see({3, -infinity}) == std::vector<T>{1, 0});
    CHECK(correction == 1);
    CHECK(sum == 2);
    see({5000});
    CHECK(correction == 0);  // exp(3 - 5000)
    CHECK(sum == 1);
    CHECK(largest == 5000);
    see({std::numeric_limits<T>::quiet_NaN()});
    CHECK(std::isnan(sum));
  });
}

}  // namespace
}  // namespace gradus::test
