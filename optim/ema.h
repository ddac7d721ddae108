#pragma once
// EMA: an exponential moving average of weights, to evaluate or save instead of the last ones
// (after Polyak & Juditsky 1992, who take the plain mean).

#include <cstdint>
#include <vector>

#include "gradus/core/io/state_dict.h"
#include "gradus/core/tensor.h"

namespace gradus::optim {

/// average = decay average + (1 - decay) weight, once per update(); the first takes the weights as they are.
///
///     optim::EMA ema(model.parameters(), 0.999);
///     ...  opt.step();  ema.update();
///     { const optim::EMA::Use averages(ema);  validate(model); }
class EMA {
 public:
  /// Throws unless decay is in [0, 1), and on parameters that are undefined, no floating-point numbers, not
  /// contiguous or given twice.
  explicit EMA(std::vector<Tensor> parameters, double decay = 0.999);
  EMA(const EMA&) = delete;
  EMA& operator=(const EMA&) = delete;

  /// After each optimizer step. Throws inside of a Use.
  void update();
  /// Updates done so far.
  std::int64_t updates() const { return updates_; }

  /// While one lives the parameters hold the averages (copies of them do too: they share memory); then they
  /// are as they were. Save the model inside to save the averages under its names. Before the first update
  /// the parameters stay. Throws inside of another one of this EMA.
  class Use {
   public:
    [[nodiscard("give it a name: it works until the end of its scope")]] explicit Use(EMA& ema);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    EMA& ema_;
  };

  /// "updates", and "i.average" for parameter number i. Throws inside of a Use.
  StateDict state_dict() const;
  /// Takes the state back; throws, changing nothing, when a key, shape or dtype does not fit.
  void load_state_dict(const StateDict& dict);

 private:
  void expect_unused(const char* call) const;
  void swap() noexcept;

  std::vector<Tensor> parameters_;
  std::vector<Array> averages_;  // the weights, inside of a Use
  double decay_;
  std::int64_t updates_ = 0;
  bool used_ = false;
};

}  // namespace gradus::optim
