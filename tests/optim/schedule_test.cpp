#include "gradus/optim/schedule.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "check_op.h"
#include "near.h"

namespace gradus::test {

using test::near;
using namespace optim;

TEST_CASE("schedule: a number is the same rate at every step") {
  const Schedule lr = 0.25;
  CHECK(lr(1) == 0.25);
  CHECK(lr(1'000'000) == 0.25);
  CHECK(constant(3)(7) == 3);
}

TEST_CASE("schedule: any function of the step") {
  const Schedule halving = [](std::int64_t step) { return 1.0 / static_cast<double>(step); };
  CHECK(halving(4) == 0.25);
}

TEST_CASE("schedule: copies are equal, and so are equal numbers") {
  const Schedule a = 0.5, b = warmup_linear(1, 10), copy = b;
  CHECK(a == Schedule(0.5));
  CHECK(a != Schedule(0.25));
  CHECK(copy == b);
  CHECK(b != warmup_linear(1, 10));
  CHECK(a != b);
}

TEST_CASE("warmup_linear: proportional to the step, then the peak") {
  const Schedule lr = warmup_linear(0.4, 10);
  CHECK(lr(1) == near(0.04));
  CHECK(lr(5) == near(0.2));
  CHECK(lr(10) == 0.4);
  CHECK(lr(11) == 0.4);
  CHECK(warmup_linear(0.4, 0)(1) == 0.4);
}

TEST_CASE("noam: Vaswani et al.'s formula, with its maximum at the end of warm-up") {
  const Schedule lr = noam(512, 4000);
  for (const std::int64_t step : {1, 17, 3999, 4000, 4001, 100000}) {
    const double s = static_cast<double>(step);
    CHECK(lr(step) == near(std::pow(512, -0.5) * std::min(std::pow(s, -0.5), s * std::pow(4000, -1.5))));
  }
  CHECK(lr(4000) > lr(3999));
  CHECK(lr(4000) > lr(4001));
  CHECK(noam(512, 4000, 2)(9) == near(2 * lr(9)));
}

TEST_CASE("inverse_sqrt: reaches the peak at the end of warm-up, then halves in four times the steps") {
  const Schedule lr = inverse_sqrt(0.1, 100);
  CHECK(lr(50) == near(0.05));
  CHECK(lr(100) == near(0.1));
  CHECK(lr(400) == near(0.05));
  CHECK(inverse_sqrt(0.1, 0)(4) == near(0.05));
}

TEST_CASE(
    "warmup_cosine: peak after warm-up, half way between peak and floor in the middle, floor at the end") {
  const Schedule lr = warmup_cosine(1.0, 10, 110, 0.2);
  CHECK(lr(5) == near(0.5));
  CHECK(lr(10) == near(1.0));
  CHECK(lr(60) == near(0.6));
  CHECK(lr(110) == 0.2);
  CHECK(lr(1000) == 0.2);
  for (std::int64_t step = 11; step < 110; ++step) CHECK(lr(step) < lr(step - 1));
}

TEST_CASE("schedules: errors") {
  check_error([] { constant(-1.0); }, "constant: expects a rate of 0 or more, got -1");
  check_error([] { constant(NAN); }, "constant: expects a rate of 0 or more, got nan");
  for (const std::int64_t step : {0, -7})
    check_error([&] { warmup_linear(0.4, 10)(step); },
                "Schedule: expects a step of 1, the first update, or more, got " + std::to_string(step));
  check_error([] { warmup_cosine(0.1, 2, 10, 0.5); },
              "warmup_cosine: expects a floor of at most the peak, 0.1, got 0.5");
  check_error([] { warmup_cosine(1, 2, 10, NAN); }, "warmup_cosine: expects a rate of 0 or more, got nan");
  check_error([] { warmup_linear(-0.5, 3); }, "warmup_linear: expects a rate of 0 or more, got -0.5");
  check_error([] { warmup_linear(0.5, -3); }, "warmup_linear: expects 0 or more warm-up steps, got -3");
  check_error([] { noam(0, 3); }, "noam: expects d_model of 1 or more, got 0");
  check_error([] { noam(8, 0); }, "noam: expects 1 or more warm-up steps, got 0");
  check_error([] { inverse_sqrt(0.1, -1); }, "inverse_sqrt: expects 0 or more warm-up steps, got -1");
  check_error([] { warmup_cosine(1, 10, 10); },
              "warmup_cosine: expects a total of more steps than the 10 of warm-up, got 10");
}

}  // namespace gradus::test
