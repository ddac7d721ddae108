#pragma once
// near: a number that may differ by a share of itself.

#include <doctest/doctest.h>

namespace gradus::test {

/// `CHECK(deviation == near(0.02, 0.05));` within 5 % of 0.02, which must not be 0. doctest's own
/// Approx(v).epsilon(e) allows e (1 + |v|): next to it every small number is the same.
inline doctest::Approx near(double value, double share = 1e-5) {
  return doctest::Approx(value).epsilon(share).scale(0);
}

}  // namespace gradus::test
