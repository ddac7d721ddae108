// The model of a data-parallel step (speed/model.h).

#include <doctest/doctest.h>

#include "distributed/speed/model.h"
#include "gradus/distributed/detail/layout.h"
#include "gradus/gradus.h"

using namespace gradus;

namespace {

/// Four gradients of 1000 elements, each a second after the one before, from the last to the first.
speed::Profile four_gradients() {
  return {.model = "four",
          .tokens = 10,
          .forward = 2,
          .backward = 4,
          .rest = 1,
          .memory_speed = 1e30,
          .sizes = {1000, 1000, 1000, 1000},
          .arrivals = {{3, 1}, {2, 2}, {1, 3}, {0, 4}}};
}

}  // namespace

TEST_CASE("speed model: the fit finds a latency and a bandwidth, and how far it is off") {
  std::vector<speed::Measured> points;
  for (double bytes = 64; bytes < 1e8; bytes *= 8) points.push_back({bytes, 5e-6 + bytes / 2e9});
  const speed::Fit exact = speed::fit(points);
  CHECK(exact.cost.latency == doctest::Approx(5e-6));
  CHECK(exact.cost.per_byte == doctest::Approx(0.5e-9));
  CHECK(exact.worst < 1e-9);
  points[3].seconds *= 1.5;
  const speed::Fit off = speed::fit(points);
  CHECK(off.worst > 0.25);
  CHECK(off.rms < off.worst);
  CHECK(speed::fit({{1, 2}, {1000, 1}}).cost.per_byte == 0);  // never negative
  CHECK_THROWS_WITH(speed::fit({{8, 1}, {8, 2}}), "fit: expects times of two sizes at least");
}

TEST_CASE("speed model: buckets are those of DataParallel") {
  const speed::Profile profile{.sizes = {5000, 30, 700, 9000, 4, 1200, 64}};
  std::vector<Tensor> parameters;
  for (const std::int64_t size : profile.sizes) parameters.push_back(zeros({size}));
  for (const std::int64_t bytes : {1, 100, 5000, 20000, 1 << 20}) {
    const distributed::detail::Layout layout(parameters, bytes, 2);
    const std::vector<speed::Bucket> buckets = speed::buckets_of(profile, bytes);
    REQUIRE(buckets.size() == layout.buckets().size());
    for (std::size_t b = 0; b < buckets.size(); ++b)
      CHECK(buckets[b].bytes == 4.0 * static_cast<double>(layout.buckets()[b].slices.size()));
  }
}

TEST_CASE("speed model: a network sends while backward computes; a processor cannot") {
  const speed::Profile profile = four_gradients();
  const std::vector<speed::Bucket> buckets = speed::buckets_of(profile, 8000);  // two of two gradients
  REQUIRE(buckets.size() == 2);
  CHECK(buckets[0].ready == 2);
  CHECK(buckets[1].ready == 4);
  const speed::Cost second{0, 1.0 / 8000};  // a bucket a second
  CHECK(speed::predict(profile, buckets, second, 0, true).total == doctest::Approx(7 + 1));
  CHECK(speed::predict(profile, buckets, second, 0, false).total == doctest::Approx(7 + 2));
  const speed::Cost slow{0.5, 3.0 / 8000};  // the second waits for the first until 2 + 3
  CHECK(speed::predict(profile, buckets, slow, 0, true).total == doctest::Approx(2 + 2 + 3 + 3 + 0.5 + 1));
  CHECK(speed::predict(profile, 8000, {0, 0}, 64).efficiency() == doctest::Approx(1));
  // On four ranks a bucket takes 2 log2 4 latencies and 2 * 3/4 of its bytes.
  const speed::Cost tree = speed::of_tree({0.25, 1.0 / 8000}, 4);
  CHECK(tree(8000) == doctest::Approx(4 * 0.25 + 1.5));
}

TEST_CASE("speed model: sizes and order of the gradients are those of a GPT") {
  const nn::GPT gpt({.vocab = 50, .context = 8, .layers = 3, .block = {.d_model = 16, .heads = 2}});
  const std::vector<Tensor> parameters = gpt.parameters();
  const speed::Profile profile = speed::profile_of({"small", 50, 8, 3, 16}, {1e9, 1e9, 1e-9}, 16);
  std::vector<std::int64_t> sizes;
  for (const Tensor& parameter : parameters) sizes.push_back(parameter.numel());
  CHECK(profile.sizes == sizes);
  CHECK(profile.arrivals.back().seconds == doctest::Approx(profile.backward));

  std::vector<std::int64_t> order, expected;  // layers, from the final norm, 3, down to the embeddings, -1
  const auto layer_of = [](std::size_t i) { return i < 2 ? -1 : (static_cast<std::int64_t>(i) - 2) / 12; };
  const auto add = [](std::vector<std::int64_t>& to, std::int64_t layer) {
    if (to.empty() || to.back() != layer) to.push_back(layer);
  };
  for (const speed::Profile::Arrival& arrival : profile.arrivals) add(expected, layer_of(arrival.parameter));
  std::size_t last = 0;
  const Tensor ids = randint(0, 50, {2, 8});
  {
    const EarlyGrads early([&](Node& leaf) {
      for (std::size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].node().get() == &leaf) add(order, layer_of(last = i));
    });
    gpt.loss(ids, randint(0, 50, {2, 8})).backward();
  }
  CHECK(order == expected);
  CHECK(last == 0);  // the token embedding, which the head shares
}
