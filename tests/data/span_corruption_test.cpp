#include "gradus/data/span_corruption.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/data/loader.h"
#include "gradus/ops/ops.h"

namespace gradus::test {

namespace {

using Ids = std::vector<std::int64_t>;

constexpr std::int64_t kSentinel = 999;

/// The text from which source and target were made; throws if they do not have T5's form.
Ids put_together(const data::CorruptedText& made) {
  Ids source = made.source.to_vector<std::int64_t>(), target = made.target.to_vector<std::int64_t>();
  REQUIRE(source.back() == 1);
  REQUIRE(target.back() == 1);
  source.pop_back();
  target.pop_back();
  REQUIRE(target.front() == kSentinel);
  REQUIRE(source.front() < 900);  // a text does not begin with a span
  REQUIRE(source.back() > 900);   // but ends with one
  Ids text;
  std::size_t at = 0;
  std::int64_t next = kSentinel;
  for (const std::int64_t token : source) {
    if (token < 900) {
      text.push_back(token);
      continue;
    }
    REQUIRE(token == next);
    REQUIRE(target[at++] == next--);
    const std::size_t before = text.size();
    while (at < target.size() && target[at] < 900) text.push_back(target[at++]);
    REQUIRE(text.size() > before);
  }
  CHECK(at == target.size());
  return text;
}

}  // namespace

TEST_CASE("span_corruption: source and target together are the text, with T5's sizes") {
  Generator generator(1);
  for (const std::int64_t length : {2, 3, 7, 20, 100, 512}) {
    const Tensor ids = arange(length) + 10;
    for (int i = 0; i < 20; ++i) {
      const data::CorruptedText made = data::span_corruption(ids, {.sentinel = kSentinel}, generator);
      CHECK(put_together(made) == ids.to_vector<std::int64_t>());
      const std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> noise_and_spans{
          {2, {1, 1}}, {3, {1, 1}}, {7, {1, 1}}, {20, {3, 1}}, {100, {15, 5}}, {512, {77, 26}}};
      const auto [noise, spans] = noise_and_spans.at(length);
      CHECK(made.source.size(0) == length - noise + spans + 1);
      CHECK(made.target.size(0) == noise + spans + 1);
    }
  }
}

TEST_CASE("span_corruption: all cuts are equally likely, and the generator decides") {
  Generator generator(2);
  std::map<Ids, int> counts;
  const Tensor ids = arange(8) + 10;  // 4 tokens in 2 spans, 4 left in 2 pieces: 3 times 3 ways
  const data::SpanCorruptionOptions options{.noise_density = 0.5, .mean_span = 2, .sentinel = kSentinel};
  for (int i = 0; i < 9000; ++i)
    ++counts[data::span_corruption(ids, options, generator).target.to_vector<std::int64_t>()];
  CHECK(counts.size() == 9);
  for (const auto& [target, count] : counts) CHECK(count == doctest::Approx(1000).epsilon(0.15));
  Generator one(3), two(3);
  const Tensor text = arange(200);
  for (int i = 0; i < 3; ++i)
    CHECK((data::span_corruption(text, {.sentinel = kSentinel}, one).source ==
           data::span_corruption(text, {.sentinel = kSentinel}, two).source)
              .all());
}

TEST_CASE("span_corruption: in a program") {
  manual_seed(3);
  // [corrupt]
  const Tensor ids = tensor({21, 22, 23, 24, 25, 26, 27, 28, 29, 30});
  const auto [source, target] =
      data::span_corruption(ids, {.noise_density = 0.4, .mean_span = 2, .sentinel = 999});
  // source: 21 22 23 999 25 26 27 998 1    target: 999 24 998 28 29 30 1
  // [/corrupt]
  CHECK((source == tensor({21, 22, 23, 999, 25, 26, 27, 998, 1})).all());
  CHECK((target == tensor({999, 24, 998, 28, 29, 30, 1})).all());
}

TEST_CASE("span_corruption: without an end; spans that would not fit") {
  Generator generator(4);
  const Tensor ids = arange(4);
  const auto made = data::span_corruption(
      ids, {.noise_density = 0.7, .mean_span = 1, .sentinel = kSentinel, .end = std::nullopt}, generator);
  CHECK((made.source == tensor({0, 999})).all());  // 3 tokens out, 1 left: one span
  CHECK((made.target == tensor({999, 1, 2, 3})).all());
}

TEST_CASE("span_corruption: in a loader, padded") {
  const Tensor text = arange(60) + 10;
  const auto item = [&](std::int64_t i, Generator& generator) {
    return data::span_corruption(text.slice(0, 0, 10 * (i + 1)), {.sentinel = kSentinel}, generator);
  };
  data::DataLoader loader(6, item, {.batch_size = 3, .pad = {0}, .generator = Generator(1)});
  std::int64_t number = 0;
  for (const auto& [source, target] : loader)
    for (std::int64_t row = 0; row < 3; ++row) {
      const Tensor s = source[row], t = target[row];
      const Tensor whole = text.slice(0, 0, 10 * ++number);
      CHECK(put_together({s[s != 0], t[t != 0]}) == whole.to_vector<std::int64_t>());
    }
  CHECK(number == 6);
}

TEST_CASE("span_corruption: sentinels at the limits of int64") {
  Generator generator(5);
  const Tensor ids = arange(20) + 10;
  const data::SpanCorruptionOptions options{.mean_span = 1, .sentinel = INT64_MAX, .end = INT64_MIN};
  CHECK(data::span_corruption(ids, options, generator).target[0].item<std::int64_t>() == INT64_MAX);
  const auto lowest = data::span_corruption(ids, {.mean_span = 1, .sentinel = 2, .end = 3}, generator);
  CHECK((lowest.target == 0).any());
}

TEST_CASE("span_corruption: errors") {
  const Tensor ids = arange(30);
  check_error([] { data::span_corruption(tensor({1}), {.sentinel = 9}); },
              "span_corruption: expects ids [T] of i64 with T of 2 or more, got i64 [1]");
  check_error([] { data::span_corruption(ones({5}), {.sentinel = 9}); },
              "span_corruption: expects ids [T] of i64 with T of 2 or more, got f32 [5]");
  check_error([] { data::span_corruption(Tensor(), {.sentinel = 9}); },
              "span_corruption: expects ids [T] of i64 with T of 2 or more, got an undefined tensor");
  check_error(
      [] {
        data::span_corruption(ones({5, 2}, i64), {.sentinel = 9});
      },
      "span_corruption: expects ids [T] of i64 with T of 2 or more, got i64 [5, 2]");
  check_error([&] { data::span_corruption(ids, {.noise_density = 1, .sentinel = 99}); },
              "span_corruption: expects a noise_density between 0 and 1, got 1");
  check_error([&] { data::span_corruption(ids, {.mean_span = 0.5, .sentinel = 99}); },
              "span_corruption: expects a mean_span of 1 or more, got 0.5");
  check_error([&] { data::span_corruption(ids, {.mean_span = INFINITY, .sentinel = 99}); },
              "span_corruption: expects a mean_span of 1 or more, got inf");
  check_error([&] { data::span_corruption(ids, {}); },
              "span_corruption: expects a sentinel of 0 or more, because each of 1 spans needs one, got -1: "
              "in T5's vocabulary it is 32099");
  check_error([&] { data::span_corruption(ids, {.sentinel = INT64_MIN}); },
              "span_corruption: expects a sentinel of 0 or more, because each of 1 spans needs one, got "
              "-9223372036854775808: in T5's vocabulary it is 32099");
  check_error([&] { data::span_corruption(ids, {.sentinel = 29}); },
              "span_corruption: ids contain tokens from 29 to 29, the sentinels of the spans: use a shorter "
              "text, or another sentinel");
  for (const std::int64_t end : {97, 98, 99})
    check_error([&] { data::span_corruption(ids, {.mean_span = 1.5, .sentinel = 99, .end = end}); },
                "span_corruption: 3 spans need the sentinels 97 to 99, and " + std::to_string(end) +
                    " is the end: use a shorter text, or a higher sentinel");
  for (const std::int64_t end : {96, 100})
    CHECK_NOTHROW(data::span_corruption(ids, {.mean_span = 1.5, .sentinel = 99, .end = end}));
}

}  // namespace gradus::test
