// Dropout: the same elements dropped on every instruction set, for any cut into chunks, by published Philox
// words.

#include "philox_reference.h"

namespace gradus::test {
namespace {

TEST_CASE("the reference used here gives the known answers of Random123") {
  CHECK(philox_block(0, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox_block(~0ull, ~0ull, ~0ull) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox_block(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE_TEMPLATE("dropout keeps the elements its random words say, at every tail and start", T, float,
                   double) {
  const std::uint64_t key = 0x123456789abcdef0, stream = 0xfedcba9876543210;
  const std::vector<T> x = normal_values<T>(300, 1);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    const auto check = [&](std::uint64_t block, I first, I n, I offset) {
      Guarded<T> in(x, n, offset), out(n, 2);
      const std::uint64_t from = static_cast<std::uint64_t>(first);
      table.dropout(n, 0.3, key, stream, block, from, in.data(), out.data());
      table.dropout(n, 0.3, key, stream, block, from, in.data(), in.data());
      bool good = in.intact() && out.intact();
      for (I i = 0; i < n; ++i) {
        const T v = x[static_cast<std::size_t>(i)];
        const bool keep = kept(0.3, key, stream, block, from + static_cast<std::uint64_t>(i));
        good = good && ulps(out[i], keep ? Wide<T>(v) / (1 - 0.3) : 0) <= 1.5 && same(in[i], out[i]);
      }
      CAPTURE(first);
      CAPTURE(n);
      CHECK(good);
    };
    at_every_tail([&](I n, I offset) { check(0, n % 9, n, offset); });
    for (std::uint64_t block : {std::uint64_t(0xfffffffa), ~std::uint64_t(0)})  // both carries
      for (I first : {0, 1, 2, 3, 63, 64, 1001})
        for (I n : {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129, 300})
          check(block, first, n, 1);
  });
}

TEST_CASE_TEMPLATE("dropout at the edges of p", T, float, double) {
  const std::vector<T> x = hard_values<T>(300);
  std::vector<T> y(300);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    table.dropout(300, 0, 1, 2, 3, 0, x.data(), y.data());
    for (std::size_t i = 0; i < 300; ++i) CHECK(same(x[i], y[i]));
    table.dropout(300, 1, 1, 2, 3, 0, x.data(), y.data());
    for (T v : y) CHECK(v == 0);
    // A probability equal to one word's uniform number keeps that element; the next double drops it.
    const double edge = std::ldexp(double(philox_block(1, 2, 3)[0] >> 8), -24);
    const T ones[1] = {1};
    table.dropout(1, edge, 1, 2, 3, 0, ones, y.data());
    CHECK(y[0] > 0);
    table.dropout(1, std::nextafter(edge, 2), 1, 2, 3, 0, ones, y.data());
    CHECK(y[0] == 0);
  });
}

TEST_CASE("dropout drops a share of p") {
  const std::vector<float> x(100'000, 1.0f);
  std::vector<float> y(x.size());
  on_every_isa<float>([&](const kernels::Table<float>& table) {
    for (double p : {0.1, 0.5, 0.9}) {
      table.dropout(100'000, p, 42, 0, 0, 0, x.data(), y.data());
      double dropped = 0;
      for (float v : y) dropped += v == 0 ? 1 : 0;
      CHECK(std::fabs(dropped / 100'000 - p) < 5 * std::sqrt(p * (1 - p) / 100'000));
    }
  });
}

}  // namespace
}  // namespace gradus::test
