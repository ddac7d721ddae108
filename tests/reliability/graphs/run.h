#pragma once
// Carries out a graph step by step, with the library and with the interpreter, and compares them.

#include <memory>
#include <string>
#include <vector>

#include "reliability/graphs/interpreter.h"

namespace gradus::test::graphs {

/// The library and the interpreter disagree.
struct Mismatch {
  std::string what;
};

class Run {
 public:
  /// ended: an error, as predicted, after which the graph cannot go on.
  enum class Result { done, unstable, ended };

  /// Throws Mismatch. After `unstable` everything is as before.
  Result step(const Step& p);
  /// That every tensor still has its values and its gradient, and nothing stays on the tape.
  void finish();

  Interpreter& interpreter() { return naive_; }
  const Tensor& tensor(Ref ref) const { return tensors_[sz(ref.step)][sz(ref.output)]; }

 private:
  struct Observer {
    int node;
    std::size_t calls = 0;
    Array last = {};
  };
  Result leaf(const Step& p);
  Result op(const Step& p);
  Result write(const Step& p);
  Result hook(const Step& p);
  Result pass(const Step& p);
  void adopt(const Step& p, const std::vector<Value>& inputs, const Blocks& expected, const Tensors& xs,
             const Tensors& ys);
  void compare_accumulated(const Pass& pass);
  Value adopt_gradient(const Step& p, const Pass& pass, const Value& x, const Tensor& found);
  void compare_observed(const Pass& pass, const std::vector<std::size_t>& calls);
  std::vector<Value> inputs_of(const Step& p) const;
  Tensors tensors_of(const Step& p) const;
  void compare_all();

  Interpreter naive_;
  bool passed_ = false;  // the step's backward pass was made, and cannot be undone
  std::vector<Tensors> tensors_;
  std::vector<Tensor> handles_;  // of each node of the interpreter: where .grad() is read
  std::vector<std::shared_ptr<Observer>> observers_;
};

/// Runs the steps; what differs, or "", also if they are no graph.
std::string difference(const std::vector<Step>& steps);
/// The smallest part of a failing graph that still fails.
std::vector<Step> shrunk(std::vector<Step> steps);

}  // namespace gradus::test::graphs
