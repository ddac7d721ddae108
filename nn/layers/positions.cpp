#include "gradus/nn/layers/positions.h"

#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/module/init.h"

namespace gradus::nn {

namespace {

Tensor rows(const char* layer, const Tensor& table, std::int64_t length, std::int64_t begin) {
  const std::int64_t context = table.size(0);
  check(length >= 0 && length <= context, "{}: expects at most {} positions, its context, got {}", layer,
        context, length);
  check(begin >= 0, "{}: expects begin of 0 or more, got {}", layer, begin);
  check(begin <= context - length, "{}: expects at most {} positions, its context, got {} after {}", layer,
        context, length, begin);
  return table.slice(0, begin, begin + length);
}

Tensor waves(std::int64_t context, std::int64_t d_model, Waves layout) {
  const Tensor table = empty({context, d_model}, f64);
  double* at = table.mutable_span<double>().data();
  const std::int64_t pairs = d_model / 2;
  for (std::int64_t t = 0; t < context; ++t, at += d_model)
    for (std::int64_t i = 0; i < pairs; ++i) {
      const double exponent = static_cast<double>(2 * i) / static_cast<double>(d_model);
      const double angle = static_cast<double>(t) / std::pow(10000.0, exponent);
      at[layout == Waves::halves ? i : 2 * i] = std::sin(angle);
      at[layout == Waves::halves ? pairs + i : 2 * i + 1] = std::cos(angle);
    }
  return table.to(default_dtype());
}

}  // namespace

LearnedPositions::LearnedPositions(std::int64_t context, std::int64_t d_model) : Module("LearnedPositions") {
  expect_positive("LearnedPositions", "context", context);
  expect_positive("LearnedPositions", "d_model", d_model);
  weight = parameter("weight", init::normal_(empty({context, d_model})));
}

Tensor LearnedPositions::operator()(std::int64_t length, std::int64_t begin) const {
  const Scope scope(path());
  const Tensor wanted = rows("LearnedPositions", weight, length, begin);
  return report(is_half(weight.dtype()) ? wanted.to(f32) : wanted);
}

SinusoidalPositions::SinusoidalPositions(std::int64_t context, std::int64_t d_model,
                                         const SinusoidalOptions& options)
    : Module("SinusoidalPositions") {
  expect_positive("SinusoidalPositions", "context", context);
  expect_positive("SinusoidalPositions", "d_model", d_model);
  check(d_model % 2 == 0, "SinusoidalPositions: expects an even d_model for pairs of sine and cosine, got {}",
        d_model);
  table = buffer("table", waves(context, d_model, options.waves), /*persistent=*/false);
}

Tensor SinusoidalPositions::operator()(std::int64_t length, std::int64_t begin) const {
  const Scope scope(path());
  return report(rows("SinusoidalPositions", table, length, begin));
}

}  // namespace gradus::nn
