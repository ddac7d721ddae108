#include "gradus/nn/attention/relative_bias.h"

#include <algorithm>
#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/module/init.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {

RelativeBiasOptions checked(const RelativeBiasOptions& o) {
  expect_positive("RelativeBias", "heads", o.heads);
  const std::int64_t least = o.causal ? 2 : 4;
  check(o.buckets >= least && o.buckets % least == 0,
        "RelativeBias: expects buckets to be a multiple of {}, got {}", least, o.buckets);
  const std::int64_t exact = o.buckets / least;
  check(o.max_distance > exact, "RelativeBias: expects a max_distance above {}, where buckets widen, got {}",
        exact, o.max_distance);
  return o;
}

}  // namespace

std::int64_t relative_bucket(std::int64_t distance, const RelativeBiasOptions& options) {
  const std::int64_t buckets = options.causal ? options.buckets : options.buckets / 2;
  const std::int64_t first = !options.causal && distance > 0 ? buckets : 0;
  const std::int64_t far = options.causal ? std::max<std::int64_t>(0, -distance) : std::abs(distance);
  const std::int64_t exact = buckets / 2;
  if (far < exact) return first + far;
  // In f32, as in T5's code: at a power of 2 the rounding decides the bucket.
  const float part =
      std::log(static_cast<float>(far) / static_cast<float>(exact)) /
      static_cast<float>(std::log(static_cast<double>(options.max_distance) / static_cast<double>(exact)));
  const auto wide = static_cast<std::int64_t>(part * static_cast<float>(buckets - exact));
  return first + std::min(exact + wide, buckets - 1);
}

RelativeBias::RelativeBias(const RelativeBiasOptions& options)
    : Module("RelativeBias"), options_(checked(options)) {
  weight = parameter("weight", init::normal_(empty({options.buckets, options.heads})));
}

Tensor RelativeBias::operator()(std::int64_t queries, std::int64_t keys) const {
  const Scope scope(path());
  check(queries >= 0 && keys >= 0, "RelativeBias: expects 0 or more queries and keys, got {} and {}", queries,
        keys);
  // The bucket of every possible distance, then a look-up for every pair.
  std::vector<std::int64_t> buckets;
  for (std::int64_t distance = 1 - keys; distance < queries + keys; ++distance)
    buckets.push_back(relative_bucket(distance, options_));
  const Tensor table = is_half(weight.dtype()) ? weight.to(f32) : Tensor(weight);
  const Tensor of_distance = embedding(from_vector(buckets, {std::ssize(buckets)}), table);  // [distances, H]
  const Tensor at = arange(queries).unsqueeze(1) + (keys - queries);
  const Tensor pairs = arange(keys) - at + (keys - 1);  // [Tq, Tk], counted from the smallest distance
  // Contiguous rows of keys, because every block reads them.
  return report(embedding(pairs, of_distance).permute({2, 0, 1}).contiguous().unsqueeze(0));
}

}  // namespace gradus::nn
