#pragma once
// EMA: an exponential moving average of weights, to evaluate or save instead of the last weights (after
// Polyak & Juditsky 1992, who use the plain mean).

#include <cstdint>
#include <vector>

#include "gradus/core/io/state_dict.h"
#include "gradus/core/tensor.h"

namespace gradus::optim {

/// average = decay average + (1 - decay) weight, once per update(); the first update copies the weights.
///
///     optim::EMA ema(model.parameters(), 0.999);
///     ...  opt.step();  ema.update();
///     { const optim::EMA::Use averages(ema);  validate(model); }
class EMA {
 public:
  /// Throws unless decay is in [0, 1), and if a parameter is undefined, not floating-point, not contiguous or
  /// given twice.
  explicit EMA(std::vector<Tensor> parameters, double decay = 0.999);
  EMA(const EMA&) = delete;
  EMA& operator=(const EMA&) = delete;

  /// Call it after each optimizer step. Throws inside a Use.
  void update();
  /// Updates done so far.
  std::int64_t updates() const { return updates_; }

  /// During its scope the parameters hold the averages (so do their copies, which share memory); afterwards
  /// they have their own values again. Save the model inside to save the averages under its names. Before the
  /// first update the parameters do not change. Throws inside another Use of this EMA.
  class Use {
   public:
    [[nodiscard("give it a name: it works until the end of its scope")]] explicit Use(EMA& ema);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    EMA& ema_;
  };

  /// "updates", and "i.average" for parameter number i. Throws inside a Use.
  StateDict state_dict() const;
  /// Restores the state; throws, changing nothing, when a key, shape or dtype does not fit.
  void load_state_dict(const StateDict& dict);

 private:
  void expect_unused(const char* call) const;
  void swap() noexcept;

  std::vector<Tensor> parameters_;
  std::vector<Array> averages_;  // inside a Use, the weights
  double decay_;
  std::int64_t updates_ = 0;
  bool used_ = false;
};

}  // namespace gradus::optim
