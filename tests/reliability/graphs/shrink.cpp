// The smallest part of a failing graph that still fails.

#include <algorithm>

#include "reliability/graphs/run.h"

namespace gradus::test::graphs {

std::string difference(const std::vector<Step>& steps) {
  Run run;
  const auto& values = run.interpreter().values;
  try {
    for (const Step& p : steps) {
      for (const Ref ref : p.inputs)
        if (sz(ref.output) >= values[sz(ref.step)].size() || !run.interpreter().at(ref).defined) return "";
      if (run.step(p) != Run::Result::done) return "";
    }
    run.finish();
  } catch (const Mismatch& mismatch) {
    return mismatch.what;
  }
  return "";
}

namespace {

/// Whether a later step uses a result of step i, number `output` or a later one.
bool is_used(const std::vector<Step>& steps, std::size_t i, int output) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& p) {
    return std::any_of(p.inputs.begin(), p.inputs.end(),
                       [&](Ref ref) { return sz(ref.step) == i && ref.output >= output; });
  });
}

/// The steps without step i and those that need it. A grad may do with fewer wanted tensors.
std::vector<Step> without(const std::vector<Step>& steps, std::size_t i) {
  std::vector<int> places(steps.size(), -1);  // in the result; -1: not there
  std::vector<Step> left;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    Step p = steps[k];
    bool gone = k == i;
    const std::size_t first_wanted = p.seeded ? 2 : 1;
    for (std::size_t j = p.inputs.size(); j-- > 0;) {
      if (places[sz(p.inputs[j].step)] >= 0) {
        p.inputs[j].step = places[sz(p.inputs[j].step)];
      } else if (p.kind == Kind::gradient && j >= first_wanted && p.inputs.size() > first_wanted + 1 &&
                 !is_used(steps, k, static_cast<int>(j - first_wanted))) {
        p.inputs.erase(p.inputs.begin() + static_cast<std::ptrdiff_t>(j));
      } else {
        gone = true;
        break;
      }
    }
    if (gone) continue;
    places[k] = static_cast<int>(left.size());
    left.push_back(p);
  }
  return left;
}

/// The steps with the values of step i as a leaf; none if it has no single result.
std::vector<Step> with_leaf(std::vector<Step> steps, std::size_t i) {
  Run run;
  for (std::size_t k = 0; k <= i; ++k) run.step(steps[k]);
  const auto& results = run.interpreter().values[i];
  if (results.size() != 1 || !results[0].defined) return {};
  Step leaf{.kind = Kind::leaf, .shape = results[0].shape, .dtype = results[0].dtype};
  for (std::size_t k = 0; k < results[0].cells.size(); ++k)
    leaf.values.push_back(run.interpreter().cell(results[0], k));
  steps[i] = leaf;
  return steps;
}

}  // namespace

std::vector<Step> shrunk(std::vector<Step> steps) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    const auto keep = [&](const std::vector<Step>& part) {
      if (difference(part).empty()) return false;
      steps = part;
      return smaller = true;
    };
    for (std::size_t i = steps.size(); i-- > 0;) {
      if (i >= steps.size() || keep(without(steps, i))) continue;
      if (steps[i].kind == Kind::op && i + 1 < steps.size() && keep(with_leaf(steps, i))) continue;
      for (bool Step::*option : {&Step::no_grad, &Step::checkpoint, &Step::autocast, &Step::retain_graph}) {
        if (!(steps[i].*option)) continue;
        std::vector<Step> part = steps;
        part[i].*option = false;
        keep(part);
      }
    }
  }
  return steps;
}

}  // namespace gradus::test::graphs
