// Random graphs over all ops, with views, writes in place, hooks, checkpoints and derivatives of derivatives:
// the library and the interpreter in graphs/ agree on each value, gradient and error. The seed differs from
// run to run and is printed; GRADUS_GRAPHS=100000 GRADUS_SEED=7 runs as many from that seed on, and
// GRADUS_GRAPHS=1 repeats one.

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "reliability/graphs/cases.h"
#include "reliability/graphs/generate.h"
#include "support.h"

namespace gradus::test {

namespace {

/// Ops of ops.h that no graph uses, and why.
const std::map<std::string, std::string> kNotInGraphs = {
    {"multinomial",
     "draws random indices: no value to predict and no gradient; tests/ops/reduce/sample_test.cpp"},
    {"alibi_slopes", "returns numbers, no tensor; part of attention here"},
};

}  // namespace

TEST_CASE("graphs: the library and the interpreter agree on random graphs") {
  const std::uint64_t count = number_or("GRADUS_GRAPHS", 10'000);
  const std::uint64_t seed = seed_of_this_run();
  MESSAGE(count << " graphs; to repeat: GRADUS_GRAPHS=" << count << " GRADUS_SEED=" << seed);
  std::size_t steps = 0;
  int failures = 0;
  for (std::uint64_t i = 0; i < count && failures < 5; ++i) {
    std::vector<graphs::Step> done;
    const std::optional<graphs::Failure> failure = graphs::failure_of(seed + i, &done);
    steps += done.size();
    if (!failure) continue;
    ++failures;
    std::vector<graphs::Step> shrunk = graphs::shrunk(failure->steps);
    std::string what = graphs::difference(shrunk);
    if (what.empty()) {
      shrunk = failure->steps;
      what = failure->what;
    }
    FAIL_CHECK("GRADUS_GRAPHS=1 GRADUS_SEED=" << seed + i << ": " << what << "\n" << graphs::program(shrunk));
  }
  if (failures == 0 && count >= 100) CHECK(steps > 20 * count);  // fewer: most steps were refused
}

TEST_CASE("graphs: every op of ops.h and every operator is in the graphs") {
  std::set<std::string> used;
  for (const graphs::OpCase& op : graphs::op_cases()) used.insert(op.name);
  std::ifstream stream(source_file("ops/ops.h"));
  const std::string header{std::istreambuf_iterator<char>(stream), {}};
  const std::regex declaration(R"(\n(?:Tensor|TensorList|bool|std::\w+<[^>\n]*>) (\w+)\()");
  int ops = 0;
  for (std::sregex_iterator match(header.begin(), header.end(), declaration), last; match != last; ++match) {
    const std::string op = (*match)[1];
    CHECK_MESSAGE(used.count(op) + kNotInGraphs.count(op) == 1,
                  "add a case for " << op << " to graphs/cases_*.cpp");
    ++ops;
  }
  std::ifstream operators(source_file("core/tensor.h"));
  const std::string text{std::istreambuf_iterator<char>(operators), {}};
  const std::regex declared(R"(\nTensor (operator\S+)\()");
  for (std::sregex_iterator match(text.begin(), text.end(), declared), last; match != last; ++match) {
    CHECK_MESSAGE(used.count((*match)[1]) == 1,
                  "add a case for " << (*match)[1].str() << " to graphs/cases_*.cpp");
    ++ops;
  }
  CHECK(ops > 140);  // fewer: the patterns no longer find them
}

TEST_CASE("graphs: random graphs use every case, and every kind of step") {
  std::set<graphs::Kind> kinds;
  std::set<const graphs::OpCase*> cases;
  int second_derivatives = 0, checkpoints = 0, products_in_bf16 = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::vector<graphs::Step> steps;
    graphs::failure_of(seed, &steps);
    std::vector<bool> of_gradients(steps.size());  // made of gradients on the tape
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const graphs::Step& step = steps[i];
      kinds.insert(step.kind);
      if (step.op) cases.insert(step.op);
      checkpoints += step.checkpoint;
      products_in_bf16 += step.autocast && (step.op->name == "matmul" || step.op->name == "linear");
      of_gradients[i] = step.create_graph;
      if (step.inputs.empty()) continue;
      const bool root = of_gradients[graphs::sz(step.inputs[0].step)];
      if (step.kind == graphs::Kind::op && root) of_gradients[i] = true;
      second_derivatives +=
          root && (step.kind == graphs::Kind::backward || step.kind == graphs::Kind::gradient);
    }
  }
  CHECK(kinds.size() == 8);
  CHECK(second_derivatives > 15);
  CHECK(checkpoints > 15);
  CHECK(products_in_bf16 > 15);
  CHECK(cases.size() > (graphs::op_cases().size() + graphs::writes().size()) * 95 / 100);
}

}  // namespace gradus::test
