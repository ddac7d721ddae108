#include "gradus/core/io/state_dict.h"

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

TEST_CASE("StateDict: a clone has values of its own, and an undefined tensor stays undefined") {
  const StateDict dict{{"w", tensor({1.0, 2.0})}, {"none", Tensor()}};
  const StateDict copy = dict.clone();
  CHECK(copy.size() == 2);
  CHECK_FALSE(copy.at("none").defined());
  copy.at("w").fill_(7);
  CHECK(dict.at("w").to_vector<double>() == std::vector<double>{1, 2});
}

TEST_CASE("StateDict: prefixes are added and removed; a missing name is an error that lists five") {
  StateDict dict;
  for (int i = 0; i < 4; ++i) dict.set(std::to_string(i), tensor(i));
  dict.add_all("a.", {{"x", tensor(8)}});
  const StateDict part = dict.with_prefix_removed("a.");
  CHECK(part.size() == 1);
  CHECK(part.at("x").item() == 8);
  check_error([&] { dict.at("\x1b"); }, "StateDict: no entry '?': it holds 0, 1, 2, 3, a.x");
  dict.set("b", tensor(9));
  check_error([&] { dict.at("c"); }, "StateDict: no entry 'c': it holds 0, 1, 2, 3, a.x, ... (6 in all)");
  check_error([] { StateDict().at("c"); }, "StateDict: no entry 'c': it holds nothing");
}
