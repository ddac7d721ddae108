// What counts as a right number in an exercise.
#include "learn/grading/grading.h"

#include <cmath>

namespace gradus::learn {

TEST_CASE("grading: a number is near one within the tolerance, NaN near NaN, an infinity near itself") {
  const auto right = [](double got, double want) {
    return problems_of([=] { near("it", got, want, 1e-3); }, "", 1).empty();
  };
  CHECK(right(1.0015, 1));
  CHECK_FALSE(right(1.0025, 1));
  CHECK(right(NAN, NAN));
  CHECK_FALSE(right(1, NAN));
  CHECK_FALSE(right(NAN, 1));
  CHECK(right(INFINITY, INFINITY));
  CHECK_FALSE(right(1, INFINITY));
  CHECK_FALSE(right(-INFINITY, INFINITY));
  CHECK_FALSE(right(INFINITY, 1));
}

}  // namespace gradus::learn
