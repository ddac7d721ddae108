#pragma once
// Probe: measures activations, gradients, updates and attention logits, layer by layer.
//
//   nn::Probe probe;                 // watches what this thread computes until the end of the scope
//   model.loss(ids, targets).backward();
//   opt.step();
//   std::cout << probe.table();

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "gradus/nn/module/module.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

/// One layer in its latest forward pass; NaN if there was nothing to measure.
struct ProbeRow {
  std::string layer;             // its path
  double activation_norm = NAN;  // |y| of its output y [..., C]: root of the mean of |y_t|^2 over all t
  double activation_gradient_norm = NAN;  // |dL/dy|, over the whole output
  double parameter_gradient_norm = NAN;   // |dL/dw|, over all its parameters
  double update_ratio = NAN;              // |w - w0| / |w0|, w0: its parameters at the forward pass
  double largest_logit = NAN;  // the largest score, q k / sqrt(D) and score_bias, of a visible pair
};

/// Watches the layers of stacks and GPTs, and outputs passed to observe(), on the thread that made it, until
/// it is destroyed. Of nested ones, only the inner one watches. Without a probe, a layer's cost is one
/// comparison.
class [[nodiscard]] Probe {
 public:
  [[nodiscard]] Probe();
  /// Also watches every module in `model` that has its own parameters and whose output hooks of on_forward
  /// see, so that models without a stack have rows too: `nn::Probe probe(net);`
  [[nodiscard]] explicit Probe(const Module& model);
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// The measurements, in the order of the forward pass. Call it after backward, or after the optimizer's
  /// step.
  ListOf<ProbeRow> rows() const;
  /// The same as text, one line per layer.
  std::string table() const;
  void clear();

  /// This thread's probe, or nullptr.
  static Probe* current();
  void saw_output(const Module& layer, const Tensor& y);
  void saw_attention(const Module& layer, const Tensor& q, const Tensor& k, const AttentionOptions& options);

 private:
  struct Layer;
  struct Logit {
    Module attention;
    double value;
  };
  std::vector<std::shared_ptr<Layer>> layers_;
  std::vector<Logit> logits_;
  Probe* before_;
  ForwardHook hook_;
};

/// Shows a layer's output to the thread's probe and returns it: `x = observe(block, block(x));`
inline Tensor observe(const Module& layer, Tensor y) {
  if (Probe* const probe = Probe::current()) probe->saw_output(layer, y);
  return y;
}

}  // namespace gradus::nn
