#include "gradus/core/check.h"

#include <doctest/doctest.h>

#include <limits>

using namespace gradus;

namespace {

template <class... Args>
std::string message(detail::MessageFor<Args...> text, const Args&... args) {
  try {
    fail_with<Args...>(text, args...);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("check: a message prints every kind of argument") {
  CHECK(message("{} {} {}", Shape{2, 3}, DType::f64, Shape{}) == "[2, 3] f64 []");
  CHECK(message("{} {} {} {}", true, 'c', "text", std::string("more")) == "true c text more");
  CHECK(message("{} {} {}", -3, std::size_t{7}, std::numeric_limits<std::uint64_t>::max()) ==
        "-3 7 18446744073709551615");
  CHECK(message("{} {} {} {}", 0.1F, 0.1, 1e300, std::numeric_limits<double>::infinity()) ==
        "0.1 0.1 1e+300 inf");
  CHECK(message("{} {} {} {}", Int(5), Scalar(2.5), Scalar(INT64_MAX), Scalar(false)) ==
        "5 2.5 9223372036854775807 false");
  CHECK(message("{:.3g} {:04X} {{}}", 2.0 / 3, 255) == "0.667 00FF {}");
  CHECK(message("{1} {0} {1}", 1, 2) == "2 1 2");
}

TEST_CASE("check: throws unless the condition holds") {
  check(true, "not this: {}", 1);
  check_input(true, "nor this");
  CHECK_THROWS_WITH_AS(check(1 > 2, "eye: expects n > {}", 2), "eye: expects n > 2", Error);
  CHECK_THROWS_WITH_AS(check_input(false, "--steps: expects 1"), "--steps: expects 1", Error);
  CHECK_THROWS_WITH_AS(fail_input_with("{}: is empty", "a.txt"), "a.txt: is empty", Error);
}
