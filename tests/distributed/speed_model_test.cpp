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
  const speed::Profile twice = profile.with_tokens(20);
  CHECK(twice.computing() == doctest::Approx(2 * 6 + 1));
  CHECK(twice.arrivals[1].seconds == doctest::Approx(4));
}
