#include "gradus/data/span_corruption.h"

#include <algorithm>
#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/ops/ops.h"

namespace gradus::data {

namespace {

using Sizes = std::vector<std::int64_t>;

/// Cuts `items` into `pieces` of at least one, at random places between items; all ways are equally likely.
Sizes random_pieces(std::int64_t items, std::int64_t pieces, Generator& generator) {
  Sizes cuts = randperm(items - 1, generator).slice(0, 0, pieces - 1).to_vector<std::int64_t>();
  std::sort(cuts.begin(), cuts.end());
  cuts.push_back(items - 1);
  std::int64_t begin = 0;
  for (std::int64_t& cut : cuts) {  // replaced by the size of the piece before it
    const std::int64_t end = cut + 1;
    cut = end - begin;
    begin = end;
  }
  return cuts;
}

void expect_text(const Tensor& ids, const SpanCorruptionOptions& o) {
  check(ids.defined() && ids.dtype() == i64 && ids.dim() == 1 && ids.size(0) >= 2,
        "span_corruption: expects ids [T] of i64 with T of 2 or more, got {}",
        ids.defined() ? fmt::format("{} {}", ids.dtype(), ids.shape()) : "an undefined tensor");
  check(o.noise_density > 0 && o.noise_density < 1,
        "span_corruption: expects a noise_density between 0 and 1, got {}", o.noise_density);
  check(o.mean_span >= 1 && std::isfinite(o.mean_span),
        "span_corruption: expects a mean_span of 1 or more, got {}", o.mean_span);
}

void expect_sentinels(const Tensor& ids, const SpanCorruptionOptions& o, std::int64_t spans) {
  const std::int64_t first = o.sentinel;
  check(first >= spans - 1,
        "span_corruption: expects a sentinel of {} or more, because each of {} spans needs one, got {}: in "
        "T5's vocabulary it is 32099",
        spans - 1, spans, first);
  const Tensor taken = (ids <= first) & (ids > first - spans);
  check(!taken.any(),
        "span_corruption: ids contain tokens from {} to {}, the sentinels of the spans: use a shorter text, "
        "or another sentinel",
        first - spans + 1, first);
  check(!o.end || *o.end > first || *o.end <= first - spans,
        "span_corruption: {} spans need the sentinels {} to {}, and {} is the end: use a shorter text, or a "
        "higher sentinel",
        spans, first - spans + 1, first, o.end.value_or(0));
}

std::int64_t rounded(double x) { return static_cast<std::int64_t>(std::nearbyint(x)); }

}  // namespace

CorruptedText span_corruption(const Tensor& ids, const SpanCorruptionOptions& o, Generator& generator) {
  expect_text(ids, o);
  const std::int64_t length = ids.size(0);
  const std::int64_t noise =
      std::clamp<std::int64_t>(rounded(static_cast<double>(length) * o.noise_density), 1, length - 1);
  const std::int64_t spans = std::clamp<std::int64_t>(rounded(static_cast<double>(noise) / o.mean_span), 1,
                                                      std::min(noise, length - noise));
  expect_sentinels(ids, o, spans);
  const Sizes taken = random_pieces(noise, spans, generator);
  const Sizes left = random_pieces(length - noise, spans, generator);
  const std::vector<std::int64_t> text = ids.to_vector<std::int64_t>();
  std::vector<std::int64_t> source, target;
  auto at = text.begin();
  const auto move = [&](std::int64_t count, std::vector<std::int64_t>& to) {
    to.insert(to.end(), at, at + count);
    at += count;
  };
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const std::int64_t sentinel = o.sentinel - static_cast<std::int64_t>(i);
    move(left[i], source);
    source.push_back(sentinel);
    target.push_back(sentinel);
    move(taken[i], target);
  }
  if (o.end)
    for (std::vector<std::int64_t>* const made : {&source, &target}) made->push_back(*o.end);
  return {from_vector(source, {std::ssize(source)}), from_vector(target, {std::ssize(target)})};
}

}  // namespace gradus::data
