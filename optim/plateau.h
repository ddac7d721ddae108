#pragma once
// ReduceLROnPlateau: lowers the learning rate when a loss has stopped decreasing.

#include <cstdint>
#include <map>

#include "gradus/core/io/state_dict.h"
#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct ReduceLROnPlateauOptions {
  bool maximize = false;       // a larger metric is better, as for accuracy: PyTorch's mode "max"
  double factor = 0.1;         // below 1
  std::int64_t patience = 10;  // allowed calls without an improvement
  double threshold = 1e-4;     // the least improvement, relative to the best so far
  bool absolute = false;       // the threshold is absolute: PyTorch's threshold_mode "abs"
  std::int64_t cooldown = 0;   // calls after a reduction that do not count
  double min_lr = 0;           // the lowest rate
  double eps = 1e-8;           // smaller reductions are skipped
};

/// Multiplies the rates of all groups by `factor` when a metric has not improved for more than `patience`
/// calls in a row; NaN is no improvement. Schedules are multiplied as functions. After set_lr(), the next
/// reduction starts from the new rate.
///
///     optim::ReduceLROnPlateau plateau(opt, {.factor = 0.5, .patience = 3});
///     ...  plateau.step(validation_loss);  // once per epoch
class ReduceLROnPlateau {
 public:
  /// The optimizer must live as long as this.
  explicit ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options = {});

  /// True when it lowered a rate.
  bool step(double metric);

  /// "best", "bad", "cooldown", and for group number i "i.lr", its rate if that is a number, else NaN, and
  /// "i.scale", the factor of its schedule.
  StateDict state_dict() const;
  /// Restores the state and the optimizer's rates, if they are numbers; set schedules before. Throws,
  /// changing nothing, when it does not fit.
  void load_state_dict(const StateDict& dict);

 private:
  /// A rate before and after scaling; for a number both are the current rate.
  struct Scaled {
    Schedule base, set;
    double scale = 1;
  };
  using Rates = std::map<std::size_t, Scaled>;  // by group
  bool reduce();
  Scaled scaled(std::size_t group) const;
  Scaled scaled_by(std::size_t group, double by) const;
  void set(Rates rates);

  Optimizer& optimizer_;
  ReduceLROnPlateauOptions options_;
  Rates scaled_;  // of the groups that were scaled
  double best_;
  std::int64_t bad_ = 0, cooldown_ = 0;  // calls without an improvement; remaining calls that do not count
};

}  // namespace gradus::optim
