// The smallest part of a failing graph that still fails.

#include <algorithm>

#include "gradus/core/error.h"
#include "reliability/graphs/run.h"

namespace gradus::test::graphs {

std::string difference(const std::vector<Step>& steps) {
  Run run;
  try {
    for (const Step& p : steps) {
      for (const Ref ref : p.inputs)
        if (!run.interpreter().at(ref).defined) return "";
      const Run::Result result = run.step(p);
      if (result == Run::Result::unstable) return "";  // not this graph any more
      if (result == Run::Result::ended) return "";
    }
    run.finish();
  } catch (const Mismatch& mismatch) {
    return mismatch.what;
  }
  return "";
}

namespace {

/// The steps without those that `gone` marks; the inputs of the others get their new new_places.
std::vector<Step> without(const std::vector<Step>& steps, std::vector<bool> gone) {
  std::vector<int> new_places(steps.size());
  std::vector<Step> left;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Step p = steps[i];
    const std::size_t first_wanted = p.seeded ? 2 : 1;
    for (std::size_t k = p.inputs.size(); k-- > 0;) {
      if (gone[sz(p.inputs[k].step)]) {
        if (p.kind == Kind::gradient && k >= first_wanted && p.inputs.size() > first_wanted + 1)
          p.inputs.erase(p.inputs.begin() + static_cast<std::ptrdiff_t>(k));  // its results move up
        else
          gone[i] = true;
      }
      if (gone[i]) break;
    }
    if (gone[i]) continue;
    for (Ref& ref : p.inputs) ref.step = new_places[sz(ref.step)];
    new_places[i] = static_cast<int>(left.size());
    left.push_back(p);
  }
  return left;
}

/// The values that step i has in the graph, as a leaf; nothing if it has no single one.
bool as_leaf(const std::vector<Step>& steps, std::size_t i, Step& leaf) {
  Run run;
  try {
    for (std::size_t k = 0; k <= i; ++k)
      if (run.step(steps[k]) != Run::Result::done) return false;
  } catch (const Mismatch&) {
    return false;
  }
  const auto& results = run.interpreter().values[i];
  if (results.size() != 1 || !results[0].defined) return false;
  leaf = {.kind = Kind::leaf, .shape = results[0].shape, .dtype = results[0].dtype};
  for (std::size_t k = 0; k < results[0].cells.size(); ++k)
    leaf.values.push_back(run.interpreter().cell(results[0], k));
  return true;
}

bool outputs_fit(const std::vector<Step>& steps) {
  Run run;
  try {
    for (const Step& p : steps) {
      for (const Ref ref : p.inputs)
        if (sz(ref.step) >= run.interpreter().values.size() ||
            sz(ref.output) >= run.interpreter().values[sz(ref.step)].size())
          return false;
      if (run.step(p) != Run::Result::done) return true;
    }
  } catch (const Mismatch&) {
  } catch (const Error&) {
    return false;
  }
  return true;
}

bool fails(const std::vector<Step>& steps) { return outputs_fit(steps) && !difference(steps).empty(); }

}  // namespace

std::vector<Step> shrunk(std::vector<Step> steps) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    const auto keep = [&](std::vector<Step> part) {
      if (!fails(part)) return false;
      steps = std::move(part);
      return smaller = true;
    };
    for (std::size_t i = steps.size(); i-- > 0;) {
      if (i >= steps.size()) continue;
      std::vector<bool> gone(steps.size());
      gone[i] = true;
      if (keep(without(steps, gone))) continue;
      Step leaf;
      if (steps[i].kind == Kind::op && as_leaf(steps, i, leaf)) {
        std::vector<Step> part = steps;
        part[i] = leaf;
        if (keep(part)) continue;
      }
      for (bool Step::*option : {&Step::no_grad, &Step::checkpoint, &Step::retain_graph}) {
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
