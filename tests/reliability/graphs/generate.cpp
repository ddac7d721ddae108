#include "reliability/graphs/generate.h"

#include <set>

#include "reliability/graphs/cases.h"

namespace gradus::test::graphs {

namespace {

template <class... Lists>
std::vector<OpCase> together(Lists... lists) {
  std::vector<OpCase> all;
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

class Generator {
 public:
  Generator(std::uint64_t seed, Run& run, std::vector<Step>& steps)
      : draw_(seed, run, steps), run_(run), steps_(steps) {}

  void graph() {
    writes_ = draw_.chance(0.4);
    draw_.set_single(draw_.chance(0.5) ? 0 : draw_.chance(0.5) ? 1 : 0.3);
    for (std::int64_t i = draw_.between(1, 3); i > 0; --i) {
      Step p;
      draw_.add_new(p, draw_.any_shape(0, 3, 12, true), draw_.floating(), -2, 2);
    }
    grow(static_cast<std::size_t>(draw_.between(8, 30)));
    if (!writes_ && draw_.chance(0.7)) {
      pass(Kind::gradient, true);
      grow(steps_.size() + static_cast<std::size_t>(draw_.between(1, 6)));
    }
    if (draw_.chance(0.7))
      pass(Kind::backward, false);
    else
      pass(Kind::gradient, writes_ && draw_.chance(0.2));
    if (draw_.chance(0.3)) pass(Kind::backward, false);
    if (!draw_.ended()) run_.finish();
  }

 private:
  void grow(std::size_t until) {
    for (int tries = 0; steps_.size() < until && tries < 200 && !draw_.ended(); ++tries) one_step();
  }

  void one_step() {
    const std::int64_t kind = draw_.below(100);
    if (writes_ && kind < 15) return write();
    if (kind < 21) return hook();
    if (kind < 25) return pass(draw_.chance(0.5) ? Kind::backward : Kind::gradient, false);
    Step p;
    const auto& cases = op_cases();
    p.op = &cases[sz(draw_.below(static_cast<std::int64_t>(cases.size())))];
    if (!p.op->draw(draw_, p)) return;
    p.no_grad = draw_.chance(0.04);
    p.checkpoint = !p.no_grad && p.op->memory == OpCase::Memory::fresh && single(*p.op) && draw_.chance(0.05);
    const bool product = p.op->name == "matmul" || p.op->name == "linear";
    p.autocast = !rounds_otherwise(p) && draw_.chance(product ? 0.5 : 0.1);
    draw_.emit(p);
  }

  static bool single(const OpCase& op) {
    static const std::set<std::string> pairs{"sort", "topk", "max_with_indices", "min_with_indices"};
    return pairs.count(op.name) == 0;
  }

  /// Under Autocast these round what the interpreter does not have: weights of attention before they are
  /// divided by their sum; the intermediate products of einsum; and, since a checkpoint runs its function
  /// again for a second derivative, the gradient of gelu's input in two parts.
  static bool rounds_otherwise(const Step& p) {
    const std::string& name = p.op->name;
    return name == "einsum" || name == "linear_cross_entropy" ||
           name.find("attention") != std::string::npos ||
           (p.checkpoint && p.op->text.find("gelu") != std::string::npos);
  }

  void write() {
    Step p{.kind = Kind::write};
    p.op = &writes()[sz(draw_.below(static_cast<std::int64_t>(writes().size())))];
    if (!p.op->draw(draw_, p)) return;
    p.no_grad = draw_.chance(0.9);
    draw_.emit(p);
  }

  void hook() {
    const std::vector<Ref> taped = draw_.all([](const Value& x) { return x.taped(); });
    if (taped.empty()) return;
    Step p{.inputs = {draw_.one_of(taped)}};
    const std::int64_t kind = draw_.below(8);
    p.kind = kind < 5 ? Kind::hook : kind < 7 ? Kind::retain : Kind::zero_grad;
    p.n = draw_.below(draw_.chance(0.2) ? 4 : 3);
    p.a = draw_.number(-1, 2);
    draw_.emit(p);
  }

  /// A number made of several values that were not used yet, or any value with a gradient of its own.
  void pass(Kind kind, bool create_graph) {
    if (draw_.ended()) return;
    Step p{.kind = kind, .create_graph = create_graph};
    const std::vector<Ref> taped = draw_.all([](const Value& x) { return x.taped(); });
    if (taped.empty()) return;
    if (draw_.chance(create_graph ? 0.7 : 0.4)) {
      p.inputs = {draw_.one_of(taped)};
      p.seeded = draw_.chance(0.8);
      if (p.seeded) {
        const Value root = draw_.value(p.inputs[0]);
        draw_.add_like(p, root.shape, root.dtype);
      }
    } else {
      std::optional<Ref> total;
      for (const Ref ref : loose(taped)) {
        std::optional<Ref> part = result({.op = &op_named("sum"), .inputs = {ref}});
        if (part && draw_.value(*part).dtype != DType::f64)
          part = result({.op = &op_named("to"), .inputs = {*part}});
        if (part && total)
          part = result({.op = &op_named("operator+", "x[0] + x[1]"), .inputs = {*total, *part}});
        if (part) total = part;
      }
      if (!total) return;
      p.inputs = {*total};
    }
    p.retain_graph = create_graph || draw_.chance(0.6);
    if (kind == Kind::gradient) {
      const std::vector<bool> leads = run_.interpreter().leads_to(draw_.value(p.inputs[0]).node);
      const std::vector<Ref> used = draw_.all([&](const Value& x) { return x.taped() && leads[sz(x.node)]; });
      for (std::int64_t i = draw_.between(1, 3); i > 0; --i)
        p.inputs.push_back(draw_.any(draw_.chance(0.9) ? used : taped));
    }
    draw_.emit(p);
  }

  /// The result of a step, unless it is unstable.
  std::optional<Ref> result(const Step& p) {
    if (!draw_.emit(p)) return {};
    return Ref{static_cast<int>(steps_.size()) - 1, 0};
  }

  /// Up to six of them that no step has used.
  std::vector<Ref> loose(const std::vector<Ref>& taped) {
    std::set<std::pair<int, int>> used;
    for (const Step& step : steps_)
      for (const Ref ref : step.inputs) used.insert({ref.step, ref.output});
    std::vector<Ref> found;
    for (const Ref ref : taped)
      if (used.count({ref.step, ref.output}) == 0 && found.size() < 6) found.push_back(ref);
    if (found.empty()) found.push_back(draw_.one_of(taped));
    return found;
  }

  Draw draw_;
  Run& run_;
  std::vector<Step>& steps_;
  bool writes_ = false;
};

}  // namespace

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> all =
      together(elementwise_cases(), binary_cases(), reduction_cases(), order_cases(), view_cases(),
               join_cases(), index_cases(), product_cases(), norm_cases(), attention_cases(), loss_cases());
  return all;
}

const std::vector<OpCase>& writes() {
  static const std::vector<OpCase> all = write_cases();
  return all;
}

const OpCase& op_named(const std::string& name, const std::string& text) {
  for (const OpCase& op : op_cases())
    if (op.name == name && (text.empty() || op.text == text)) return op;
  throw Mismatch{"there is no op " + name};
}

std::optional<Failure> failure_of(std::uint64_t seed, std::vector<Step>* done) {
  std::vector<Step> steps;
  Run run;
  try {
    Generator(seed, run, steps).graph();
  } catch (const Mismatch& mismatch) {
    return Failure{steps, mismatch.what};
  }
  if (done) *done = steps;
  return {};
}

}  // namespace gradus::test::graphs
