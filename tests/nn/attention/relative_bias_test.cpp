#include "gradus/nn/attention/relative_bias.h"

#include <doctest/doctest.h>

#include "gradus/core/error.h"
#include "nn/check_module.h"

namespace gradus::test {

namespace {

/// The first distance of each run of one bucket, from -300 to 300.
std::vector<std::pair<std::int64_t, std::int64_t>> runs(const nn::RelativeBiasOptions& options) {
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (std::int64_t distance = -300; distance <= 300; ++distance) {
    const std::int64_t bucket = nn::relative_bucket(distance, options);
    if (found.empty() || found.back().second != bucket) found.emplace_back(distance, bucket);
  }
  return found;
}

/// The buckets from -300 to 300, combined into one number.
std::int64_t checksum(const nn::RelativeBiasOptions& options) {
  std::int64_t sum = 0;
  for (std::int64_t distance = -300; distance <= 300; ++distance)
    sum += (distance + 301) * nn::relative_bucket(distance, options);
  return sum;
}

}  // namespace

// Computed in PyTorch 1.13 by T5's formula, in f32.
TEST_CASE("RelativeBias: T5's buckets") {
  CHECK(runs({.heads = 1}) == std::vector<std::pair<std::int64_t, std::int64_t>>{
                                  {-300, 15}, {-90, 14}, {-63, 13}, {-45, 12}, {-31, 11}, {-22, 10}, {-15, 9},
                                  {-11, 8},   {-7, 7},   {-6, 6},   {-5, 5},   {-4, 4},   {-3, 3},   {-2, 2},
                                  {-1, 1},    {0, 0},    {1, 17},   {2, 18},   {3, 19},   {4, 20},   {5, 21},
                                  {6, 22},    {7, 23},   {8, 24},   {12, 25},  {16, 26},  {23, 27},  {32, 28},
                                  {46, 29},   {64, 30},  {91, 31}});
  CHECK(runs({.heads = 1, .causal = true}) ==
        std::vector<std::pair<std::int64_t, std::int64_t>>{
            {-300, 31}, {-112, 30}, {-98, 29}, {-86, 28}, {-76, 27}, {-66, 26}, {-58, 25}, {-51, 24},
            {-45, 23},  {-39, 22},  {-34, 21}, {-30, 20}, {-26, 19}, {-23, 18}, {-20, 17}, {-18, 16},
            {-15, 15},  {-14, 14},  {-13, 13}, {-12, 12}, {-11, 11}, {-10, 10}, {-9, 9},   {-8, 8},
            {-7, 7},    {-6, 6},    {-5, 5},   {-4, 4},   {-3, 3},   {-2, 2},   {-1, 1},   {0, 0}});
  CHECK(checksum({.heads = 1, .buckets = 8, .max_distance = 20}) == 1079386);
  CHECK(checksum({.heads = 1, .buckets = 8, .max_distance = 20, .causal = true}) == 306570);
  CHECK(checksum({.heads = 1, .buckets = 64, .max_distance = 256}) == 9111270);
  CHECK(checksum({.heads = 1, .buckets = 64, .max_distance = 256, .causal = true}) == 1942602);
}

TEST_CASE("RelativeBias: a value for each head and pair, with positions counted from the end") {
  for (const bool causal : {false, true}) {
    const nn::RelativeBiasOptions options{.heads = 3, .buckets = 8, .max_distance = 6, .causal = causal};
    const nn::RelativeBias bias(options);
    for (const auto& [queries, keys] :
         {std::pair<std::int64_t, std::int64_t>{5, 5}, {2, 9}, {1, 4}, {6, 3}}) {
      const Tensor y = bias(queries, keys);
      REQUIRE(y.shape() == Shape{1, 3, queries, keys});
      for (std::int64_t i = 0; i < queries; ++i)
        for (std::int64_t j = 0; j < keys; ++j) {
          const std::int64_t bucket = nn::relative_bucket(j - (i + keys - queries), options);
          CHECK(y[0][2][i][j].item() == bias.weight[bucket][2].item());
        }
    }
    CHECK(bias(0, 3).shape() == Shape{1, 3, 0, 3});
  }
}

TEST_CASE("RelativeBias: gradients") {
  const DefaultDType f64_default(f64);
  const nn::RelativeBias bias({.heads = 2, .buckets = 4, .max_distance = 4});
  check_module(bias, {}, [&](const Tensors&) { return bias(4, 5); });
}

TEST_CASE("RelativeBias: bad calls") {
  CHECK_THROWS_WITH_AS(nn::RelativeBias({.heads = 0}), "RelativeBias: expects heads of 1 or more, got 0",
                       Error);
  CHECK_THROWS_WITH_AS(nn::RelativeBias({.heads = 1, .buckets = 6}),
                       "RelativeBias: expects buckets to be a multiple of 4, got 6", Error);
  CHECK_THROWS_WITH_AS(nn::RelativeBias({.heads = 1, .buckets = 0}),
                       "RelativeBias: expects buckets to be a multiple of 4, got 0", Error);
  CHECK_THROWS_WITH_AS(nn::RelativeBias({.heads = 1, .max_distance = 8}),
                       "RelativeBias: expects a max_distance above 8, where buckets widen, got 8", Error);
  CHECK_THROWS_WITH_AS(nn::RelativeBias({.heads = 1})(-1, 2),
                       "RelativeBias: expects 0 or more queries and keys, got -1 and 2", Error);
}

}  // namespace gradus::test
