#pragma once
// ReduceLROnPlateau: a lower learning rate where a loss has stopped falling.

#include <cstdint>
#include <map>

#include "gradus/core/io/state_dict.h"
#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct ReduceLROnPlateauOptions {
  bool maximize = false;       // the metric shall rise, as an accuracy: PyTorch's mode "max"
  double factor = 0.1;         // below 1
  std::int64_t patience = 10;  // calls without an improvement that are allowed
  double threshold = 1e-4;     // an improvement is larger than this, relative to the best so far
  bool absolute = false;       // or in itself: PyTorch's threshold_mode "abs"
  std::int64_t cooldown = 0;   // calls after a reduction that do not count
  double min_lr = 0;           // it never falls below
  double eps = 1e-8;           // smaller reductions are left out
};

/// Multiplies the rates of all groups by `factor` when a metric has not improved for more than `patience`
/// calls in a row; NaN is no improvement. Rates that are functions of the step are multiplied as functions. A
/// rate set by set_lr() in between is what the next reduction starts from.
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
  /// "i.scale", what its function is multiplied by.
  StateDict state_dict() const;
  /// Takes the state back, and with it sets the optimizer's rates: numbers as they were, while a function is
  /// to be set before. Throws, changing nothing, when it does not fit.
  void load_state_dict(const StateDict& dict);

 private:
  /// A rate before and after it was multiplied; for a number both are what it is now.
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
  Rates scaled_;  // of the groups where it was done
  double best_;
  std::int64_t bad_ = 0, cooldown_ = 0;  // calls without an improvement; calls yet to be left out
};

}  // namespace gradus::optim
